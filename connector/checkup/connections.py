"""A look at one connection: whether the CRM lets us in, and whether its people are our users."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from connector.checkup import people
from connector.checkup.findings import Finding, Level, ok
from connector.checkup.installation import pools_in_use
from connector.errors import (
    CrmAgain,
    CrmError,
    CrmForbidden,
    CrmNever,
    CrmPaced,
    LeadRotaError,
)
from connector.model import User, WriteBack
from connector.ports import Concern, Crm, CrmRecord, Ours
from connector.store import assignments, figures, inbox, users
from connector.store.database import Database, Session
from connector.store.figures import Rest

PATIENCE = timedelta(seconds=15)  # then nothing more is begun: two calls may take 40 s
SAMPLE_DAYS = timedelta(days=7)
LITTLE = 0.1  # of a limit
_NO_RECORD = CrmRecord(id="1", owner_id=None, owner_stays=False)

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One connection as the settings have it."""

    name: str
    objects: tuple[str, ...]  # object types that are routed
    open: Callable[[], Crm]
    account: str | None = None  # as set; None when that is left to the CRM
    proof: str | None  # what proves that a webhook is the CRM's; None: nothing does


@dataclass(frozen=True, slots=True, kw_only=True)
class _Here:
    """What the database knows of a connection before the CRM is asked."""

    rest: Rest | None
    owners: Mapping[str, User]  # active users of ours by their owner id there
    without_owner: Sequence[User]  # active members of pools
    newest_at: datetime | None  # when the last event came


def examine(database: Database, subject: Subject, *, clock: Clock) -> list[Finding]:
    """Look at one connection, in less than a minute. Never raises; writes nothing to the CRM."""
    found = list(_of_settings(subject))
    try:
        with database.read() as session:
            here = _here(session, subject.name, clock())
        found.append(_of_events(subject.name, here.newest_at))
        found += _of_rest(subject.name, here.rest)
        is_open = True  # a CRM that asked for a pause has told of its limits before
        if here.rest is None or here.rest.is_probed:
            with closing(subject.open()) as crm:
                ours = partial(_ours, database, subject.name)
                asked, is_open = _asked(subject, crm, here, clock, ours)
            found += asked
        found += people.without_owner(subject.name, here.without_owner)
        if is_open:
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
        newest_at=inbox.newest_at(session, connection),
    )


def _of_events(connection: str, newest_at: datetime | None) -> Finding:
    if newest_at:
        return ok(connection, f"The last event came at {newest_at:%Y-%m-%d %H:%M} UTC.")
    return Finding(
        level=Level.NOTE,
        about=connection,
        text="No event has come yet.",
        what_to_do="Make a record in the CRM. If nothing comes, look at the address that it calls, "
        "and whether its subscription, workflow or flow is active.",
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


def _asked(
    subject: Subject, crm: Crm, here: _Here, clock: Clock, ours: Ours
) -> tuple[list[Finding], bool]:
    """Make the calls one by one; what hinders all of them ends it. Also: does the CRM let us in?"""
    found: list[Finding] = []
    is_open = True
    readable: dict[str, CrmRecord] = {}  # by object type, some record of it
    began = clock()

    def account() -> list[Finding]:
        return list(_of_account(subject, crm.account_id()))

    def records(object_type: str) -> list[Finding]:
        sample = crm.unowned(object_type, began - SAMPLE_DAYS)[:1]
        read = crm.read_records(object_type, sample or ["1"])
        readable[object_type] = next(iter(read.values()), _NO_RECORD)
        return []

    def links(object_type: str) -> list[Finding]:
        if not crm.capabilities.related or object_type not in readable:
            return []
        try:
            sample = readable[object_type]
            crm.related(object_type, {sample.id: sample})
        except CrmForbidden as closed:
            return [_not_sticky(subject.name, object_type, closed)]
        return []

    def directory() -> list[Finding]:
        return (
            list(people.compare(subject.name, crm, here.owners)) if crm.capabilities.people else []
        )

    def concerns() -> list[Finding]:
        return [_of_concern(subject.name, one) for one in crm.concerns(ours)]

    calls: list[tuple[str, Callable[[], list[Finding]]]] = [("its account", account)]
    calls += [(f"records of the type {one}", partial(records, one)) for one in subject.objects]
    calls += [(f"what {one} are linked to", partial(links, one)) for one in subject.objects]
    calls += [("its users", directory), ("its settings and permissions", concerns)]
    for what, call in calls:
        if clock() - began > PATIENCE:
            found.append(_slow(subject.name, what))
            break
        try:
            found += call()
        except CrmError as error:
            found.append(_refused(subject.name, what, error))
            if not isinstance(error, CrmForbidden | CrmNever):
                is_open = isinstance(error, CrmPaced)
                break
    if readable:
        text = f"The token is valid; records can be read: {', '.join(readable)}."
        found.insert(0, ok(subject.name, text))
    return found, is_open


def _ours(
    database: Database, connection: str, object_type: str, record_ids: Collection[str]
) -> set[str]:
    """Those of these records whose owner we wrote."""
    with database.read() as session:
        rows = assignments.current_of_records(session, connection, object_type, record_ids)
    return {record_id for record_id, row in rows.items() if row.write_back is WriteBack.DONE}


def _of_account(subject: Subject, account_id: str | None) -> Iterator[Finding]:
    if account_id and subject.account and account_id != subject.account:
        yield Finding(
            level=Level.LOSES_LEADS,
            about=subject.name,
            text=f"The token is of the account {account_id}, but HUBSPOT_PORTAL_ID says "
            f"{subject.account}: every event is ignored.",
            what_to_do="Correct HUBSPOT_PORTAL_ID (portal_id in a table), or set the token of that "
            "account.",
        )
    elif account_id:
        yield ok(subject.name, f"It is the account {account_id}.")


def _of_concern(connection: str, concern: Concern) -> Finding:
    return Finding(
        level=Level.LOSES_LEADS if concern.loses_leads else Level.WARNING,
        about=connection,
        text=concern.text,
        what_to_do=concern.what_to_do,
    )


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


def _not_sticky(connection: str, object_type: str, closed: CrmForbidden) -> Finding:
    return Finding(
        level=Level.WARNING,
        about=connection,
        text=f"Whoever owns the person or company of {object_type} gets no leads by that. "
        f"{closed.message}",
        what_to_do="Give the app the permission, or leave person and company out of the "
        "`sticky_steps` of the pools.",
    )


def _slow(connection: str, what: str) -> Finding:
    return Finding(
        level=Level.WARNING,
        about=connection,
        text=f"The CRM answers too slowly to look at the rest, from {what} on.",
        what_to_do="Look again later.",
    )


def _of_limits(session: Session, connection: str) -> Iterator[Finding]:
    for (name, limit), (left, most) in figures.limits(session).items():
        if name != connection:
            continue
        text = f"{left:,} of {most:,} calls are left ({limit})."
        if left >= most * LITTLE:
            yield ok(connection, text)
        else:
            yield Finding(
                level=Level.WARNING,
                about=connection,
                text=text,
                what_to_do="Find out which other app uses this account's calls; ours wait.",
            )
