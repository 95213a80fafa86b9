"""The walk through the records that nobody owns."""

from datetime import UTC, datetime

import pytest

from connector.errors import CrmAgain, CrmForbidden, CrmPaced

SINCE = datetime(2026, 11, 30, 9, 0, 0, 500_900, tzinfo=UTC)
LIMIT = 10_000


class Records:
    """A search over ids that were created at one moment, with HubSpot's limits."""

    def __init__(self, answers, ids):
        self.ids = ids
        answers.answer("/search", self._search)

    def _search(self, request):
        body = request.body
        (group,) = body["filterGroups"]
        last = next(int(one["value"]) for one in group["filters"] if one["operator"] == "GT")
        start = int(body["after"])
        if start + body["limit"] > LIMIT:
            return 400, {"category": "VALIDATION_ERROR", "message": "over 10,000"}
        found = sorted(one for one in self.ids if one > last)
        page = found[start : start + body["limit"]]
        more = {"paging": {"next": {"after": str(start + len(page))}}} if page != found else {}
        rows = [{"id": str(one), "properties": {}} for one in page]
        return 200, {"total": len(found), "results": rows, **more}


def walk(crm):
    """All ids, page by page."""
    found = []
    for _ in range(60):
        page = crm.unowned("contacts", SINCE, after=found[-1] if found else None)
        if not page:
            return found
        found += page
    raise AssertionError("the walk does not end")


@pytest.mark.parametrize(("object_type", "created"), [("contacts", "createdate"),
                                                      ("leads", "hs_createdate"),
                                                      ("2-31337", "hs_createdate")])  # fmt: skip
def test_the_search_names_all_that_hubspot_requires(answers, crm, object_type, created):
    answers.say(200, {"results": []})

    assert crm.unowned(object_type, SINCE, after="874716779721") == []

    (asked,) = answers.requests
    assert asked.path == f"/crm/v3/objects/{object_type}/search"
    assert asked.body == {
        "filterGroups": [
            {
                "filters": [
                    {"propertyName": "hubspot_owner_id", "operator": "NOT_HAS_PROPERTY"},
                    {"propertyName": created, "operator": "GTE", "value": "1796029200500"},
                    {"propertyName": "hs_object_id", "operator": "GT", "value": "874716779721"},
                ]
            }
        ],
        "sorts": [{"propertyName": "hs_object_id", "direction": "ASCENDING"}],
        "properties": ["hs_object_id"],
        "limit": 200,
        "after": "0",
    }


def test_more_than_ten_thousand_records_of_one_moment_are_all_found(answers, crm):
    ids = range(88_000_000_000, 88_000_010_050)
    Records(answers, ids)

    assert walk(crm) == [str(one) for one in ids]
    assert {request.body["after"] for request in answers.requests} == {"0"}


def test_records_that_become_owned_on_the_way_cost_no_other(answers, crm):
    records = Records(answers, set(range(1, 601)))

    first = crm.unowned("contacts", SINCE)
    records.ids -= set(range(1, 201))

    assert crm.unowned("contacts", SINCE, after=first[-1])[0] == "201"


def test_a_record_that_the_index_shows_late_is_found_by_the_next_walk(answers, crm):
    records = Records(answers, {1, 2})
    assert walk(crm) == ["1", "2"]

    records.ids |= {3}

    assert walk(crm) == ["1", "2", "3"]


def test_ids_are_in_order_by_size_and_not_by_their_digits(answers, crm):
    rows = [{"id": one} for one in ("1000", "99", "874716779721")]
    answers.say(200, {"results": rows})

    assert crm.unowned("contacts", SINCE) == ["99", "1000", "874716779721"]


def test_a_search_that_knows_no_end_ends_the_walk(answers, crm):
    answers.answer("/search", lambda _: (200, {"results": [{"id": "5"}, {"id": "x"}, 5, {}]}))

    assert walk(crm) == ["5"]
    assert len(answers.requests) == 2


@pytest.mark.parametrize("body", [{"policyName": "SECONDLY"}, {"policyName": "SECONDLY",
                                  "message": "You have reached your secondly limit."}])  # fmt: skip
def test_the_search_limit_asks_for_a_second(answers, crm, body):
    answers.say(429, body)

    with pytest.raises(CrmPaced) as caught:
        crm.unowned("contacts", SINCE)

    assert caught.value.pause_seconds == 1
    assert len(answers.requests) == 1


def test_a_search_that_failed_for_a_moment_is_tried_twice(answers, crm):
    answers.say(500, {})
    answers.say(200, {"results": [{"id": "5"}]})
    assert crm.unowned("contacts", SINCE) == ["5"]

    answers.say(200, b"<html>")
    answers.say(200, {})
    with pytest.raises(CrmAgain):
        crm.unowned("contacts", SINCE)


def test_a_type_that_is_closed_to_us_is_told(answers, crm):
    answers.say(403, {"message": "no"})

    with pytest.raises(CrmForbidden):
        crm.unowned("leads", SINCE)
