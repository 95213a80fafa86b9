"""Workflows that wait are told who has the lead."""

import pytest

from connector.errors import CrmAgain, CrmForbidden, CrmNever, CrmPaced
from connector.ports import Verdict

VERDICT = Verdict(
    owner_id="5501",
    owner_email="rae@example.test",
    user_name="Rae",
    pool="EMEA",
    reason="rotation",
)
FIELDS = {
    "assignedOwnerId": "5501",
    "assignedOwnerEmail": "rae@example.test",
    "assignedUserName": "Rae",
    "pool": "EMEA",
    "reason": "rotation",
    "hs_execution_state": "SUCCESS",
}


@pytest.mark.parametrize(
    ("version", "body"),
    [
        ("v3", {"outputFields": FIELDS}),
        ("2026-03", {"outputFields": FIELDS, "typedOutputs": FIELDS}),
        ("2026-09", {"outputFields": FIELDS, "typedOutputs": FIELDS}),
    ],
)
def test_a_verdict_lets_the_workflow_go_on(answers, connect, version, body):
    answers.say(204, b"")

    connect(answers.url, api_version=version).tell("ap-4242-700001-3-0", VERDICT)

    (sent,) = answers.requests
    assert (sent.method, sent.body) == ("POST", body)


@pytest.mark.parametrize("status", [400, 404, 409])
def test_a_workflow_that_waits_no_longer_is_told_never(answers, crm, status):
    answers.say(status, {"category": "OBJECT_NOT_FOUND", "message": "unknown callback"})

    with pytest.raises(CrmNever, match="unknown callback"):
        crm.tell("ap-1", VERDICT)


@pytest.mark.parametrize(
    ("status", "kind"), [(500, CrmAgain), (0, CrmAgain), (429, CrmPaced), (403, CrmForbidden)]
)
def test_a_verdict_that_did_not_arrive_is_sent_once(answers, crm, status, kind):
    answers.say(status, {"message": "no"})

    with pytest.raises(kind):
        crm.tell("ap-1", VERDICT)

    assert len(answers.requests) == 1


@pytest.mark.parametrize(
    ("callback_id", "quoted"),
    [
        ("../../crm/v3/objects/contacts", "..%2F..%2Fcrm%2Fv3%2Fobjects%2Fcontacts"),
        ("a/b?c=d#e", "a%2Fb%3Fc%3Dd%23e"),
        ("%2e%2e", "%252e%252e"),
        ("{callback_id}", "%7Bcallback_id%7D"),
        ("é 1", "%C3%A9%201"),
        ("\ud800", "%3F"),
    ],
    ids=ascii,
)
def test_an_id_of_any_text_stays_one_part_of_the_path(answers, crm, callback_id, quoted):
    answers.say(204, b"")

    crm.tell(callback_id, VERDICT)

    assert answers.paths() == [f"/automation/v4/actions/callbacks/{quoted}/complete"]


@pytest.mark.parametrize("callback_id", ["", ".", ".."])
def test_an_id_that_would_change_the_path_is_not_sent(answers, crm, callback_id):
    with pytest.raises(CrmNever):
        crm.tell(callback_id, VERDICT)

    assert answers.requests == []
