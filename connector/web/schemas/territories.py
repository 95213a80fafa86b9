"""Territories: conditions on the fields of a lead."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Discriminator, Field, JsonValue, RootModel, Tag, model_validator

from connector.web.fields import Id, Name
from connector.web.schemas.shapes import Strict


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


class Existence(Strict):
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
        return "Existence"
    return "Comparison"


Condition = Annotated[
    Annotated[All, Tag("All")]
    | Annotated[AnyOf, Tag("AnyOf")]
    | Annotated[Negation, Tag("Negation")]
    | Annotated[Comparison, Tag("Comparison")]
    | Annotated[Membership, Tag("Membership")]
    | Annotated[Existence, Tag("Existence")]
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


for _model in (All, AnyOf, Negation, NewTerritory, NewTerritories):
    _model.model_rebuild()
