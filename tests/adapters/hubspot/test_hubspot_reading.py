"""Reading records: what is asked, and what an answer says of each id."""

from datetime import UTC, datetime

import pytest

from connector.errors import CrmAgain
from connector.model import LeadKind, Slot


def record(record_id, **properties):
    return {"id": record_id, "properties": properties}


def missing(*ids):
    return {"category": "OBJECT_NOT_FOUND", "message": "Could not get", "context": {"ids": ids}}


def test_a_batch_is_read_by_one_post_with_the_fields_the_api_requires(answers, crm):
    answers.say(200, {"results": [record("1"), record("2")]})

    crm.read_records("contacts", ["1", "2"])

    (asked,) = answers.requests
    assert (asked.method, asked.path) == ("POST", "/crm/v3/objects/contacts/batch/read")
    assert asked.headers["authorization"] == "Bearer pat-secret-0001"
    assert asked.body["inputs"] == [{"id": "1"}, {"id": "2"}]
    assert asked.body["propertiesWithHistory"] == []
    assert {"email", "hubspot_owner_id"} <= set(asked.body["properties"])


@pytest.mark.parametrize(
    "object_type",
    ["contacts", "companies", "deals", "tickets", "leads", "tasks", "meetings", "2-31337"],
)
def test_at_most_twenty_properties_are_asked_for(answers, crm, object_type):
    answers.say(207, {"results": [], "errors": [missing("1")]})

    crm.read_records(object_type, ["1"])

    asked = answers.requests[0].body["properties"]
    assert "hubspot_owner_id" in asked
    assert len(set(asked)) == len(asked) <= 20


def test_the_fields_of_territories_are_asked_for_as_well(answers, crm):
    answers.say(200, {"results": [record("1")]})
    answers.say(200, {"results": [record("1", lead_score="7")]})
    crm.read_records("contacts", ["1"])
    (own,) = (request.body["properties"] for request in answers.requests)

    read = crm.read_records("contacts", ["1"], fields={"region", "Country", " Lead_Score "})["1"]

    assert answers.requests[-1].body["properties"] == [*own, "lead_score", "region"]
    assert answers.requests[-1].body["propertiesWithHistory"] == []
    assert read.attributes["lead_score"] == "7"


@pytest.mark.parametrize(
    "name", ["", " ", "Account.Name", "5th", "a b", "naïve", "x" * 101, "a/b", "_x", "a,b", "x\n y"]
)
def test_what_can_be_no_property_is_not_asked_for(answers, crm, name):
    answers.say(200, {"results": [record("1")]})

    crm.read_records("2-31337", ["1"], fields=[name])

    assert answers.requests[0].body["properties"] == ["hubspot_owner_id", "hs_merged_object_ids"]


def test_a_task_is_handed_out_as_a_task(answers, crm):
    answers.say(200, {"results": [record("1", hs_task_subject="Call")]})

    read = crm.read_records("tasks", ["1"])["1"]

    assert (read.kind, read.slot) == (LeadKind.TASK, None)


NINE, HALF_PAST = datetime(2026, 12, 1, 9, tzinfo=UTC), datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def meeting(answers, crm, start, end):
    values = {"hs_meeting_start_time": start, "hs_meeting_end_time": end}
    answers.say(200, {"results": [record("1", **values)]})
    return crm.read_records("meetings", ["1"])["1"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-12-01T09:00:00Z", "2026-12-01T09:30:00Z"),
        ("2026-12-01T09:00:00.000Z", "2026-12-01T10:30:00+01:00"),
        ("2026-12-01T09:00:00", "2026-12-01T09:30"),
        (str(int(NINE.timestamp() * 1000)), str(int(HALF_PAST.timestamp() * 1000))),
        (int(NINE.timestamp() * 1000), "2026-12-01T09:30:00Z"),
    ],
)
def test_a_meeting_is_handed_out_with_its_time(answers, crm, start, end):
    read = meeting(answers, crm, start, end)

    assert (read.kind, read.slot) == (LeadKind.MEETING, Slot(starts_at=NINE, ends_at=HALF_PAST))


def test_thirteen_digits_are_a_moment_though_python_reads_a_date_into_them(answers, crm):
    read = meeting(answers, crm, "1791120100000", "1791120160000")

    assert read.slot.starts_at == datetime(2026, 10, 4, 13, 21, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (None, "2026-12-01T09:30:00Z"),
        ("2026-12-01T09:00:00Z", None),
        ("2026-12-01T09:00:00Z", ""),
        ("2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:30:00Z", "2026-12-01T09:00:00Z"),
        ("tomorrow", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:00Z", "99999-12-01T09:30:00Z"),
        ("0001-01-01T00:00:00+14:00", "2026-12-01T09:30:00Z"),
        ("20261201", "2026-12-01T09:30:00Z"),
    ],
)
def test_a_meeting_without_times_to_go_by_has_none(answers, crm, start, end):
    read = meeting(answers, crm, start, end)

    assert (read.kind, read.slot) == (LeadKind.MEETING, None)


def test_other_records_are_leads_without_a_time(answers, crm):
    values = {"hs_meeting_start_time": "2026-12-01T09:00:00Z",
              "hs_meeting_end_time": "2026-12-01T09:30:00Z"}  # fmt: skip
    answers.say(200, {"results": [record("1", **values)]})

    read = crm.read_records("contacts", ["1"])["1"]

    assert (read.kind, read.slot) == (LeadKind.LEAD, None)


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("2026-03", "/crm/objects/2026-03/leads/batch/read"),
        ("2026-09", "/crm/objects/2026-09/leads/batch/read"),
    ],
)
def test_a_date_version_has_its_own_paths(answers, connect, version, path):
    crm = connect(answers.url, api_version=version)
    answers.say(200, {"results": [record("1", hubspot_owner_id="5501")]})
    answers.employ("5501")
    crm.read_records("leads", ["1"])
    answers.say(200, {"portalId": 4242})
    crm.account_id()

    assert answers.paths() == [
        path,
        f"/crm/owners/{version}?limit=100",
        f"/account-info/{version}/details",
    ]


def test_a_record_comes_with_its_fields(answers, crm):
    answers.employ("5501")
    answers.say(
        200,
        {"results": [record("1", email="a@example.test", company="Ada Ltd", country="DE", city=None,
                            state="", hubspot_owner_id="5501", hs_object_id="1")]},
    )  # fmt: skip

    read = crm.read_records("contacts", ["1"])["1"]

    assert (read.email, read.company, read.owner_id) == ("a@example.test", "Ada Ltd", "5501")
    assert read.owner_stays
    assert read.survivor_id is None
    assert read.attributes["country"] == "DE"
    assert not {"city", "state"} & set(read.attributes)


def test_a_lead_shows_its_contact(answers, crm):
    answers.say(
        200,
        {"results": [record("1", hs_associated_contact_email="a@example.test",
                            hs_associated_company_name="Ada Ltd")]},
    )  # fmt: skip

    read = crm.read_records("leads", ["1"])["1"]

    assert (read.email, read.company) == ("a@example.test", "Ada Ltd")


@pytest.mark.parametrize(
    "properties", [{}, {"hubspot_owner_id": None}, {"hubspot_owner_id": ""}], ids=repr
)
def test_no_owner_looks_the_same_in_three_ways(answers, crm, properties):
    answers.say(200, {"results": [record("1", **properties)]})

    read = crm.read_records("contacts", ["1"])["1"]

    assert (read.owner_id, read.owner_stays) == (None, False)
    assert answers.paths("/owners") == []


def test_an_owner_who_is_not_active_does_not_stay(answers, crm):
    answers.employ("5502")
    answers.say(200, {"results": [record("1", hubspot_owner_id="5501")]})

    read = crm.read_records("contacts", ["1"])["1"]

    assert (read.owner_id, read.owner_stays) == ("5501", False)


def test_ids_beyond_32_bits_are_kept(answers, crm):
    answers.say(200, {"results": [{"id": 874716779721, "properties": {}}]})

    assert list(crm.read_records("contacts", ["874716779721"])) == ["874716779721"]


@pytest.mark.parametrize("status", [200, 207])
def test_an_unknown_id_is_missing(answers, crm, status):
    answers.say(status, {"results": [record("1")], "numErrors": 1, "errors": [missing("2")]})

    assert list(crm.read_records("contacts", ["1", "2"])) == ["1"]


def test_an_answer_without_a_word_on_the_records_does_not_make_them_gone(answers, crm):
    answers.say(200, {"results": []})
    answers.say(200, {"results": []})

    with pytest.raises(CrmAgain, match="without a word"):
        crm.read_records("contacts", ["1", "2"])


def test_all_ids_may_be_unknown(answers, crm):
    answers.say(207, {"results": [], "errors": [missing("1", "2")]})

    assert crm.read_records("contacts", ["1", "2"]) == {}


def test_an_error_that_is_not_about_a_missing_record_loses_nobody(answers, crm):
    answers.say(207, {"results": [record("1")], "errors": [{"category": "INTERNAL_ERROR"}]})

    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1", "2"])


@pytest.mark.parametrize(
    ("results", "errors"),
    [
        pytest.param([record("1", hs_object_id="9")], [], id="old id, new hs_object_id"),
        pytest.param([record("9", hs_object_id="9")], [], id="new id"),
        pytest.param(
            [record("9", hs_merged_object_ids="3;1")], [missing("2")], id="list of merged ids"
        ),
    ],
)
def test_a_merged_record_names_its_survivor(answers, crm, results, errors):
    answers.say(207, {"results": results, "errors": errors})

    read = crm.read_records("contacts", ["1", "2"] if errors else ["1"])

    assert {asked: row.survivor_id for asked, row in read.items()} == {"1": "9"}


@pytest.mark.parametrize(
    ("told", "ids"), [("3;1", ("3", "1")), (" 3 ; ", ("3",)), ("", ()), (None, ())]
)
def test_a_survivor_tells_which_records_it_took_over(answers, crm, told, ids):
    answers.say(200, {"results": [record("9", hs_merged_object_ids=told)]})

    assert crm.read_records("contacts", ["9"])["9"].merged_ids == ids


def test_a_merged_record_and_its_survivor_may_be_asked_together(answers, crm):
    answers.say(207, {"results": [record("9", hs_merged_object_ids="1")], "errors": [missing("1")]})

    read = crm.read_records("contacts", ["1", "9"])

    assert {asked: row.survivor_id for asked, row in read.items()} == {"1": "9", "9": None}


def test_survivors_that_cannot_be_told_apart_are_asked_for_one_by_one(answers, crm):
    answers.say(207, {"results": [record("8"), record("9"), record("3")], "errors": [missing("4")]})
    answers.say(200, {"results": [record("8")]})
    answers.say(200, {"results": [record("9")]})

    read = crm.read_records("contacts", ["1", "2", "3", "4"])

    survivors = {asked: row.survivor_id for asked, row in read.items()}
    assert survivors == {"1": "8", "2": "9", "3": None}
    assert len(answers.requests) == 3


def test_records_that_nobody_asked_for_are_not_guessed_at(answers, crm):
    answers.say(200, {"results": [record("8"), record("9")]})

    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1"])


def test_nothing_to_read_is_no_call(answers, crm):
    assert crm.read_records("contacts", []) == {}
    assert answers.requests == []


@pytest.mark.parametrize(
    "body",
    [b"<html>ok</html>", b"{}", b"[]", b"null", b"", b'{"results": {}}', b'{"results": [', b"\xff",
     b"[" * 100_000],
    ids=lambda body: ascii(body[:14]),
)  # fmt: skip
def test_a_garbage_answer_is_not_taken_for_no_records(answers, crm, body):
    answers.say(200, body)
    answers.say(200, body)

    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1"])

    assert len(answers.requests) == 2


@pytest.mark.parametrize("result", [None, {}, {"id": "1"}, {"properties": {}}, "1"], ids=repr)
def test_a_garbage_record_is_not_taken_for_a_missing_one(answers, crm, result):
    answers.say(200, {"results": [result]})

    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1"])


def test_a_garbage_answer_is_forgotten_when_the_second_is_good(answers, crm):
    answers.say(200, b"<html>")
    answers.say(200, {"results": [record("1")]})

    assert list(crm.read_records("contacts", ["1"])) == ["1"]


def test_the_portal_is_read_once(answers, crm):
    answers.say(200, {"portalId": 4242, "timeZone": "Europe/Berlin"})

    assert [crm.account_id(), crm.account_id()] == ["4242", "4242"]
    assert answers.paths() == ["/account-info/v3/details"]


def test_a_portal_that_is_set_is_not_read(answers, connect):
    assert connect(answers.url, portal_id="4242").account_id() == "4242"
    assert answers.requests == []
