"""Pools: make, list, show, change."""

from __future__ import annotations

from flask import Response

from connector.errors import NotFound
from connector.model import Pool
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
        raise NotFound(f"There is no pool {pool_id!r}.", code="pool_not_found")
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
    with reading() as session:
        found = pools.listed(session, query.cursor, query.limit + 1)
    page = found[: query.limit]
    cursor = page[-1].id if len(found) > len(page) else None
    body = answers.Pools([presentation.pool(pool) for pool in page])
    return answers.answer(body, headers=answers.next_page(cursor))


@api.get("/pools/<pool_id>", responses={200: answers.PoolNow})
def show_pool(path: schemas.PoolPath) -> Response:
    """Show a pool with each member's count, next-up place and, if so, why not now."""
    with reading() as session:
        existing(session, path.pool_id)
        board = pools.board(session, path.pool_id, lock=False)
        counts = pools.counts(session, path.pool_id)
    assert board is not None
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
