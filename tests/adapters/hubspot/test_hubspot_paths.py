"""Where each call goes in each API version."""

from datetime import UTC, datetime

import pytest

from connector.errors import CrmNever
from connector.ports import OwnerWrite, Verdict
from tests.builders import seen

VERDICT = Verdict(
    owner_id="5501",
    owner_email="rae@example.test",
    user_name="Rae",
    pool="EMEA",
    reason="rotation",
)
V3 = [
    "/crm/v3/objects/leads/batch/read",
    "/crm/v3/owners/?limit=100",
    "/crm/v3/objects/leads/batch/update",
    "/crm/v4/associations/leads/contacts/batch/read",
    "/crm/v3/objects/contacts/batch/read",
    "/crm/v4/associations/contacts/companies/batch/read",
    "/crm/v3/objects/companies/batch/read",
    "/crm/v3/owners/?limit=100&archived=true",
    "/crm/v3/owners/?limit=100",
    "/crm/v3/objects/users?",
    "/crm/v3/objects/leads/search",
    "/automation/v4/actions/callbacks/ap-1/complete",
    "/account-info/v3/details",
]
DATED = [
    "/crm/objects/{}/leads/batch/read",
    "/crm/owners/{}?limit=100",
    "/crm/objects/{}/leads/batch/update",
    "/crm/associations/{}/leads/contacts/batch/read",
    "/crm/objects/{}/contacts/batch/read",
    "/crm/associations/{}/contacts/companies/batch/read",
    "/crm/objects/{}/companies/batch/read",
    "/crm/owners/{}?limit=100&archived=true",
    "/crm/owners/{}?limit=100",
    "/crm/objects/{}/users?",
    "/crm/objects/{}/leads/search",
    "/automation/actions/callbacks/{}/ap-1/complete",
    "/account-info/{}/details",
]


@pytest.mark.parametrize("version", ["v3", "2026-03", "2026-09", "2027-03-beta"])
def test_every_call_has_its_path_in_every_version(answers, connect, version):
    crm = connect(answers.url, api_version=version)
    employed = {"results": [{"id": "5501", "type": "PERSON"}]}
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(200, employed)
    crm.read_records("leads", ["1"])
    answers.say(200, {"results": [{"id": "1", "properties": {}}]})
    crm.write_owners("leads", [OwnerWrite(record_id="1", owner_id="5501")])
    answers.say(200, {"results": [{"from": {"id": "1"}, "to": [{"toObjectId": 2}]}]})
    answers.say(200, {"results": [{"id": "2", "properties": {}}]})
    answers.say(200, {"results": [{"from": {"id": "2"}, "to": [{"toObjectId": 3}]}]})
    answers.say(200, {"results": [{"id": "3", "properties": {}}]})
    crm.related("leads", seen("1"))
    answers.say(200, {"results": []})
    answers.say(200, employed)
    answers.say(200, {"results": []})
    crm.people()
    answers.say(200, {"results": []})
    crm.unowned("leads", datetime(2026, 11, 30, tzinfo=UTC))
    answers.say(204, b"")
    crm.tell("ap-1", VERDICT)
    answers.say(200, {"portalId": 4242})
    crm.account_id()

    expected = V3 if version == "v3" else [path.format(version) for path in DATED]
    asked = answers.paths()
    assert len(asked) == len(expected)
    for path, start in zip(sorted(asked), sorted(expected), strict=True):
        assert path == start or (start.endswith("?") and path.startswith(start))


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_change_the_path_is_not_sent(answers, crm, name):
    with pytest.raises(CrmNever):
        crm.read_records(name, ["1"])

    assert answers.requests == []
