import json
import logging

import pytest
import structlog

from connector import logs


@pytest.fixture
def lines(capsys):
    """Configure one format; what is logged afterwards comes back as lines."""
    before = logging.root.handlers[:], logging.root.level

    def configured(log_format):
        logs.configure(log_format)
        return lambda: capsys.readouterr().err.splitlines()

    yield configured
    logging.root.handlers[:], logging.root.level = before
    structlog.reset_defaults()


@pytest.mark.parametrize("log_format", ["logfmt", "json"])
def test_an_event_is_one_line_whatever_it_holds(lines, log_format):
    read = lines(log_format)

    structlog.get_logger("ours").info("one\r\ntwo\u2028three\x1b[2J", fact="a\nb")
    try:
        raise ValueError("broken")
    except ValueError:
        structlog.get_logger("ours").exception("failed")
        logging.getLogger("theirs").exception("failed")

    told = read()
    assert len(told) == 3
    assert "\x1b" not in told[0]
    assert "ValueError: broken" in told[1]
    assert "ValueError: broken" in told[2]


def test_json_lines_are_json(lines):
    read = lines("json")

    structlog.get_logger("ours").info("taken_in", events=3)

    (line,) = read()
    record = json.loads(line)
    assert record["event"] == "taken_in"
    assert record["events"] == 3
    assert record["level"] == "info"
    assert record["timestamp"].endswith("Z")


def test_a_librarys_line_has_our_form(lines):
    read = lines("logfmt")

    logging.getLogger("theirs").warning("gave up after %s tries", 3, extra={"odd key": "x"})

    (line,) = read()
    assert 'level=warning event="gave up after 3 tries" logger=theirs' in line
    assert "odd_key=x" in line


def test_console_is_readable(lines):
    read = lines("console")

    structlog.get_logger("ours").info("taken in", events=3)

    (line,) = read()
    assert "taken in" in line
    assert "events=3" in line


@pytest.mark.parametrize("log_format", ["logfmt", "json", "console"])
@pytest.mark.parametrize(
    "facts",
    [
        {"access_token": "hidden"},
        {"Authorization": "hidden"},
        {"headers": {"X-Leadrota-Key": "hidden", "cookie": "hidden"}},
        {"connections": [{"client_secret": "hidden"}]},
        {"webhook_key": b"hidden"},
        {"url": "https://example.com/hooks/salesforce?key=hidden"},
        {"why": "Max retries exceeded with url: /hooks?key=hidden (refused)"},
        {"why": "cannot reach postgresql://user:hidden@db.example.com/leads"},
        {"why": ValueError("Authorization: Bearer hidden-hidden")},
    ],
)
def test_secrets_and_query_strings_are_hidden(lines, log_format, facts):
    read = lines(log_format)

    structlog.get_logger("ours").info("called", **facts)
    logging.getLogger("theirs").warning("called %s", facts.get("url", ""), extra=facts)

    told = read()
    assert len(told) == 2
    assert "hidden" not in "".join(told)


def test_a_secret_in_a_traceback_is_hidden(lines):
    read = lines("logfmt")

    for log in (structlog.get_logger("ours"), logging.getLogger("theirs")):
        try:
            raise ConnectionError("GET /oauth?client_secret=" + "hidden")
        except ConnectionError:
            log.exception("failed")

    assert "client_secret=hidden" not in "".join(read())


def test_other_keys_and_questions_stay(lines):
    read = lines("logfmt")

    structlog.get_logger("ours").info("why? because", event_key="k-1", idempotency_key="i-1")

    (line,) = read()
    assert 'event="why? because"' in line
    assert "event_key=k-1" in line
    assert "idempotency_key=i-1" in line
