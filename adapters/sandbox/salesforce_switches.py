"""How a sandbox org behaves where orgs differ, and what a request's headers ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adapters.sandbox.salesforce_refusals import Refused

Values = Mapping[str, object]
OwnerRule = Callable[[str, Values], str | None]  # object type and fields; the id of the owner


class Switches:
    """The behaviour that tests and people choose; all may be set at any time."""

    accept_inactive_owner = False  # "Update Records with Inactive Owners"
    edit_converted_leads = False  # "View and Edit Converted Leads"
    may_transfer = True  # the API client has "Transfer Record" or "Modify All"
    validation_rule: Callable[[str, Values], list[tuple[str, str]]] | None = None
    duplicate_rule: Callable[[str, Values], str | None] | None = None  # id of the twin
    assignment_rule: OwnerRule | None = None  # runs unless the caller says not to
    automation: OwnerRule | None = None  # a flow or trigger that runs after each save, always
    write_hook: Callable[[str, str, Values], None] | None = None
    page_size = 2_000  # most rows of a query's page, whatever the caller asks for
    daily_limit = 100_000
    usage_extra = ""  # follows the day's usage in Sforce-Limit-Info: "; api-bursts=1/750"
    long_calls = 25  # so many calls may be long at the same time
    long_call_seconds = 20.0  # from then on a call is long
    is_read_only = False  # maintenance that lets calls read
    is_down = False  # maintenance that lets nobody in
    trailing_slash = False  # of the instance_url in a token's answer

    def __init__(self) -> None:
        self.blind_users: set[tuple[str, str]] = set()  # user id and an object they cannot read
        self._refusals: dict[str, list[Refused]] = {}

    def refuse_row(self, record_id: str, refused: Refused, tries: int) -> None:
        """Refuse the next so many API writes of one record; ``record_id`` has 18 characters."""
        self._refusals.setdefault(record_id, []).extend([refused] * tries)

    def take_refusal(self, record_id: str) -> Refused | None:
        """What refuses the write of a record that is being made, if anything does."""
        waiting = self._refusals.get(record_id)
        return waiting.pop(0) if waiting else None


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the headers of a request ask for."""

    auto_assign: bool = True
    allow_duplicates: bool = False
    unmodified_since: float | None = None  # seconds since 1970, as the header has no more
    tag: str | None = None  # of If-Match
