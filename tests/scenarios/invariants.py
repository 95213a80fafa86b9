"""What must be true after every scenario, whatever happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from connector.audit import audit
from connector.workshop import Drained
from tests.scenarios.stage import Row, Stage

LOOKED_AT = 12  # whole decisions in one check; the newest
BY_TURN = ("rotation", "owed")
COUNTED = (*BY_TURN, "preferred")  # a fallback user takes leads beyond any quota


def check(stage: Stage) -> None:
    """All that can be seen from outside; the worker runs once, so that nothing is due."""
    stage.drain()
    for pool in stage.pools:
        rows = stage.history(pool)
        sequence_has_no_gap(rows)
        words_fit(rows)
        quotas_hold(stage, pool, rows)
        newest = [stage.get(f"/assignments/{row['assignment_id']}") for row in rows[-LOOKED_AT:]]
        winners_could_take_it(newest)
        if stage.pool(pool)["strategy"] == "strict":
            plain_stretches_are_even(newest)
        same_lead_gets_the_same_answer(stage, pool, rows)
    looking_changes_nothing(stage)
    nothing_is_due(stage)
    history_replays(stage)


def sequence_has_no_gap(rows: Sequence[Row]) -> None:
    """I1: one row for each decision, numbered without gaps, in the order of time."""
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert len({row["assignment_id"] for row in rows}) == len(rows)
    times = [row["assigned_at"] for row in rows]
    assert times == sorted(times)


def words_fit(rows: Iterable[Row]) -> None:
    """A row has a user exactly when its status says so."""
    for row in rows:
        match row["status"]:
            case "assigned":
                assert row["assigned_user_id"], row
                assert row["reason"] in (*COUNTED, "fallback", "sticky"), row
            case "held":
                assert row["assigned_user_id"] is None, row
                assert row["reason"] in ("no_member_available", "pool_quota_reached"), row
            case "undone":
                assert row["assigned_user_id"] is None, row
            case status:
                assert status in ("kept", "reassigned", "rejected"), row
        assert (row["sticky_step"] is not None) == (row["reason"] == "sticky"), row


def winners_could_take_it(decisions: Iterable[Row]) -> None:
    """I4: nothing spoke against whoever got a lead; something against all where it is held."""
    for whole in decisions:
        against = {one["user_id"] for one in whole["skipped"]}
        if whole["reason"] in BY_TURN:
            assert whole["assigned_user_id"] not in against, whole
            assert whole["assigned_user_id"] in whole["order"], whole
        if whole["reason"] == "no_member_available":
            assert against >= set(whole["order"]), whole


def quotas_hold(stage: Stage, pool: str, rows: Sequence[Row]) -> None:
    """I5: no member has more leads of a day than the quota that the member has now."""
    shown = stage.pool(pool)
    if shown["quota_window"] != "day":
        return
    last = {row["lead_id"]: row for row in rows}
    taken = [row for row in last.values() if row["reason"] in COUNTED]
    for member in shown["members"]:
        if member["daily_quota"] is None:
            continue
        zone = _zone(stage, member["user_id"], shown)
        per_day = Counter(
            datetime.fromisoformat(row["assigned_at"]).astimezone(zone).date()
            for row in taken
            if row["assigned_user_id"] == member["user_id"]
        )
        assert all(count <= member["daily_quota"] for count in per_day.values()), per_day


def _zone(stage: Stage, user_id: str, pool: Row) -> ZoneInfo:
    return ZoneInfo(stage.get(f"/users/{user_id}")["time_zone"] or pool["time_zone"] or "UTC")


def plain_stretches_are_even(decisions: Iterable[Row]) -> None:
    """I2: while all can take leads and nothing but turns occurs, counts differ by one at most."""
    counts: Counter[str] = Counter()
    circle: list[str] = []
    for whole in decisions:
        plain = (whole["status"], whole["reason"]) == ("assigned", "rotation")
        if not plain or whole["skipped"]:
            circle = []
            continue
        if _turned(whole["order"]) != circle:
            circle = _turned(whole["order"])
            counts = Counter(dict.fromkeys(circle, 0))
        counts[whole["assigned_user_id"]] += 1
        assert max(counts.values()) - min(counts.values()) <= 1, counts


def _turned(order: list[str]) -> list[str]:
    """The circle of an order, whoever is first."""
    start = order.index(min(order))
    return order[start:] + order[:start]


def same_lead_gets_the_same_answer(stage: Stage, pool: str, rows: Sequence[Row]) -> None:
    """I6: a lead that comes again uses no turn and makes no row."""
    last = {row["lead_id"]: row for row in rows}
    plain = [row for row in last.values() if row["status"] == "assigned"][-1:]
    if not plain or not stage.get(f"/users/{plain[0]['assigned_user_id']}")["active"]:
        return
    answer = stage.assign(plain[0]["lead_id"], pool)
    for field in ("assignment_id", "sequence", "assigned_user_id"):
        assert answer.body[field] == plain[0][field], answer
    assert len(stage.history(pool)) == len(rows)


def looking_changes_nothing(stage: Stage) -> None:
    """I7: whatever is only looked at leaves every table as it was."""
    before = stage.tables()
    for pool_id in stage.pools.values():
        stage.get(f"/pools/{pool_id}/preview", count=7)
        stage.get(f"/pools/{pool_id}/fairness")
    assert stage.tables() == before


def nothing_is_due(stage: Stage) -> None:
    """I11: a lead that waits is in sight, oldest first, and the worker has nothing to give out."""
    waiting = []
    for pool in stage.pools:
        last = {row["lead_id"]: row for row in stage.history(pool)}
        held = [row for row in last.values() if row["status"] == "held"]
        waiting.append(sorted(row["sequence"] for row in held))
    shown = stage.get("/held", limit=1000)
    for pool_id, sequences in zip(stage.pools.values(), waiting, strict=True):
        assert [row["sequence"] for row in shown if row["pool_id"] == pool_id] == sequences
    assert not any(waiting) or stage.drain() == Drained()


def history_replays(stage: Stage) -> None:
    """I10: the decisions made again from the journal come to the same users and the same state."""
    with stage.database.read() as session:
        found = [one.differs for one in audit(session, None, now=stage.now) if one.differs]
    assert not found, found
