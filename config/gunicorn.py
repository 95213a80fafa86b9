"""How gunicorn serves the web process. Read by gunicorn itself, as ``-c python:config.gunicorn``.

The platform's ``GUNICORN_CMD_ARGS`` and the command line win over this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from config import load
from connector import logs

_settings = load()
logs.configure(_settings.log_format)

bind = f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = _settings.web_concurrency
threads = 24  # of which 16 may wait for a CRM, on behalf of a workflow

# A platform kills a process 30 s after it asked it to stop.
timeout = 25
graceful_timeout = 25

# The heartbeat is a file: on a disk, a busy disk would look like a dead worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108

# No socket in the user's home that other processes could steer this one with.
control_socket_disable = True

# Headers of a proxy are trusted for nothing: signatures are computed from LEADROTA_PUBLIC_URL.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}

# No access log, and should the platform switch it on, none with a query string: they hold keys.
accesslog = None
access_log_format = "%(m)s %(U)s %(s)s %(M)sms"
logconfig_dict = logs.dict_config(_settings.log_format)


def post_worker_init(worker: Any) -> None:
    """Run our worker inside the one web process that a SQLite file allows."""
    if _settings.is_sqlite:
        from connector.wiring import start_embedded_worker

        worker.crew = start_embedded_worker()


def worker_exit(_server: Any, worker: Any) -> None:
    """Let our worker finish what it has begun, within the time that gunicorn leaves."""
    if crew := getattr(worker, "crew", None):
        crew.dismiss()
        crew.join(20)
