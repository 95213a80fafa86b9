"""What reaches the address of a Salesforce org: messages and callouts, good, odd and repeated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import select
from structlog.testing import capture_logs
from zeep.exceptions import Fault

from adapters.sandbox.salesforce_soap import HEADERS as SOAP_HEADERS
from adapters.sandbox.salesforce_soap import why_refused
from connector.store.database import Database
from connector.store.tables import inbox
from tests.acceptance.soap import soap_client
from tests.acceptance.stage import KEY, Stage, check_sequence, salesforce_leads, turns, writes

FOREIGN = "00D5g000000XyZ2EAK"


@pytest.fixture
def alone(sqlite: Database) -> Iterator[Stage]:
    """A stage for what does not depend on the kind of database."""
    with Stage(sqlite) as set_up:
        yield set_up


def call_out(stage: Stage, records: Any, *, key: str | None = KEY, **more: Any) -> Any:
    """What a flow's HTTP callout sends, and the answer to it."""
    body = {"orgId": stage.salesforce.org_id, "object": "Lead", "event": "created"}
    return requests.post(
        f"{stage.url}/webhooks/salesforce",
        json=body | {"records": records} | more,
        headers={"X-Leadrota-Key": key} if key is not None else {},
        timeout=30,
    )


def as_told(stage: Stage, record_id: str) -> dict[str, Any]:
    """A record as a flow sends it."""
    record = stage.salesforce.get(record_id)
    return {"Id": record_id} | {name: record[name] for name in ("OwnerId", "LastModifiedDate")}


def deliver(stage: Stage, message: bytes) -> None:
    """Send these bytes as Salesforce does, and judge the answer as strictly."""
    answer = requests.post(
        stage.salesforce_sender.url, data=message, headers=SOAP_HEADERS, timeout=30
    )
    assert why_refused(answer.status_code, answer.content) is None
    assert answer.headers["Content-Type"].startswith("text/xml")


def messages(stage: Stage, leads: list[str], size: int) -> list[bytes]:
    """Outbound messages about these leads, each of so many notifications."""
    sender = stage.salesforce_sender
    sender.enqueue(leads)
    queued = sender.waiting()[-len(leads) :]
    return [sender.write(queued[i : i + size]) for i in range(0, len(queued), size)]


def stored(database: Database) -> str:
    """All that the inbox holds, as text."""
    with database.read() as session:
        return str(session.execute(select(inbox)).all())


# -- callouts


def test_a_callout_of_two_hundred_leads_is_spread_exactly_and_written(stage: Stage) -> None:
    pool = stage.team("ABCDE")
    leads = stage.leads(200)
    answer = call_out(stage, [as_told(stage, one) for one in leads])
    assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
    stage.work()
    rows = stage.api.history(pool)
    assert [row["lead_id"] for row in rows] == salesforce_leads(leads)
    assert turns(rows) == dict.fromkeys("ABCDE", 40)
    check_sequence(rows)
    stage.check_owners(rows)


def test_a_callout_may_ask_for_a_pool_and_send_ids_alone(alone: Stage) -> None:
    alone.team("A")
    other = alone.team("B", pool="EMEA Sales")
    (lead,) = alone.leads(1)
    assert call_out(alone, [lead[:15]], pool="emea sales", object=None).status_code == 202
    alone.work()
    assert [row["assigned_user_id"] for row in alone.api.history(other)] == ["B"]


def test_callouts_that_come_again_change_nothing(alone: Stage) -> None:
    pool = alone.team("AB")
    told = [as_told(alone, one) for one in alone.leads(5)]
    for _ in range(2):
        assert call_out(alone, told).status_code == 202
        alone.later(hours=2)
        alone.work()
    assert len(alone.api.history(pool)) == 5
    assert alone.inbox() == {("done", None): 5}


def test_a_deleted_lead_that_waits_for_somebody_waits_no_more(alone: Stage) -> None:
    pool = alone.api.pool("")
    (lead,) = alone.leads(1)
    assert call_out(alone, [as_told(alone, lead)]).status_code == 202
    alone.work()
    alone.salesforce.delete(lead)
    assert call_out(alone, [lead], event="deleted").status_code == 202
    alone.work()
    assert [row["status"] for row in alone.api.history(pool)] == ["held", "undone"]


def test_what_no_database_stores_does_not_cost_the_other_records(stage: Stage) -> None:
    pool = stage.team("A")
    (lead,) = stage.leads(1)
    odd = [{"Id": "\0\ud800", "Na\0me": "\udfff"}, 7, {"Id": lead, "Company": "\0\ud800"}]
    assert call_out(stage, odd, pool="Sa\0les\ud800").status_code == 202
    stage.work()
    assert stage.inbox() == {("done", None): 1, ("ignored", "bad_record_id"): 2}
    assert stage.api.history(pool) == []  # there is no pool of that name


@pytest.mark.parametrize("key", [None, "", KEY[:-1]])
def test_a_callout_without_the_key_is_refused_in_json(alone: Stage, key: str | None) -> None:
    refused(alone, call_out(alone, alone.leads(1), key=key), 401, "bad_key")


def test_a_callout_of_another_org_is_refused_in_json(alone: Stage) -> None:
    refused(alone, call_out(alone, alone.leads(1), orgId=FOREIGN), 403, "foreign_org")


def test_a_callout_that_is_broken_or_too_large_is_refused_in_json(alone: Stage) -> None:
    headers = {"X-Leadrota-Key": KEY, "Content-Type": "application/json"}
    url = f"{alone.url}/webhooks/salesforce"
    broken = requests.post(url, data=b'{"orgId": NaN}', headers=headers, timeout=30)
    refused(alone, broken, 400, "bad_body")
    chunks = (b" " * 65536 for _ in range(17))
    too_large = requests.post(url, data=chunks, headers=headers, timeout=30)
    refused(alone, too_large, 413, "too_large")


def refused(stage: Stage, answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert stage.inbox() == {}


# -- outbound messages that come again, late, or with a secret in them


def test_messages_replayed_after_a_restart_in_any_order_are_acknowledged_and_change_nothing(
    stage: Stage,
) -> None:
    pool = stage.team("ABC")
    early, late = stage.leads(9), stage.leads(6)
    first = messages(stage, early, 3)
    for message in first:
        deliver(stage, message)
    stage.work()
    before = stage.api.history(pool)
    stage.configure()  # the web part starts again
    stage.later(hours=2)
    for message in (first[2], *messages(stage, late, 2), first[0], first[1]):
        deliver(stage, message)
    stage.work()
    rows = stage.api.history(pool)
    assert rows[:9] == before
    assert [row["lead_id"] for row in rows[9:]] == salesforce_leads(late)
    assert stage.inbox() == {("done", None): 15}
    stage.check_owners(rows)


@pytest.mark.parametrize("way", ["outbound_message", "callout"])
def test_our_own_write_that_comes_back_uses_no_turn_and_writes_nothing(
    alone: Stage, way: str
) -> None:
    pool = alone.team("AB")
    leads = alone.leads(2)
    alone.tell_salesforce(leads)
    alone.work()
    before, written = alone.api.history(pool), len(writes(alone.salesforce))
    calls = len(alone.salesforce.calls)
    if way == "callout":
        echo = [as_told(alone, one) for one in leads]
        short = [one | {"OwnerId": one["OwnerId"][:15]} for one in echo]
        assert call_out(alone, short, event="updated").status_code == 202
    else:
        alone.tell_salesforce(leads)
    alone.work()
    assert alone.api.history(pool) == before
    assert len(writes(alone.salesforce)) == written
    assert len(alone.salesforce.calls) == calls
    assert alone.inbox()["ignored", "own_echo"] == 2


def test_a_session_id_is_neither_stored_nor_logged(alone: Stage) -> None:
    secret = alone.salesforce_sender.session_id = "00D5g000000XyZ1!AQ0AQ.live.token"
    alone.team("A")
    with capture_logs() as logs:
        alone.tell_salesforce(alone.leads(1))
        alone.salesforce_sender.org_id = FOREIGN
        assert alone.salesforce_sender.send(alone.leads(1)) == (403, False)
        alone.work()
    assert {"webhook_stored", "webhook_refused"} <= {line["event"] for line in logs}
    assert secret not in f"{logs} {stored(alone.database)}"


def test_a_message_of_another_org_leaves_one_line_that_names_both(alone: Stage) -> None:
    with (
        soap_client(alone) as client,
        capture_logs() as logs,
        pytest.raises(Fault, match="foreign_org"),
    ):
        client.notify(alone.leads(1), org_id=FOREIGN)
    (line,) = logs
    assert (line["event"], line["code"]) == ("webhook_refused", "foreign_org")
    assert FOREIGN in line["detail"]
    assert alone.salesforce.org_id in line["detail"]
    assert alone.inbox() == {}


def test_no_log_and_no_row_holds_the_key(alone: Stage) -> None:
    with capture_logs() as logs:
        alone.tell_salesforce(alone.leads(1))
        call_out(alone, alone.leads(1))
        call_out(alone, alone.leads(1), key=KEY + "x")
    assert len(logs) >= 3
    assert KEY not in f"{logs} {stored(alone.database)}"
    assert "?key" not in str([line for line in logs if line["event"] == "webhook_stored"])


def test_while_the_store_is_down_salesforce_is_told_to_send_again(
    alone: Stage, tmp_path: Path
) -> None:
    pool = alone.team("A")
    (lead,) = alone.leads(1)
    address = alone.environment["DATABASE_URL"]
    alone.configure(DATABASE_URL=f"sqlite:///{tmp_path}/missing/folder/leadrota.db")
    with soap_client(alone) as client, pytest.raises(Fault, match="store_unavailable"):
        client.notify([lead])
    answer = call_out(alone, [lead])
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    alone.salesforce_sender.enqueue([lead])
    assert alone.salesforce_sender.deliver() == 0
    assert alone.salesforce_sender.failures == ["status 503"]

    alone.configure(DATABASE_URL=address)
    alone.later(minutes=1)
    assert alone.salesforce_sender.deliver() == 1
    alone.work()
    assert [row["assigned_user_id"] for row in alone.api.history(pool)] == ["A"]


def test_a_notification_of_a_record_that_is_gone_makes_no_call(alone: Stage) -> None:
    (lead,) = alone.leads(1)
    alone.salesforce.delete(lead)
    alone.tell_salesforce([lead])
    alone.work()
    assert alone.inbox() == {("ignored", "record_deleted"): 1}
    assert alone.salesforce.calls_to("/query") == []
