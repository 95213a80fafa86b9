"""How fast HubSpot is called, and what is told of its limits."""

import itertools
from datetime import UTC, datetime

import pytest

from adapters.hubspot.pace import Bucket, Pace
from connector.errors import CrmNever, CrmPaced, CrmUnreachable
from connector.ports import Limit, OwnerWrite, Verdict
from tests.alone import Alone
from tests.builders import seen

SINCE = datetime(2026, 11, 30, tzinfo=UTC)
VERDICT = Verdict(owner_id="5501", owner_email="", user_name="", pool="", reason="rotation")
LISTING = {"results": []}


class Noting(Alone):
    """Notes the size of the bucket as well."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    def admit(self, bucket, *, burst, per_second):
        super().admit(bucket, burst=burst, per_second=per_second)
        self.sizes.append((bucket, burst, per_second))


def size(headers):
    """The bucket for calls once an answer came with these headers."""
    shared = Noting()
    pace = Pace(shared)
    pace.note(headers)
    pace.admit(Bucket.CALLS)
    return shared.sizes[-1][1:]


@pytest.mark.parametrize(
    ("headers", "burst", "per_second"),
    [
        ({}, 40, 5),
        ({"X-HubSpot-RateLimit-Max": "190"}, 76, 9.5),
        ({"X-HubSpot-RateLimit-Max": "110"}, 44, 5.5),
        (
            {
                "X-HubSpot-RateLimit-Max": "190",
                "X-HubSpot-RateLimit-Interval-Milliseconds": "20000",
            },
            76,
            4.75,
        ),
        ({"X-HubSpot-RateLimit-Max": "1"}, 1, 0.05),
        ({"X-HubSpot-RateLimit-Max": "0"}, 40, 5),
        ({"X-HubSpot-RateLimit-Max": "many"}, 40, 5),
        ({"X-HubSpot-RateLimit-Max": "-5"}, 40, 5),
        ({"X-HubSpot-RateLimit-Max": "9" * 40}, 40, 5),
        (
            {
                "X-HubSpot-RateLimit-Max": "190",
                "X-HubSpot-RateLimit-Interval-Milliseconds": "0",
            },
            76,
            9.5,
        ),
    ],
)
def test_the_pace_follows_what_an_answer_told(headers, burst, per_second):
    assert size(headers) == pytest.approx((burst, per_second))


@pytest.mark.parametrize("most", [100, 110, 190, 250])
def test_nine_in_ten_calls_of_any_ten_seconds_are_used(most):
    burst, per_second = size({"X-HubSpot-RateLimit-Max": str(most)})

    assert burst + 10 * per_second == pytest.approx(0.9 * most)


def test_a_second_never_sees_more_than_four_searches():
    shared = Noting()

    Pace(shared).admit(Bucket.SEARCH)

    ((_, burst, per_second),) = shared.sizes
    assert burst + per_second == 4


def test_an_answer_without_limits_changes_nothing_that_was_told():
    shared = Noting()
    pace = Pace(shared)
    pace.note({"X-HubSpot-RateLimit-Max": "190", "X-HubSpot-RateLimit-Remaining": "180"})
    pace.note({"Content-Type": "application/json"})
    pace.admit(Bucket.CALLS)

    assert shared.sizes[-1][1] == pytest.approx(76)
    assert shared.limits == [Limit(name="ten_secondly", most=190, left=180)]


@pytest.mark.parametrize("version", ["v3", "2026-09"])
def test_each_request_takes_a_token_of_its_bucket(answers, connect, shared, version):
    crm = connect(answers.url, api_version=version)
    link = {"from": {"id": "1"}, "to": [{"toObjectId": 7}]}
    employed = {"results": [{"id": "5501", "type": "PERSON"}]}
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(200, employed)
    crm.read_records("contacts", ["1"])
    answers.say(200, {"results": [{"id": "1", "properties": {}}]})
    crm.write_owners("contacts", [OwnerWrite(record_id="1", owner_id="5501")])
    answers.say(200, {"results": [link]})
    answers.say(200, {"results": [{"id": "7", "properties": {}}]})
    crm.related("contacts", seen("1"))
    answers.say(200, LISTING)
    crm.unowned("contacts", SINCE)
    answers.say(200, LISTING)
    answers.say(200, employed)
    answers.say(200, LISTING)
    crm.people()
    answers.say(204, b"")
    crm.tell("ap-1", VERDICT)
    answers.say(200, {"portalId": 4242})
    crm.account_id()

    assert len(answers.requests) == len(shared.admitted) == 11
    places = {"/associations/": "associations", "/search": "search"}
    for request, bucket in zip(answers.requests, shared.admitted, strict=True):
        named = [places[part] for part in places if part in request.path]
        assert bucket == (named[0] if named else "calls")
    assert {"calls", "search", "associations"} == set(shared.admitted)


def test_a_second_try_takes_a_second_token(answers, crm, shared):
    answers.say(500, {})
    answers.say(200, {"results": [{"id": "1", "properties": {}}]})

    crm.read_records("contacts", ["1"])

    assert shared.admitted == ["calls", "calls"]


def test_a_connection_that_pauses_is_not_called_and_needs_no_log_in(
    answers, connect, shared, renew
):
    crm = connect(answers.url, access_token=None, client_id="client")
    shared.paused = CrmPaced("a pause", pause_seconds=7)

    with pytest.raises(CrmPaced) as caught:
        crm.read_records("contacts", ["1"])

    assert caught.value.pause_seconds == 7
    assert answers.requests == []
    assert renew.asked == []


TOLD = {
    "X_HubSpot_RateLimit_Max": "190",
    "X_HubSpot_RateLimit_Remaining": "12",
    "X_HubSpot_RateLimit_Interval_Milliseconds": "10000",
}
DAILY = {"X_HubSpot_RateLimit_Daily": "650000", "X_HubSpot_RateLimit_Daily_Remaining": "649999"}


@pytest.mark.parametrize("status", [200, 400, 401, 429])
def test_what_is_left_is_told_with_every_answer(answers, crm, shared, status):
    answers.say(status, {"results": [{"id": "1", "properties": {}}], "message": "no"}, **TOLD)
    if status == 200:
        crm.read_records("contacts", ["1"])
    else:
        with pytest.raises((CrmNever, CrmPaced, CrmUnreachable)):
            crm.read_records("contacts", ["1"])

    assert shared.limits == [Limit(name="ten_secondly", most=190, left=12)]


def test_the_day_is_told_where_hubspot_tells_it(answers, crm, shared):
    answers.say(200, {"results": [{"id": "1", "properties": {}}]}, **TOLD, **DAILY)

    crm.read_records("contacts", ["1"])

    assert shared.limits == [
        Limit(name="ten_secondly", most=190, left=12),
        Limit(name="daily", most=650_000, left=649_999),
    ]


@pytest.mark.parametrize("missing", ["Max", "Remaining"])
def test_half_a_limit_is_none(answers, crm, shared, missing):
    told = {name: value for name, value in TOLD.items() if not name.endswith(f"_{missing}")}
    answers.say(200, {"results": [{"id": "1", "properties": {}}]}, **told)

    crm.read_records("contacts", ["1"])

    assert shared.limits == []


def test_hundreds_of_jobs_share_one_connection(answers, crm):
    answers.answer("/batch/read", lambda _: (200, {"results": [{"id": "1", "properties": {}}]}))
    for _ in itertools.repeat(None, 300):
        crm.read_records("contacts", ["1"])

    assert len(answers.requests) == 300
    assert answers.connections == 1
