"""The whole adapter against a HubSpot that keeps HubSpot's rules, in each API version."""

import json
from contextlib import closing
from datetime import UTC, datetime, time, timedelta

import pytest

from adapters import hubspot
from adapters.hubspot.settings import HubSpotSettings
from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_events import event, signed_headers
from connector.errors import CrmAgain, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.model import Absence, Availability, Presence, StickyStep, WorkingHours
from connector.ports import Delivery, OwnerWrite, Result, Verdict
from tests import hubspot_requests
from tests.builders import seen

VERSIONS = ["v3", "2026-03", "2026-09"]
VERDICT = Verdict(
    owner_id="5501",
    owner_email="rae@example.test",
    user_name="Rae",
    pool="EMEA",
    reason="rotation",
)


@pytest.fixture
def sandbox():
    with HubSpotSandbox() as portal:
        yield portal
        hubspot_requests.check(portal.calls)


@pytest.fixture(params=VERSIONS)
def crm(request, sandbox, connect):
    return connect(sandbox.url, access_token=sandbox.access_token, api_version=request.param)


@pytest.fixture
def owner(sandbox):
    return sandbox.add_owner("rae@example.test", "Rae", "Ngata")


def write(record_id, owner_id):
    return OwnerWrite(record_id=record_id, owner_id=owner_id)


def read(crm, *ids, object_type="contacts"):
    return crm.read_records(object_type, ids)


@pytest.mark.parametrize("empty_as", ["null", "missing", "blank"])
def test_an_unowned_lead_is_read_and_gets_its_owner(sandbox, crm, owner, empty_as):
    sandbox.empty_as = empty_as
    sandbox.extra_fields = True
    lead = sandbox.create("contacts", {"email": "lead@example.test", "country": "DE"})

    before = read(crm, lead)[lead]
    (outcome,) = crm.write_owners("contacts", [write(lead, owner)])
    after = read(crm, lead)[lead]

    assert (before.owner_id, before.email) == (None, "lead@example.test")
    assert before.attributes["country"] == "DE"
    assert outcome.result is Result.DONE
    assert (after.owner_id, after.owner_stays) == (owner, True)
    assert sandbox.history_of("contacts", lead, "hubspot_owner_id") == [owner]


def test_a_hundred_leads_are_one_read_and_one_write(sandbox, crm, owner):
    leads = [sandbox.create("leads", {"hs_lead_name": f"Lead {n}"}) for n in range(100)]

    assert set(crm.read_records("leads", leads)) == set(leads)
    outcomes = crm.write_owners("leads", [write(lead, owner) for lead in leads])

    assert [outcome.record_id for outcome in outcomes] == leads
    assert {outcome.result for outcome in outcomes} == {Result.DONE}
    assert len(sandbox.calls_to("/batch/")) == 2
    assert sandbox.connections == 1


def test_unknown_and_deleted_records_are_missing(sandbox, crm, owner):
    gone = sandbox.create("contacts", {})
    kept = sandbox.create("contacts", {})
    sandbox.delete("contacts", gone)

    assert list(read(crm, "874716779721", gone, kept)) == [kept]
    outcomes = crm.write_owners("contacts", [write(gone, owner), write(kept, owner)])

    assert [outcome.result for outcome in outcomes] == [Result.NEVER, Result.DONE]
    assert outcomes[0].code == "OBJECT_NOT_FOUND"


@pytest.mark.parametrize("new_id", [False, True], ids=["primary survives", "new record"])
def test_merged_records_name_their_survivor(sandbox, crm, new_id):
    first, second, third = (sandbox.create("contacts", {"email": f"{n}@x.test"}) for n in range(3))
    survivor = sandbox.merge(first, [second, third], new_id=new_id)

    rows = read(crm, second, third)

    assert {row.survivor_id for row in rows.values()} == {survivor}
    assert set(rows) == {second, third}


def test_records_merged_in_a_chain_name_the_last(sandbox, crm):
    first, second, third = (sandbox.create("contacts", {}) for _ in range(3))
    sandbox.merge(second, [first])
    sandbox.merge(third, [second])

    assert read(crm, first)[first].survivor_id == third


def test_a_dead_id_is_never_written(sandbox, crm, owner):
    first, second = (sandbox.create("contacts", {}) for _ in range(2))
    sandbox.merge(first, [second])

    (outcome,) = crm.write_owners("contacts", [write(second, owner)])

    assert (outcome.result, outcome.code) == (Result.NEVER, "OBJECT_NOT_FOUND")
    assert sandbox.owner_of("contacts", first) is None


def test_archived_people_and_queues_keep_nothing(sandbox, crm, owner):
    left = sandbox.add_owner("left@example.test", archived=True)
    queue = sandbox.add_owner("queue@example.test", type="QUEUE")
    leads = {
        sandbox.create("contacts", {"hubspot_owner_id": by}): by for by in (owner, left, queue)
    }

    rows = read(crm, *leads)

    assert [rows[lead].owner_stays for lead in leads] == [True, False, False]


def test_archived_people_and_user_ids_are_refused_without_a_call(sandbox, crm, owner):
    left = sandbox.add_owner("left@example.test", archived=True)
    lead = sandbox.create("contacts", {})
    wrong = [left, "7777", sandbox.user_id_of(owner)]

    for owner_id in wrong:
        (outcome,) = crm.write_owners("contacts", [write(lead, owner_id)])
        assert (outcome.result, outcome.is_listed) == (Result.INACTIVE_OWNER, True)

    assert sandbox.calls_to("/batch/update") == []
    assert sandbox.owner_of("contacts", lead) is None


def test_an_owner_who_was_archived_a_moment_ago_is_refused_by_hubspot(sandbox, crm, owner):
    lead = sandbox.create("contacts", {"hubspot_owner_id": owner})
    read(crm, lead)
    sandbox.archive_owner(owner)

    (outcome,) = crm.write_owners("contacts", [write(lead, owner)])

    assert (outcome.result, outcome.code) == (Result.INACTIVE_OWNER, "INVALID_OWNER_ID")


def test_one_refused_owner_in_a_batch_is_told_apart_either_way(sandbox, crm, owner):
    other = sandbox.add_owner("other@example.test")
    leads = [sandbox.create("contacts", {"hubspot_owner_id": other}) for _ in range(3)]
    read(crm, *leads)
    sandbox.archive_owner(other)
    writes = [write(leads[0], owner), write(leads[1], other), write(leads[2], owner)]

    with pytest.raises(CrmNever):
        crm.write_owners("contacts", writes)
    sandbox.whole_batch_400 = False
    outcomes = crm.write_owners("contacts", writes)

    assert [outcome.result for outcome in outcomes] == [
        Result.DONE,
        Result.INACTIVE_OWNER,
        Result.DONE,
    ]


def test_a_rule_of_the_account_stops_the_write_and_not_the_user(sandbox, connect, owner):
    crm = connect(sandbox.url, access_token=sandbox.access_token, api_version="2026-09")
    sandbox.admin_rule = "industry"
    lead = sandbox.create("contacts", {})

    (outcome,) = crm.write_owners("contacts", [write(lead, owner)])

    assert (outcome.result, outcome.code) == (Result.NEVER, "REQUIRED_PROPERTY")
    assert "industry" in outcome.message


def test_all_pages_of_owners_are_read(sandbox, crm):
    owners = [sandbox.add_owner(f"{n}@example.test") for n in range(230)]
    lead = sandbox.create("contacts", {"hubspot_owner_id": owners[-1]})

    assert read(crm, lead)[lead].owner_stays
    assert len(sandbox.calls_to("/owners")) == 3


def test_missing_scopes_stop_the_connection(sandbox, crm, owner):
    lead = sandbox.create("contacts", {"hubspot_owner_id": owner})
    sandbox.missing_scopes = ["crm.objects.owners.read"]

    with pytest.raises(CrmUnreachable, match=r"crm\.objects\.owners\.read"):
        read(crm, lead)


def test_a_missing_scope_closes_its_object_type_alone(sandbox, crm, owner):
    lead = sandbox.create("leads", {})
    contact = sandbox.create("contacts", {})
    sandbox.missing_scopes = ["crm.objects.leads.read", "crm.objects.leads.write"]

    with pytest.raises(CrmForbidden, match=r"crm\.objects\.leads\.read"):
        read(crm, lead, object_type="leads")
    with pytest.raises(CrmForbidden, match=r"crm\.objects\.leads\.write"):
        crm.write_owners("leads", [write(lead, owner)])
    assert list(read(crm, contact)) == [contact]
    (outcome,) = crm.write_owners("contacts", [write(contact, owner)])
    assert outcome.result is Result.DONE


def test_a_wrong_token_stops_the_connection(sandbox, connect):
    with pytest.raises(CrmUnreachable) as caught:
        connect(sandbox.url, access_token="another-token").account_id()

    assert "another-token" not in caught.value.message


def test_the_portal_is_known_by_its_account(sandbox, crm):
    assert crm.account_id() == sandbox.portal_id


def test_a_lost_reply_is_told_and_not_repeated(sandbox, crm, owner):
    lead = sandbox.create("contacts", {})
    sandbox.faults.add("/batch/update", drop="after")

    with pytest.raises(CrmAgain):
        crm.write_owners("contacts", [write(lead, owner)])

    assert read(crm, lead)[lead].owner_id == owner
    assert len(sandbox.calls_to("/batch/update")) == 1


def test_a_truncated_answer_to_a_write_is_told_and_not_repeated(sandbox, crm, owner):
    lead = sandbox.create("contacts", {})
    sandbox.faults.add("/batch/update", truncate=True)

    with pytest.raises(CrmAgain):
        crm.write_owners("contacts", [write(lead, owner)])

    assert len(sandbox.calls_to("/batch/update")) == 1


@pytest.mark.parametrize("retry_after", [False, True], ids=["bare", "with Retry-After"])
def test_the_limits_are_kept_by_pausing(sandbox, crm, retry_after):
    lead = sandbox.create("contacts", {})
    sandbox.retry_after = retry_after
    sandbox.ten_secondly_limit = 0

    with pytest.raises(CrmPaced) as caught:
        read(crm, lead)

    assert 0 < caught.value.pause_seconds <= 11
    assert len(sandbox.calls) == 1


def test_every_ready_made_fault_is_an_error_of_ours(sandbox, crm, owner):
    lead = sandbox.create("contacts", {})
    for preset in sandbox.faults.presets:
        sandbox.faults.clear()
        sandbox.faults.add("/batch/", preset=preset, times=None)
        for call in (
            lambda: read(crm, lead),
            lambda: crm.write_owners("contacts", [write(lead, owner)] * 2),
        ):
            with pytest.raises((CrmAgain, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable)):
                call()


def halved(crm, writes):
    """The outcomes of writes, a batch that is refused as a whole cut in halves."""
    try:
        return crm.write_owners("contacts", writes)
    except CrmNever:
        middle = len(writes) // 2
        return halved(crm, writes[:middle]) + halved(crm, writes[middle:])


@pytest.mark.parametrize("place", [0, 57, 99])
def test_a_batch_refused_for_one_record_is_written_but_for_that_record(sandbox, crm, owner, place):
    other = sandbox.add_owner("other@example.test")
    leads = [sandbox.create("contacts", {"hubspot_owner_id": other}) for _ in range(100)]
    read(crm, leads[0])
    sandbox.archive_owner(other)
    writes = [write(lead, other if n == place else owner) for n, lead in enumerate(leads)]

    outcomes = halved(crm, writes)

    assert [outcome.record_id for outcome in outcomes] == leads
    assert outcomes[place].result is Result.INACTIVE_OWNER
    assert [outcome.result for outcome in outcomes].count(Result.DONE) == 99
    assert len(sandbox.calls_to("/batch/update")) <= 2 * 7 + 1


def test_a_rule_of_the_account_tells_each_record_of_a_batch(sandbox, connect, owner):
    crm = connect(sandbox.url, access_token=sandbox.access_token, api_version="2026-09")
    sandbox.admin_rule = "industry"
    leads = [sandbox.create("contacts", {}), sandbox.create("contacts", {"industry": "Steel"})]

    outcomes = halved(crm, [write(lead, owner) for lead in leads])

    assert [outcome.result for outcome in outcomes] == [Result.NEVER, Result.DONE]
    assert "industry" in outcomes[0].message
    assert sandbox.owner_of("contacts", leads[0]) is None


def test_an_address_is_no_record_id(sandbox, crm, owner):
    lead = sandbox.create("contacts", {"email": "lead@example.test"})

    assert read(crm, "lead@example.test") == {}
    (outcome,) = crm.write_owners("contacts", [write("lead@example.test", owner)])

    assert outcome.result is Result.NEVER
    assert sandbox.owner_of("contacts", lead) is None


def test_an_id_of_64_bits_is_read_and_written_unchanged(sandbox, crm, owner):
    lead = sandbox.create("contacts", {}, record_id="9007199254740993")

    assert list(read(crm, lead)) == ["9007199254740993"]
    (outcome,) = crm.write_owners("contacts", [write(lead, owner)])

    assert (outcome.record_id, outcome.result) == ("9007199254740993", Result.DONE)
    assert sandbox.owner_of("contacts", lead) == owner


def test_a_write_that_meets_the_limit_twice_sets_the_owner_once(sandbox, crm, owner):
    lead = sandbox.create("contacts", {})
    sandbox.faults.add("/batch/update", preset="ten_secondly_limit", times=2)
    pauses = []
    for _ in range(2):
        with pytest.raises(CrmPaced) as caught:
            crm.write_owners("contacts", [write(lead, owner)])
        pauses.append(caught.value.pause_seconds)

    (outcome,) = crm.write_owners("contacts", [write(lead, owner)])

    assert (pauses, outcome.result) == ([10, 10], Result.DONE)
    assert len(sandbox.calls_to("/batch/update")) == 3
    assert sandbox.history_of("contacts", lead, "hubspot_owner_id") == [owner]


# -- links, people, workflows, the unowned


@pytest.mark.parametrize("unlinked_as", ["nothing", "error"])
def test_a_contacts_company_is_the_primary_one(sandbox, crm, owner, unlinked_as):
    sandbox.unlinked_as = unlinked_as
    lead, alone = (sandbox.create("contacts", {}) for _ in range(2))
    first, second = (sandbox.create("companies", {"name": f"Ada {n}"}) for n in range(2))
    sandbox.set_owner("companies", second, owner)
    sandbox.link("contacts", lead, "companies", first)
    sandbox.link("contacts", lead, "companies", second, primary=True)

    ((found,),) = crm.related("contacts", seen(lead, alone, "99")).values()

    assert (found.step, found.id, found.name) == (StickyStep.COMPANY, second, "Ada 1")
    assert (found.owner_id, found.owner_stays) == (owner, True)


def test_a_leads_person_and_company_are_those_of_its_primary_contact(sandbox, crm, owner):
    lead = sandbox.create("leads", {"hs_lead_name": "New"})
    other = sandbox.create("contacts", {"firstname": "Bo"})
    person = sandbox.create("contacts", {"firstname": "Ada", "hubspot_owner_id": owner})
    company = sandbox.create("companies", {"name": "Ada Ltd"})
    sandbox.link("leads", lead, "contacts", other)
    sandbox.link("leads", lead, "contacts", person, primary=True)
    sandbox.link("contacts", person, "companies", company, primary=True)

    found = crm.related("leads", seen(lead))[lead]

    assert [(one.step, one.id, one.name) for one in found] == [
        (StickyStep.PERSON, person, "Ada"),
        (StickyStep.COMPANY, company, "Ada Ltd"),
    ]
    assert [one.owner_stays for one in found] == [True, False]


def test_companies_that_the_token_may_not_read_are_told(sandbox, crm):
    lead = sandbox.create("contacts", {})
    sandbox.missing_scopes = ["crm.objects.companies.read"]

    with pytest.raises(CrmForbidden, match=r"crm\.objects\.companies\.read"):
        crm.related("contacts", seen(lead))


def test_people_are_told_with_their_availability(sandbox, crm, owner):
    kim = sandbox.add_owner("kim@example.test", "Kim")
    left = sandbox.add_owner("left@example.test", archived=True)
    queue = sandbox.add_owner("queue@example.test", type="QUEUE")
    start, end = datetime(2026, 12, 1, 9, tzinfo=UTC), datetime(2026, 12, 2, 9, tzinfo=UTC)
    sandbox.set_availability(
        owner,
        status="away",
        out_of_office=[(start, end)],
        working_hours=[("MONDAY_TO_FRIDAY", 540, 1020), ("SUNDAY", 1200, 1440)],
        time_zone="Europe/Berlin",
    )

    told = crm.people()

    assert {one.owner_id: one.active for one in told.values()} == {
        owner: True,
        kim: True,
        left: False,
        queue: False,
    }
    assert (told[owner].name, told[owner].email) == ("Rae Ngata", "rae@example.test")
    assert told[owner].availability == Availability(
        status=Presence.AWAY,
        time_zone="Europe/Berlin",
        working_hours=(
            WorkingHours(days=(0, 1, 2, 3, 4), start=time(9), end=time(17)),
            WorkingHours(days=(6,), start=time(20), end=time(0)),
        ),
        absences=(Absence(id=start.isoformat(), starts_at=start, ends_at=end),),
    )
    assert told[kim].availability == Availability()
    assert crm.availability_problem is None


@pytest.mark.parametrize(("unit", "count"), [("seconds", 1), ("eleven_digits", 0)])
def test_absences_in_other_units_are_read_where_they_can_be_told(sandbox, crm, owner, unit, count):
    sandbox.out_of_office_unit = unit
    start, end = datetime(2026, 12, 1, 9, tzinfo=UTC), datetime(2026, 12, 2, 9, tzinfo=UTC)
    sandbox.set_availability(owner, out_of_office=[(start, end)])

    absences = crm.people()[owner].availability.absences

    assert [(one.starts_at, one.ends_at) for one in absences] == [(start, end)] * count
    assert bool(crm.availability_problem) is (count == 0)


def test_an_owner_is_never_taken_for_the_user_record_of_the_same_number(sandbox, crm, owner):
    twin = sandbox.add_owner("twin@example.test", owner_id=sandbox.user_record_id_of(owner))
    sandbox.set_availability(owner, status="away")

    told = crm.people()

    assert told[owner].availability.status is Presence.AWAY
    assert told[twin].availability.status is Presence.AVAILABLE


def test_users_that_the_token_may_not_read_cost_their_availability_alone(sandbox, crm, owner):
    sandbox.missing_scopes = ["crm.objects.users.read"]

    assert crm.people([owner])[owner].availability is None
    assert "crm.objects.users.read" in crm.availability_problem


def test_a_workflow_that_waits_goes_on_once(sandbox, crm):
    sandbox.callbacks.open("ap-4242-700001-3-0")

    crm.tell("ap-4242-700001-3-0", VERDICT)
    with pytest.raises(CrmNever):
        crm.tell("ap-4242-700001-3-0", VERDICT)

    assert sandbox.completed["ap-4242-700001-3-0"]["assignedOwnerId"] == "5501"
    assert sandbox.completed["ap-4242-700001-3-0"]["hs_execution_state"] == "SUCCESS"


def test_all_unowned_of_ten_thousand_and_fifty_are_found_without_owned_ones(sandbox, crm, owner):
    now = datetime(2026, 11, 30, 9, tzinfo=UTC)
    sandbox.clock = lambda: now  # one moment for all
    sandbox.search_limit = None
    sandbox.create("contacts", {"hubspot_owner_id": owner})
    leads = [sandbox.create("contacts", {}) for _ in range(10_050)]

    found = []
    for _ in range(52):
        since = now - timedelta(seconds=1)
        found += crm.unowned("contacts", since, after=found[-1] if found else None)

    assert found == leads


def test_a_record_that_the_search_does_not_show_yet_is_read_all_the_same(sandbox, crm):
    sandbox.index_lag = 30.0
    lead = sandbox.create("contacts", {})

    assert crm.unowned("contacts", datetime(2020, 1, 1, tzinfo=UTC)) == []
    assert list(read(crm, lead)) == [lead]


def test_the_search_limit_asks_for_a_second(sandbox, crm):
    sandbox.search_limit = 0

    with pytest.raises(CrmPaced) as caught:
        crm.unowned("contacts", datetime(2020, 1, 1, tzinfo=UTC))

    assert caught.value.pause_seconds == 1


def test_an_app_with_oauth_goes_on_with_a_new_token(sandbox, shared):
    refresh_token = sandbox.use_oauth(client_id="client")
    sandbox.takes_static_token = False
    lead = sandbox.create("contacts", {})
    settings = HubSpotSettings(
        name="hubspot",
        client_secret=sandbox.client_secret,
        client_id="client",
        refresh_token=refresh_token,
        public_url="https://connector.example.test",
        base_url=sandbox.url,
    )
    with closing(hubspot.crm(settings, shared)) as crm:
        read(crm, lead)
        sandbox.expire_tokens()

        assert list(read(crm, lead)) == [lead]

    assert len(sandbox.calls_to("/token")) == 2
    assert len(sandbox.calls_to("/batch/read")) == 3


@pytest.mark.parametrize("generic", [False, True], ids=["classic", "generic"])
def test_what_happens_in_the_portal_arrives_signed_and_readable(sandbox, owner, generic):
    told = []
    sandbox.on_change(told.append)
    first, second = (sandbox.create("contacts", {}) for _ in range(2))
    sandbox.set_owner("contacts", first, owner)
    sandbox.set_owner("contacts", first, None)
    survivor = sandbox.merge(first, [second], new_id=True)
    sandbox.delete("contacts", survivor)
    sandbox.restore("contacts", survivor)
    events = [
        event(change, generic=generic, event_id=n, portal_id="4242", app_id="9001")
        for n, change in enumerate(told)
    ]
    now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
    url = "https://connector.example.test/webhooks/hubspot?from=app%3A1"
    body = json.dumps(events).encode()
    headers = signed_headers(secret="secret", url=url, body=body, at=now)
    receiver = hubspot.receiver(
        HubSpotSettings(
            name="hubspot",
            access_token="token",
            client_secret="secret",
            public_url="https://connector.example.test",
            portal_id="4242",
        )
    )
    delivery = Delivery(
        method="POST",
        target="/webhooks/hubspot?from=app%3A1",
        headers={name.lower(): value for name, value in headers.items()},
        body=body,
    )

    receiver.verify(delivery, now)
    read = receiver.parse(delivery).events

    seen = [(one.kind.value, one.record_id, one.owner_id, one.merged_ids) for one in read]
    assert seen == [
        ("created", first, None, ()),
        ("created", second, None, ()),
        ("owner_changed", first, owner, ()),
        ("owner_changed", first, "", ()),
        ("deleted", second, None, ()),
        ("deleted", first, None, ()),
        ("merged", survivor, None, (second, first)),
        ("deleted", survivor, None, ()),
        ("changed", survivor, None, ()),
    ]
    assert {one.ignored for one in read} == {None}
    assert {one.object_type for one in read} == {"contacts"}
