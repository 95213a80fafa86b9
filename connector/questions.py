"""A workflow asks who gets a lead, and waits for the answer.

The question is stored like any event, then worked at once; what takes too long the worker goes on
with, and tells the workflow by a callback. So the answer is quick or late, but never lost.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import structlog

from connector import intake
from connector.errors import CrmError, CrmPaced
from connector.model import Assignment, Record
from connector.ports import Crm, Question, Verdict
from connector.store import assignments, callbacks, inbox, lanes, pools, users
from connector.store.callbacks import Callback
from connector.store.database import Database, Session
from connector.store.inbox import InboxItem

# The worker leaves a question alone for so long, since whoever took it in is at it.
RESERVED = timedelta(seconds=15)
WAITS = timedelta(days=7)  # a workflow, unless it is told; HubSpot's default as well
# Nobody will ever have a lead for which this is said.
_IN_VAIN = ("record_gone", "record_closed", "other_portal")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A stored question: already answered, or with the event that is to be worked."""

    callback: Callback | None  # None: it is about no record that can have an owner
    verdict: Verdict | None = None
    item: InboxItem | None = None  # None: it is worked already


def note(session: Session, connection: str, question: Question, now: datetime) -> Asked:
    """Store the question; one that was asked before keeps its first answer."""
    event = question.event
    inbox.add(session, connection, [event], now, due_at=now + RESERVED)
    if event.ignored:
        return Asked(callback=None, verdict=_nobody(event.ignored))
    record = Record(connection=connection, object_type=event.object_type, id=event.record_id)
    callback = callbacks.add(
        session,
        question.callback_id,
        record,
        now=now,
        due_at=now + RESERVED,
        expires_at=now + WAITS,
    )
    return Asked(
        callback=callback,
        verdict=Verdict(**callback.answer) if callback.answer else None,
        item=inbox.find(session, connection, event.key),
    )


def decide(
    database: Database, asked: Asked, crm: Crm, *, default_pool: str | None, now: datetime
) -> Verdict | None:
    """Who has the lead now; None while nobody can take it or the CRM cannot be asked.

    The worker goes on with what cannot be done at once.
    """
    if asked.callback is None:
        return asked.verdict
    record = asked.callback.record
    plan = None
    if asked.item:
        try:
            plan = intake.work(
                database,
                record.connection,
                [asked.item],
                crm,
                default_pool=default_pool,
                now=now,
                may_record=lambda _: True,
            )
        except CrmError as error:
            log.warning("question_put_off", connection=record.connection, code=error.code)
            _leave_to_worker(database, asked.item, record.connection, error, now)
            return None
    verdict = verdict_of(database, record, crm)
    if verdict is None and plan:
        in_vain = next((reason for reason in _IN_VAIN if plan.ignored.get(reason)), None)
        return _nobody(in_vain) if in_vain else None
    return verdict


def answer(session: Session, asked: Asked, verdict: Verdict | None, now: datetime) -> None:
    """Remember what the workflow is about to be told; None: it waits for the worker's callback."""
    if asked.callback is None:
        return
    if verdict is None:
        callbacks.hand_over(session, asked.callback.id, now)
        # Should somebody still be at it: decided twice, it has one outcome.
        inbox.make_due(session, [asked.item.id] if asked.item else [], now)
    else:
        callbacks.answer(session, asked.callback.id, asdict(verdict))


def verdict_of(database: Database, record: Record, crm: Crm) -> Verdict | None:
    """Who has the record's lead, as a workflow is told; None when nobody has."""
    with database.read() as session:
        row = assignments.current_of_records(
            session, record.connection, record.object_type, [record.id]
        ).get(record.id)
        if row is None or row.owner_id is None:
            return None
        user = users.get(session, row.user_id) if row.user_id else None
        pool = pools.get(session, row.pool_id) if row.pool_id else None
    name, email = (user.name, user.email) if user else (None, None)
    if not email:
        person = _person(crm, row)
        name, email = name or person[0], person[1]
    return Verdict(
        owner_id=row.owner_id,
        owner_email=email or "",
        user_name=name or "",
        pool=pool.name if pool else "",
        reason=row.reason,
    )


def _person(crm: Crm, row: Assignment) -> tuple[str | None, str | None]:
    """Name and e-mail of an owner, as the CRM's directory has them."""
    try:
        found = crm.person(row.owner_id or "")
    except CrmError:
        return None, None  # a nicety that is not worth to keep a workflow waiting for
    return (found.name, found.email) if found else (None, None)


def _nobody(reason: str) -> Verdict:
    return Verdict(owner_id="", owner_email="", user_name="", pool="", reason=reason)


def _leave_to_worker(
    database: Database, item: InboxItem, connection: str, error: CrmError, now: datetime
) -> None:
    with database.write() as session:
        if isinstance(error, CrmPaced):  # the lane first, as all who lock both
            until = now + timedelta(seconds=error.pause_seconds)
            lanes.rest(session, connection, until=until, reason=error.message)
        inbox.make_due(session, [item.id], now)
