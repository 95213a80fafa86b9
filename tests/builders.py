"""Small worlds for tests: users, boards, leads, all with sensible rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from connector.model import Board, ExistingOwner, Lead, Member, Pool, Record, SkipReason, User
from connector.ports import CrmRecord

NOON = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)


def user(user_id: str, **changes: Any) -> User:
    owners = {"hubspot": f"h-{user_id}", "salesforce": f"s-{user_id}"}
    return User(**{"id": user_id, "name": user_id, "owners": owners} | changes)


def member(position: int, user_id: str, **changes: Any) -> Member:
    of_user = {name: changes.pop(name) for name in ("owners", "refused_by") if name in changes}
    if "user_active" in changes:
        of_user["active"] = changes.pop("user_active")
    return Member(
        **{"id": position, "user": user(user_id, **of_user), "position": position} | changes
    )


def strict(names: str, *, last: str | None = None, **changes: Mapping[str, Any]) -> Board:
    """``strict("ABC", last="A", B={"active": False})``: a pool of A, B, C in that order."""
    members = tuple(
        member(place, name, **changes.get(name, {})) for place, name in enumerate(names, 1)
    )
    pool = Pool(id="pool", name="Pool", created_at=NOON, members=members)
    last_id = next((one.id for one in members if one.user.id == last), None)
    return Board(pool=pool, last_assigned_member_id=last_id)


def lead(lead_id: str = "L1", **changes: Any) -> Lead:
    return Lead(id=lead_id, **changes)


def contact(record_id: str = "101", **changes: Any) -> Lead:
    """A lead behind which a HubSpot contact stands."""
    record = Record(connection="hubspot", object_type="contacts", id=record_id)
    return Lead(id=record.lead_id, record=record, **changes)


def owned_by(owner: User | None, owner_id: str = "9") -> ExistingOwner:
    return ExistingOwner(owner_id=owner.owners["hubspot"] if owner else owner_id, user=owner)


def seen(*record_ids: str) -> dict[str, CrmRecord]:
    """Records of nobody, as a CRM shows them."""
    return {one: CrmRecord(id=one, owner_id=None, owner_stays=False) for one in record_ids}


def under(board: Board, **policies: Any) -> Board:
    """The board with these policies of its pool."""
    changed = replace(board.pool.policies, **policies)
    return replace(board, pool=replace(board.pool, policies=changed))


def excluding(*names: str) -> dict[str, SkipReason]:
    return dict.fromkeys(names, SkipReason.EXCLUDED)
