"""What goes wrong on the way to HubSpot, and what it may never do to us or to the token."""

import logging
import socket
import time
import traceback

import pytest

from adapters import hubspot
from adapters.hubspot import errors
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.exchange import Errand
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import (
    BadSettings,
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    CrmUnreachable,
)
from connector.ports import OwnerWrite, Result
from tests.alone import Alone

TOKEN = "pat-secret-0001"  # as the fixture gives it
GOOD = {"results": [{"id": "1", "properties": {}}]}
HTML = b"<!DOCTYPE html><html><body>caf\xe9</body></html>"


def read(crm):
    return crm.read_records("contacts", ["1"])


def write(crm):
    return crm.write_owners("contacts", [OwnerWrite(record_id="1", owner_id="5501")])


def failure(call, crm, kind):
    with pytest.raises(kind) as caught:
        call(crm)
    return caught.value


# -- limits


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ({"policyName": "SECONDLY"}, {}, 1),
        ({"policyName": "TEN_SECONDLY_ROLLING"}, {}, 10),
        ({}, {}, 10),
        (HTML, {}, 10),
        ({"policyName": "SECONDLY"}, {"Retry_After": "7"}, 7),
        ({"policyName": "DAILY"}, {"Retry_After": "120"}, 120),
        ({"policyName": "SECONDLY"}, {"Retry_After": "0"}, 1),
        ({"policyName": "SECONDLY"}, {"Retry_After": "999999999"}, 86_400),
        ({"policyName": "SECONDLY"}, {"Retry_After": "9999999999"}, 86_400),
        ({"policyName": "SECONDLY"}, {"Retry_After": "9" * 500}, 86_400),
        ({}, {"Retry_After": "0.2"}, 1),
        ({}, {"Retry_After": "nan"}, 10),
        ({}, {"Retry_After": "soon"}, 10),
        ({}, {"Retry_After": ""}, 10),
        ({}, {"Retry_After": "-5"}, 10),
        ({}, {"Retry_After": "-9999999999"}, 10),
    ],
    ids=repr,
)
def test_a_limit_asks_for_a_pause_and_is_not_slept_on(answers, crm, body, headers, seconds):
    answers.say(429, body, **headers)

    assert failure(read, crm, CrmPaced).pause_seconds == seconds
    assert len(answers.requests) == 1


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        ("Mon, 30 Nov 2026 09:02:00 GMT", 120),  # the answer's own clock says 09:00
        ("Mon, 30 Nov 2026 09:00:00 GMT", 1),
        ("Mon, 30 Nov 2026 08:00:00 GMT", 1),
        ("Mon, 30 Nov 2099 09:00:00 GMT", 86_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Mon, 30 Nov 2026 09:02:00 +0000", 10),
        ("Monday, 30-Nov-26 09:02:00 GMT", 10),
        ("Mon Nov 30 09:02:00 2026", 10),
        ("Tue, 31 Feb 2026 09:02:00 GMT", 10),
        ("Mon, 30 Nov 2026 25:02:00 GMT", 10),
    ],
)
def test_a_date_to_wait_for_is_judged_by_the_answers_own_clock(answers, crm, moment, seconds):
    answers.say(429, {}, Retry_After=moment)

    assert failure(read, crm, CrmPaced).pause_seconds == seconds


@pytest.mark.parametrize("now", ["", "nonsense", "Mon, 30 Nov 2026 09:00:00"])
def test_a_date_to_wait_for_means_nothing_without_a_clock(now):
    headers = {"Retry-After": "Mon, 30 Nov 2026 09:02:00 GMT"} | ({"Date": now} if now else {})

    assert errors.refused(429, headers, b"{}", of_records=True).pause_seconds == 10


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [(423, {}, 2), (477, {"Retry_After": "3600"}, 3600), (477, {}, 60)],
    ids=repr,
)
def test_a_locked_or_moving_account_asks_for_a_pause(answers, crm, status, headers, seconds):
    answers.say(status, {"message": "wait"}, **headers)

    error = failure(read, crm, CrmPaced)

    assert (error.pause_seconds, error.crm_message) == (seconds, "wait")


@pytest.mark.parametrize(
    ("zone", "seconds"),
    [
        ("Europe/Berlin", 14 * 3600),  # the server's clock says 09:00 UTC
        ("America/New_York", 20 * 3600),
        ("Nowhere/Land", 900),
        ("../../etc/passwd", 900),
        (None, 900),
    ],
)
def test_the_daily_limit_ends_at_midnight_in_the_accounts_zone(answers, crm, zone, seconds):
    answers.say(429, {"policyName": "DAILY"})
    answers.say(200, {"portalId": 4242, "timeZone": zone})

    error = failure(read, crm, CrmPaced)

    assert (error.pause_seconds, error.code) == (seconds, "DAILY")


@pytest.mark.parametrize("asked", ["soon", "-5", "Mon Nov 30 09:02:00 2026"])
def test_the_daily_limit_with_a_pause_that_makes_no_sense_ends_at_midnight(answers, crm, asked):
    answers.say(429, {"policyName": "DAILY"}, Retry_After=asked)
    answers.say(200, {"portalId": 4242, "timeZone": "Europe/Berlin"})

    assert failure(read, crm, CrmPaced).pause_seconds == 14 * 3600


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("Sat, 31 Oct 2026 22:00:00 GMT", 86_400 - 22 * 3600 + 4 * 3600),
        ("Sun, 01 Nov 2026 04:00:00 GMT", 86_400),  # New York's 25-hour day begins
        ("Fri, 31 Dec 9999 23:59:59 GMT", 900),
    ],
)
def test_the_pause_until_midnight_is_a_day_at_most(now, seconds):
    body = b'{"policyName": "DAILY"}'

    error = errors.refused(429, {"Date": now}, body, of_records=True, time_zone="America/New_York")

    assert error.pause_seconds == seconds


def test_the_daily_limit_may_hide_the_zone(answers, crm):
    answers.say(429, {"policyName": "DAILY"})
    answers.say(429, {"policyName": "DAILY"})

    assert failure(read, crm, CrmPaced).pause_seconds == 900
    assert len(answers.requests) == 2


# -- statuses


@pytest.mark.parametrize("status", [500, 502, 503, 504, 521, 522, 523, 524, 525, 526, 530, 408])
@pytest.mark.parametrize("body", [HTML, b"", b'{"message":"down"}'], ids=["html", "empty", "json"])
def test_an_overloaded_hubspot_is_asked_twice(answers, crm, status, body):
    answers.say(status, body)
    answers.say(status, body, Retry_After="60")

    failure(read, crm, CrmAgain)

    assert len(answers.requests) == 2


@pytest.mark.parametrize("status", [400, 404, 405, 409, 415, 422])
@pytest.mark.parametrize("word", ["status", "message", "category", "errors", "correlationId"])
def test_a_call_that_is_wrong_is_not_repeated(answers, crm, status, word):
    answers.say(status, {word: "no"})

    failure(read, crm, CrmNever)

    assert len(answers.requests) == 1


@pytest.mark.parametrize(("status", "result"), [(400, Result.NEVER), (409, Result.AGAIN)])
def test_a_write_in_conflict_with_another_is_made_again_later(answers, crm, status, result):
    answers.employ("5501")
    answers.say(status, {"category": "CONFLICT", "message": "being changed"})

    (outcome,) = crm.write_owners("contacts", [OwnerWrite(record_id="1", owner_id="5501")])

    assert (outcome.result, outcome.message) == (result, "being changed")


@pytest.mark.parametrize("status", [413, 414])
@pytest.mark.parametrize("body", [HTML, b"", b'{"message":"no"}'], ids=["html", "empty", "json"])
def test_a_call_that_is_too_long_is_not_repeated(answers, crm, status, body):
    answers.say(status, body)

    failure(read, crm, CrmNever)

    assert len(answers.requests) == 1


@pytest.mark.parametrize("status", [400, 402, 404, 405, 407, 409, 415, 422, 451])
@pytest.mark.parametrize(
    "body",
    [HTML, b"", b"no healthy upstream", b"{}", b'{"detail":"no"}', b"[1]", b'"x"', b"null"],
    ids=ascii,
)
def test_a_proxys_page_is_no_refusal_of_hubspots(answers, crm, status, body):
    answers.employ("5501")
    answers.say(status, body)
    answers.say(status, body)
    assert failure(read, crm, CrmAgain).code == "bad_answer"

    answers.say(status, body)
    failure(write, crm, CrmAgain)

    assert len(answers.paths("/batch/read")) == 2
    assert len(answers.paths("/batch/update")) == 1


@pytest.mark.parametrize("body", [HTML, b"", b'{"message":"no"}'], ids=["html", "empty", "json"])
def test_a_refused_token_stops_the_connection(answers, crm, body):
    for call in (read, write, lambda crm: crm.account_id()):
        answers.say(401, body)
        failure(call, crm, CrmUnreachable)
    answers.employ("5501")
    answers.say(401, body)
    failure(write, crm, CrmUnreachable)

    assert len(answers.requests) == 5


@pytest.mark.parametrize("version", ["v3", "2026-09"])
@pytest.mark.parametrize("body", [HTML, b"", b'{"message":"no"}'], ids=["html", "empty", "json"])
def test_an_object_type_that_is_closed_does_not_stop_the_others(answers, connect, version, body):
    crm = connect(answers.url, api_version=version)
    answers.employ("5501")
    for call in (read, write):
        answers.say(403, body)
        failure(call, crm, CrmForbidden)
        answers.say(200, GOOD)
        call(crm)

    assert len(answers.paths("/batch/")) == 4


@pytest.mark.parametrize("version", ["v3", "2026-09"])
def test_a_closed_list_of_owners_or_account_stops_the_connection(answers, connect, version):
    crm = connect(answers.url, api_version=version)
    owned = {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]}
    answers.say(403, {"message": "no"})
    failure(write, crm, CrmUnreachable)
    answers.say(200, owned)
    answers.say(403, {"message": "no"})
    failure(read, crm, CrmUnreachable)
    answers.say(403, {"message": "no"})
    failure(lambda crm: crm.account_id(), crm, CrmUnreachable)

    assert len(answers.requests) == 4


@pytest.mark.parametrize("status", [400, 404, 413, 414])
def test_a_refused_list_of_owners_is_no_fault_of_the_records(answers, crm, status):
    refusal = {"status": "error", "message": "no such version"}
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(status, refusal)
    failure(read, crm, CrmUnreachable)
    answers.say(status, refusal)
    failure(write, crm, CrmUnreachable)
    answers.say(status, refusal)
    failure(lambda crm: crm.account_id(), crm, CrmUnreachable)


@pytest.mark.parametrize("status", [200, 207])
def test_missing_scopes_told_item_by_item_close_the_object_type(answers, crm, status):
    answers.employ("5501")
    error = {
        "category": "MISSING_SCOPES",
        "message": "no",
        "context": {"ids": ["1"], "requiredGranularScopes": ["crm.objects.leads.write"]},
    }
    for call in (read, write):
        answers.say(status, {"results": [], "errors": [error]})

        assert "crm.objects.leads.write" in failure(call, crm, CrmForbidden).message


def test_missing_scopes_are_named(answers, crm):
    answers.say(
        403,
        {
            "category": "MISSING_SCOPES",
            "message": "This app has not been granted all required scopes",
            "errors": [{"context": {"requiredGranularScopes": ["crm.objects.contacts.read"]}}],
        },
    )

    error = failure(read, crm, CrmForbidden)

    assert "Scopes the token needs: crm.objects.contacts.read." in error.message
    assert error.code == "MISSING_SCOPES"
    assert error.crm_message == "This app has not been granted all required scopes"


def test_an_error_nested_beyond_reason_is_an_error_of_ours(answers, crm):
    answers.say(400, b"[" * 200_000)
    answers.say(400, b"[" * 200_000)

    failure(read, crm, CrmAgain)


def test_an_error_nested_as_deep_as_can_be_read_is_an_error_of_ours():
    for depth in range(1000):
        body = b'{"message": "no", "context": ' + b"[" * depth + b"]" * depth + b"}"

        assert isinstance(errors.refused(400, {}, body, of_records=True), CrmAgain | CrmNever)


@pytest.mark.parametrize(
    "body",
    [{"message": 5, "errors": 5}, {"errors": [5, {"message": [1]}], "context": []}],
    ids=repr,
)
def test_an_error_of_any_shape_is_an_error_of_ours(answers, crm, body):
    for status in (400, 403, 429, 500, 500):
        answers.say(status, body)
    for kind in (CrmNever, CrmForbidden, CrmPaced, CrmAgain):
        failure(read, crm, kind)


# -- the wire


def test_calls_of_all_kinds_share_one_connection(answers, crm):
    answers.employ("5501")
    for _ in range(5):
        answers.say(200, GOOD)
        read(crm)
        answers.say(200, GOOD)
        write(crm)
    answers.say(400, {"message": "no"})
    failure(read, crm, CrmNever)
    answers.say(200, {"portalId": 1})
    crm.account_id()

    assert len(answers.requests) == 13
    assert answers.connections == 1


def test_a_connection_that_was_dropped_is_asked_once_more(answers, crm):
    answers.say(0)
    answers.say(200, GOOD)

    assert list(read(crm)) == ["1"]


def test_a_truncated_answer_is_tried_again(answers, crm):
    for _ in range(2):
        answers.say(200, GOOD, Content_Length="5000", Connection="close")
    answers.say(200, GOOD)

    failure(read, crm, CrmAgain)

    assert len(answers.requests) == 2


def test_a_server_that_is_not_there_is_unreachable(connect):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    error = failure(read, connect(f"http://127.0.0.1:{port}"), CrmUnreachable)

    assert error.code == "no_connection"


def test_a_server_without_tls_is_unreachable(answers, connect):
    failure(read, connect(answers.url.replace("http:", "https:")), CrmUnreachable)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(-1, id="silent"),
        pytest.param(-200, id="slow"),
        pytest.param(-400, id="slow refusal"),
    ],
)
def test_an_answer_that_does_not_come_ends_the_call(answers, renew, fault):
    client = HubSpotClient(
        HubSpotSettings(
            name="hubspot",
            access_token=TOKEN,
            client_secret="secret",
            public_url="https://connector.example.test",
            base_url=answers.url,
        ),
        Alone(),
        clock=time.monotonic,
        renew=renew,
    )
    answers.say(fault, b'{"results": [], "message": "no"' + b" " * 20 + b"}")
    answers.say(200, {"results": []})
    errand = Errand(time.monotonic, 1.2)  # the slow body would take five seconds

    with pytest.raises(CrmAgain, match=r"too slowly|did not arrive|no time left"):
        client.read_batch("contacts", ["1"], properties=["email"], errand=errand)

    assert len(answers.requests) == 1
    assert not answers.waited_for
    client.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_token_goes_nowhere(answers, elsewhere, crm, status):
    answers.employ("5501")
    for call in (read, write):
        answers.say(status, b"", Location=elsewhere.url + "/crm")
        assert failure(call, crm, CrmUnreachable).code == "redirected"
    answers.say(status, b"", Location=elsewhere.url + "/account")
    failure(lambda crm: crm.account_id(), crm, CrmUnreachable)

    assert elsewhere.requests == []
    assert elsewhere.connections == 0


def test_a_record_id_that_looks_like_an_address_stays_in_the_body(answers, elsewhere, crm):
    answers.say(200, {"results": [{"id": elsewhere.url, "properties": {}}]})

    crm.read_records("contacts/../../x?y=", [elsewhere.url])

    assert answers.paths() == ["/crm/v3/objects/contacts%2F..%2F..%2Fx%3Fy%3D/batch/read"]
    assert elsewhere.connections == 0


# -- the token


def test_the_token_is_in_no_error_no_log_and_no_repr(answers, crm, caplog):
    caplog.set_level(logging.DEBUG)
    echo = f"you sent Bearer {TOKEN}"
    seen = [repr(crm), repr(vars(crm))]
    for status in (400, 401, 403, 429, 500, 500, 302, 200, 200, 0, 0):
        answers.say(status, {"message": echo, "errors": [{"code": "X", "message": echo}]})
    for _ in range(8):
        try:
            read(crm)
        except CrmError as error:
            seen += [str(error), repr(vars(error)), "".join(traceback.format_exception(error))]
    answers.employ("5501")
    answers.say(207, {"results": [], "errors": [{"message": echo, "context": {"ids": ["1"]}}]})
    seen.append(repr(write(crm)))

    assert len(seen) > 20
    assert TOKEN not in "".join(seen)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("token", ["", " ", "a b", "tok\nen", "tök", "token\r\nX: 1"], ids=ascii)
def test_a_token_that_cannot_be_sent_is_a_bad_setting_and_not_quoted(token):
    with pytest.raises(BadSettings) as caught:
        hubspot.crm(settings(access_token=token), Alone())

    assert not token.strip() or token not in caught.value.message


@pytest.mark.parametrize(
    "changes",
    [{"api_version": "v4/../x"}, {"api_version": "2026"}, {"api_version": ""}, {"base_url": "x"}],
    ids=repr,
)
def test_a_setting_that_cannot_work_does_not_start(changes):
    with pytest.raises(BadSettings):
        hubspot.crm(settings(**changes), Alone())


def settings(**changes):
    values = {
        "name": "hubspot",
        "access_token": TOKEN,
        "client_secret": "secret",
        "public_url": "https://connector.example.test",
    }
    return HubSpotSettings(**(values | changes))


def test_a_connection_may_be_made_more_than_once():
    first, second = hubspot.crm(settings(), Alone()), hubspot.crm(settings(), Alone())

    assert first is not second


def test_closing_twice_is_fine(answers, crm):
    answers.say(200, GOOD)
    read(crm)

    crm.close()
    crm.close()
