"""How fast a CRM may be called: a bucket of tokens that fills by the clock. Pure.

A token may be taken before it is there; whoever does so waits until it would have come. So callers
queue up by arithmetic alone, whichever process they are in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# Clocks of two machines differ by less; a moment further ahead is from before a clock was set back.
SKEW = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """How many calls may be made at ``filled_at``; below 0: so many have been promised already."""

    tokens: float
    filled_at: datetime


def filled(bucket: Bucket | None, now: datetime, *, burst: float, per_second: float) -> Bucket:
    """The bucket as it is now; None: a new one, which is full. A clock that goes back fills none.

    ``burst`` and ``per_second`` may differ from the last time; more than ``burst`` never stays.
    """
    if bucket is None:
        return Bucket(tokens=burst, filled_at=now)
    if bucket.filled_at - now > SKEW:
        return Bucket(tokens=min(burst, bucket.tokens), filled_at=now)
    seconds = max(0.0, (now - bucket.filled_at).total_seconds())
    return Bucket(
        tokens=min(burst, bucket.tokens + seconds * per_second),
        filled_at=max(now, bucket.filled_at),
    )


def wait_for_next(bucket: Bucket, now: datetime, *, per_second: float) -> float:
    """Seconds until a token can be used that is taken of this bucket now; 0 when there is one."""
    ahead = max(0.0, (bucket.filled_at - now).total_seconds())
    missing = 1.0 - bucket.tokens
    return ahead + missing / per_second if missing > 0 else 0.0


def taken(bucket: Bucket) -> Bucket:
    """The bucket with one token less."""
    return replace(bucket, tokens=bucket.tokens - 1.0)
