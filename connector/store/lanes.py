"""One lane per connection: who works on it, until when, and whether it rests.

Lock order of all transactions: lane, pools, members, assignments, outbox.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    Row,
    ScalarSelect,
    exists,
    false,
    func,
    or_,
    select,
    update,
)

from connector.store import callbacks, inbox, marks, outbox, tables
from connector.store.callbacks import Callback
from connector.store.database import Session, insert_on
from connector.store.inbox import InboxItem
from connector.store.outbox import OutboxItem
from connector.store.tables import lanes

CALLBACKS = 20  # at most in one claim: each is a call of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lane taken for one batch: of its five kinds of work exactly one is there to do."""

    connection: str
    fence: int  # grows with each claim; what an older holder reports is refused
    probes: int  # probes in a row that failed before this claim
    inbox: list[InboxItem] = field(default_factory=list)
    outbox: list[OutboxItem] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    directory: bool = False  # the CRM's users are to be read
    poll: str = ""  # the object type whose changes are to be asked for


def ensure(session: Session, names: Iterable[str]) -> None:
    """Make the lanes that are not there yet."""
    if rows := [{"connection": name} for name in sorted(set(names))]:
        session.execute(insert_on(session, lanes).on_conflict_do_nothing(), rows)


def claim(
    session: Session,
    *,
    holder: str,
    now: datetime,
    lease_seconds: float,
    limits: Mapping[str, tuple[int, int]],
    directories: Collection[str] = (),
    polls: marks.Polls = MappingProxyType({}),
    fill_seconds: float = 0.5,
) -> Claim | None:
    """Take the lane with due work that was served longest ago; None when there is none.

    ``limits`` holds (read batch, write batch) of each connection that may be taken, and
    ``directories`` those whose CRM can be asked for its users: where that is due it comes first.
    ``polls`` holds the object types whose changes are asked for: those take every other turn.
    Owner writes come next once they fill a batch, have waited ``fill_seconds``, or no event is due.
    """
    directory_is_due = _directory_is_due(directories, now)
    lane = session.execute(
        select(lanes, directory_is_due.label("directory"))
        .where(
            lanes.c.connection.in_(sorted(limits)),
            or_(lanes.c.lease_until.is_(None), lanes.c.lease_until <= now),
            or_(lanes.c.paused_until.is_(None), lanes.c.paused_until <= now),
            or_(
                exists().where(inbox.is_due(lanes.c.connection, now)),
                exists().where(outbox.is_due(lanes.c.connection, now)),
                directory_is_due,
                exists().where(callbacks.is_due(lanes.c.connection, now)),
                exists().where(marks.is_due(lanes.c.connection, polls, now)) if polls else false(),
            ),
        )
        .order_by(lanes.c.served_at.asc().nulls_first(), lanes.c.connection)
        .limit(1)
        .with_for_update(of=lanes, skip_locked=True)
    ).one_or_none()
    if lane is None:
        return None
    work = _work(session, lane, now, limits[lane.connection], polls, fill_seconds)
    if not any(work.values()):
        return None
    lease_until = now + timedelta(seconds=lease_seconds)
    session.execute(
        update(lanes)
        .where(lanes.c.connection == lane.connection)
        .values(
            fence=lane.fence + 1,
            leased_by=holder,
            lease_until=lease_until,
            served_at=now,
            directory_due_at=lease_until if lane.directory else lane.directory_due_at,
        )
    )
    return Claim(
        connection=lane.connection,
        fence=lane.fence + 1,
        probes=lane.probes,
        **work,
    )


def hold(session: Session, claim: Claim) -> bool:
    """Is the claim still ours? The first statement where part of its work is recorded."""
    return _change(session, claim, fence=claim.fence)


def release(session: Session, claim: Claim, *, now: datetime) -> bool:
    """End the claim and clear the lane's pause; False when somebody else took the lane meanwhile.

    The first statement of the transaction that records what came of the batch; on False roll it
    back, for the other holder works on the same batch.
    """
    return _end(session, claim, served_at=now, paused_until=None, pause_reason=None, probes=0)


def pause(session: Session, claim: Claim, *, until: datetime, reason: str, probe: bool) -> bool:
    """End the claim and let the lane rest until then: instead of ``release``, by the same rule.

    ``probe`` counts one more try that found the CRM unreachable.
    """
    probes = lanes.c.probes + 1 if probe else lanes.c.probes
    return _end(session, claim, paused_until=until, pause_reason=reason, probes=probes)


def ask_for_directory(session: Session, connections: Iterable[str]) -> None:
    """Let the users of these connections be read at once. Before any pool is locked."""
    session.execute(
        update(lanes)
        .where(
            lanes.c.connection.in_(sorted(set(connections))),
            lanes.c.directory_due_at.is_not(None),
        )
        .values(directory_due_at=None)
    )


def plan_directory(session: Session, claim: Claim, due_at: datetime) -> None:
    """Say when the users are read again, unless they were asked for since the claim."""
    session.execute(
        update(lanes)
        .where(lanes.c.connection == claim.connection, lanes.c.directory_due_at.is_not(None))
        .values(directory_due_at=due_at)
    )


def rest(session: Session, connection: str, *, until: datetime, reason: str) -> None:
    """Let the lane rest at least until then, whoever holds it."""
    longer = or_(lanes.c.paused_until.is_(None), lanes.c.paused_until < until)
    session.execute(
        update(lanes)
        .where(lanes.c.connection == connection, longer)
        .values(paused_until=until, pause_reason=reason)
    )


def next_due(session: Session, now: datetime) -> datetime | None:
    """Tell when an event or write can be claimed first: ``now``, later, or never."""
    first_event = _first_due(tables.inbox)
    first_write = _first_due(tables.outbox)
    rows = session.execute(
        select(lanes.c.lease_until, lanes.c.paused_until, first_event, first_write)
    )
    moments: list[datetime] = []
    for lease_until, paused_until, event_at, write_at in rows:
        if ready := [moment for moment in (event_at, write_at) if moment]:
            hindrances = [moment for moment in (lease_until, paused_until) if moment]
            moments.append(max(now, min(ready), *hindrances))
    return min(moments, default=None)


def _directory_is_due(directories: Collection[str], now: datetime) -> ColumnElement[bool]:
    due_at = lanes.c.directory_due_at
    return lanes.c.connection.in_(sorted(directories)) & or_(due_at.is_(None), due_at <= now)


def _work(
    session: Session,
    lane: Row[Any],
    now: datetime,
    limits: tuple[int, int],
    polls: marks.Polls,
    fill_seconds: float,
) -> dict[str, Any]:
    """What is claimed of a lane, as ``Claim`` names it: one kind of work at most."""
    if lane.directory:
        return {"directory": True}
    # What changed takes every other turn, so that neither keeps the rest waiting for long.
    poll = marks.due(session, lane.connection, polls, now) if polls else ""
    if poll and lane.fence % 2 == 1:
        return {"poll": poll}
    # Each fourth time before all else, so that no crowd of leads keeps workflows waiting.
    comes_first = lane.fence % 4 == 0
    if comes_first and (told := callbacks.due(session, lane.connection, now, CALLBACKS)):
        return {"callbacks": told}
    events, writes = _batch(session, lane.connection, now, limits, fill_seconds)
    if events or writes:
        return {"inbox": events, "outbox": writes}
    if not comes_first and (told := callbacks.due(session, lane.connection, now, CALLBACKS)):
        return {"callbacks": told}
    return {"poll": poll}


def _batch(
    session: Session,
    connection: str,
    now: datetime,
    limits: tuple[int, int],
    fill_seconds: float,
) -> tuple[list[InboxItem], list[OutboxItem]]:
    read_limit, write_limit = limits
    writes = outbox.peek(session, connection, now, write_limit)
    waited = now - timedelta(seconds=fill_seconds)
    if writes and (len(writes) >= write_limit or min(w.due_at for w in writes) <= waited):
        return [], outbox.take(session, writes)
    if events := inbox.due(session, connection, now, read_limit):
        return events, []
    return [], outbox.take(session, writes)


def _end(session: Session, claim: Claim, **values: Any) -> bool:
    return _change(session, claim, lease_until=None, leased_by=None, **values)


def _change(session: Session, claim: Claim, **values: Any) -> bool:
    """Change the lane if the claim still holds it."""
    changed = session.execute(
        update(lanes)
        .where(
            lanes.c.connection == claim.connection,
            lanes.c.fence == claim.fence,
            lanes.c.lease_until.is_not(None),
        )
        .values(**values)
    )
    return cast("CursorResult[Any]", changed).rowcount == 1


def _first_due(queue: Any) -> ScalarSelect[Any]:
    return (
        select(func.min(queue.c.due_at, type_=queue.c.due_at.type))
        .where(queue.c.connection == lanes.c.connection, queue.c.status == "ready")
        .correlate(lanes)
        .scalar_subquery()
    )
