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
