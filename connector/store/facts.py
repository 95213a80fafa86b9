"""What a decision was given besides its pool's board: kept with the row, and given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from connector.model import (
    Assignment,
    Board,
    Candidate,
    ExistingOwner,
    Lead,
    Related,
    SkipReason,
    Slot,
    StickyStep,
    User,
)
from connector.store import images
from connector.store.images import Image


def facts_of(lead: Lead, board: Board | None) -> Image:
    """Picture what no column and no journal tells; what was not given is left out.

    Of the board that are the leads that its users got elsewhere, and those of their meetings that
    overlap the lead's own time.
    """
    owner = lead.existing_owner
    facts = {
        "anew": lead.anew,
        "excluded": {user_id: lead.excluded[user_id] for user_id in sorted(lead.excluded)},
        "preferred": lead.preferred and images.user(lead.preferred),
        "existing_owner": owner and {"owner_id": owner.owner_id, "user": _user(owner.user)},
        "candidates": [_candidate(one) for one in lead.candidates],
        "related": [asdict(one) for one in lead.related],
        "asked_pool": lead.asked_pool,
        "fallback_from": lead.fallback_from,
        "replaces": list(lead.replaces),
        "elsewhere": images.times(board.elsewhere) if board else None,
        "meetings": _meetings(board, lead.slot) if board and lead.slot else None,
    }
    return {name: value for name, value in facts.items() if value not in (None, {}, [])}


def lead_of(row: Assignment) -> Lead:
    """Build the lead of a row, with everything that was known of it when it was decided."""
    facts = row.facts
    preferred, owner = facts.get("preferred"), facts.get("existing_owner")
    return Lead(
        id=row.lead_id,
        kind=row.kind,
        record=row.record,
        email=row.email,
        company=row.company,
        attributes=row.attributes,
        slot=row.slot,
        preferred=_user_of(preferred),
        existing_owner=owner
        and ExistingOwner(owner_id=owner["owner_id"], user=_user_of(owner["user"])),
        candidates=tuple(_candidate_of(one) for one in facts.get("candidates", ())),
        related=tuple(
            Related(**one | {"step": StickyStep(one["step"])}) for one in facts.get("related", ())
        ),
        asked_pool=facts.get("asked_pool"),
        anew=facts.get("anew"),
        excluded={
            user_id: SkipReason(reason) for user_id, reason in facts.get("excluded", {}).items()
        },
        fallback_from=facts.get("fallback_from"),
        replaces=tuple(facts.get("replaces", ())),
    )


def elsewhere_of(facts: Mapping[str, Any]) -> dict[str, tuple[datetime, ...]]:
    """Build what the decision with these facts saw of its users' leads in other pools."""
    return images.times_of(facts.get("elsewhere", {}))


def meetings_of(facts: Mapping[str, Any]) -> dict[str, tuple[Slot, ...]]:
    """Build what the decision with these facts saw of its users' meetings at that time."""
    return {
        user_id: tuple(images.slot_of(slot) for slot in slots)
        for user_id, slots in facts.get("meetings", {}).items()
    }


def _meetings(board: Board, wanted: Slot) -> Image:
    overlapping = {
        user_id: [images.slot(slot) for slot in board.meetings[user_id] if _meet(slot, wanted)]
        for user_id in sorted(board.meetings)
    }
    return {user_id: slots for user_id, slots in overlapping.items() if slots}


def _meet(one: Slot, other: Slot) -> bool:
    return one.starts_at < other.ends_at and other.starts_at < one.ends_at


def _candidate(candidate: Candidate) -> Image:
    told = {"step": candidate.step, "user": _user(candidate.user), "found": candidate.found}
    return told | {"binds": True} if candidate.binds else told


def _candidate_of(image: Image) -> Candidate:
    return Candidate(
        step=StickyStep(image["step"]),
        user=_user_of(image["user"]),
        found=image["found"],
        binds=image.get("binds", False),
    )


def _user(user: User | None) -> Image | None:
    return images.user(user) if user else None


def _user_of(image: Image | None) -> User | None:
    return images.user_of(image) if image else None
