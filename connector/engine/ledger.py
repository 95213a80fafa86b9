"""Each member's fair share, and the leads they had of it.

Under every strategy a lead that is given by turn is shared among those who could take it: by weight
under ``weighted``, equally otherwise. The share of a member so far, minus the leads received, is
the balance. Who cannot take leads keeps theirs.

A balance is counted in parts of a lead, so that it is a whole number. The balances are rewritten
only when other members share, or by other weights; until then the board counts the turns and each
member the leads taken. So nothing is rounded in between, and a lead changes one member.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

from connector.engine.standings import restand, restand_one, standing_of
from connector.model import Board, Standing, Strategy, Turn

# Divides by every number up to 30, so that in most pools equal members stay exactly equal.
LEAD = 2_329_089_562_800


def shares(board: Board) -> dict[int, int]:
    """Return among whom leads are shared at present: member id and weight."""
    return {one.id: one.standing.share for one in board.pool.members if one.standing.share}


def shares_of(board: Board, able: Collection[int]) -> dict[int, int]:
    """Return by what weights a lead is shared that the members with these ids can take."""
    weighted = board.pool.strategy is Strategy.WEIGHTED
    members = [one for one in board.pool.members if one.id in able and one.weight]
    return {one.id: one.weight if weighted else 1 for one in members}


def latest_shares(board: Board) -> dict[int, int]:
    """Return among whom a lead is shared that is given outside of the turns.

    Those who shared the last turn; in a pool that gave none yet, everyone active.
    """
    active = {one.id for one in board.pool.members if one.active and one.user.active}
    return shares(board) or shares_of(board, active)


def share_among(board: Board, wanted: Mapping[int, int]) -> Board:
    """Return the board whose next leads are shared like this. No balance changes."""
    if wanted == shares(board):
        return board
    board = _settle(board)
    standings = {
        one.id: replace(one.standing, share=wanted.get(one.id, 0)) for one in board.pool.members
    }
    return restand(board, standings)


def book(board: Board, member_id: int) -> Board:
    """Share a lead among those who share at present, and charge it to one member."""
    return _book(board, member_id, 1)


def take_back(board: Board, turn: Turn) -> Board:
    """Take a lead back from the member, and from all who shared it their share."""
    if turn.shares == shares(board) and board.turns and standing_of(board, turn.member_id).taken:
        return _book(board, turn.member_id, -1)
    back = {turn.member_id: LEAD}
    for member_id, parts in _split(LEAD, turn.shares).items():
        back[member_id] = back.get(member_id, 0) - parts
    return restand(
        board,
        {
            one.id: replace(one.standing, balance=one.standing.balance + back[one.id])
            for one in board.pool.members
            if one.id in back
        },
    )


def part_with_leavers(before: Board, after: Board) -> Board:
    """Return the board after an edit with the balances of those who stay, and even newcomers."""
    stay = {member.id for member in after.pool.members}
    if stay.issuperset(shares(before)):
        return after
    kept = {one.id: one.standing for one in _settle(before).pool.members if one.id in stay}
    return replace(restand(after, kept), turns=0)


def balances(board: Board) -> dict[int, Fraction]:
    """Return each member's fair share minus the leads received, exactly, by member id."""
    total = sum(shares(board).values()) or 1
    return {
        one.id: Fraction(parts_of(board, one.standing, total), total * LEAD)
        for one in board.pool.members
    }


def parts_of(board: Board, standing: Standing, total: int) -> int:
    """Return the balance in parts of a lead times ``total``, which is the sum of all shares."""
    since = board.turns * standing.share - standing.taken * total
    return standing.balance * total + since * LEAD


def _book(board: Board, member_id: int, leads: int) -> Board:
    taken = standing_of(board, member_id).taken + leads
    return replace(restand_one(board, member_id, taken=taken), turns=board.turns + leads)


def _settle(board: Board) -> Board:
    """Rewrite the balances with all turns and leads since the shares last changed."""
    given = _split(board.turns * LEAD, shares(board))
    standings = {}
    for one in board.pool.members:
        change = given.get(one.id, 0) - one.standing.taken * LEAD
        standings[one.id] = replace(one.standing, balance=one.standing.balance + change, taken=0)
    return replace(restand(board, standings), turns=0)


def _split(parts: int, among: Mapping[int, int]) -> dict[int, int]:
    """Split parts by weight, rounded to whole ones so that none gets lost."""
    total = sum(among.values())
    portions, weights, given = {}, 0, 0
    for member_id, weight in sorted(among.items()):
        weights += weight
        portions[member_id] = parts * weights // total - given
        given += portions[member_id]
    return portions
