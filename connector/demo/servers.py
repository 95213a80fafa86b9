"""The web and the worker process of the demo, started as they run in production."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import requests

from connector.demo.world import World

START_SECONDS = 20.0
STOP_SECONDS = 15.0


class Api:
    """The REST API of the demo's server, as a program of yours would call it."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The answer's JSON; raises ``RuntimeError`` with the server's words for an error."""
        answer = self._session.request(
            method, f"{self._url}{path}", json=body, params=query, timeout=10
        )
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def is_ready(self) -> bool:
        """Does the server answer, with its database migrated?"""
        try:
            return self._session.get(f"{self._url}/readyz", timeout=2).ok
        except requests.RequestException:
            return False


class Servers:
    """``leadrota serve`` and ``leadrota worker`` on one SQLite file, until the block ends."""

    def __init__(self, world: World, folder: Path) -> None:
        self.token = secrets.token_urlsafe(32)
        self.url = f"http://127.0.0.1:{_free_port()}"
        self.api = Api(self.url, self.token)
        self._log = folder / "leadrota.log"
        inherited = {n: v for n, v in os.environ.items() if not n.startswith(_OURS)}
        self._env = (
            inherited
            | world.settings(self.url)
            | {
                "DATABASE_URL": f"sqlite:///{folder / 'leadrota.db'}",
                "LEADROTA_API_TOKEN": self.token,
            }
        )
        world.call_back(self.url)
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        port = self.url.rsplit(":", 1)[1]
        self._start("serve", "--host", "127.0.0.1", "--port", port)
        self._wait_until_ready()
        self._start("worker")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def wait(self) -> None:
        """Wait until a process ends by itself or Ctrl-C comes."""
        self._processes[0].wait()

    def _start(self, *arguments: str) -> None:
        with self._log.open("ab") as log:
            self._processes.append(
                subprocess.Popen(  # noqa: S603 our own command
                    [sys.executable, "-m", "connector.cli", *arguments],
                    env=self._env,
                    stdout=log,
                    stderr=log,
                )
            )

    def _wait_until_ready(self) -> None:
        give_up_at = time.monotonic() + START_SECONDS
        while not self.api.is_ready():
            if self._processes[0].poll() is not None or time.monotonic() > give_up_at:
                raise RuntimeError(f"The web process did not start:\n{self._log.read_text()}")
            time.sleep(0.1)


# Settings of the person's own installation must not leak into the demo.
_OURS = ("LEADROTA_", "HUBSPOT_", "SALESFORCE_", "DATABASE_URL", "PORT", "DYNO", "GUNICORN_")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
