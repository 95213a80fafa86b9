"""What the demo proves at the end, by asking the CRMs and the history, not by remembering."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.sandbox.server import Call
from connector.demo.watch import Row, Watch
from connector.demo.world import AMERICAS, EUROPE, World


@dataclass(frozen=True, kw_only=True)
class Check:
    """One promise, whether it held, and the figures behind it."""

    promise: str
    held: bool
    figures: str


def check_all(world: World, watch: Watch) -> list[Check]:
    """Every check, in the order in which they are shown."""
    watch.look()
    return [
        _owners_equal_history(world, watch),
        _existing_owners_stayed(world, watch),
        _decided_once(world, watch),
        _territories_kept(world, watch),
        _turns_are_even(watch),
        _sequences_have_no_gaps(watch),
        _pause_was_kept(world),
        _lost_reply_was_found(world),
        _only_owners_written(world),
    ]


def spread(watch: Watch) -> dict[str, Counter[str]]:
    """Turns by user, for each pool; leads that stayed with an owner use none."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in watch.pools.values()}
    for row in watch.rows.values():
        if row["reason"] in ("rotation", "owed"):
            counts[watch.pools[row["pool_id"]]][row["assigned_user_name"]] += 1
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What both CRMs were asked for together."""

    reads: int  # of leads
    writes: int  # of owners
    look_ups: int  # of companies that leads belong to


def calls(world: World) -> Calls:
    """The calls for leads, in batches all of them."""
    queries = sum("FROM Lead" in q.query or "FROM+Lead" in q.query for q in _queries(world))
    return Calls(
        reads=len(world.hubspot.calls_to("/contacts/batch/read")) + queries,
        writes=len(_hubspot_writes(world)) + len(_salesforce_writes(world)),
        look_ups=len(world.hubspot.calls_to("/associations/"))
        + len(world.hubspot.calls_to("/companies/batch/read")),
    )


def first_writes(world: World) -> dict[str, float]:
    """When each lead's owner was first written, in seconds since the epoch."""
    at: dict[str, float] = {}
    for call in _hubspot_writes(world):
        for record_id in _written_ids(call, "inputs") if call.status == 200 else ():
            at.setdefault(f"hubspot:contacts:{record_id}", call.at.timestamp())
    for call in _salesforce_writes(world):
        for record_id in _written_ids(call, "records"):
            at.setdefault(f"salesforce:Lead:{record_id}", call.at.timestamp())
    return at


def _owners_equal_history(world: World, watch: Watch) -> Check:
    owners = {person.id: person.owners for person in world.team}
    rows = watch.by_lead()
    wrong = 0
    for lead_id, made in world.leads.items():
        row, shown = rows.get(lead_id), world.owner_of(lead_id)
        user_id = row["assigned_user_id"] if row else None
        connection = lead_id.split(":", 1)[0]
        wanted = owners[user_id][connection] if user_id else made.owner_id
        wrong += row is None or shown != wanted or shown is None
    return Check(
        promise="Every owner in the CRMs is that of the history",
        held=not wrong,
        figures=f"{len(world.leads)} read, {wrong} differ",
    )


def _existing_owners_stayed(world: World, watch: Watch) -> Check:
    rows = watch.by_lead()
    owned = {lead_id: made.owner_id for lead_id, made in world.leads.items() if made.owner_id}
    moved = [
        lead_id
        for lead_id, owner_id in owned.items()
        if world.owner_of(lead_id) != owner_id or rows[lead_id]["status"] != "kept"
    ]
    return Check(
        promise="An owner who was there stays, and uses no turn",
        held=not moved,
        figures=f"{len(owned)} had one, {len(moved)} moved",
    )


def _decided_once(world: World, watch: Watch) -> Check:
    decided = Counter(row["lead_id"] for row in watch.rows.values())
    twice = sum(count > 1 for count in decided.values())
    return Check(
        promise="Webhooks came twice; each lead was decided once",
        held=not twice and decided.keys() == world.leads.keys(),
        figures=f"{len(decided)} decided, {twice} twice",
    )


def _territories_kept(world: World, watch: Watch) -> Check:
    wrong = sum(
        watch.pools[row["pool_id"]] != _pool_of(world.leads[row["lead_id"]].country)
        for row in watch.rows.values()
    )
    return Check(
        promise="Every lead went to the pool of its territory",
        held=not wrong,
        figures=f"{wrong} of {len(watch.rows)} elsewhere",
    )


def _pool_of(country: str) -> str:
    if country in EUROPE:
        return "Europe"
    return "Americas" if country in AMERICAS else "Everywhere else"


def _turns_are_even(watch: Watch) -> Check:
    gaps = {
        pool: max(turns.values()) - min(turns.values()) if turns else 0
        for pool, turns in spread(watch).items()
    }
    return Check(
        promise="Turns differ by at most one in each pool",
        held=max(gaps.values()) <= 1,
        figures=f"largest difference {max(gaps.values())}",
    )


def _sequences_have_no_gaps(watch: Watch) -> Check:
    broken = [
        name
        for pool_id, name in watch.pools.items()
        if (numbers := sorted(_sequences(watch, pool_id))) != list(range(1, len(numbers) + 1))
    ]
    return Check(
        promise="No sequence has a gap",
        held=not broken,
        figures=f"{len(watch.pools)} pools, {len(broken)} with gaps",
    )


def _sequences(watch: Watch, pool_id: str) -> Iterator[int]:
    rows: list[Row] = [row for row in watch.rows.values() if row["pool_id"] == pool_id]
    return (row["sequence"] for row in rows)


def _pause_was_kept(world: World) -> Check:
    calls = world.hubspot.calls
    refused = [call for call in calls if call.status == 429]
    hasty = sum(
        0 < (call.at - stop.at).total_seconds() < world.pause_seconds
        for stop in refused
        for call in calls
    )
    return Check(
        promise="HubSpot said 429; nobody called in the pause",
        held=bool(refused) and not hasty,
        figures=f"{len(refused)} pauses, {hasty} calls",
    )


def _lost_reply_was_found(world: World) -> Check:
    writes = Counter(
        record_id
        for call in _salesforce_writes(world)
        for record_id in _written_ids(call, "records")
    )
    twice = sum(count > 1 for count in writes.values())
    fired = sum(fault.fired for fault in world.salesforce.faults.all())
    return Check(
        promise="A lost reply was found by reading, not sent twice",
        held=fired == 1 and not twice,
        figures=f"{fired} lost, {twice} twice",
    )


def _only_owners_written(world: World) -> Check:
    others = 0
    for call in _hubspot_writes(world):
        others += sum(
            set(one["properties"]) != {"hubspot_owner_id"}
            for one in json.loads(call.body)["inputs"]
        )
    for call in _salesforce_writes(world):
        others += sum(
            set(one) != {"attributes", "id", "OwnerId"} for one in json.loads(call.body)["records"]
        )
    return Check(
        promise="Nothing but owners was written",
        held=not others,
        figures=f"{len(_hubspot_writes(world)) + len(_salesforce_writes(world))} write calls",
    )


def _hubspot_writes(world: World) -> list[Call]:
    return world.hubspot.calls_to("/batch/update", "POST")


def _salesforce_writes(world: World) -> list[Call]:
    return world.salesforce.calls_to("/composite/sobjects", "PATCH")


def _queries(world: World) -> list[Call]:
    return world.salesforce.calls_to("/query")


def _written_ids(call: Call, key: str) -> list[str]:
    return [str(one["id"]) for one in json.loads(call.body)[key]]
