"""A look at one connection: whether the CRM lets us in, and whether its people are our users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from connector.checkup.findings import Finding, Level, counted, listed
from connector.checkup.installation import pools_in_use
from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    LeadRotaError,
)
from connector.model import User
from connector.ports import Crm, CrmUser
from connector.store import figures, users
from connector.store.database import Database, Session
from connector.store.figures import Rest

PATIENCE = timedelta(seconds=15)  # then nothing more is begun: two calls may take 40 s
SAMPLE_DAYS = timedelta(days=7)
LITTLE = 0.1  # of a limit

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One connection as the settings have it."""

    name: str
    objects: tuple[str, ...]  # object types that are routed
    open: Callable[[], Crm]
    proof: str | None  # what proves that a webhook is the CRM's; None: nothing does
    # A sentence's rest where the CRM gives each record some owner and none counts as unowned.
    keeps_all: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Here:
    """What the database knows of a connection before the CRM is asked."""

    rest: Rest | None
    owners: Mapping[str, User]  # active users of ours by their owner id there
    without_owner: Sequence[User]  # active members of pools


def examine(database: Database, subject: Subject, *, clock: Clock) -> list[Finding]:
    """Look at one connection, in less than a minute. Never raises; writes nothing to the CRM."""
    found = list(_of_settings(subject))
    try:
        with database.read() as session:
            here = _here(session, subject.name, clock())
        found += _of_rest(subject.name, here.rest)
        if here.rest is None or here.rest.is_probed:
            with closing(subject.open()) as crm:
                found += _asked(subject, crm, here, clock)
        found += _of_members(subject.name, here)
        with database.read() as session:
            found += _of_limits(session, subject.name)
    except LeadRotaError as error:
        found.append(Finding(level=Level.LOSES_LEADS, about=subject.name, text=error.message))
    return found


def _of_settings(subject: Subject) -> Iterator[Finding]:
    if subject.proof:
        yield Finding(
            level=Level.OK, about=subject.name, text=f"{subject.proof} proves each webhook."
        )
    else:
        yield Finding(
            level=Level.WARNING,
            about=subject.name,
            text="No key is set that webhooks must carry: anybody who knows the address may send.",
            what_to_do="Set the webhook key of this connection, here and in the CRM.",
        )
    if subject.keeps_all:
        yield Finding(
            level=Level.LOSES_LEADS,
            about=subject.name,
            text="Every lead has some owner there and none counts as unowned, so leads that a "
            "person or a default owner has are all kept where they are.",
            what_to_do=subject.keeps_all,
        )


def _here(session: Session, connection: str, now: datetime) -> _Here:
    everybody: list[User] = []
    while page := users.listed(session, everybody[-1].id if everybody else None, 500):
        everybody += page
    members = {
        one.user.id: one.user
        for pool in pools_in_use(session)
        for one in pool.members
        if one.active and one.user.active
    }
    return _Here(
        rest=figures.rest(session, connection, now=now),
        owners={
            user.owners[connection]: user
            for user in everybody
            if user.active and connection in user.owners
        },
        without_owner=[user for user in members.values() if connection not in user.owners],
    )


def _of_rest(connection: str, rest: Rest | None) -> Iterator[Finding]:
    if rest:
        until = rest.until.strftime("%Y-%m-%d %H:%M:%S UTC")
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"The connection rests until {until}: {rest.reason or 'no reason is known'}",
            what_to_do="Leads wait until then; none is lost by it.",
        )


def _asked(subject: Subject, crm: Crm, here: _Here, clock: Clock) -> list[Finding]:
    """Make the calls one by one; what hinders all of them ends it."""
    found: list[Finding] = []
    readable: list[str] = []
    began = clock()

    def account() -> list[Finding]:
        account_id = crm.account_id()
        return [_ok(subject.name, f"It is the account {account_id}.")] if account_id else []

    def records(object_type: str) -> list[Finding]:
        sample = crm.unowned(object_type, began - SAMPLE_DAYS)[:1]
        crm.read_records(object_type, sample or ["1"])
        readable.append(object_type)
        return []

    def people() -> list[Finding]:
        return list(_of_people(subject.name, crm, here)) if crm.capabilities.people else []

    calls: list[tuple[str, Callable[[], list[Finding]]]] = [("its account", account)]
    calls += [(f"records of the type {one}", partial(records, one)) for one in subject.objects]
    calls.append(("its users", people))
    for what, call in calls:
        if clock() - began > PATIENCE:
            found.append(_slow(subject.name, what))
            break
        try:
            found += call()
        except CrmError as error:
            found.append(_refused(subject.name, what, error))
            if not isinstance(error, CrmForbidden | CrmNever):
                break
    if readable:
        text = f"The token is valid; records can be read: {', '.join(readable)}."
        found.insert(0, _ok(subject.name, text))
    return found


def _refused(connection: str, what: str, error: CrmError) -> Finding:
    words = error.message
    if error.crm_message and error.crm_message not in words:
        words = f"{words} ({error.crm_message})"
    level, begins, what_to_do = Level.LOSES_LEADS, "This cannot be read", ""
    match error:
        case CrmForbidden():
            what_to_do = (
                "Give the app or its user the permission that is missing, or take the object type "
                "out of the settings."
            )
        case CrmNever():
            what_to_do = "Check the object types in the settings."
        case CrmPaced() | CrmAgain():
            level, begins = Level.WARNING, "This could not be read just now"
            what_to_do = "Leads wait meanwhile; look again in a few minutes."
        case _ if error.code == "no_connection":
            begins = "The CRM cannot be reached"
            what_to_do = "Check the address in the settings, the network and its name server."
        case _:
            begins = "The CRM does not let us in: the token is not valid, or lacks a permission"
            what_to_do = "Check the token or the log-in in the settings, and the app in the CRM."
    return Finding(
        level=level, about=connection, text=f"{begins} ({what}). {words}", what_to_do=what_to_do
    )


def _slow(connection: str, what: str) -> Finding:
    return Finding(
        level=Level.WARNING,
        about=connection,
        text=f"The CRM answers too slowly to look at the rest, from {what} on.",
        what_to_do="Look again later.",
    )


def _of_people(connection: str, crm: Crm, here: _Here) -> Iterator[Finding]:
    people = crm.people(None)
    active = {owner_id: one for owner_id, one in people.items() if one.active}
    strangers = [one for owner_id, one in active.items() if owner_id not in here.owners]
    unlisted = [user.name for owner_id, user in here.owners.items() if owner_id not in active]
    known = len(here.owners) - len(unlisted)
    if known:
        yield _ok(connection, f"{counted(known, 'user')} of ours can own records there.")
    elif here.owners:
        yield Finding(
            level=Level.LOSES_LEADS,
            about=connection,
            text="The CRM lists none of our users as active: it may be another account.",
            what_to_do="Check which account the token is of, and the owner ids of the users.",
        )
    if known and unlisted:
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"The CRM does not list as active: {listed(unlisted)}. They get no leads there.",
            what_to_do="Correct their owner ids, or make the users inactive here.",
        )
    if strangers:
        names = listed(f"{one.name} ({one.owner_id})" for one in strangers)
        yield Finding(
            level=Level.NOTE,
            about=connection,
            text=f"{counted(len(strangers), 'owner')} there who {_are(strangers)} no user here: "
            f"{names}.",
            what_to_do="Give a user the owner id of whoever shall get leads.",
        )
    yield from _of_availability(connection, crm, active)


def _are(several: Sequence[object]) -> str:
    return "is" if len(several) == 1 else "are"


def _of_availability(connection: str, crm: Crm, active: Mapping[str, CrmUser]) -> Iterator[Finding]:
    told = sum(one.availability is not None for one in active.values())
    if crm.availability_problem:
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"Who is away is not fully told. {crm.availability_problem}",
            what_to_do="Give the app the permission (HubSpot: crm.objects.users.read), correct the "
            "entries there, or switch availability off in the settings.",
        )
    elif told:
        yield _ok(connection, f"It tells of {told} of {counted(len(active), 'owner')} who is away.")


def _of_members(connection: str, here: _Here) -> Iterator[Finding]:
    if here.without_owner:
        names = listed(user.name for user in here.without_owner)
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"Members of pools without an owner id: {names}. They get no leads of this CRM.",
            what_to_do=f'Set `"owners": {{"{connection}": …}}` of these users.',
        )


def _of_limits(session: Session, connection: str) -> Iterator[Finding]:
    for (name, limit), (left, most) in figures.limits(session).items():
        if name != connection:
            continue
        text = f"{left:,} of {most:,} calls are left ({limit})."
        if left >= most * LITTLE:
            yield _ok(connection, text)
        else:
            yield Finding(
                level=Level.WARNING,
                about=connection,
                text=text,
                what_to_do="Find out which other app uses this account's calls; ours wait.",
            )


def _ok(connection: str, text: str) -> Finding:
    return Finding(level=Level.OK, about=connection, text=text)
