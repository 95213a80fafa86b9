"""Writers of one SQLite file take turns, across threads and processes."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from connector.errors import StoreUnavailable
from connector.store import turnstile
from connector.store.turnstile import Turnstile

# Holds the lock in a process of its own until its standard input ends.
HOLDER = """
import sys
from pathlib import Path
from connector.store.turnstile import Turnstile
with Turnstile(Path(sys.argv[1])).passing():
    print("in", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> "subprocess.Popen[str]":
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "in\n"
    return holder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "leadrota.db"


def test_a_writer_waits_until_the_other_process_is_through(path: Path) -> None:
    holder = hold(path)
    passed = threading.Event()

    def write() -> None:
        with Turnstile(path).passing():
            passed.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not passed.wait(0.1)
    holder.communicate("")
    assert passed.wait(10)
    writer.join()


def test_the_lock_of_a_killed_process_is_free_at_once(path: Path) -> None:
    holder = hold(path)
    holder.kill()
    holder.communicate()
    with Turnstile(path).passing():
        pass


@pytest.mark.parametrize("same", [True, False], ids=["same process", "other process"])
def test_who_waits_too_long_is_told_so(path: Path, same, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "PATIENCE_SECONDS", 0.05)
    one = Turnstile(path)
    two = one if same else Turnstile(path)
    with one.passing(), pytest.raises(StoreUnavailable, match="half a minute"), two.passing():
        pass


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    nowhere = tmp_path / "missing" / "leadrota.db"
    with pytest.raises(StoreUnavailable, match="cannot be written"), Turnstile(nowhere).passing():
        pass


def test_an_error_inside_opens_the_way_again(path: Path) -> None:
    one = Turnstile(path)
    with pytest.raises(ZeroDivisionError), one.passing():
        1 / 0  # noqa: B018
    with one.passing():
        pass
