"""``leadrota sandbox`` prints an environment with which the rest of the program starts."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.hubspot.settings import HubSpotSettings
from adapters.salesforce.settings import SalesforceSettings
from config import load

ROOT = Path(__file__).parents[2]


def two_free_ports():
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port = first.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except OSError:
                continue
            return port


def start(port, folder):
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "connector.cli", "sandbox", "--port", str(port)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def sandbox(tmp_path):
    port = two_free_ports()
    process = start(port, tmp_path)
    yield process, port
    process.kill()
    process.communicate()


def printed_environment(process):
    env = {}
    for line in process.stdout:
        if line.startswith("export "):
            name, value = line.removeprefix("export ").strip().split("=", 1)
            env[name] = value
        if line.startswith("export SALESFORCE_ORG_ID"):
            return env
    raise AssertionError(process.stderr.read())


def test_its_environment_makes_both_connections(sandbox, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    process, port = sandbox

    settings = load(printed_environment(process))

    hubspot, salesforce = settings.connections
    assert isinstance(hubspot, HubSpotSettings)
    assert isinstance(salesforce, SalesforceSettings)
    assert hubspot.base_url == f"http://127.0.0.1:{port}"
    assert salesforce.login_url == f"http://127.0.0.1:{port + 1}"
    assert settings.warnings == ()
    for each in (port, port + 1):
        socket.create_connection(("127.0.0.1", each), timeout=5).close()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_can_be_ended_well_at_any_moment(sandbox, signum):
    process, _ = sandbox
    printed_environment(process)

    process.send_signal(signum)

    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err


def test_a_port_that_is_taken_is_told(sandbox, tmp_path):
    process, port = sandbox
    printed_environment(process)

    second = start(port, tmp_path)

    _, err = second.communicate(timeout=20)
    assert second.returncode == 1
    assert "--port" in err
    assert "Traceback" not in err
