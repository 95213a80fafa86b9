"""What every adapter promises, kept by each against its sandbox: ``connector.ports.outbound``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import adapters
from adapters.hubspot.settings import HubSpotSettings
from adapters.salesforce.settings import SalesforceSettings
from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.salesforce import SalesforceSandbox
from adapters.sandbox.server import Call
from connector.errors import CrmAgain, CrmError, CrmForbidden, CrmPaced, CrmUnreachable
from connector.model import StickyStep
from connector.ports import Crm, CrmRecord, Mark, OwnerWrite, Result
from tests.acceptance.stage import free_port
from tests.alone import Alone

# What a CRM itself changes along with the owner.
STAMPS = {"lastmodifieddate", "lastmodifiedbyid", "systemmodstamp", "hubspot_owner_assigneddate"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class Account:
    """An account of a CRM, in the words that both have."""

    kind: str
    object_type: str
    sandbox: Any
    reads: str  # the path of the calls that read records
    writes: str  # the path of those that write owners
    nobody: str  # what could be a record's id, and is none
    unreadable: str  # what never can be one

    def crm(self, url: str | None = None) -> Crm:
        """The outbound half, connected to this account or to another address."""
        settings = self.settings(url or self.sandbox.url)
        crm: Crm = adapters.adapter(self.kind).crm(settings, Alone())
        return crm

    def calls(self, path: str) -> list[Call]:
        return list(self.sandbox.calls_to(path))


class Portal(Account):
    """HubSpot."""

    kind, object_type = "hubspot", "contacts"
    reads, writes = "/contacts/batch/read", "/contacts/batch/update"
    nobody, unreadable = "874716779721", "https://evil.example/x"

    def __init__(self, sandbox: HubSpotSandbox) -> None:
        self.sandbox = sandbox

    def settings(self, url: str) -> HubSpotSettings:
        return HubSpotSettings(
            name="hubspot",
            access_token=self.sandbox.access_token,
            client_secret="secret",
            public_url="https://leads.example.com",
            base_url=url,
        )

    def person(self, name: str) -> str:
        return str(self.sandbox.add_owner(f"{name}@sales.example", name))

    def fire(self, owner_id: str) -> None:
        self.sandbox.archive_owner(owner_id)

    def record(self, owner_id: str | None = None, email: str | None = None) -> str:
        fields = {"email": email, "hubspot_owner_id": owner_id}
        return str(self.sandbox.create("contacts", fields))

    def company(self, record_id: str, owner_id: str) -> None:
        company = self.sandbox.create("companies", {"name": "Acme", "hubspot_owner_id": owner_id})
        self.sandbox.link("contacts", record_id, "companies", company, primary=True)

    def delete(self, record_id: str) -> None:
        self.sandbox.delete("contacts", record_id)

    def owner_of(self, record_id: str) -> str | None:
        return self.sandbox.owner_of("contacts", record_id)

    def values(self, record_id: str) -> dict[str, Any]:
        return dict(self.sandbox.get("contacts", record_id) or {})

    def close_records(self) -> None:
        self.sandbox.missing_scopes = ["crm.objects.contacts.read"]


class Org(Account):
    """Salesforce."""

    kind, object_type = "salesforce", "Lead"
    reads, writes = "/query", "/composite/sobjects"
    nobody, unreadable = "00Q5e00000XyZzZEAV", "https://evil.example/x"

    def __init__(self, sandbox: SalesforceSandbox) -> None:
        self.sandbox = sandbox
        self.queue = sandbox.add_queue("New leads")

    def settings(self, url: str) -> SalesforceSettings:
        return SalesforceSettings(
            name="salesforce",
            login_url=url,
            client_id=self.sandbox.tokens.client_id,
            client_secret=self.sandbox.tokens.client_secret,
            org_id=self.sandbox.org_id,
        )

    def person(self, name: str) -> str:
        return self.sandbox.add_user(name, f"{name}@sales.example")

    def fire(self, owner_id: str) -> None:
        self.sandbox.deactivate(owner_id)

    def record(self, owner_id: str | None = None, email: str | None = None) -> str:
        fields = {
            "LastName": "L",
            "Company": "C",
            "Email": email,
            "OwnerId": owner_id or self.queue,
        }
        return self.sandbox.create("Lead", fields)

    def company(self, record_id: str, owner_id: str) -> None:
        self.sandbox.change(record_id, {"Email": "kim@acme.example"})
        fields = {"Name": "Acme", "Website": "www.acme.example", "OwnerId": owner_id}
        self.sandbox.create("Account", fields)

    def delete(self, record_id: str) -> None:
        self.sandbox.delete(record_id)

    def owner_of(self, record_id: str) -> str | None:
        owner_id = self.sandbox.owner_of(record_id)
        return None if owner_id == self.queue else owner_id

    def values(self, record_id: str) -> dict[str, Any]:
        return self.sandbox.get(record_id)

    def close_records(self) -> None:
        self.sandbox.hide("Lead")


@pytest.fixture(params=["hubspot", "salesforce"])
def account(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "hubspot":
        with HubSpotSandbox() as portal:
            yield Portal(portal)
    else:
        with SalesforceSandbox() as org:
            yield Org(org)


@pytest.fixture
def connect(account: Account) -> Iterator[Callable[..., Crm]]:
    opened: list[Crm] = []

    def open_crm(url: str | None = None) -> Crm:
        opened.append(account.crm(url))
        return opened[-1]

    yield open_crm
    for crm in opened:
        crm.close()


@pytest.fixture
def crm(connect: Callable[..., Crm]) -> Crm:
    return connect()


def write(record_id: str, owner_id: str) -> OwnerWrite:
    return OwnerWrite(record_id=record_id, owner_id=owner_id)


def results(crm: Crm, account: Account, *writes: OwnerWrite) -> list[Result]:
    outcomes = crm.write_owners(account.object_type, writes)
    assert [one.record_id for one in outcomes] == [one.record_id for one in writes]
    return [one.result for one in outcomes]


# -- reading


def test_records_are_told_by_the_id_asked_for_and_what_is_gone_is_missing(account, crm) -> None:
    there, gone = account.record(email="kim@acme.example"), account.record()
    account.delete(gone)
    found = crm.read_records(account.object_type, [gone, there, account.nobody])
    assert list(found) == [there]
    assert (found[there].id, found[there].email) == (there, "kim@acme.example")


def test_an_owner_stays_if_a_real_person_who_is_active(account, crm) -> None:
    ann, bob = account.person("ann"), account.person("bob")
    records = [account.record(one) for one in (ann, bob, None)]
    account.fire(bob)
    found = crm.read_records(account.object_type, records)
    assert [found[one].owner_stays for one in records] == [True, False, False]
    assert found[records[0]].owner_id == ann


def test_a_full_batch_is_one_read(account, crm) -> None:
    ids = [account.record() for _ in range(crm.capabilities.read_batch)]
    assert set(crm.read_records(account.object_type, ids)) == set(ids)
    assert len(account.calls(account.reads)) == 1


def test_no_ids_are_no_call(account, crm) -> None:
    assert crm.read_records(account.object_type, []) == {}
    assert account.sandbox.calls == []


def test_fields_that_the_crm_does_not_have_cost_nothing_but_themselves(account, crm) -> None:
    record_id = account.record(email="kim@acme.example")
    asked = ["nosuchfield", "Email", "No_Such__c", "; drop", "x" * 500]
    found = crm.read_records(account.object_type, [record_id], fields=asked)
    assert found[record_id].email == "kim@acme.example"


# -- writing


def test_owners_are_written_in_one_call_each_told_in_its_place(account, crm) -> None:
    ann = account.person("ann")
    ids = [account.record() for _ in range(crm.capabilities.write_batch)]
    assert set(results(crm, account, *(write(one, ann) for one in ids))) == {Result.DONE}
    assert [account.owner_of(one) for one in ids] == [ann] * len(ids)
    assert len(account.calls(account.writes)) == 1


def test_nothing_but_the_owner_is_written(account, crm) -> None:
    ann, record_id = account.person("ann"), account.record(email="kim@acme.example")
    before = account.values(record_id)
    assert results(crm, account, write(record_id, ann)) == [Result.DONE]
    after = account.values(record_id)
    changed = {name.lower() for name in before if before[name] != after[name]}
    stamps = {
        "lastmodifieddate",
        "lastmodifiedbyid",
        "systemmodstamp",
        "hubspot_owner_assigneddate",
    }
    assert changed - stamps <= {"ownerid", "hubspot_owner_id"}


def test_one_record_that_is_gone_costs_the_others_nothing(account, crm) -> None:
    ann, ids = account.person("ann"), [account.record() for _ in range(3)]
    account.delete(ids[1])
    told = results(crm, account, *(write(one, ann) for one in ids))
    assert told == [Result.DONE, Result.NEVER, Result.DONE]


def test_whoever_is_not_listed_as_active_is_never_sent(account, crm) -> None:
    ann, record_id = account.person("ann"), account.record()
    account.person("bob")  # a CRM without anybody would be a broken one
    account.fire(ann)
    (outcome,) = crm.write_owners(account.object_type, [write(record_id, ann)])
    assert (outcome.result, outcome.is_listed) == (Result.INACTIVE_OWNER, True)
    assert account.calls(account.writes) == []


@pytest.mark.parametrize("drop", ["before", "after"])
def test_a_reply_that_is_lost_leaves_the_outcome_open_and_is_not_sent_again(
    account, crm, drop
) -> None:
    ann, record_id = account.person("ann"), account.record()
    account.sandbox.faults.add(account.writes, drop=drop)
    with pytest.raises(CrmAgain):
        crm.write_owners(account.object_type, [write(record_id, ann)])
    assert len(account.calls(account.writes)) == 1
    found = crm.read_records(account.object_type, [record_id])[record_id]
    assert found.owner_stays is (drop == "after")


def test_an_id_that_is_an_address_leads_nowhere(account, crm) -> None:
    ann = account.person("ann")
    told = results(crm, account, write(account.unreadable, ann))
    assert told == [Result.NEVER]
    assert {call.headers["host"] for call in account.sandbox.calls} <= {
        account.sandbox.url.removeprefix("http://")
    }


# -- people


def test_people_are_told_by_owner_id_those_who_left_too(account, crm) -> None:
    ann, bob = account.person("ann"), account.person("bob")
    account.fire(bob)
    found = crm.people([ann, bob, "no id of anybody"])
    assert {one: person.active for one, person in found.items()} == {ann: True, bob: False}
    assert {ann} <= set(crm.people(None))


def test_a_directory_that_cannot_be_read_is_an_error_and_never_empty(account, crm) -> None:
    account.person("ann")
    account.sandbox.faults.add(".*", status=503, times=None)
    with pytest.raises(CrmError):
        crm.people(None)


def test_a_person_is_told_while_active(account, connect) -> None:
    ann, _ = account.person("ann"), account.person("bob")
    person = connect().person(ann)
    assert person is not None
    assert (person.owner_id, person.active) == (ann, True)
    account.fire(ann)
    assert connect().person(ann) is None


# -- whose person and company it is


def test_the_company_that_a_record_is_linked_to_is_told_with_its_owner(account, crm) -> None:
    ann, record_id, other = account.person("ann"), account.record(), account.record()
    account.company(record_id, ann)
    found = crm.related(
        account.object_type, crm.read_records(account.object_type, [record_id, other])
    )
    assert list(found) == [record_id]
    (company,) = found[record_id]
    assert (company.step, company.name) == (StickyStep.COMPANY, "Acme")
    assert (company.owner_id, company.owner_stays) == (ann, True)


def test_nothing_to_look_up_is_no_call(account, crm) -> None:
    assert crm.related(account.object_type, {}) == {}
    assert account.sandbox.calls == []


# -- catching up


def test_the_walk_over_unowned_records_ends_and_meets_each_once(account, crm) -> None:
    ids = {account.record() for _ in range(5)}
    met: list[str] = []
    while page := crm.unowned(account.object_type, LONG_AGO, after=met[-1] if met else None):
        met += page
    assert ids <= set(met)
    assert len(met) == len(set(met))


def test_what_changed_is_told_where_the_crm_can_tell(account, crm) -> None:
    record_id = account.record()
    found = crm.changes(account.object_type, Mark(at=LONG_AGO))
    assert found.is_all
    told = {event.record_id for event in found.events}
    assert told == ({record_id} if crm.capabilities.changes else set())


def test_an_account_in_order_raises_no_concern_that_loses_leads(account, crm) -> None:
    account.record()
    assert [one.text for one in crm.concerns(lambda *_: ()) if one.loses_leads] == []


# -- failures


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 503}, CrmAgain),
        ({"status": 502, "body": "<html>bad gateway</html>"}, CrmAgain),
        ({"status": 429, "headers": {"Retry-After": "7"}}, CrmPaced),
        ({"status": 401}, CrmUnreachable),
        ({"drop": "before"}, CrmAgain),
        ({"truncate": True}, CrmAgain),
    ],
    ids=str,
)
def test_a_failed_call_says_what_will_come_of_it(account, crm, fault, error) -> None:
    record_id = account.record()
    account.sandbox.faults.add(account.reads, **fault, times=None)
    with pytest.raises(error) as failed:
        crm.read_records(account.object_type, [record_id])
    if error is CrmPaced:
        assert failed.value.pause_seconds == 7
    account.sandbox.faults.clear()
    assert list(crm.read_records(account.object_type, [record_id])) == [record_id]


def test_records_that_are_closed_to_us_are_a_matter_of_permission(account, crm) -> None:
    record_id = account.record()
    account.close_records()
    with pytest.raises(CrmForbidden):
        crm.read_records(account.object_type, [record_id])


def test_a_crm_that_is_not_there_is_unreachable(connect, account) -> None:
    crm = connect(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(CrmUnreachable):
        crm.read_records(account.object_type, [account.nobody])


# -- as a whole


def test_threads_share_a_connection(account, crm) -> None:
    ann, ids = account.person("ann"), [account.record() for _ in range(16)]

    def own(record_id: str) -> CrmRecord:
        assert results(crm, account, write(record_id, ann)) == [Result.DONE]
        return crm.read_records(account.object_type, [record_id])[record_id]

    with ThreadPoolExecutor(8) as threads:
        assert {one.owner_id for one in threads.map(own, ids)} == {ann}


def test_nothing_is_sent_before_it_is_asked_for_and_closing_twice_is_fine(account) -> None:
    crm = account.crm()
    assert account.sandbox.calls == []
    crm.close()
    crm.close()


def test_what_an_adapter_can_do_is_told(crm) -> None:
    can = crm.capabilities
    assert can.read_batch >= 1
    assert can.write_batch >= 1
    assert timedelta(minutes=1) <= can.people_every <= timedelta(hours=1)
    assert crm.availability_problem is None
