"""The outbound half of an adapter: what the core asks of a CRM."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from connector.model import Availability, LeadEvent, LeadKind, Related, Slot
from connector.ports.inbound import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmRecord:
    """A record as the CRM shows it now."""

    id: str  # the id asked for
    owner_id: str | None  # None when empty
    owner_stays: bool  # the owner is a real, active person of the CRM
    email: str | None = None
    company: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    kind: LeadKind = LeadKind.LEAD
    slot: Slot | None = None  # when a meeting takes place
    survivor_id: str | None = None  # the id of the record that took this one over by a merge
    merged_ids: tuple[str, ...] = ()  # of the records that it took over itself, as far as told
    modified_at: datetime | None = None  # last, by the CRM's clock; None where it does not tell
    closed: str | None = None  # why it takes no owner any more: "the lead was converted"
    goes_on_in: tuple[tuple[str, str], ...] = ()  # object type and id of routed records, if closed


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerWrite:
    """Set this record's owner."""

    record_id: str
    owner_id: str
    seen_at: datetime | None = None  # ``modified_at`` of the record as it was read before
    was_overridden: bool = False  # the last try was undone at once by automation of the CRM


# What an outcome's ``code`` says, in every CRM, of a record that is no more ...
GONE = "record_gone"
# ... and of one that automation of the CRM gave to somebody else right after the write.
OVERRIDDEN = "overridden"


class Result(StrEnum):
    """How one owner write went."""

    DONE = "done"
    AGAIN = "again"  # try later; counts
    NEVER = "never"  # will not work; dead letter
    REFUSED_OWNER = "refused_owner"  # this record does not take this user: next user
    INACTIVE_OWNER = "inactive_owner"  # the CRM calls the user inactive: next user, here and on


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one owner write went, in the CRM's own words where it failed."""

    record_id: str
    result: Result
    code: str | None = None  # machine word, the CRM's own where it has one
    message: str | None = None  # the CRM's text
    is_listed: bool = False  # the CRM's list of users says so; the record has no part in it


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmUser:
    """Somebody in the CRM's directory who can own records."""

    owner_id: str
    name: str
    email: str | None = None
    active: bool = True  # a real, active person
    availability: Availability | None = None  # None: the CRM does not tell, or is not asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far the changes of an object type were read: up to this moment and, of it, this id."""

    at: datetime
    record_id: str = ""  # "": nothing of that moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A page of what was created or changed, in the order of (moment, id).

    ``settled`` has the keys of those events that mean nothing unless the record was decided on
    before, with the machine word for why: ``owned_already``, ``record_closed``.
    """

    events: Sequence[LeadEvent]
    mark: Mark  # where the next page begins
    is_all: bool  # there is no further page now
    settled: Mapping[str, str] = field(default_factory=dict)


Ours = Callable[[str, Collection[str]], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """What an administrator should put right in the CRM or in the settings."""

    text: str
    what_to_do: str
    loses_leads: bool  # leads would be lost or kept by mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one CRM can do."""

    read_batch: int  # most records in one read call
    write_batch: int  # most records in one write call
    related: bool = False  # can tell whom the person or company of a record belongs to
    people: bool = False  # can tell of its users: who is active, and when they can take leads
    people_every: timedelta = timedelta(minutes=2)  # how often they are read
    changes: bool = False  # can be asked what was created or changed lately


class Crm(Protocol):
    """The outbound half. Safe to share by threads. Blocking; a call ends within 20 seconds,
    quick tries included. Raises only ``CrmError``; vendor exceptions never leave the adapter.
    """

    capabilities: Capabilities

    @property
    def availability_problem(self) -> str | None:
        """Why ``people`` told less of availability than it might; None: there is nothing."""

    def read_records(
        self, object_type: str, ids: Sequence[str], *, fields: Collection[str] = ()
    ) -> Mapping[str, CrmRecord]:
        """Read up to ``read_batch`` records, strongly consistent, in one record call.

        An id that is not in the answer does not exist (any more). ``fields``: attributes that are
        wanted besides the adapter's own; what the CRM does not have is left out. Idempotent;
        retried quickly.
        """

    def related(
        self, object_type: str, records: Mapping[str, CrmRecord]
    ) -> Mapping[str, Sequence[Related]]:
        """The records of the same person and company that these records are linked to.

        ``records`` are up to ``read_batch`` living ones as they were read, by id; the answer is by
        the same ids. By links of the CRM or, where it has none, the same e-mail and web domain.
        One call for each step. Persons before companies, of each step the best first, since its
        owner may be no user here; nothing for a record that is linked to none. Idempotent; retried
        quickly.
        """

    def people(self, owner_ids: Collection[str] | None = None) -> Mapping[str, CrmUser]:
        """Those of these owners whom the CRM knows, inactive ones too, by owner id; None: all.

        May be some seconds old. Never an empty directory for a failed call.
        """

    def person(self, owner_id: str) -> CrmUser | None:
        """The active user with this owner id, as the CRM listed them a minute ago at most.

        Availability is not told; None when there is nobody, or the CRM does not tell of people.
        """

    def tell(self, callback_id: str, verdict: Verdict) -> None:
        """Let a workflow that waits go on. Raises ``CrmNever`` when it waits no longer."""

    def write_owners(self, object_type: str, writes: Sequence[OwnerWrite]) -> list[Outcome]:
        """Set the owners of up to ``write_batch`` records, in one call where the CRM can.

        One outcome for each write, in their order. Never retried inside: after ``CrmAgain`` the
        outcome is unknown and must be read. Writes the owner field only. Never sends an owner that
        the CRM lists as inactive: that write comes out as ``INACTIVE_OWNER``, ``is_listed``,
        without a call.
        """

    def unowned(
        self, object_type: str, since: datetime, *, after: str | None = None
    ) -> Sequence[str]:
        """Ids of records created since then that may lack an owner, in the order of their ids.

        A page of those beyond the id ``after``, None: from the first; empty when there are no more.
        What was created or changed a moment ago may be missing, and some may have an owner:
        ``read_records`` tells. Idempotent; retried quickly.
        """

    def changes(self, object_type: str, mark: Mark) -> Changes:
        """What was created or changed since the mark: one page of up to 2,000 records.

        The event of one change has the same key however often it is read. Rows may be committed
        late, with a moment that was read past already. Idempotent; retried quickly.
        """

    def concerns(self, ours: Ours) -> Sequence[Concern]:
        """What is wrong with the CRM's side, as far as a few calls can find out.

        ``ours`` tells which of these records of a type have their owner from us.
        """

    def account_id(self) -> str | None:
        """The account this connection belongs to, read once; None when events need no check."""

    def close(self) -> None:
        """Close connections. Calling it twice is fine."""
