"""Weighted shares: everyone's count stays close to their fair share at every moment.

With each lead the balance of every able member grows by weight / sum of weights. Whoever is owed
something then may be next; among those, the one whose lead is due first: (1 - balance) / weight
says how long they could still wait for it. After absences it can be that nobody is owed anything;
then the one nearest to it is next: the largest balance / weight.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import lcm

from connector.engine import ledger
from connector.model import Board, Member


def order(board: Board, able: Collection[int]) -> tuple[Member, ...]:
    """All members: the able ones, next first; then the others by the same rule."""
    places = _places(ledger.share_among(board, ledger.shares_of(board, able)))
    return tuple(sorted(board.pool.members, key=lambda one: (one.id not in able, places[one.id])))


def _places(board: Board) -> dict[int, tuple[bool, int, int]]:
    """Return what puts the members in order; the least is next.

    In whole numbers, so that nothing is rounded: times all that would be divided by.
    """
    shares = ledger.shares(board)
    total = sum(shares.values())
    multiple = lcm(*shares.values())
    ahead = replace(board, turns=board.turns + 1)  # with this lead's share
    places = {}
    for one in board.pool.members:
        balance = ledger.parts_of(ahead, one.standing, total)
        wait = total * ledger.LEAD - balance if balance > 0 else -balance
        by_weight = wait * multiple // shares.get(one.id, multiple)
        places[one.id] = (balance <= 0, by_weight, one.position)
    return places
