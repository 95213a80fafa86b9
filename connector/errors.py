"""What can go wrong, and whether to try again.

    LeadRotaError
    ├── BadInput              the caller's mistake; nothing was changed
    │   ├── NotFound
    │   └── Conflict
    ├── BadSettings           the operator's mistake; nothing was started
    ├── WebhookRefused        a delivery that is not taken in; nothing was stored
    ├── StoreBehind           the schema is older or newer than this program
    ├── StoreUnavailable      the database cannot be reached or written just now
    └── CrmError              a call to a CRM failed as a whole
        ├── CrmAgain          try later; counts as a failure
        ├── CrmPaced          the CRM asks for a pause; does not count
        ├── CrmUnreachable    no connection, log-in or permission; probed, does not count
        └── CrmNever          the call itself is wrong; a smaller batch may still pass

``code`` is a stable machine word; the message is a full sentence that says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote


class LeadRotaError(Exception):
    """Base of all errors of ours."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code:
            self.code = code


@dataclass(frozen=True, slots=True)
class Pointer:
    """One bad place in a JSON document: ``("/members/0/weight", "must be 0 or more")``."""

    pointer: str
    detail: str


class BadInput(LeadRotaError):
    """The input cannot be used; nothing was changed."""

    code = "invalid"

    def __init__(
        self, message: str, *, code: str | None = None, errors: Sequence[Pointer] = ()
    ) -> None:
        super().__init__(message, code=code)
        self.errors = tuple(errors)


class NotFound(BadInput):
    """There is no such thing."""

    code = "not_found"


def unknown_pool(pool_id: str) -> NotFound:
    """There is no pool of this id."""
    return NotFound(
        f"There is no pool with the id {pool_id!r}. Give the pool's id; GET /round-robin/pools "
        "lists them.",
        code="pool_not_found",
    )


def unknown_user(user_id: str) -> NotFound:
    """There is no user of this id."""
    path = f"/round-robin/users/{quote(user_id, safe='')}"
    return NotFound(
        f"There is no user {user_id!r}. PUT {path} makes one.",
        code="user_not_found",
    )


class Conflict(BadInput):
    """It does not fit what is already there."""

    code = "conflict"


class BadSettings(LeadRotaError):
    """A setting is missing or wrong; nothing was started."""

    code = "bad_settings"


class StoreBehind(LeadRotaError):
    """The database schema does not fit this program."""

    code = "store_behind"


class StoreUnavailable(LeadRotaError):
    """The database cannot be reached or written just now; nothing was changed."""

    code = "store_unavailable"


class WebhookRefused(LeadRotaError):
    """A delivery is not taken in. ``status`` is the HTTP status of the answer."""

    code = "webhook_refused"

    def __init__(self, message: str, *, code: str, status: int) -> None:
        super().__init__(message, code=code)
        self.status = status


class CrmError(LeadRotaError):
    """A call to a CRM failed as a whole. ``crm_message`` is the CRM's own text."""

    code = "crm_error"

    def __init__(
        self, message: str, *, code: str | None = None, crm_message: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.crm_message = crm_message


class CrmAgain(CrmError):
    """The call failed or its outcome is unknown: 5xx, time-out, lost reply. Try later; counts."""

    code = "crm_again"


class CrmPaced(CrmError):
    """The CRM asks for a pause of ``pause_seconds``; does not count as a failure."""

    code = "crm_paced"

    def __init__(
        self,
        message: str,
        *,
        pause_seconds: float,
        code: str | None = None,
        crm_message: str | None = None,
    ) -> None:
        super().__init__(message, code=code, crm_message=crm_message)
        self.pause_seconds = pause_seconds


class CrmUnreachable(CrmError):
    """Nothing works on this connection: refused, log-in failed, access switched off."""

    code = "crm_unreachable"


class CrmForbidden(CrmError):
    """Records of this object type are closed to us, a permission is missing. They wait, and do
    not hold up those of other types; does not count as a failure.
    """

    code = "crm_forbidden"


class CrmNever(CrmError):
    """The CRM refused the whole call as wrong. One bad item may be the cause: try halves."""

    code = "crm_never"


def copied(error: CrmError) -> CrmError:
    """The same error for another thread: one exception must not be raised by two."""
    words = {"code": error.code, "crm_message": error.crm_message}
    if isinstance(error, CrmPaced):
        return CrmPaced(error.message, pause_seconds=error.pause_seconds, **words)
    return type(error)(error.message, **words)
