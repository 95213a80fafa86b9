"""Pools: make, list, show, change."""

from __future__ import annotations

from datetime import datetime

from flask import Response

from connector.engine import rotation
from connector.engine.eligibility import refusal
from connector.errors import BadInput, Pointer, unknown_pool
from connector.model import Board, Lead, Member, Pool
from connector.store import pools
from connector.store.database import Session
from connector.web import answers, presentation, schemas
from connector.web.context import current, reading, writing
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("pools")


def existing(session: Session, pool_id: str) -> Pool:
    """The pool, or ``NotFound``."""
    found = pools.get(session, pool_id)
    if found is None:
        raise unknown_pool(pool_id)
    return found


@api.post("/pools", responses={201: answers.Pool})
@once
def create_pool(session: Session, body: schemas.NewPool) -> Response:
    """Make a pool."""
    members = [_joining(member) for member in body.members]
    made = pools.create(session, body.name, members, current().clock())
    headers = {"Location": f"/round-robin/pools/{made.id}"}
    return answers.answer(presentation.pool(made), 201, headers=headers)


@api.get("/pools", responses={200: answers.Pools})
def list_pools(query: schemas.Page) -> Response:
    """List pools, oldest first."""
    after = _place(query.cursor) if query.cursor else None
    with reading() as session:
        found = pools.listed(session, after, query.limit + 1)
    page = found[: query.limit]
    last = page[-1] if len(found) > len(page) else None
    cursor = f"{last.created_at.isoformat()},{last.id}" if last else None
    body = answers.Pools([presentation.pool(pool) for pool in page])
    return answers.answer(body, headers=answers.next_page(cursor))


@api.get("/pools/<pool_id>", responses={200: answers.PoolNow})
def show_pool(path: schemas.PoolPath) -> Response:
    """Show a pool with each member's count, next-up place and, if so, why not now."""
    with reading() as session:
        board = pools.board(session, path.pool_id, lock=False)
        if board is None:
            raise unknown_pool(path.pool_id)
        counts = pools.counts(session, path.pool_id)
    return answers.answer(_now(board, counts))


@api.patch("/pools/<pool_id>", responses={200: answers.Pool})
def change_pool(path: schemas.PoolPath, body: schemas.PoolPatch) -> Response:
    """Change a pool: all or nothing."""
    with writing() as session:
        changed = pools.change(session, path.pool_id, _change(body), current().clock())
    return answers.answer(presentation.pool(changed))


def _joining(member: schemas.NewMember | str) -> pools.NewMember:
    if isinstance(member, str):
        return pools.NewMember(user_id=member)
    return pools.NewMember(
        user_id=member.user_id,
        name=member.name,
        email=member.email,
        weight=member.weight,
        active=member.active,
    )


def _change(body: schemas.PoolPatch) -> pools.PoolChange:
    return pools.PoolChange(
        name=body.name,
        add_members=[_joining(member) for member in body.add_members],
        remove_members=body.remove_members,
        update_members=[
            pools.MemberChange(user_id=change.user_id, weight=change.weight, active=change.active)
            for change in body.update_members
        ],
        order=body.order,
    )


def _now(board: Board, counts: dict[str, int]) -> answers.PoolNow:
    """The pool as a plain lead would find it; turns that are owed come first."""
    able = [member for member in rotation.order(board) if refusal(member, Lead(id="")) is None]
    places = {m.id: place for place, m in enumerate(sorted(able, key=lambda m: not m.owed), 1)}
    members = [
        answers.MemberNow(
            **presentation.member(member).model_dump(),
            count=counts.get(member.user.id, 0),
            next_up=places.get(member.id),
            unavailable=_unavailable(member),
        )
        for member in board.pool.members
    ]
    shown = presentation.pool(board.pool).model_dump() | {"members": members}
    return answers.PoolNow(**shown)


def _unavailable(member: Member) -> answers.Unavailable | None:
    skip = refusal(member, Lead(id=""))
    if skip:
        return answers.Unavailable(reason=skip.reason, detail=skip.detail, until=None)
    if member.user.refused_by:
        refusing = ", ".join(sorted(member.user.refused_by))
        return answers.Unavailable(
            reason="refused_by_crm", detail=f"inactive in {refusing}", until=None
        )
    return None


def _place(cursor: str) -> tuple[datetime, str]:
    moment, _, pool_id = cursor.partition(",")
    try:
        created_at = datetime.fromisoformat(moment)
        if created_at.tzinfo and pool_id:
            return created_at, pool_id
    except ValueError:
        pass
    detail = "is no cursor; take it from the Link header"
    raise BadInput(f"/cursor: {detail}", errors=[Pointer("/cursor", detail)])
