"""The web server as it really runs, with a small application of the test's own."""

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARGUMENTS = ("-c", "python:config.gunicorn")
APPLICATION = """
import logging

def app(environ, start_response):
    logging.getLogger("library").warning("called %s?%s", environ["PATH_INFO"], "key=hidden")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["wsgi.url_scheme"].encode()]
"""


def environment(**more):
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {"PYTHONPATH": str(ROOT)} | more


@pytest.fixture
def server(tmp_path):
    (tmp_path / "tiny.py").write_text(APPLICATION)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *ARGUMENTS, "--bind", f"127.0.0.1:{port}", "tiny:app"],
        cwd=tmp_path,
        env=environment(
            DATABASE_URL="postgresql://nobody@127.0.0.1/none",
            WEB_CONCURRENCY="1",
            GUNICORN_CMD_ARGS="--access-logfile -",
            FORWARDED_ALLOW_IPS="*",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process, port
    process.kill()
    process.communicate()


def answer_of(process, port, path, headers):
    for _ in range(200):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", path, headers=headers)
            return connection.getresponse().read().decode()
        except ConnectionError:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError("the server did not answer")


def test_no_log_holds_a_query_string_and_no_proxy_is_trusted(server):
    process, port = server

    scheme = answer_of(process, port, "/hook?key=hidden", {"X-Forwarded-Proto": "https"})
    process.terminate()
    out, err = process.communicate(timeout=30)

    assert scheme == "http"
    assert process.returncode == 0
    assert "hidden" not in out + err
    assert 'event="called /hook"' in err  # a library's line, in our form
    assert 'event="GET /hook 200' in err  # the platform's access log, without the query
    assert all(line.startswith("timestamp=") for line in err.splitlines())
    assert out == ""


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "1 127.0.0.1:8000"),
        ({"WEB_CONCURRENCY": "3", "PORT": "5000"}, "1 0.0.0.0:5000"),
        ({"WEB_CONCURRENCY": "3", "DATABASE_URL": "postgres://h/d"}, "3 127.0.0.1:8000"),
    ],
)
def test_only_postgresql_has_several_web_processes(env, expected, tmp_path):
    show = "import config.gunicorn as conf; print(conf.workers, conf.bind)"

    result = subprocess.run(
        [sys.executable, "-c", show],
        cwd=tmp_path,
        env=environment(**env),
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout.strip() == expected
