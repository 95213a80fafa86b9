"""A plain HTTP caller of the sandbox HubSpot, and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import requests

from adapters.sandbox.hubspot import HubSpotSandbox

START = datetime(2026, 11, 30, 9, 15, 7, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


class Caller:
    """Calls as a client would, with the portal's token."""

    def __init__(self, portal: HubSpotSandbox, session: requests.Session) -> None:
        self.portal = portal
        self.session = session
        session.headers["Authorization"] = f"Bearer {portal.access_token}"

    def get(self, path: str, **query: object) -> requests.Response:
        return self.session.get(self.portal.url + path, params=query)

    def post(self, path: str, body: object) -> requests.Response:
        return self.session.post(self.portal.url + path, json=body)

    def record(self, record_id: str, **query: object) -> requests.Response:
        return self.get(f"/crm/v3/objects/contacts/{record_id}", **query)

    def patch(self, record_id: str, properties: Mapping, version: str = "v3", **query: object):
        address = f"{self.portal.url}{objects(version)}/contacts/{record_id}"
        return self.session.patch(address, json={"properties": properties}, params=query)

    def read(self, ids: list[str], *names: str, history: tuple = (), version: str = "v3"):
        body = {
            "inputs": [{"id": one} for one in ids],
            "properties": list(names or ["hubspot_owner_id"]),
            "propertiesWithHistory": list(history),
        }
        return self.post(f"{objects(version)}/contacts/batch/read", body)

    def update(self, owners: Mapping[str, str], version: str = "v3") -> requests.Response:
        inputs = [
            {"id": one, "properties": {"hubspot_owner_id": owner}} for one, owner in owners.items()
        ]
        return self.post(f"{objects(version)}/contacts/batch/update", {"inputs": inputs})

    def links(self, near: str, far: str, ids: list[str], version: str = "v4"):
        root = "/crm/v4/associations" if version == "v4" else f"/crm/associations/{version}"
        body = {"inputs": [{"id": one} for one in ids]}
        return self.post(f"{root}/{near}/{far}/batch/read", body)

    def search(
        self, groups: list, kind: str = "contacts", version: str = "v3", **changes: object
    ) -> requests.Response:
        body = {"filterGroups": groups, "sorts": [], "properties": [], "limit": 10, "after": "0"}
        return self.post(f"{objects(version)}/{kind}/search", body | changes)

    def complete(self, callback_id: str, fields: Mapping) -> requests.Response:
        path = f"/automation/v4/actions/callbacks/{callback_id}/complete"
        return self.post(path, {"outputFields": fields})


def links(answer: requests.Response) -> dict[str, dict[str, dict]]:
    """The entries of a batch of associations, by the ids of both ends."""
    return {
        one["from"]["id"]: {str(to["toObjectId"]): to for to in one["to"]}
        for one in answer.json()["results"]
    }


def types_of(entry: Mapping) -> list[int]:
    return [one["typeId"] for one in entry["associationTypes"]]


def objects(version: str) -> str:
    return "/crm/v3/objects" if version == "v3" else f"/crm/objects/{version}"


def code(response: requests.Response) -> tuple[int, str | None]:
    """Status and the most telling word of a refusal."""
    if response.status_code < 400:
        return response.status_code, None
    body = response.json()
    details = body.get("errors") or [{}]
    word = details[0].get("code") or body.get("policyName") or body.get("category")
    return response.status_code, word


@contextmanager
def serving(**settings: object) -> Iterator[tuple[HubSpotSandbox, Caller, Clock]]:
    """A served portal, a caller with its token, and the portal's clock."""
    clock = Clock()
    portal = HubSpotSandbox(clock=clock, **settings)
    with portal, requests.Session() as session:
        yield portal, Caller(portal, session), clock
