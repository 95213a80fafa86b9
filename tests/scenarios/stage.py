"""The product as one office sees it: the REST API, a worker on call, a clock that is told the time.

Black box: everything goes through HTTP and the three public doors ``create_app``, ``load`` and
``drain``. Only the comparison of all tables before and after a preview looks behind them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select

from config import load
from connector import create_app
from connector.store.database import Database
from connector.store.tables import metadata
from connector.worker import drain
from connector.workshop import Drained

TOKEN = "a-token-of-more-than-thirty-two-characters"
START = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)  # a Thursday

Row = dict[str, Any]


class Answer:
    """What came back: status, headers and the body as Python."""

    def __init__(self, status: int, headers: Any, body: Any) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def __repr__(self) -> str:
        return f"{self.status} {self.body}"


class Stage:
    """Lead Rota in this process over one database, with pools that are known by name."""

    def __init__(self, database: Database, **environment: str) -> None:
        self.database = database
        self.now = START
        self.pools: dict[str, str] = {}  # name -> id, in the order of making
        self.tokens: dict[str, str] = {}  # name -> token
        self.preset: dict[str, str] = {}
        self._zone = os.environ.get("TZ")
        self.open(**environment)

    def open(self, **environment: str) -> None:
        """Start the web part, perhaps with other settings."""
        self.preset |= environment
        self.settings = load(
            {
                "DATABASE_URL": self.database.engine.url.render_as_string(hide_password=False),
                "LEADROTA_API_TOKEN": TOKEN,
                **self.preset,
            }
        )
        self.app = create_app(self.settings, clock=lambda: self.now)
        self.client = self.app.test_client()

    def close(self) -> None:
        """End the web part."""
        self.app.extensions["leadrota"].database.close()

    def restart(self, **environment: str) -> None:
        """What was only in memory is lost."""
        self.close()
        self.open(**environment)

    def leave(self) -> None:
        """End everything, and give the process its own time zone back."""
        self.close()
        self.stand_in(self._zone)

    def stand_in(self, zone: str | None) -> None:
        """Let the process live in a time zone, as the machine's settings would."""
        if os.environ.get("TZ") == zone:
            return
        if zone is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = zone
        time.tzset()

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Any call below /round-robin; ``token`` and ``key`` (Idempotency-Key) may be given."""
        headers = {"Authorization": f"Bearer {options.get('token', TOKEN)}"}
        if "key" in options:
            headers["Idempotency-Key"] = options["key"]
        client = options.get("client", self.client)
        answer = client.open(f"/round-robin{path}", method=method, headers=headers, json=body)
        return Answer(answer.status_code, answer.headers, answer.get_json(silent=True))

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """A call that must succeed; the body of its answer."""
        answer = self.call(method, path, body, **options)
        assert answer.status < 300, f"{method} {path} {body}: {answer}"
        return answer.body

    def get(self, path: str, **query: Any) -> Any:
        """A list or a thing."""
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def pool_id(self, pool: str | None = None) -> str:
        """The pool of that name, else the first."""
        return self.pools[pool] if pool else next(iter(self.pools.values()))

    def pool(self, pool: str | None = None) -> Row:
        """The pool as it stands, with its members."""
        return dict(self.get(f"/pools/{self.pool_id(pool)}"))

    def member(self, user_id: str, pool: str | None = None) -> Row:
        """One member of the pool as it stands."""
        return next(one for one in self.pool(pool)["members"] if one["user_id"] == user_id)

    def assign(self, lead_id: str, pool: str | None = None, **fields: Any) -> Answer:
        """Assign one lead in a pool."""
        return self.call(
            "POST", f"/pools/{self.pool_id(pool)}/assign", {"lead_id": lead_id, **fields}
        )

    def history(self, pool: str | None = None, **query: Any) -> list[Row]:
        """All rows of the pool, oldest first, as one reads."""
        url: str | None = (
            f"/pools/{self.pool_id(pool)}/history?{urlencode({'limit': 1000} | query)}"
        )
        rows: list[Row] = []
        while url:
            page = self.call("GET", url)
            assert page.status == 200, page
            rows += page.body
            following = re.search(r"</round-robin(\S+)>", page.headers.get("Link", ""))
            url = following[1] if following else None
        return rows[::-1]

    def last_row(self, lead_id: str, pool: str | None = None) -> Row:
        """The newest row of a lead in the pool."""
        rows = self.history(pool, lead_id=lead_id)
        assert rows, f"{lead_id} is not in the history"
        return rows[-1]

    def decision(self, lead_id: str, pool: str | None = None) -> Row:
        """The newest decision of a lead with every reason."""
        row = self.last_row(lead_id, pool)
        return dict(self.get(f"/assignments/{row['assignment_id']}"))

    def command(self, *arguments: str) -> str:
        """Run ``leadrota`` as a person does; what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "connector.cli", *arguments],
            env=os.environ | {"DATABASE_URL": self.settings.database_url},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def drain(self) -> Drained:
        """Run the worker until nothing is due."""
        return drain(self.settings, clock=lambda: self.now)

    def work(self) -> list[Row]:
        """Run the worker; the rows that came of it, pool by pool."""
        before = {name: len(self.history(name)) for name in self.pools}
        self.drain()
        return [row for name, count in before.items() for row in self.history(name)[count:]]

    def later(self, **delta: float) -> None:
        """Let time pass; the worker does not run by itself here."""
        self.now += timedelta(**delta)

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""
        with self.database.read() as session:
            return {
                table.name: sorted((tuple(row) for row in session.execute(select(table))), key=repr)
                for table in metadata.sorted_tables
            }


def users(rows: Sequence[Row]) -> list[str | None]:
    """Who got each of the rows."""
    return [row["assigned_user_id"] for row in rows]
