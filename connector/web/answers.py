"""What answers look like."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from flask import Response, request
from pydantic import BaseModel, JsonValue, RootModel


class Member(BaseModel):
    """A user's place in a pool."""

    user_id: str
    name: str
    position: int
    weight: int
    active: bool
    daily_quota: None = None


class Unavailable(BaseModel):
    """Why a member cannot take a lead now."""

    reason: str
    detail: str | None
    until: datetime | None


class MemberNow(Member):
    """A member with its standing at this moment."""

    count: int
    next_up: int | None
    unavailable: Unavailable | None


class Pool(BaseModel):
    """Users who share incoming work."""

    id: str
    name: str
    strategy: str
    created_at: datetime
    members: list[Member]


class PoolNow(BaseModel):
    """A pool with each member's count, next-up place (1 is next) and why not, if so."""

    id: str
    name: str
    strategy: str
    created_at: datetime
    members: list[MemberNow]


class Pools(RootModel[list[Pool]]):
    """Pools, oldest first."""


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


class Assigned(BaseModel):
    """What became of a lead."""

    lead_id: str
    assigned_user_id: str | None
    assigned_user_name: str | None
    assignment_id: str
    sequence: int | None
    assigned_at: datetime
    pool_id: str | None
    territory: str | None
    status: str
    reason: str
    sticky_step: str | None
    record: Record | None
    skipped: list[Skipped]


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


class History(RootModel[list[HistoryRow]]):
    """History rows, newest first."""


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
    email: str | None
    company: str | None
    attributes: dict[str, JsonValue]
    current: bool
    owner_id: str | None
    route: Route | None
    checks: list[Check]
    order: list[str]
    write_back: WriteBack


class User(BaseModel):
    """A sales rep."""

    user_id: str
    name: str
    email: str | None
    active: bool
    time_zone: str | None
    owners: dict[str, str]


class Users(RootModel[list[User]]):
    """Users by id."""


class Territory(BaseModel):
    """A rule that sends a lead to a pool by its fields."""

    name: str
    when: dict[str, JsonValue]
    pool_id: str


class Territories(RootModel[list[Territory]]):
    """All territories in order."""


class Trialled(BaseModel):
    """Which territory matched, and why the earlier ones did not."""

    territory: str | None
    pool_id: str | None
    reason: str | None
    passed: list[str]


class Health(BaseModel):
    """The process or the database is well."""

    status: Literal["ok"] = "ok"


def answer(
    body: BaseModel, status: int = 200, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response."""
    return Response(body.model_dump_json(), status, headers, mimetype="application/json")


def next_page(cursor: str | None) -> dict[str, str]:
    """The Link header that leads to the next page of the list asked for; none at the end."""
    if cursor is None:
        return {}
    query: dict[str, Any] = {**request.args.to_dict(), "cursor": cursor}
    return {"Link": f'<{request.path}?{urlencode(query)}>; rel="next"'}
