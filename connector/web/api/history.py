"""What was decided, how evenly, and what still waits."""

from __future__ import annotations

from datetime import timedelta

from flask import Response

from connector.engine import fairness
from connector.errors import BadInput, Pointer
from connector.store import assignments, history, journal, users
from connector.web import answers, presentation, schemas
from connector.web.api.pools import existing
from connector.web.context import current, reading
from connector.web.documented import blueprint

api = blueprint("history")

LOOKED_BACK = timedelta(days=30)  # for fairness, unless asked otherwise


@api.get("/pools/<pool_id>/history", responses={200: answers.History})
def show_history(path: schemas.PoolPath, query: schemas.HistoryQuery) -> Response:
    """Show a pool's history, newest first."""
    before = _sequence(query.cursor)
    with reading() as session:
        existing(session, path.pool_id)
        found = history.history(
            session,
            path.pool_id,
            lead_id=query.lead_id,
            user_id=query.user_id,
            since=query.since,
            until=query.until,
            before_sequence=before,
            limit=query.limit + 1,
        )
    page = found[: query.limit]
    cursor = str(page[-1].sequence) if len(found) > len(page) else None
    body = answers.History([presentation.history_row(row) for row in page])
    return answers.answer(body, headers=answers.next_page(cursor))


@api.get("/history", responses={200: answers.LeadHistory})
def show_history_of_lead(query: schemas.LeadHistoryQuery) -> Response:
    """Show what was decided about a lead in all pools, newest first."""
    with reading() as session:
        found = assignments.of_lead(
            session, query.lead_id, before=query.cursor, limit=query.limit + 1
        )
    page = found[: query.limit]
    cursor = page[-1].id if len(found) > len(page) else None
    return answers.answer(presentation.lead_history(page), headers=answers.next_page(cursor))


@api.get("/pools/<pool_id>/fairness", responses={200: answers.Fairness})
def show_fairness(path: schemas.PoolPath, query: schemas.FairnessQuery) -> Response:
    """Show how evenly a pool's leads were shared in a period."""
    until = query.until or current().clock()
    since = query.since or until - LOOKED_BACK
    if since >= until:
        detail = "must be before the end of the period"
        raise BadInput(f"/from: {detail}", errors=[Pointer("/from", detail)])
    with reading() as session:
        pool = existing(session, path.pool_id)
        rows = history.rows_between(session, pool.id, since, until)
        returned = journal.returned_turns(session, pool.id, since)
        report = fairness.report(rows, pool.members, returned=returned)
        people = users.find(session, [member.user_id for member in report.members])
    names = {user_id: person.name for user_id, person in people.items()}
    shown = presentation.fairness(report, names, since=since, until=until)
    return answers.answer(shown)


@api.get("/held", responses={200: answers.Held})
def list_held(query: schemas.Page) -> Response:
    """List the leads that wait for a user or a pool, oldest first, each with its reasons."""
    with reading() as session:
        found = assignments.all_held(session, after=query.cursor or "", limit=query.limit + 1)
    page = found[: query.limit]
    cursor = page[-1].id if len(found) > len(page) else None
    body = answers.Held([presentation.assigned(row) for row in page])
    return answers.answer(body, headers=answers.next_page(cursor))


def _sequence(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        detail = "is no cursor; take it from the Link header"
        raise BadInput(f"/cursor: {detail}", errors=[Pointer("/cursor", detail)])
    return int(cursor)
