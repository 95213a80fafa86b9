"""What the HubSpot chapter shows to copy is what the adapter takes, answers and needs."""

import json
import re
from pathlib import Path

import pytest

from adapters.hubspot import actions, events, oauth, scope, workflows
from adapters.hubspot.settings import HubSpotSettings
from connector.model import EventKind
from connector.ports import Delivery, Verdict

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHAPTER = README.partition("\n## HubSpot\n")[2].partition("\n## ")[0]
WORDS = set(re.findall(r"`([^`\n]+)`", CHAPTER))
WEBHOOKS, FLAT, ACTION = map(json.loads, re.findall(r"```json\n(.*?)```", CHAPTER, re.DOTALL))
SUBSCRIPTIONS = [
    subscription
    for several in WEBHOOKS["config"]["subscriptions"].values()
    for subscription in several
]
ALL_TYPES = ("contacts", "leads", "deals", "companies", "tickets", "tasks", "meetings", "2-3456789")


def settings(*objects):
    return HubSpotSettings(
        name="hubspot",
        client_id="app",
        client_secret="secret",
        public_url="https://leads.example.com",
        portal_id="4242",
        objects=objects,
    )


def event(subscription):
    raw = {
        "subscriptionType": subscription["subscriptionType"],
        "propertyName": subscription.get("propertyName"),
        "portalId": 4242,
        "objectId": 42,
        "objectTypeId": "0-1",
        "fromObjectId": 42,
        "fromObjectTypeId": "0-1",
        "toObjectId": 43,
        "toObjectTypeId": "0-2",
    }
    return events.read(raw, scope.of(settings("contacts")))


@pytest.mark.parametrize("subscription", SUBSCRIPTIONS, ids=lambda one: one["subscriptionType"])
def test_each_subscription_shown_is_active_and_tells_something(subscription):
    assert event(subscription).ignored is None
    assert subscription["active"] is True


def test_all_that_is_heard_is_subscribed_to():
    kinds = {event(subscription).kind for subscription in SUBSCRIPTIONS}

    # Restored records and other properties are CHANGED, both.
    assert kinds == set(EventKind) - {EventKind.OTHER}


def test_the_body_shown_names_record_type_and_pool():
    delivery = Delivery(method="POST", target="/webhooks/hubspot", headers={}, body=b"")

    event = workflows.read(FLAT, delivery, scope.of(settings("leads")))

    assert (event.object_type, event.record_id, event.pool) == ("leads", "88000000123", "EMEA")
    assert event.ignored is None


def test_each_output_of_an_action_is_named():
    verdict = Verdict(owner_id="1", owner_email="a", user_name="b", pool="c", reason="rotation")
    told = {name for name in actions.output_fields(verdict) if not name.startswith("hs_")}
    shown = {field["typeDefinition"]["name"] for field in ACTION["config"]["outputFields"]}

    assert shown <= told
    assert told <= shown | WORDS


def test_the_action_goes_where_actions_are_answered():
    address = WEBHOOKS["config"]["settings"]["targetUrl"]
    (field,) = ACTION["config"]["inputFields"]

    assert ACTION["config"]["actionUrl"] == address
    assert field["typeDefinition"]["name"] == "pool"
    assert field["typeDefinition"]["optionsUrl"] == f"{address}/options"


def test_each_scope_is_named():
    # The chapter names those of leads, deals and companies by those of contacts.
    alike = {f"crm.objects.{name}" for name in ("leads", "deals", "companies") if name in WORDS}
    needed = {*oauth.scopes(settings(*ALL_TYPES)), "automation"}

    assert len(alike) == 3
    assert {one for one in needed if one.rpartition(".")[0] not in alike} <= WORDS
