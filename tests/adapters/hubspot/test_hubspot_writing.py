"""Writing owners: one call, one outcome per write, never a second try."""

import pytest

from connector.errors import CrmAgain, CrmNever, CrmPaced
from connector.ports import OwnerWrite, Result


def write(record_id="1", owner_id="5501"):
    return OwnerWrite(record_id=record_id, owner_id=owner_id)


def written(record_id, owner_id="5501"):
    return {"id": record_id, "properties": {"hubspot_owner_id": owner_id}}


def refusal(**changes):
    return {"status": "error", "category": "VALIDATION_ERROR", "message": "Not valid"} | changes


BAD_OWNER = refusal(
    message='Property values were not valid: [{"isValid":false,"error":"INVALID_OWNER_ID"}]',
    errors=[
        {
            "message": "Owner 5501 does not exist",
            "code": "INVALID_OWNER_ID",
            "context": {"propertyName": ["hubspot_owner_id"]},
        }
    ],
)


@pytest.fixture
def crm(answers, connect):
    answers.employ("5501", "5502")
    return connect(answers.url)


def updates(answers):
    return [request for request in answers.requests if "/batch/update" in request.path]


def results(outcomes):
    return [(outcome.record_id, outcome.result) for outcome in outcomes]


def test_a_batch_is_written_by_one_post_with_the_owner_alone(answers, crm):
    answers.say(200, {"results": [written("2", "5502"), written("1")]})

    outcomes = crm.write_owners("contacts", [write("1"), write("2", "5502")])

    (asked,) = updates(answers)
    assert (asked.method, asked.path) == ("POST", "/crm/v3/objects/contacts/batch/update")
    assert asked.body == {
        "inputs": [
            {"id": "1", "properties": {"hubspot_owner_id": "5501"}},
            {"id": "2", "properties": {"hubspot_owner_id": "5502"}},
        ]
    }
    assert results(outcomes) == [("1", Result.DONE), ("2", Result.DONE)]


def test_a_date_version_has_its_own_path(answers, connect):
    answers.employ("5501")
    crm = connect(answers.url, api_version="2026-03")
    answers.say(200, {"results": [written("1")]})

    crm.write_owners("0-136", [write()])

    assert answers.paths("update") == ["/crm/objects/2026-03/0-136/batch/update"]


@pytest.mark.parametrize("status", [200, 207])
def test_errors_are_read_from_the_body_whatever_the_status(answers, crm, status):
    answers.say(
        status,
        {
            "results": [written("1")],
            "numErrors": 3,
            "errors": [
                {"category": "OBJECT_NOT_FOUND", "message": "gone", "context": {"ids": ["2"]}},
                {**BAD_OWNER, "context": {"ids": ["3"]}},
                {"category": "RATE_LIMITS", "message": "slow", "context": {"ids": ["4"]}},
            ],
        },
    )

    outcomes = crm.write_owners("contacts", [write(str(n)) for n in range(1, 6)])

    assert results(outcomes) == [
        ("1", Result.DONE),
        ("2", Result.NEVER),
        ("3", Result.REFUSED_OWNER),
        ("4", Result.AGAIN),
        ("5", Result.AGAIN),
    ]
    assert (outcomes[1].code, outcomes[1].message) == ("OBJECT_NOT_FOUND", "gone")
    assert outcomes[4].code == "not_in_answer"


def test_an_error_without_ids_concerns_the_only_record(answers, crm):
    answers.say(207, {"results": [], "errors": [{"category": "OBJECT_NOT_FOUND"}]})

    assert results(crm.write_owners("contacts", [write()])) == [("1", Result.NEVER)]


def test_a_write_that_shows_another_owner_is_not_done(answers, crm):
    answers.say(200, {"results": [written("1", "5502")]})

    (outcome,) = crm.write_owners("contacts", [write()])

    assert (outcome.result, outcome.code) == (Result.AGAIN, "owner_not_set")


def test_an_inactive_owner_is_refused_without_being_sent(answers, crm):
    answers.say(200, {"results": [written("2")]})

    outcomes = crm.write_owners("contacts", [write("1", "7777"), write("2")])

    assert results(outcomes) == [("1", Result.REFUSED_OWNER), ("2", Result.DONE)]
    assert outcomes[0].code == "owner_not_active"
    assert [item["id"] for item in updates(answers)[0].body["inputs"]] == ["2"]


def test_only_inactive_owners_make_no_write_call(answers, crm):
    assert results(crm.write_owners("contacts", [write("1", "7777")])) == [
        ("1", Result.REFUSED_OWNER)
    ]
    assert updates(answers) == []


def test_a_batch_refused_as_a_whole_is_the_callers_to_halve(answers, crm):
    answers.say(400, BAD_OWNER)

    with pytest.raises(CrmNever) as caught:
        crm.write_owners("contacts", [write("1"), write("2")])

    assert "Owner 5501 does not exist" in caught.value.crm_message


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BAD_OWNER, id="code"),
        pytest.param(refusal(message="invalid_owner_id"), id="word in the text"),
        pytest.param(
            refusal(errors=[{"message": "No", "context": {"propertyName": ["hubspot_owner_id"]}}]),
            id="property named",
        ),
    ],
)
def test_one_record_whose_owner_is_refused_goes_to_the_next_user(answers, crm, body):
    answers.say(400, body)

    (outcome,) = crm.write_owners("contacts", [write()])

    assert (outcome.result, outcome.code) == (Result.REFUSED_OWNER, "INVALID_OWNER_ID")


@pytest.mark.parametrize(
    ("status", "body", "code", "text"),
    [
        pytest.param(
            400,
            refusal(errors=[{"code": "PROPERTY_DOESNT_EXIST", "message": "no hubspot_owner_id"}]),
            "PROPERTY_DOESNT_EXIST",
            "Not valid; no hubspot_owner_id",
            id="type without owners",
        ),
        pytest.param(
            400,
            refusal(errors=[{"code": "REQUIRED_PROPERTY", "message": "industry is required"}]),
            "REQUIRED_PROPERTY",
            "Not valid; industry is required",
            id="admin rule",
        ),
        pytest.param(
            404,
            {"category": "OBJECT_NOT_FOUND", "message": "gone"},
            "OBJECT_NOT_FOUND",
            "gone",
            id="404",
        ),
    ],
)
def test_one_record_refused_for_good_says_why(answers, crm, status, body, code, text):
    answers.say(status, body)

    (outcome,) = crm.write_owners("contacts", [write()])

    assert (outcome.result, outcome.code, outcome.message) == (Result.NEVER, code, text)


@pytest.mark.parametrize(
    "status",
    [pytest.param(0, id="lost reply"), pytest.param(500, id="500"), pytest.param(200, id="{}")],
)
def test_a_write_of_unknown_outcome_is_sent_once(answers, crm, status):
    answers.say(status, {})

    with pytest.raises(CrmAgain):
        crm.write_owners("contacts", [write()])

    assert len(updates(answers)) == 1


def test_a_write_that_met_the_limit_is_sent_once(answers, crm):
    answers.say(429, {"policyName": "TEN_SECONDLY_ROLLING", "message": "slow"}, Retry_After="1")

    with pytest.raises(CrmPaced):
        crm.write_owners("contacts", [write()])

    assert len(updates(answers)) == 1


def test_ids_beyond_32_bits_are_written_unchanged(answers, crm):
    answers.say(200, {"results": [written("874716779721")]})

    outcomes = crm.write_owners("contacts", [write("874716779721")])

    assert updates(answers)[0].body["inputs"][0]["id"] == "874716779721"
    assert results(outcomes) == [("874716779721", Result.DONE)]
