"""What became of leads, as it is shown."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field, JsonValue, RootModel


class Skipped(BaseModel):
    """A member who could not take the lead."""

    user_id: str
    reason: str
    detail: str | None


class Record(BaseModel):
    """A CRM record."""

    connection: str
    object_type: str
    id: str


class BatchItem(BaseModel):
    """What became of one lead of a batch; of a refused one nothing was recorded."""

    lead_id: str
    assigned_user_id: str | None
    assigned_user_name: str | None
    assignment_id: str | None
    sequence: int | None
    assigned_at: datetime | None
    pool_id: str | None
    territory: str | None
    status: str
    reason: str
    sticky_step: str | None
    record: Record | None
    skipped: list[Skipped]


class Batch(BaseModel):
    """What became of each lead, in the order sent."""

    results: list[BatchItem]


class Assigned(BatchItem):
    """What became of a lead."""

    assignment_id: str
    assigned_at: datetime


class HistoryRow(BaseModel):
    """One row of a pool's history."""

    lead_id: str
    assigned_user_id: str | None
    assigned_user_name: str | None
    assigned_at: datetime
    assignment_id: str
    sequence: int | None
    status: str
    reason: str
    sticky_step: str | None
    record: Record | None
    write_back: str
    actor: str | None = Field(description="Who asked for it; null: the rotation itself.")
    note: str | None


class History(RootModel[list[HistoryRow]]):
    """History rows, newest first."""


class LeadHistoryRow(HistoryRow):
    """One row of a lead's history."""

    pool_id: str | None


class LeadHistory(RootModel[list[LeadHistoryRow]]):
    """History rows of one lead in all pools, newest first."""


class Held(RootModel[list[Assigned]]):
    """Leads that wait, oldest first."""


class Check(BaseModel):
    """What one sticky step found."""

    step: str
    user_id: str | None
    outcome: str


class Route(BaseModel):
    """How the pool was found; ``passed`` says why each earlier territory did not match."""

    pool_id: str | None
    territory: str | None
    reason: str | None
    passed: list[str]


class Verdict(BaseModel):
    """Whether a member could take the lead: ``able``, or the reason why not.

    ``not_asked`` where the lead's owner stays or a person decided.
    """

    user_id: str
    name: str
    verdict: str
    detail: str | None
    until: datetime | None


class Turn(BaseModel):
    """Whose turn the lead used."""

    user_id: str
    sequence: int


class WriteBack(BaseModel):
    """How far writing the owner to the CRM has come."""

    state: str
    attempts: int
    last_error: str | None
    crm_message: str | None
    next_try_at: datetime | None


class WholeDecision(Assigned):
    """An assignment with every reason."""

    kind: str
    starts_at: datetime | None
    ends_at: datetime | None
    email: str | None
    company: str | None
    attributes: dict[str, JsonValue]
    current: bool = Field(description="False once a newer row speaks for the lead.")
    counted: bool = Field(description="Whether it counts towards quotas.")
    turn: Turn | None = Field(description="Null when no turn was used.")
    owner_id: str | None
    stands_in_for: str | None = Field(description="The sticky user who could not take it now.")
    actor: str | None = Field(description="Who asked for it; null: the rotation itself.")
    note: str | None
    route: Route | None
    checks: list[Check]
    members: list[Verdict] = Field(description="All members of that moment, next first.")
    order: list[str] = Field(description="User ids, next first, before the decision.")
    order_after: list[str]
    later: list[HistoryRow] = Field(description="Newer rows of the lead in the pool, oldest first.")
    write_back: WriteBack
