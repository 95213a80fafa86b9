"""The form that all request bodies have."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A JSON object of which every field is known."""

    model_config = ConfigDict(strict=True, extra="forbid")


def absent() -> Any:
    """Stand for a field that was left out: None inside, while null from outside is refused."""
    return None
