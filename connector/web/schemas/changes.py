"""What a person may say when changing an assignment. The whole body may be left out."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from connector.web.fields import Id, Note
from connector.web.schemas.shapes import Strict


class Remark(Strict):
    """Why, in the caller's own words."""

    note: Note | None = None

    @model_validator(mode="before")
    @classmethod
    def _left_out_is_empty(cls, value: Any) -> Any:
        return {} if value is None else value


class Reassignment(Remark):
    """Who gets the lead instead; without ``user_id`` the rotation says."""

    user_id: Id | None = None
    override: bool = False
