"""What requests may carry. Strict: unknown fields, ``"5"`` and ``true`` for a number are refused.

A field that is ``_absent`` may be left out but may not be null.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    RootModel,
    Tag,
    model_validator,
)

from connector.web.fields import Email, Id, Instant, Limit, Name, Weight, Zone

Kind = Literal["lead", "meeting", "task"]
OwnStrategy = Literal["strict"]


def _absent() -> Any:
    """Stand for a field that was left out: None inside, while null from outside is refused."""
    return None


class Strict(BaseModel):
    """A JSON object of which every field is known."""

    model_config = ConfigDict(strict=True, extra="forbid")


class NewMember(Strict):
    """A user who joins a pool. A user that is not known yet is made."""

    user_id: Id
    name: Name | None = None
    email: Email | None = None
    weight: Weight = 1
    active: bool = True
    daily_quota: None = None


class NewPool(Strict):
    """A pool to make."""

    name: Name
    members: list[NewMember] = Field(default_factory=list, max_length=1000)
    strategy: OwnStrategy = "strict"
    daily_quota: None = None


class MemberChange(Strict):
    """What changes for one member."""

    user_id: Id
    weight: Weight = Field(default_factory=_absent)
    active: bool = Field(default_factory=_absent)
    daily_quota: None = None


def _id_or_object(value: object) -> str:
    return "id" if isinstance(value, str) else "object"


Joining = Annotated[
    Annotated[Id, Tag("id")] | Annotated[NewMember, Tag("object")], Discriminator(_id_or_object)
]


class PoolPatch(Strict):
    """What changes for a pool: all or nothing."""

    name: Name = Field(default_factory=_absent)
    strategy: OwnStrategy = Field(default_factory=_absent)
    add_members: list[Joining] = Field(default_factory=list, max_length=1000)
    remove_members: list[Id] = Field(default_factory=list, max_length=1000)
    update_members: list[MemberChange] = Field(default_factory=list, max_length=1000)
    order: list[Id] = Field(default_factory=_absent, max_length=10_000)
    daily_quota: None = None


class LeadRecord(Strict):
    """The CRM record behind a lead."""

    connection: Name
    object_type: Name
    id: Id


class NewLead(Strict):
    """A lead to assign."""

    lead_id: Id
    kind: Kind = "lead"
    attributes: dict[str, JsonValue] = Field(default_factory=dict)
    email: Email | None = None
    company: Name | None = None
    record: LeadRecord | None = None


class NewUser(Strict):
    """A user as a whole; what is left out takes its default."""

    name: Name | None = None
    email: Email | None = None
    active: bool = True
    time_zone: Zone | None = None
    owners: dict[Name, Id] = Field(default_factory=dict)
    daily_quota: None = None


class UserPatch(Strict):
    """The fields of a user that change. ``owners`` too: null takes one away, the others stay."""

    name: Name = Field(default_factory=_absent)
    email: Email | None = None
    active: bool = Field(default_factory=_absent)
    time_zone: Zone | None = None
    owners: dict[Name, Id | None] = Field(default_factory=_absent)
    daily_quota: None = None


class Comparison(Strict):
    """One field against one value."""

    field: Name
    op: Literal["eq", "ne", "contains", "starts_with", "ends_with", "gt", "gte", "lt", "lte"]
    value: str | int | float | bool


class Membership(Strict):
    """One field against a list of values."""

    field: Name
    op: Literal["in", "not_in"]
    value: list[str | int | float | bool] = Field(max_length=10_000)


class Presence(Strict):
    """Whether a field is there."""

    field: Name
    op: Literal["exists", "missing"]


class All(Strict):
    """Every one of the conditions must be true."""

    all: list[Condition]


class AnyOf(Strict):
    """At least one of the conditions must be true."""

    any: list[Condition]


class Negation(Strict):
    """The condition must not be true."""

    negated: Condition = Field(alias="not")


class Always(Strict):
    """True for every lead."""


def _shape(value: object) -> str:
    """Which kind of condition this looks like; the first key that says so decides."""
    if isinstance(value, BaseModel):
        return type(value).__name__
    if not isinstance(value, dict) or not value:
        return "Always"
    for word, shape in (("all", "All"), ("any", "AnyOf"), ("not", "Negation")):
        if word in value:
            return shape
    if value.get("op") in ("in", "not_in"):
        return "Membership"
    if value.get("op") in ("exists", "missing"):
        return "Presence"
    return "Comparison"


Condition = Annotated[
    Annotated[All, Tag("All")]
    | Annotated[AnyOf, Tag("AnyOf")]
    | Annotated[Negation, Tag("Negation")]
    | Annotated[Comparison, Tag("Comparison")]
    | Annotated[Membership, Tag("Membership")]
    | Annotated[Presence, Tag("Presence")]
    | Annotated[Always, Tag("Always")],
    Discriminator(_shape),
]


class NewTerritory(Strict):
    """A rule that sends a lead to a pool by its fields."""

    name: Name
    when: Condition
    pool_id: Id


class NewTerritories(RootModel[list[NewTerritory]]):
    """All territories in order; the first that matches wins."""

    root: list[NewTerritory] = Field(max_length=1000)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [territory.name for territory in self.root]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each territory needs its own name; twice here: {', '.join(twice)}")
        return self


class Trial(Strict):
    """Fields of a lead to try the territories with."""

    attributes: dict[str, JsonValue]


class PoolPath(BaseModel):
    """A pool in the path."""

    pool_id: Id


class UserPath(BaseModel):
    """A user in the path."""

    user_id: Id


class AssignmentPath(BaseModel):
    """An assignment in the path."""

    assignment_id: Id


class ConnectionPath(BaseModel):
    """A connection in the path."""

    connection: Name


class Page(BaseModel):
    """Which part of a list."""

    model_config = ConfigDict(extra="forbid")

    limit: Limit = 100
    cursor: Id | None = Field(default=None, description="From the Link header of the page before.")


class HistoryQuery(Page):
    """Which rows of a history."""

    lead_id: Id | None = None
    user_id: Id | None = None
    since: Instant | None = Field(default=None, alias="from", description="Inclusive.")
    until: Instant | None = Field(default=None, alias="to", description="Exclusive.")


class IdempotencyHeader(BaseModel):
    """A key that makes a POST safe to send again."""

    key: Id | None = Field(default=None, alias="Idempotency-Key")


for _model in (All, AnyOf, Negation, NewTerritory, NewTerritories):
    _model.model_rebuild()
