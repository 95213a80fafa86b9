"""OAuth tokens: who is asked for new ones, when, and how often at most."""

import logging
import traceback

import pytest

from adapters import hubspot
from adapters.hubspot.settings import HubSpotSettings
from connector.errors import BadSettings, CrmAgain, CrmError, CrmUnreachable
from connector.ports import OwnerWrite
from tests.alone import Alone

GOOD = {"results": [{"id": "1", "properties": {}}]}
EXPIRED = {"category": "EXPIRED_AUTHENTICATION", "message": "expired"}


@pytest.fixture
def crm(answers, connect):
    return connect(answers.url, access_token=None, client_id="client")


def read(crm):
    return crm.read_records("contacts", ["1"])


def bearers(answers):
    return [request.headers["authorization"] for request in answers.requests]


def test_an_app_without_a_token_asks_for_one_and_keeps_it(answers, crm, renew):
    answers.say(200, GOOD)
    answers.say(200, GOOD)

    read(crm)
    read(crm)

    assert bearers(answers) == ["Bearer secret-access-1"] * 2
    assert renew.asked == [None]


@pytest.mark.parametrize("body", [EXPIRED, {"message": "no"}, b"<html>"], ids=repr)
def test_an_expired_token_is_renewed_once_and_the_call_is_made_again(answers, crm, renew, body):
    answers.say(200, GOOD)
    read(crm)
    answers.say(401, body)
    answers.say(200, GOOD)

    assert list(read(crm)) == ["1"]

    assert bearers(answers)[1:] == ["Bearer secret-access-1", "Bearer secret-access-2"]
    assert renew.asked == [None, "secret-refresh-1"]


def test_a_write_with_an_expired_token_is_made_again(answers, crm):
    answers.employ("5501")
    answers.say(401, EXPIRED)
    answers.say(200, GOOD)

    (outcome,) = crm.write_owners("contacts", [OwnerWrite(record_id="1", owner_id="5501")])

    assert outcome.result.value == "done"
    assert len(answers.paths("/batch/update")) == 2


def test_a_token_that_another_process_renewed_is_taken(answers, crm, shared, renew):
    answers.say(200, GOOD)
    read(crm)
    shared.token = "secret-access-9"
    answers.say(200, GOOD)

    read(crm)

    assert bearers(answers)[-1] == "Bearer secret-access-9"
    assert renew.asked == [None]


def test_a_new_token_that_is_refused_too_stops_the_connection(answers, crm, renew):
    answers.say(401, EXPIRED)
    answers.say(401, EXPIRED)

    with pytest.raises(CrmUnreachable):
        read(crm)

    assert len(answers.requests) == 2
    assert len(renew.asked) == 2


def test_one_call_renews_twice_at_most(answers, crm, renew):
    answers.say(401, EXPIRED)
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(401, EXPIRED)

    with pytest.raises(CrmUnreachable, match="just handed out"):
        read(crm)

    assert len(renew.asked) == 2
    answers.say(401, EXPIRED)
    answers.say(200, GOOD)
    read(crm)
    assert len(renew.asked) == 3


def test_a_refused_refresh_token_goes_to_the_caller(answers, crm, renew):
    renew.error = CrmUnreachable("run connect again", code="bad_refresh_token")

    with pytest.raises(CrmUnreachable) as caught:
        read(crm)

    assert caught.value.code == "bad_refresh_token"
    assert answers.requests == []


def test_a_renewal_that_failed_for_a_moment_is_tried_once_more(answers, crm, renew):
    renew.error = CrmAgain("down")

    with pytest.raises(CrmAgain):
        read(crm)

    assert len(renew.asked) == 2


def test_a_given_token_is_never_renewed(answers, connect, renew):
    answers.say(401, EXPIRED)

    with pytest.raises(CrmUnreachable):
        read(connect(answers.url))

    assert len(answers.requests) == 1
    assert renew.asked == []


def test_renewed_tokens_are_in_no_error_no_log_and_no_repr(answers, crm, caplog, shared):
    caplog.set_level(logging.DEBUG)
    seen = []
    for status in (400, 401, 403, 429, 500, 200):
        token = "secret-access-1"
        for _ in range(2):
            answers.say(status, {"message": f"you sent {token} or secret-access-2"})
        shared.token = token
        try:
            read(crm)
        except CrmError as error:
            seen += [str(error), repr(vars(error)), "".join(traceback.format_exception(error))]

    # Each answer speaks of both tokens; the one that was not in use may be any text.
    used = {bearer.removeprefix("Bearer ") for bearer in bearers(answers)}
    assert used >= {"secret-access-1"}
    assert len(seen) == 18
    assert "secret-access-1" not in "".join(seen) + caplog.text
    assert "secret-refresh" not in "".join(seen) + caplog.text
    assert "secret-access" not in repr(crm) + repr(vars(crm))


def test_a_connection_with_neither_a_token_nor_an_app_does_not_start():
    settings = HubSpotSettings(
        name="hubspot", client_secret="secret", public_url="https://connector.example.test"
    )

    with pytest.raises(BadSettings):
        hubspot.crm(settings, Alone())
