"""Workflows of a portal: webhooks in three shapes, actions answered at once or late."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from connector.store.database import Database
from tests.acceptance.portal import Portal
from tests.acceptance.stage import Stage

KEY = "a-key-for-workflows-without-an-app"
DATED = ["v3", "2026-03", "2026-09"]


@pytest.fixture
def portal(sqlite: Database) -> Iterator[Portal]:
    with Stage(sqlite) as stage:
        yield Portal(stage)


def absent(portal: Portal, user: str) -> str:
    """The user is on leave; the id of the absence."""
    body = {
        "starts_at": "2026-10-15T00:00:00Z",
        "ends_at": "2026-10-17T00:00:00Z",
        "reason": "leave",
    }
    path = f"/round-robin/users/{user}/absences"
    return str(portal.stage.api.call("POST", path, body)["id"])


def flat(body: dict[str, Any], record_id: str) -> dict[str, Any]:
    """The keys that an admin chooses, one of which must be an id that we know."""
    return body | {"hs_object_id": record_id}


@pytest.mark.parametrize("proof", ["v2", "v2_and_v3", "key"])
@pytest.mark.parametrize("shape", ["contact", "object", "flat"])
def test_a_workflow_sends_a_record_to_be_routed(portal: Portal, shape: Any, proof: Any) -> None:
    portal.stage.team("AB")
    portal.stage.configure(HUBSPOT_WEBHOOK_KEY=KEY)
    object_type = "leads" if shape == "object" else "contacts"
    ids = portal.create(object_type, 2)
    with portal.workflows(key=KEY if proof == "key" else None) as workflows:
        if proof != "key":
            workflows.signatures = proof
        for one in ids:
            body = workflows.body(object_type, one, shape=shape)
            made = workflows.send(flat(body, one) if shape == "flat" else body)
            assert (made.status, made.answer) == (202, {"status": "accepted"})
    portal.stage.work()
    assert portal.users(object_type, ids) == ["A", "B"]


def test_a_workflow_names_the_pool_in_the_body_or_in_the_address(portal: Portal) -> None:
    portal.stage.team("A")
    portal.stage.team("B", pool="EMEA Sales")
    first, second = (portal.create("contacts")[0] for _ in range(2))
    with (
        portal.workflows() as by_body,
        portal.workflows(path="/webhooks/hubspot?pool=EMEA%20Sales") as by_address,
    ):
        body = by_body.body("contacts", first, shape="flat")
        assert by_body.send(flat(body, first) | {"pool": "emea sales"}).status == 202
        assert by_address.send(by_address.body("contacts", second)).status == 202
    portal.stage.work()
    assert portal.users("contacts", [first, second]) == ["B", "B"]


def test_a_workflow_without_proof_or_with_another_key_is_refused(portal: Portal) -> None:
    portal.stage.team("A")
    portal.stage.configure(HUBSPOT_WEBHOOK_KEY=KEY)
    (record_id,) = portal.create("contacts")
    with portal.workflows(key=KEY[:-1]) as workflows:
        assert workflows.send(workflows.body("contacts", record_id)).status == 401
        workflows.key = None
        assert workflows.send(workflows.body("contacts", record_id)).status == 401
    assert portal.stage.inbox() == {}


def test_a_custom_action_is_answered_with_the_owner_at_once(portal: Portal) -> None:
    pool = portal.stage.team("AB")
    portal.stage.api.call("PATCH", "/round-robin/users/A", {"email": "a@sales.example"})
    (record_id,) = portal.create("contacts", email="lead@buyer.example")
    with portal.workflows() as workflows:
        body = workflows.action("contacts", record_id, {"pool": "Sales"}, "email")
        made = workflows.send(body)
        again = workflows.send(body)
    assert (made.status, made.fields) == (
        200,
        {
            "assignedOwnerId": portal.owner("A"),
            "assignedOwnerEmail": "a@sales.example",
            "assignedUserName": "A",
            "pool": "Sales",
            "reason": "rotation",
            "hs_execution_state": "SUCCESS",
        },
    )
    assert again.fields == made.fields
    portal.stage.work()
    assert portal.users("contacts", [record_id]) == ["A"]
    assert len(portal.stage.api.history(pool)) == 1
    assert portal.sandbox.completed == {}


@pytest.mark.parametrize("version", DATED)
def test_an_action_that_waits_is_completed_once_somebody_is_back(
    portal: Portal, version: str
) -> None:
    pool = portal.stage.team("A")
    portal.stage.configure(HUBSPOT_API_VERSION=version)
    absence = absent(portal, "A")
    (record_id,) = portal.create("contacts")
    with portal.workflows() as workflows:
        made = workflows.send(workflows.action("contacts", record_id, {}))
    assert (made.status, made.fields["hs_execution_state"]) == (200, "BLOCK")
    portal.stage.work()
    assert portal.sandbox.completed == {}
    assert [row["status"] for row in portal.stage.api.history(pool)] == ["held"]
    portal.stage.api.call("DELETE", f"/round-robin/users/A/absences/{absence}")
    assert portal.stage.work().told == 1
    ((callback_id, fields),) = portal.sandbox.completed.items()
    assert callback_id == made.body["callbackId"]
    assert fields == {
        "assignedOwnerId": portal.owner("A"),
        "assignedOwnerEmail": "a@sales.example",
        "assignedUserName": "A",
        "pool": "Sales",
        "reason": "rotation",
        "hs_execution_state": "SUCCESS",
    }
    assert portal.users("contacts", [record_id]) == ["A"]
    (sent,) = portal.sandbox.calls_to("/complete")
    assert ("typedOutputs" in json.loads(sent.body)) is (version != "v3")
    portal.stage.later(minutes=15)
    assert portal.stage.work().told == 0


def test_an_action_waits_while_the_portal_asks_for_a_pause(portal: Portal) -> None:
    portal.stage.team("A")
    (record_id,) = portal.create("contacts")
    portal.sandbox.faults.add("/contacts/batch/read", preset="ten_secondly_limit")
    with portal.workflows() as workflows:
        made = workflows.send(workflows.action("contacts", record_id, {}))
    assert made.fields["hs_execution_state"] == "BLOCK"
    portal.stage.later(seconds=10)
    assert portal.stage.work().told == 1
    (fields,) = portal.sandbox.completed.values()
    assert fields["assignedOwnerId"] == portal.owner("A")


def test_the_workflow_editor_is_shown_the_pools(portal: Portal) -> None:
    portal.stage.team("AB", pool="SDR")
    portal.stage.team("XY", pool="AE")
    with portal.workflows(path="/webhooks/hubspot/options") as workflows:
        made = workflows.ask_options(query="sd")
    assert made.status == 200
    assert [one["label"] for one in made.answer["options"]] == ["SDR"]
