"""Territories as they are shown."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue, RootModel


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
