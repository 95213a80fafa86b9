"""Territories: conditions on the fields of a lead."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    JsonValue,
    RootModel,
    Tag,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from connector.web.fields import Id, Name
from connector.web.schemas.shapes import Strict

OPS = [
    "eq",
    "ne",
    "in",
    "not_in",
    "contains",
    "starts_with",
    "ends_with",
    "gt",
    "gte",
    "lt",
    "lte",
    "exists",
    "missing",
]  # in the order of the README


def _plain(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """One complaint, where pydantic has one for each type that it could be."""
    try:
        return check(value)
    except ValidationError:
        also = "; a list goes with in and not_in" if isinstance(value, list) else ""
        raise ValueError(f"must be text, a number, true or false{also}") from None


Plain = Annotated[str | int | float | bool, WrapValidator(_plain)]


class Comparison(Strict):
    """One field against one value."""

    field: Name
    op: Literal["eq", "ne", "contains", "starts_with", "ends_with", "gt", "gte", "lt", "lte"]
    value: Plain

    @field_validator("op", mode="before")
    @classmethod
    def _is_an_op(cls, op: Any) -> Any:
        # Whatever is none of the ops ends up here: see _shape.
        if op not in OPS:
            raise ValueError(f"must be one of: {', '.join(OPS)}")
        return op

    @field_validator("value", mode="wrap")
    @classmethod
    def _fits_its_op(
        cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        return check(value) if "op" in info.data else value  # without one nobody knows what fits


class Membership(Strict):
    """One field against a list of values."""

    field: Name
    op: Literal["in", "not_in"]
    value: list[Plain] = Field(max_length=10_000)


class Existence(Strict):
    """Whether a field is there."""

    field: Name
    op: Literal["exists", "missing"]

    @model_validator(mode="before")
    @classmethod
    def _has_no_value(cls, given: Any) -> Any:
        if "value" not in given:
            return given
        told = PydanticCustomError("no_value", "{op} takes no value", {"op": given["op"]})
        place = InitErrorDetails(type=told, loc=("value",), input=given["value"])
        raise ValidationError.from_exception_data(cls.__name__, [place])


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
