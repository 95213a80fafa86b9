"""What the Salesforce chapter says to set up, send and look for is what the adapter takes."""

import ast
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from sqlalchemy import select

from adapters.salesforce import addresses, auth, errors
from adapters.salesforce.org import SalesforceCrm
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.salesforce_soap import HEADERS, Notice, why_refused, write_message
from config import load
from connector import create_app
from connector.model import StickyStep
from connector.ports import Mark, OwnerWrite
from connector.store import lanes
from connector.store.tables import inbox
from connector.web.context import EXTENSION
from tests.alone import Alone

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHAPTER = README.partition("\n## Salesforce\n")[2].partition("\n## ")[0]
EXAMPLE = json.loads(re.search(r"```json\n(.*?)```", CHAPTER, re.DOTALL)[1])
APEX = re.search(r"```apex\n(.*?)```", CHAPTER, re.DOTALL)[1]
EVENTS = re.findall(r"`(\w+)`", CHAPTER.partition("`event` is ")[2].partition(". ")[0])
ORG = EXAMPLE["orgId"]
KEY = "a-key-that-nobody-can-guess"
NOW = datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)
LEAD = "00QRR00000AbCdE2AV"
CREATED, MODIFIED = "2026-11-30T09:15:07.000Z", "2026-11-30T10:00:00.000Z"


def cells(title):
    """The words in the first cells of a section's tables."""
    section = CHAPTER.partition(f"\n### {title}\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def texts():
    """Every text in the code of the core and of the adapter."""
    for folder in ("connector", "adapters/salesforce"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


TEXTS = set(texts())
SYMPTOMS = cells("When something is wrong")
THEIRS = {word for word in SYMPTOMS if word.isupper() and not word.startswith("SALESFORCE_")}
OURS = {word for word in SYMPTOMS if word.islower()}


@pytest.fixture
def app(sqlite):
    """A server with one Salesforce org, which no call of these tests reaches."""
    settings = load(
        {
            "DATABASE_URL": str(sqlite.engine.url),
            "LEADROTA_API_TOKEN": "a-token-of-more-than-thirty-two-characters",
            "SALESFORCE_LOGIN_URL": "https://acme.my.salesforce.com",
            "SALESFORCE_CLIENT_ID": "client",
            "SALESFORCE_CLIENT_SECRET": "secret",
            "SALESFORCE_ORG_ID": ORG,
            "SALESFORCE_WEBHOOK_KEY": KEY,
        }
    )
    with sqlite.write() as session:
        lanes.ensure(session, ["salesforce"])
    app = create_app(settings, clock=lambda: NOW)
    yield app.test_client()
    app.extensions[EXTENSION].database.close()


def call_out(app, **body):
    headers = {"X-Leadrota-Key": KEY}
    return app.post("/webhooks/salesforce", json={"orgId": ORG} | body, headers=headers)


def send(app, values):
    """An outbound message about one lead, with these fields."""
    notice = Notice(
        id="04l5g00000Aa0b1AAB", object_type="Lead", record_id=values["Id"], values=values
    )
    message = write_message(
        [notice], org_id=ORG, action_id="04k5g0000004C92AAE", instance_url="https://acme.example"
    )
    return app.post(f"/webhooks/salesforce?key={KEY}", data=message, headers=HEADERS)


def stored(sqlite):
    """The one event that came in."""
    with sqlite.read() as session:
        return session.execute(select(inbox)).one()


# -- what Salesforce sends


def test_the_callout_shown_is_answered_as_told_and_means_a_lead_of_that_pool(app, sqlite):
    answer = call_out(app, **EXAMPLE)

    assert answer.status_code == 202
    assert f"The answer is 202, `{json.dumps(answer.json)}`" in CHAPTER
    event = stored(sqlite)
    assert (event.object_type, event.record_id) == ("Lead", EXAMPLE["records"][0]["Id"])
    assert event.owner_id == EXAMPLE["records"][0]["OwnerId"]
    assert (event.pool, event.reason) == (EXAMPLE["pool"], None)


@pytest.mark.parametrize("word", EVENTS)
def test_each_word_for_an_event_is_known(app, sqlite, word):
    kinds = {"created": "created", "updated": "changed", "undeleted": "changed"}
    # By its dates alone the record would be the other kind.
    modified = MODIFIED if word == "created" else CREATED
    record = {"Id": LEAD, "CreatedDate": CREATED, "LastModifiedDate": modified}

    call_out(app, object="Lead", event=word, records=[record])

    assert stored(sqlite).kind == kinds.get(word, word)


def test_a_bare_id_tells_the_type_of_a_standard_object(app, sqlite):
    call_out(app, records=[LEAD])

    event = stored(sqlite)
    assert (event.object_type, event.record_id, event.reason) == ("Lead", LEAD, None)


def test_apex_sends_what_the_example_has():
    assert set(re.findall(r"'(\w+)' =>", APEX)) == set(EXAMPLE) - {"pool"}
    assert "callout:LeadRota/webhooks/salesforce" in APEX
    assert "getStatusCode() != 202" in APEX


def test_the_fields_shown_are_what_a_message_is_read_for(app, sqlite):
    owner = EXAMPLE["records"][0]["OwnerId"]
    values = {"Id": LEAD, "OwnerId": owner, "CreatedDate": CREATED, "LastModifiedDate": MODIFIED}
    assert {word for word in cells("Outbound message") if word.isalnum()} == set(values)

    answer = send(app, values)

    assert why_refused(answer.status_code, answer.data) is None
    event = stored(sqlite)
    assert (event.object_type, event.record_id, event.owner_id) == ("Lead", LEAD, owner)
    assert event.kind == "changed"  # by the two dates
    assert event.occurred_at == datetime.fromisoformat(MODIFIED)


def test_a_message_without_the_other_fields_is_taken_all_the_same(app, sqlite):
    send(app, {"Id": LEAD})

    assert stored(sqlite).reason is None


# -- what Salesforce must allow


def asked_for(org, crm):
    """The object types that calls of every kind name, in queries and in addresses."""
    ann = org.add_user("Ann", "ann@sandbox.example")
    account = org.create("Account", {"Name": "Acme", "Website": "acme.example", "OwnerId": ann})
    org.create("Contact", {"LastName": "Known", "Email": "a@acme.example", "AccountId": account})
    lead = org.create("Lead", {"LastName": "New", "Company": "Acme", "Email": "a@acme.example"})
    yesterday = NOW - timedelta(days=1)
    crm.related("Lead", crm.read_records("Lead", [lead]))
    crm.people([ann])
    crm.unowned("Lead", yesterday)
    crm.changes("Lead", Mark(at=yesterday))
    crm.concerns(lambda *_: ())
    crm.write_owners("Lead", [OwnerWrite(record_id=lead, owner_id=ann)])
    calls = org.calls_to("/services/data")
    queries = [text for call in calls for text in parse_qs(call.query).get("q", ())]
    named = [found for text in queries for found in re.findall(r"\bFROM (\w+)", text)]
    return {*named, *re.findall(r"/sobjects/(\w+)/", " ".join(call.path for call in calls))}


def test_the_table_of_permissions_names_each_object_that_is_asked_for():
    with SalesforceSandbox(org_id=ORG, clock=lambda: NOW) as org:
        settings = SalesforceSettings(
            name="salesforce",
            login_url=org.url,
            client_id="sandbox-client",
            client_secret="sandbox-secret",
            org_id=ORG,
            omni_channel=True,
        )
        crm = SalesforceCrm(settings, Alone(), clock=lambda: NOW)
        asked = asked_for(org, crm)
        crm.close()

    assert {word for word in cells("The integration user") if word.isalpha()} == asked


@pytest.mark.parametrize("address", re.findall(r"`(https://acme\S+\.salesforce\.com)`", CHAPTER))
def test_the_addresses_shown_are_ones_to_log_in_at(address):
    audience = "test" if "sandbox" in address else "login"

    assert addresses.origin(address) == address
    assert auth.audience(address) == f"https://{audience}.salesforce.com"


def test_both_steps_of_sticky_routing_are_told():
    assert cells("Person and company") == {StickyStep.PERSON, StickyStep.COMPANY}


# -- what goes wrong


@pytest.mark.parametrize("word", sorted(THEIRS))
def test_each_code_of_salesforce_among_the_symptoms_is_known(word):
    assert word in errors.CODES


@pytest.mark.parametrize("word", sorted(OURS))
def test_each_word_among_the_symptoms_is_one_that_the_code_has(word):
    assert word in TEXTS | {"invalid_grant"}  # OAuth's word for whatever has none of its own


def test_each_code_that_somebody_must_see_to_is_among_the_symptoms():
    # An expired session is renewed; the others would be a mistake of ours.
    not_shown = {"INVALID_SESSION_ID", "MALFORMED_QUERY", "MALFORMED_ID"}
    by_itself = {errors.Means.AGAIN, errors.Means.PACED, errors.Means.GONE}
    must_see = {code for code, means in errors.CODES.items() if means not in by_itself}

    assert {code for code in must_see if code.isupper()} - THEIRS - not_shown == set()
