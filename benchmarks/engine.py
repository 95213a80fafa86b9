"""The engine alone: a decision of a large pool against one of a small pool."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.timing import compare
from connector.engine.decide import advance, decide
from connector.model import Board, Lead, Member, Pool, User

NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)
LEADS = 200


def run() -> None:
    """Decisions of pools of 10, 100 and 1,000 members."""
    for size in (100, 1000):
        compare(
            f"engine.decide, {size} members",
            lambda: _deal(_board(10)),
            lambda size=size: _deal(_board(size)),
            items=LEADS,
            why="the same with 10 members",
        )


def _deal(board: Board) -> None:
    for number in range(LEADS):
        board = advance(board, decide(Lead(id=f"L{number}"), board, NOW))


def _board(size: int) -> Board:
    members = tuple(
        Member(id=place, position=place, user=User(id=f"u{place}", name=f"User {place}"))
        for place in range(1, size + 1)
    )
    return Board(pool=Pool(id="p", name="P", created_at=NOW, members=members))
