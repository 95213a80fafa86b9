"""Pools: make, list, show, change, archive."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from flask import Response

from connector import edits, recording
from connector.engine import fairness, rotation
from connector.engine.eligibility import refusal
from connector.errors import BadInput, Pointer, unknown_pool
from connector.model import Board, Lead, Pool, Skip, SkipReason, StickyStep
from connector.store import pools
from connector.store.database import Session
from connector.web import answers, presentation, schemas
from connector.web.context import actor, current, reading, writing
from connector.web.documented import blueprint
from connector.web.idempotency import once

api = blueprint("pools")

PLAIN = Lead(id="any lead")  # without a CRM record, a slot or a wish


def existing(session: Session, pool_id: str) -> Pool:
    """The pool, archived or not, or ``NotFound``."""
    found = pools.get(session, pool_id)
    if found is None:
        raise unknown_pool(pool_id)
    return found


@api.post("/pools", responses={201: answers.Pool})
@once
def create_pool(session: Session, body: schemas.NewPool) -> Response:
    """Make a pool."""
    wanted = pools.NewPool(
        values=_values(body, besides={"members"}),
        members=[_joining(member) for member in body.members],
    )
    made = edits.create_pool(session, wanted, now=current().clock(), actor=actor())
    headers = {"Location": f"/round-robin/pools/{made.id}"}
    return answers.answer(presentation.pool(made), 201, headers=headers)


@api.get("/pools", responses={200: answers.Pools})
def list_pools(query: schemas.Page) -> Response:
    """List pools that are not archived, oldest first."""
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
    now = current().clock()
    with reading() as session:
        board = recording.look(session, path.pool_id, now=now).boards[path.pool_id]
    hindrances = _hindrances(board, now)
    shown = presentation.pool_now(
        board,
        places=_places(board, hindrances.keys(), now),
        hindrances=_in_crms(board) | hindrances,
        shares=fairness.standings(board),
    )
    return answers.answer(shown)


@api.patch("/pools/<pool_id>", responses={200: answers.Pool})
def change_pool(path: schemas.PoolPath, body: schemas.PoolPatch) -> Response:
    """Change a pool: all or nothing."""
    wanted = _change(body)
    now = current().clock()
    with writing() as session:
        changed = edits.change_pool(session, path.pool_id, wanted, now=now, actor=actor())
    return answers.answer(presentation.pool(changed))


@api.delete("/pools/<pool_id>", responses={204: None})
def archive_pool(path: schemas.PoolPath) -> Response:
    """Archive a pool: it takes no more leads; its history stays readable."""
    context = current()
    with writing() as session:
        edits.archive_pool(
            session,
            path.pool_id,
            default_pool=context.default_pool,
            now=context.clock(),
            actor=actor(),
        )
    return answers.nothing()


def _values(
    body: schemas.NewPool | schemas.PoolPatch, *, besides: Collection[str]
) -> dict[str, Any]:
    """What was given of the pool's own fields, under the names of the contract."""
    given = body.model_dump(by_alias=True, include=body.model_fields_set - set(besides))
    if "sticky_steps" in given:
        given["sticky_steps"] = tuple(StickyStep(step) for step in given["sticky_steps"])
    return given


def _joining(member: schemas.NewMember | str) -> pools.NewMember:
    if isinstance(member, str):
        return pools.NewMember(user_id=member)
    return pools.NewMember(**member.model_dump())


def _change(body: schemas.PoolPatch) -> pools.PoolChange:
    about_members = {
        "add_members",
        "remove_members",
        "redistribute",
        "update_members",
        "order",
    }
    return pools.PoolChange(
        values=_values(body, besides=about_members),
        remove_members=body.remove_members,
        add_members=[_joining(member) for member in body.add_members],
        update_members=[
            pools.MemberChange(
                user_id=change.user_id,
                values=change.model_dump(include=change.model_fields_set - {"user_id"}),
            )
            for change in body.update_members
        ],
        order=body.order,
        redistribute=body.redistribute,
    )


def _hindrances(board: Board, now: datetime) -> dict[int, Skip]:
    """Why members cannot take a plain lead now, by member id."""
    return {
        member.id: skip
        for member in board.pool.members
        if (skip := refusal(member, PLAIN, board, now))
    }


def _places(board: Board, hindered: Collection[int], now: datetime) -> Mapping[int, int]:
    """The place in the order of each member who can take a plain lead; 1 is next."""
    able = frozenset(member.id for member in board.pool.members) - set(hindered)
    order = [member.id for member in rotation.order(board, able, now) if member.id in able]
    return {member_id: place for place, member_id in enumerate(order, start=1)}


def _in_crms(board: Board) -> dict[int, Skip]:
    """Which members can take plain leads, but not those of every CRM."""
    return {
        member.id: Skip(
            user_id=member.user.id,
            reason=SkipReason.REFUSED_BY_CRM,
            detail=f"inactive in {', '.join(sorted(member.user.refused_by))}",
        )
        for member in board.pool.members
        if member.user.refused_by
    }


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
