"""Asking a CRM what changed, for accounts that send no messages.

Changes are read in the order of (moment, id), page by page; each page's events and the place where
the next begins are stored in one commit. So a process that dies anywhere repeats a page at most,
and events that are known already are dropped by their keys.

A CRM may show a change late, at a moment that was read past already. So once a reading is at its
end, the next one begins OVERLAP before this one began, and never behind the last change seen. By
then all older changes had shown, and the reading went past them. Hence a change is missed only
when the CRM shows it more than OVERLAP late, less what our clock is ahead of the CRM's; or when it
was made more than OVERLAP before the very first reading. A record that changes between two readings
shows once, as it is last; one that is deleted does not show at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from connector.model import LeadEvent
from connector.ports import Changes, Crm, Mark
from connector.store import assignments, inbox, lanes, marks
from connector.store.database import Database, Session
from connector.store.lanes import Claim
from connector.store.marks import Place

OVERLAP = timedelta(minutes=5)
LONGEST_WORK = timedelta(seconds=20)  # after that no further page is asked for within one claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """How often a connection is asked what changed, and of which object types."""

    every: timedelta
    object_types: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """What one claim came to."""

    pages: int
    events: int  # changes that the CRM told
    new: int  # of these, unknown before
    is_all: bool  # else the rest is due at once


def wanted(connections: Iterable[Any], crms: Mapping[str, Crm]) -> dict[str, Poll]:
    """The connections whose settings ask for it (``poll_every``) and whose CRM can tell."""
    return {
        one.name: Poll(every=every, object_types=one.objects)
        for one in connections
        if (every := getattr(one, "poll_every", None)) and crms[one.name].capabilities.changes
    }


def types_of(polls: Mapping[str, Poll]) -> dict[str, tuple[str, ...]]:
    """The object types that are polled, by connection."""
    return {name: one.object_types for name, one in polls.items()}


def ensure(session: Session, polls: Mapping[str, Poll], *, now: datetime) -> None:
    """Let what was never read be read from OVERLAP ago on; the rest goes on where it stopped."""
    marks.ensure(session, types_of(polls), since=now - OVERLAP, now=now)


def poll(
    database: Database,
    claim: Claim,
    crm: Crm,
    *,
    every: timedelta,
    clock: Callable[[], datetime],
    is_stopping: Callable[[], bool],
) -> Polled | None:
    """Read what changed since the last time; None when the claim was lost meanwhile.

    Raises ``CrmError`` when the CRM does not tell; the pages before count then. No further page is
    asked for once ``is_stopping``.
    """
    began_at = clock()
    with database.read() as session:
        place = marks.place(session, claim.connection, claim.poll)
    place = replace(place, again_from=place.again_from or began_at - OVERLAP)
    pages, events, new = 0, 0, 0
    while True:
        # No database connection is held during the call.
        page = crm.changes(claim.poll, place.mark)
        place = replace(place, mark=page.mark)
        is_over = page.is_all or is_stopping() or clock() > began_at + LONGEST_WORK
        with database.write() as session:
            now = clock()
            is_ours = (
                lanes.release(session, claim, now=now) if is_over else lanes.hold(session, claim)
            )
            if not is_ours:
                return None
            new += inbox.add(session, claim.connection, _news(session, claim, page), now)
            to = _again(place) if page.is_all else place
            marks.move(session, claim.connection, claim.poll, to)
            if is_over:
                due_at = began_at + every if page.is_all else now
                marks.plan(session, claim.connection, claim.poll, due_at)
        pages, events = pages + 1, events + len(page.events)
        if is_over:
            return Polled(pages=pages, events=events, new=new, is_all=page.is_all)


def _again(end: Place) -> Place:
    """Where the next reading begins, now that this one is at its end."""
    if end.again_from is None or end.mark.at < end.again_from:
        return Place(mark=end.mark)
    return Place(mark=Mark(at=end.again_from))


def _news(session: Session, claim: Claim, page: Changes) -> list[LeadEvent]:
    """The events of a page, with why those mean nothing that change nothing for us.

    So when an org's own records are changed by the thousand, none of them is read one more time.
    """
    settled = {one.record_id for one in page.events if one.key in page.settled}
    ours = assignments.current_of_records(session, claim.connection, claim.poll, settled)
    return [
        replace(one, ignored=page.settled[one.key])
        if one.key in page.settled and one.record_id not in ours
        else one
        for one in page.events
    ]
