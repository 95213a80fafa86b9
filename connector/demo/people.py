"""The demo's sales team, its pools and territories, set up through the REST API."""

from __future__ import annotations

from connector.demo.servers import Api
from connector.demo.world import AMERICAS, EUROPE, World

POOLS = {"Europe": ("alice", "bob", "carol"), "Americas": ("dave", "erin")}
DEFAULT_POOL = "Everywhere else"


def set_up(api: Api, world: World) -> None:
    """Users with their owner ids in both CRMs, three pools, two territories."""
    for person in world.team:
        body = {"name": person.name, "email": person.email, "owners": person.owners}
        api.call("PUT", f"/round-robin/users/{person.id}", body)
    pools = {name: _pool(api, name, members) for name, members in POOLS.items()}
    _pool(api, DEFAULT_POOL, tuple(person.id for person in world.team))
    api.call(
        "PUT",
        "/round-robin/territories",
        [
            _territory("Europe", EUROPE, pools["Europe"]),
            _territory("Americas", AMERICAS, pools["Americas"]),
        ],
    )


def _pool(api: Api, name: str, members: tuple[str, ...]) -> str:
    body = {"name": name, "members": [{"user_id": member} for member in members]}
    pool_id: str = api.call("POST", "/round-robin/pools", body)["id"]
    return pool_id


def _territory(name: str, countries: tuple[str, ...], pool_id: str) -> dict[str, object]:
    condition = {"field": "country", "op": "in", "value": list(countries)}
    return {"name": name, "when": condition, "pool_id": pool_id}
