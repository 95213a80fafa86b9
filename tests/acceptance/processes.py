"""Lead Rota as real processes on loopback, between sandbox CRMs that run in the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.sandbox.hubspot_sender import HubSpotSender
from adapters.sandbox.salesforce_sender import SalesforceSender
from config import load
from tests import hubspot_requests
from tests.acceptance.stage import Api, Crms, Web, free_port

ROOT = Path(__file__).parents[2]
PATIENCE = 40.0
Process = subprocess.Popen[bytes]


class Processes(Crms):
    """Starts ``leadrota`` commands; what still runs at the end is ended, each by its own id."""

    def __init__(self, database_url: str, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.database_url = database_url
        self.api = Api(f"http://127.0.0.1:{free_port()}")
        self._running: list[Process] = []

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self.start()
        self._stack.callback(self.stop)
        self._stack.callback(self.api.close)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        self.environment = {
            **kept,
            **self.settings(),
            "DATABASE_URL": self.database_url,
            "LEADROTA_PUBLIC_URL": self.api.url,
            "PYTHONPATH": str(ROOT),
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._running:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._stack.close()
        if kind:
            print(self.log())
        else:
            hubspot_requests.check(self.hubspot.calls)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that ends by itself."""
        return subprocess.run(
            [sys.executable, "-m", "connector.cli", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )

    def launch(self, *arguments: str) -> Process:
        """A command that runs until it is told to end, as leader of a group of its own."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "connector.cli", *arguments],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    @property
    def port(self) -> int:
        return int(self.api.url.rsplit(":", 1)[1])

    def serve_here(self) -> None:
        """The web part in this process, where a test is about the worker."""
        web = Web(self.port)
        web.open(load(self.environment))
        self._stack.callback(web.close)

    def serve(self) -> Process:
        process = self.launch("serve", "--port", str(self.port))
        wait_until(lambda: self.api.is_ready() or process.poll() is not None)
        assert process.poll() is None, self.log()
        return process

    def send_leads(self, count: int) -> set[str]:
        """New leads in both CRMs, each webhook twice and in no order; returns their lead ids."""
        hubspot = HubSpotSender(self.hubspot, f"{self.api.url}/webhooks/hubspot")
        hubspot.duplicates, hubspot.shuffle, hubspot.batch_size = "same_id", True, 17
        salesforce = SalesforceSender(self.salesforce, f"{self.api.url}/webhooks/salesforce")
        salesforce.is_repeated = True
        with hubspot, salesforce:
            contacts = self.contacts(count)
            leads = self.leads(count)
            hubspot.flush(PATIENCE)
            assert salesforce.flush(PATIENCE)
        return {
            *(f"hubspot:contacts:{one}" for one in contacts),
            *(f"salesforce:Lead:{one}" for one in leads),
        }

    def wait_until_written(self, pool_id: str, leads: set[str]) -> None:
        def all_are_done() -> bool:
            rows = self.api.history(pool_id)
            return leads <= {row["lead_id"] for row in rows if row["write_back"] == "done"}

        wait_until(all_are_done)


def wait_until(holds: Callable[[], bool]) -> None:
    """Look again and again; the test fails when it takes too long."""
    give_up_at = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up_at, "waited too long"
        time.sleep(0.05)
