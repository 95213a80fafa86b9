"""What changed in an org is told in pages of (stamp, id), each state of a record once."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from adapters.salesforce import backlog
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmAgain, CrmForbidden, CrmNever
from connector.model import EventKind, LeadEvent
from connector.ports import Changes, Mark
from tests.adapters.salesforce.conftest import Clock


@pytest.fixture
def org(clock: Clock):
    with SalesforceSandbox(clock=clock) as sandbox:
        yield sandbox


def lead(org: SalesforceSandbox, **fields: object) -> str:
    return org.create("Lead", {"LastName": "Example", "Company": "Acme"} | fields)


def all_pages(crm: SalesforceCrm, since: datetime, object_type: str = "Lead") -> list[Changes]:
    pages = [crm.changes(object_type, Mark(at=since))]
    while not pages[-1].is_all:
        pages.append(crm.changes(object_type, pages[-1].mark))
    return pages


def told(page: Changes) -> list[str]:
    return [event.record_id for event in page.events]


def one(crm: SalesforceCrm, since: datetime, object_type: str = "Lead") -> LeadEvent:
    (event,) = crm.changes(object_type, Mark(at=since)).events
    return event


def ago(clock: Clock, seconds: float) -> datetime:
    return clock.now - timedelta(seconds=seconds)


def test_the_org_can_be_asked_what_changed(crm):
    assert crm.capabilities.changes


def test_what_changed_since_the_mark_comes_in_the_order_of_its_last_change(org, crm, clock):
    start = clock.now
    before = lead(org)
    clock.go(10)
    first, second = lead(org), lead(org)
    clock.go(10)
    org.change(first, {"Title": "CEO"})

    page = crm.changes("Lead", Mark(at=start + timedelta(seconds=1)))

    assert told(page) == [second, first]
    assert page.is_all
    assert page.mark == Mark(at=clock.now, record_id=first)
    assert before not in told(page)


def test_what_changed_at_the_mark_itself_is_told_unless_its_id_was(org, crm, clock):
    ids = sorted(lead(org) for _ in range(3))

    assert told(crm.changes("Lead", Mark(at=clock.now))) == ids
    assert told(crm.changes("Lead", Mark(at=clock.now, record_id=ids[1]))) == ids[2:]


def test_records_of_one_stamp_come_in_the_order_of_their_ids(org, crm, clock):
    ids = [f"00Q5g00000000{n:02d}" for n in (3, 1, 2)]
    made = [org.create("Lead", {"LastName": "X", "Company": "Y"}, record_id=one) for one in ids]

    assert told(crm.changes("Lead", Mark(at=clock.now))) == sorted(made)


def test_nothing_new_leaves_the_mark_where_it_is(org, crm, clock):
    mark = Mark(at=clock.now, record_id=lead(org))

    assert crm.changes("Lead", mark) == Changes(events=[], mark=mark, is_all=True)


@pytest.mark.parametrize("page_size", [2_000, 700])
def test_t29_more_records_of_one_stamp_than_a_page_holds_are_told_once_each(
    org, crm, clock, page_size
):
    org.page_size = page_size
    ids = sorted(lead(org) for _ in range(2_500))

    pages = all_pages(crm, clock.now)

    assert [len(page.events) for page in pages] == [2_000, 500]
    assert [one for page in pages for one in told(page)] == ids
    assert pages[0].mark == Mark(at=clock.now, record_id=ids[1_999])


def test_a_page_that_is_just_full_is_followed_by_an_empty_one(org, crm, clock, monkeypatch):
    monkeypatch.setattr(backlog, "PAGE", 2)
    ids = sorted(lead(org) for _ in range(2))

    first, second = all_pages(crm, clock.now)

    assert (told(first), first.is_all) == (ids, False)
    assert (told(second), second.is_all) == ([], True)


@pytest.mark.parametrize("page_size", [1, 3])
def test_pages_of_the_org_may_be_as_small_as_they_like(org, crm, clock, page_size):
    org.page_size = page_size
    ids = sorted(lead(org) for _ in range(7))

    assert told(crm.changes("Lead", Mark(at=clock.now))) == ids


def test_a_stamp_of_less_than_a_second_is_not_told_for_ever(org, crm, clock, monkeypatch):
    monkeypatch.setattr(backlog, "PAGE", 1)
    clock.go(0.123456)
    ids = sorted(lead(org) for _ in range(3))

    pages = all_pages(crm, clock.now - timedelta(seconds=1))

    assert [one for page in pages for one in told(page)] == ids


def test_the_same_state_has_the_same_key_and_another_state_another(org, crm, clock):
    start, record_id = clock.now, lead(org)
    before, again = one(crm, start), one(crm, start)
    clock.go(1)
    org.change(record_id, {"Title": "CEO"})

    assert before == again
    assert one(crm, start).key != before.key


def test_another_owner_within_one_second_is_another_state(org, crm, clock):
    start, record_id = clock.now, lead(org)
    before = one(crm, start)
    org.set_owner(record_id, org.add_user("Ann", "ann@example.com"))

    assert one(crm, start).key != before.key


def test_an_event_says_whether_the_record_is_new_and_who_owns_it(org, crm, clock):
    start, queue = clock.now, org.add_queue("New leads")
    record_id = lead(org, OwnerId=queue)
    event = one(crm, start)
    assert (event.kind, event.record_id, event.owner_id) == (EventKind.CREATED, record_id, queue)
    assert event.occurred_at == clock.now

    clock.go(60)
    org.change(record_id, {"Title": "CEO"})
    event = one(crm, start)
    assert (event.kind, event.occurred_at) == (EventKind.CHANGED, clock.now)


def test_our_own_write_is_told_with_the_owner_in_18_characters(org, crm, clock):
    start, ann, record_id = clock.now, org.add_user("Ann", "ann@example.com"), lead(org)
    clock.go(1)
    org.set_owner(record_id, ann)

    assert one(crm, start).owner_id == ann
    assert len(ann) == 18


def test_a_change_of_a_record_that_a_person_owns_is_settled(org, crm, clock):
    start, ann = clock.now, org.add_user("Ann", "ann@example.com")
    record_id = lead(org, OwnerId=ann)
    assert crm.changes("Lead", Mark(at=start)).settled == {}  # new, so to be kept and known

    clock.go(1)
    org.change(record_id, {"Title": "CEO"})
    page = crm.changes("Lead", Mark(at=start))

    assert page.settled == {page.events[0].key: "owned_already"}


@pytest.mark.parametrize("who", ["queue", "inactive", "holding", "integration"])
def test_a_change_of_a_record_that_counts_as_unowned_is_not_settled(org, connect, clock, who):
    start, person = clock.now, org.add_user("Default Owner", "default@example.com")
    crm = connect(org.url, unassigned_owners=frozenset({person} if who == "holding" else ()))
    owner = {"queue": org.add_queue("Web"), "integration": org.integration_user}.get(who, person)
    record_id = lead(org, OwnerId=owner)
    if who == "inactive":
        org.deactivate(person)
    clock.go(1)
    org.change(record_id, {"Title": "CEO"})

    assert crm.changes("Lead", Mark(at=start)).settled == {}


def test_a_converted_lead_is_settled_whoever_owns_it(org, crm, clock):
    start, record_id = clock.now, lead(org)
    org.convert(record_id)

    page = crm.changes("Lead", Mark(at=start))

    assert page.settled == {page.events[0].key: "record_closed"}


def test_a_deleted_record_is_not_told(org, crm, clock):
    org.delete(lead(org))

    assert crm.changes("Lead", Mark(at=ago(clock, 60))).events == []


@pytest.mark.parametrize("object_type", ["Contact", "Account", "Opportunity", "Case", "Task"])
def test_other_object_types_are_told_as_well(org, crm, clock, object_type):
    names = {"Contact": "LastName", "Account": "Name", "Opportunity": "Name"}
    record_id = org.create(object_type, {names.get(object_type, "Subject"): "Example"})

    assert one(crm, ago(clock, 60), object_type).record_id == record_id


def test_a_mark_that_is_no_id_is_never_sent(org, crm, clock):
    with pytest.raises(CrmNever, match="no Salesforce id"):
        crm.changes("Lead", Mark(at=clock.now, record_id="' OR Id != '"))

    assert org.calls_to("/query") == []


def test_an_object_type_that_is_hidden_is_a_matter_of_permission(org, crm, clock):
    org.hide("Case")

    with pytest.raises(CrmForbidden):
        crm.changes("Case", Mark(at=clock.now))


def test_a_hidden_owner_is_a_matter_of_permission(org, crm, clock):
    org.hide("Lead", "OwnerId")

    with pytest.raises(CrmForbidden, match="hides the owner"):
        crm.changes("Lead", Mark(at=clock.now))


def test_an_answer_without_a_stamp_is_no_answer(org, crm, clock):
    body = {"totalSize": 1, "done": True, "records": [{"Id": lead(org), "OwnerId": None}]}
    org.faults.add("/query", status=200, body=body)

    with pytest.raises(CrmAgain, match="no SystemModstamp"):
        crm.changes("Lead", Mark(at=ago(clock, 60)))
