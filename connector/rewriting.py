"""Owners that we wrote and that the CRM shows no more, though nobody took the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from connector.model import Assignment, WriteBack
from connector.ports import OVERRIDDEN
from connector.recording import want_owners
from connector.store import assignments, outbox
from connector.store.database import Session

_FOUGHT = (
    "The record belonged to nobody again after its owner was written a second time: a flow, a rule "
    "or a person takes it away. Put that right, then reassign the lead."
)


def write_again(session: Session, rows: Sequence[Assignment], *, now: datetime) -> None:
    """Queue the owner writes of assignments that the CRM lost: same user, no turn.

    A write that is lost twice is no accident. It is not fought for, but is a dead letter until
    somebody decides on the lead anew.
    """
    before = outbox.of_assignments(session, [row.id for row in rows])
    lost = {row.id for row in rows if row.write_back is WriteBack.DONE}
    fought = {
        key
        for key, item in before.items()
        if item.last_error == OVERRIDDEN or (key in lost and item.rewritten)
    }
    lost |= {key for key, item in before.items() if item.rewritten}
    assignments.set_write_back(session, [row.id for row in rows], WriteBack.PENDING)
    pending = [replace(row, write_back=WriteBack.PENDING) for row in rows]
    want_owners(session, pending, now, rewritten=lost)
    again = outbox.of_assignments(session, fought)
    outbox.kill(session, dict.fromkeys(again.values(), (OVERRIDDEN, _FOUGHT)), now)
