"""Whether the people of a CRM are our users, and whether it tells when they are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from connector.checkup.findings import Finding, Level, counted, listed, ok
from connector.model import User
from connector.ports import Crm, CrmUser


def compare(connection: str, crm: Crm, owners: Mapping[str, User]) -> Iterator[Finding]:
    """What the CRM's directory says of our users, given by their owner ids there."""
    people, problem = crm.people(None), crm.availability_problem
    if others := owners.keys() - people.keys():
        people = {**people, **crm.people(others)}  # a CRM of very many tells of some only if asked
    active = {owner_id: one for owner_id, one in people.items() if one.active}
    strangers = [one for owner_id, one in active.items() if owner_id not in owners]
    unlisted = [user.name for owner_id, user in owners.items() if owner_id not in active]
    known = len(owners) - len(unlisted)
    if known:
        yield ok(connection, f"{counted(known, 'user')} of ours can own records there.")
    elif owners:
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
    refused = [
        user.name
        for owner_id, user in owners.items()
        if owner_id in active and connection in user.refused_by
    ]
    if refused:
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"The CRM refused to have them own records: {listed(refused)}. They get no leads "
            "there.",
            what_to_do="Put that right in the CRM, then PUT the user again.",
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
    yield from _of_availability(connection, problem, active)


def _are(several: Sequence[object]) -> str:
    return "is" if len(several) == 1 else "are"


def _of_availability(
    connection: str, problem: str | None, active: Mapping[str, CrmUser]
) -> Iterator[Finding]:
    told = sum(one.availability is not None for one in active.values())
    if problem:
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"Who is away is not fully told. {problem}",
            what_to_do="Give the app the permission (HubSpot: crm.objects.users.read), correct the "
            "entries there, or switch availability off in the settings.",
        )
    elif told:
        yield ok(connection, f"It tells of {told} of {counted(len(active), 'owner')} who is away.")


def without_owner(connection: str, members: Sequence[User]) -> Iterator[Finding]:
    """Members of pools who cannot get leads of this CRM."""
    if members:
        names = listed(user.name for user in members)
        yield Finding(
            level=Level.WARNING,
            about=connection,
            text=f"Members of pools without an owner id: {names}. They get no leads of this CRM.",
            what_to_do=f'Set `"owners": {{"{connection}": …}}` of these users.',
        )
