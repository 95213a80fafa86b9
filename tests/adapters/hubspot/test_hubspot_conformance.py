"""The whole adapter against a HubSpot that keeps HubSpot's rules, in each API version."""

import json
from datetime import UTC, datetime

import pytest

from adapters import hubspot
from adapters.hubspot.settings import HubSpotSettings
from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_events import event, signed_headers
from connector.errors import CrmAgain, CrmForbidden, CrmNever, CrmPaced, CrmUnreachable
from connector.ports import Delivery, OwnerWrite, Result

VERSIONS = ["v3", "2026-03", "2026-09"]


@pytest.fixture
def sandbox():
    with HubSpotSandbox() as portal:
        yield portal


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
