"""Replay what was recorded of a pool and say where it first differs from the rules.

Every decision is made again from the journal and the decisions before it; at the end the board must
be the one that the database has. So a row that was changed, added or removed by hand shows, and so
does a cursor or a counter that was moved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from connector.changes import given_back
from connector.engine.replay import Differs, Tape, Told
from connector.errors import NotFound
from connector.model import Assignment, Board, Entry, EntryKind, Reason, Status, User
from connector.store import assignments, images, journal, pools
from connector.store.assignment_rows import with_outcome
from connector.store.database import Session
from connector.store.facts import elsewhere_of, lead_of, meetings_of
from connector.store.user_rows import OVER_FOR_GOOD


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What the audit of one pool came to. ``differs`` is None when all is as the rules say."""

    pool_id: str
    pool_name: str
    decisions: int  # that were made again
    entries: int  # of the journal
    differs: str | None


def audit(session: Session, pool: str | None, *, now: datetime) -> Iterator[Audited]:
    """Audit the pool of this id or name, else all, archived ones too. Changes nothing.

    The session must see one moment of the database. Raises ``NotFound``.
    """
    ids = pools.all_ids(session) if pool is None else [_named(session, pool)]
    for pool_id in ids:
        yield audit_pool(session, pool_id, now=now)


def audit_pool(session: Session, pool_id: str, *, now: datetime) -> Audited:
    """Audit one pool, which is there."""
    replay = _Replay(session, pool_id)
    name = pool_id
    differs = None
    try:
        board = pools.board(session, pool_id, now=now)
        if board is None:
            raise Differs("what the pool has come to is missing")
        name = board.pool.name
        replay.run()
        replay.compare(board, now)
    except Differs as difference:
        differs = str(difference)
    except (LookupError, TypeError, ValueError) as error:
        differs = f"the journal or a decision cannot be read: {error!r}"
    return Audited(
        pool_id=pool_id,
        pool_name=name,
        decisions=replay.decisions,
        entries=len(replay.entries),
        differs=differs,
    )


class _Replay:
    """One pool's journal and decisions, merged in the order in which they came to be."""

    def __init__(self, session: Session, pool_id: str) -> None:
        self._session = session
        self._pool_id = pool_id
        self.entries = list(journal.entries(session, pool_id))
        self.decisions = 0
        self._config: dict[str, Any] = {}
        self._tape: Tape | None = None
        self._former: dict[int, list[dict[str, Any]]] = defaultdict(list)  # sequence -> outcomes
        self._amended: dict[int, int] = defaultdict(int)  # sequence -> amendments so far
        self._uncounted: dict[str, int] = {}  # id -> sequence of rows that count no longer
        self._silent: dict[str, Assignment] = {}  # by lead, rows that speak for it no longer

    def run(self) -> None:
        """Play everything. Raises ``Differs`` at the first difference."""
        self._check_numbers()
        for entry in self.entries:
            if entry.kind is EntryKind.AMENDED:
                self._former[entry.body["sequence"]].append(entry.body["was"])
        begins = self.entries[0].after_sequence
        waiting = list(reversed(self.entries))
        history = assignments.all_rows(self._session, self._pool_id, after_sequence=begins)
        with closing(history) as rows:
            for row in rows:
                while waiting and waiting[-1].after_sequence < (row.sequence or 0):
                    self._enter(waiting.pop())
                self._decided(row)
        while waiting:
            self._enter(waiting.pop())
        self._check_explained()
        broken = assignments.first_broken_seal(self._session, self._pool_id, begins)
        if broken:
            raise Differs(f"sequence {broken}: what it says of its lead was changed")

    def compare(self, board: Board, now: datetime) -> None:
        """The board of the database must be the one that was played. Raises ``Differs``."""
        played = self._playing().board
        for what, ours, theirs in (
            ("state", images.state(played), images.state(board)),
            (
                "configuration",
                images.config(_timeless(played, now)),
                images.config(_timeless(board, now)),
            ),
        ):
            if ours != theirs:
                path, expected, found = _first_difference(ours, theirs)
                raise Differs(
                    f"the {what} of the pool differs at {path}: the database has {found!r}, "
                    f"the history makes it {expected!r}"
                )

    def _check_numbers(self) -> None:
        if not self.entries or self.entries[0].kind is not EntryKind.SNAPSHOT:
            raise Differs("the journal does not begin with a snapshot of the pool")
        for number, entry in enumerate(self.entries, start=1):
            if entry.number != number:
                raise Differs(f"entry {number} of the journal is missing")
        if journal.last_number(self._session, self._pool_id) != len(self.entries):
            raise Differs(f"entry {len(self.entries) + 1} of the journal is missing")

    def _playing(self) -> Tape:
        if self._tape is None:
            raise Differs("the journal does not begin with a snapshot of the pool")
        return self._tape

    def _decided(self, row: Assignment) -> None:
        self._check_standing(row)
        former = self._former.get(row.sequence or 0)
        row = with_outcome(row, former[0]) if former else row
        tape = self._playing()
        if row.slot:  # a meeting may lie in the past: by then the board did not know old absences
            tape.board = _timeless(tape.board, row.assigned_at - OVER_FOR_GOOD)
        tape.decided(row, self._told(row))
        self.decisions += 1

    def _check_standing(self, row: Assignment) -> None:
        """Note what later rows must explain: that this one counts or speaks no longer."""
        sequence = row.sequence or 0
        if row.gives_back:
            self._uncounted.pop(row.gives_back.assignment_id, None)
        counts = row.user_id is not None and row.reason is not Reason.STICKY
        if counts and not row.counted and row.status is not Status.KEPT:
            self._uncounted[row.id] = sequence
        self._silent.pop(row.lead_id, None)
        if not row.current:
            self._silent[row.lead_id] = row

    def _check_explained(self) -> None:
        for sequence in self._uncounted.values():
            raise Differs(f"sequence {sequence} counts towards no quota, and nothing gave it back")
        for row in self._silent.values():
            if not assignments.has_newer(self._session, row):
                raise Differs(f"sequence {row.sequence} does not speak for its lead, and none does")

    def _enter(self, entry: Entry) -> None:
        match entry.kind:
            case EntryKind.SNAPSHOT:
                self._config = dict(entry.body["config"])
                board = images.board_of(self._config, entry.body["state"])
                takings = images.times_of(entry.body["takings"])
                self._tape = Tape(replace(board, takings=takings))
            case EntryKind.EDITED:
                self._edited(entry)
            case EntryKind.RETURNED:
                given = images.given_back_of(entry.body["given"])
                self._uncounted.pop(given.assignment_id, None)
                self._playing().returned(given, entry.at)
            case EntryKind.AMENDED:
                self._amend(entry)

    def _edited(self, entry: Entry) -> None:
        tape = self._playing()
        self._config = images.patched(self._config, entry.body["config"])
        known = images.state(tape.board)
        for member_id in self._config["members"]:
            known["standings"].setdefault(member_id, {})
        after = images.board_of(self._config, known)
        tape.edited(replace(after, takings=tape.board.takings), entry.at)

    def _told(self, row: Assignment, facts: Mapping[str, Any] | None = None) -> Told:
        """What the decision was given; ``facts`` of others may come from a later row."""
        seen = row.facts if facts is None else facts
        given = row.gives_back
        # Where a person chose the user, the turn of the row before may go on standing behind it.
        before = None
        if given and row.reason is Reason.MANUAL:
            before = assignments.get(self._session, given.assignment_id)
        return Told(
            lead=lead_of(row),
            elsewhere=elsewhere_of(seen),
            meetings=meetings_of(seen),
            gives_back=given,
            carried=before.turn if before else None,
        )

    def _amend(self, entry: Entry) -> None:
        sequence = entry.body["sequence"]
        row = assignments.at_sequence(self._session, self._pool_id, sequence)
        if row is None:
            raise Differs(f"the decision with sequence {sequence} is missing")
        former = self._former[sequence]
        place = self._amended[sequence]
        self._amended[sequence] += 1
        before = with_outcome(row, former[place])
        after = with_outcome(row, former[place + 1]) if place + 1 < len(former) else row
        self._playing().amended(
            after,
            self._told(before, facts=after.facts),
            before=before,
            given=given_back(before, turn=True),
            refused=images.skips_of(entry.body["refused"]),
            at=entry.at,
        )


def _named(session: Session, name_or_id: str) -> str:
    pool = pools.named(session, name_or_id, archived=True)
    if pool is None:
        raise NotFound(f"There is no pool named {name_or_id!r}.", code="pool_not_found")
    return pool.id


def _timeless(board: Board, now: datetime) -> Board:
    """The board without absences that are over: the database does not load those."""

    def there(user: User) -> User:
        return replace(user, absences=tuple(one for one in user.absences if one.ends_at > now))

    members = tuple(replace(one, user=there(one.user)) for one in board.pool.members)
    fallback = board.fallback_user and there(board.fallback_user)
    return replace(board, pool=replace(board.pool, members=members), fallback_user=fallback)


def _first_difference(ours: Any, theirs: Any, path: str = "") -> tuple[str, Any, Any]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                return _first_difference(ours.get(key), theirs.get(key), f"{path}/{key}")
    return path or "/", ours, theirs
