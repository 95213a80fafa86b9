"""The engine alone: a decision of a large pool against one of a small pool."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.timing import compare
from connector.engine.decide import decide
from connector.model import Board, Lead, Member, Pool, Strategy, User

NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)
LEADS = 50


def run() -> None:
    """Decisions of pools of 10, 100 and 1,000 members, by each strategy."""
    for strategy in Strategy:
        for size in (100, 1000):
            compare(
                f"engine.decide, {strategy}, {size} members",
                lambda strategy=strategy: _deal(_board(10, strategy)),
                lambda size=size, strategy=strategy: _deal(_board(size, strategy)),
                items=LEADS,
                why="the same with 10 members",
            )


def _deal(board: Board) -> None:
    for number in range(LEADS):
        _, board = decide(Lead(id=f"L{number}"), board, NOW)


def _board(size: int, strategy: Strategy) -> Board:
    members = tuple(
        Member(
            id=place,
            position=place,
            weight=1 + place % 5,
            user=User(id=f"u{place}", name=f"User {place}"),
        )
        for place in range(1, size + 1)
    )
    pool = Pool(id="p", name="P", strategy=strategy, created_at=NOW, members=members)
    return Board(pool=pool)
