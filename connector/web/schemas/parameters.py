"""What stands in a path, a query or a header."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from connector.web.fields import Id, Instant, Limit, Moment, Name


class PoolPath(BaseModel):
    """A pool in the path."""

    pool_id: Id


class UserPath(BaseModel):
    """A user in the path."""

    user_id: Id


class AbsencePath(UserPath):
    """An absence of a user in the path."""

    absence_id: Id


class AssignmentPath(BaseModel):
    """An assignment in the path."""

    assignment_id: Id


class ConnectionPath(BaseModel):
    """A connection in the path."""

    connection: Name


class Query(BaseModel):
    """A query string of which every parameter is known."""

    model_config = ConfigDict(extra="forbid")


class Page(Query):
    """Which part of a list."""

    limit: Limit = 100
    cursor: Id | None = Field(default=None, description="From the Link header of the page before.")


class HistoryQuery(Page):
    """Which rows of a history."""

    lead_id: Id | None = None
    user_id: Id | None = None
    since: Instant | None = Field(default=None, alias="from", description="Inclusive.")
    until: Instant | None = Field(default=None, alias="to", description="Exclusive.")


class LeadHistoryQuery(Page):
    """Whose history in all pools."""

    lead_id: Id


class PreviewQuery(Query):
    """How far to look ahead."""

    count: Limit = 10


class FairnessQuery(Query):
    """Over what time fairness is looked at."""

    since: Moment | None = Field(
        default=None, alias="from", description="Inclusive; default 30 days before the end."
    )
    until: Moment | None = Field(default=None, alias="to", description="Exclusive; default now.")


class IdempotencyHeader(BaseModel):
    """A key that makes a POST safe to send again."""

    key: Id | None = Field(default=None, alias="Idempotency-Key")
