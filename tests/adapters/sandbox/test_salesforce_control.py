"""What people steer by hand in the sandbox Salesforce."""

import requests

from adapters.sandbox.salesforce import SalesforceSandbox


def test_people_make_change_and_delete_records_and_add_users() -> None:
    with SalesforceSandbox() as org:
        by_hand = f"{org.url}/_sandbox"
        rep = {"name": "Rep", "email": "rep@sales.example"}
        user = requests.post(f"{by_hand}/users", json=rep, timeout=5).json()["id"]
        made = requests.post(
            f"{by_hand}/records", json={"fields": {"LastName": "New", "Country": "DE"}}, timeout=5
        ).json()
        record = f"{by_hand}/records/{made['Id']}"
        requests.patch(record, json={"OwnerId": user}, timeout=5)
        assert requests.get(record, timeout=5).json()["OwnerId"] == user
        assert requests.delete(record, timeout=5).status_code == 204


def test_a_mistake_is_answered_with_the_reason() -> None:
    with SalesforceSandbox() as org:
        answer = requests.post(f"{org.url}/_sandbox/users", json={"nome": "Rep"}, timeout=5)
    assert answer.status_code == 400
    assert "nome" in answer.json()["message"]


def test_none_of_it_counts_as_a_call() -> None:
    with SalesforceSandbox() as org:
        requests.post(f"{org.url}/_sandbox/records", json={}, timeout=5)
        assert org.calls == []


def test_people_steer_lives_of_records_users_and_automation() -> None:
    with SalesforceSandbox() as org:
        ann = org.add_user("Ann", "ann@example.com")
        lead, other = (org.create("Lead", {"LastName": name}) for name in "ab")

        def send(method: str, path: str, **body: object) -> requests.Response:
            return requests.request(method, f"{org.url}/_sandbox/{path}", json=body, timeout=5)

        send("DELETE", f"records/{other}")
        assert send("POST", f"records/{other}/undelete").json()["IsDeleted"] is False
        assert send("POST", f"records/{lead}/merge", loser=other).status_code == 200
        assert org.get(other)["MasterRecordId"] == lead
        assert send("POST", f"records/{lead}/convert", owner=ann).json()["IsConverted"] is True
        send("PATCH", "switches", features=["omni_channel"])
        away = {"presence": "away", "out_of_office": ["2026-12-01T00:00Z", "2026-12-02T00:00Z"]}
        assert send("PATCH", f"users/{ann}", **away).status_code == 200
        assert send("PATCH", f"users/{ann}", active=False).json()["IsActive"] is False
        assert send("PUT", "automation", owner_id=ann).status_code == 204
        assert org.automation("Lead", {}) == ann
        refusal = {"code": "ENTITY_IS_LOCKED", "tries": 2}
        assert send("POST", f"records/{lead}/refusals", **refusal).status_code == 204
        assert send("POST", "presets/leads").json()["rep_owned"].startswith("00Q")
        assert send("POST", "expire-tokens").status_code == 204


def test_what_cannot_be_steered_is_answered_with_the_reason() -> None:
    with SalesforceSandbox() as org:
        by_hand = f"{org.url}/_sandbox"
        ann = org.add_user("Ann", "ann@example.com")
        answers = [
            requests.patch(f"{by_hand}/users/{ann}", json={"presence": "lost"}, timeout=5),
            requests.patch(f"{by_hand}/switches", json={"features": ["magic"]}, timeout=5),
            requests.post(f"{by_hand}/presets/dragons", timeout=5),
        ]
    assert [answer.status_code for answer in answers] == [400, 400, 400]
    lost, magic, dragons = (answer.json()["message"] for answer in answers)
    assert "lost" in lost
    assert "magic" in magic
    assert "dragons" in dragons


def test_calls_are_listed_with_their_headers() -> None:
    with SalesforceSandbox() as org:
        requests.get(f"{org.url}/services/data", headers={"Sforce-Call-Options": "x"}, timeout=5)
        (call,) = requests.get(f"{org.url}/_sandbox/calls", timeout=5).json()
    assert call["headers"]["sforce-call-options"] == "x"
