"""A look at what is here: the database, pools, API tokens, and leads that got stuck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from connector.checkup.findings import Finding, Level, counted, listed, ok
from connector.errors import LeadRotaError
from connector.model import Pool, Territory
from connector.store import access, figures, pools, schema, territories
from connector.store.database import Database, Session
from connector.store.figures import PoolFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What the settings say of this installation."""

    default_pool: str | None
    api_token: bool  # one stands in the settings
    connections: tuple[str, ...]


def of_database(database: Database) -> Finding:
    """Whether the database can be used and its tables are those of this program. Never raises."""
    try:
        schema.check(database)
    except LeadRotaError as error:
        return Finding(level=Level.LOSES_LEADS, about="database", text=error.message)
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    return Finding(
        level=Level.OK, about="database", text=f"{kind}, its tables are those of this version."
    )


def of_installation(session: Session, installed: Installed, *, now: datetime) -> Iterator[Finding]:
    """Pools, tokens of the API, and what waits or was given up on."""
    in_use = pools_in_use(session)
    yield _of_default_pool(session, installed, in_use)
    yield from _of_names(in_use)
    yield from _of_empty_pools(in_use)
    yield _of_tokens(session, installed)
    yield from _of_held(session)
    yield from _of_dead(session, now)
    yield from _of_strangers(session, installed, now)


def pools_in_use(session: Session) -> list[Pool]:
    """All pools that are not archived, with their members."""
    found: list[Pool] = []
    while page := pools.listed(session, _place(found), 500):
        found += page
    return found


def _place(found: list[Pool]) -> tuple[datetime, str] | None:
    return (found[-1].created_at, found[-1].id) if found else None


def _of_default_pool(session: Session, installed: Installed, in_use: list[Pool]) -> Finding:
    name = installed.default_pool
    pool = pools.named(session, name) if name else None
    if pool:
        return Finding(
            level=Level.OK, about="pools", text=f"{pool.name} is the default of {len(in_use)}."
        )
    text = (
        f"There is no pool {name!r}, which is set as the default."
        if name
        else ("No default pool is set.")
    )
    rules = territories.listed(session)
    catch_all = next((one for one in rules if not one.when and not one.is_closed), None)
    if catch_all:
        return _of_catch_all(catch_all, text if name else None)
    needs_one = bool(installed.connections) and (name or not rules)
    return Finding(
        level=Level.LOSES_LEADS if needs_one else Level.WARNING,
        about="pools",
        text=f"{text} Leads that no territory claims are held.",
        what_to_do="Set LEADROTA_DEFAULT_POOL to the name or id of a pool that is there"
        + (f": {listed(pool.name for pool in in_use)}." if in_use else "; there is none yet."),
    )


def _of_catch_all(rule: Territory, wrong_name: str | None) -> Finding:
    """No default pool is needed where a territory takes every lead."""
    text = f"The territory {rule.name} takes every lead that no other claims."
    if wrong_name is None:
        return ok("pools", text)
    return Finding(
        level=Level.NOTE,
        about="pools",
        text=f"{wrong_name} {text}",
        what_to_do="Correct or unset LEADROTA_DEFAULT_POOL.",
    )


def _of_names(in_use: list[Pool]) -> Iterator[Finding]:
    """Pools that share a name, as workflows read it."""
    named: dict[str, list[str]] = {}
    for pool in in_use:
        named.setdefault(pool.name.strip().casefold(), []).append(pool.name)
    shared = [several[0] for several in named.values() if len(several) > 1]
    if shared:
        yield Finding(
            level=Level.WARNING,
            about="pools",
            text=f"Several pools have the name {listed(shared)}; who gives it means the oldest of "
            "them.",
            what_to_do="Rename or archive the others, or give ids instead of names.",
        )


def _of_empty_pools(in_use: list[Pool]) -> Iterator[Finding]:
    empty = [
        pool.name
        for pool in in_use
        if not any(one.active and one.user.active and one.weight for one in pool.members)
    ]
    if empty:
        yield Finding(
            level=Level.WARNING,
            about="pools",
            text=f"Nobody in {listed(empty)} can get leads: no member is active with a weight.",
            what_to_do="Add members, make some active, or archive the pool.",
        )


def _of_tokens(session: Session, installed: Installed) -> Finding:
    made = len(access.listed(session))
    if installed.api_token or made:
        also = " and the one in the settings" if installed.api_token else ""
        return Finding(level=Level.OK, about="api", text=f"{counted(made, 'token')}{also}.")
    return Finding(
        level=Level.WARNING,
        about="api",
        text="There is no API token: the REST API refuses every call.",
        what_to_do="Run `leadrota token create`, or set LEADROTA_API_TOKEN.",
    )


def _of_held(session: Session) -> Iterator[Finding]:
    waiting = [pool for pool in figures.of_pools(session) if pool.held]
    if stray := [pool for pool in waiting if not pool.id]:
        yield Finding(
            level=Level.WARNING,
            about="pools",
            text=_held(stray, "without a pool"),
            what_to_do="Add a territory that claims them, a default pool, or the pool that a "
            "workflow asked for.",
        )
    if inside := [pool for pool in waiting if pool.id]:
        yield Finding(
            level=Level.NOTE,
            about="pools",
            text=_held(inside, f"in {listed(pool.name for pool in inside)}"),
            what_to_do="GET /round-robin/held says what each waits for; it goes out by itself as "
            "soon as somebody can take it.",
        )


def _held(waiting: list[PoolFigures], where: str) -> str:
    number = sum(pool.held for pool in waiting)
    oldest = min(pool.oldest_held_at for pool in waiting if pool.oldest_held_at)
    since = oldest.strftime("%Y-%m-%d %H:%M UTC")
    return f"{counted(number, 'lead')} held {where}, the oldest since {since}."


def _of_dead(session: Session, now: datetime) -> Iterator[Finding]:
    events, writes = figures.of_inbox(session, now=now), figures.of_outbox(session, now=now)
    for name in sorted(events.keys() | writes.keys()):
        given_up = [
            counted(found[name].dead, thing)
            for found, thing in ((events, "event"), (writes, "owner write"))
            if name in found and found[name].dead
        ]
        if given_up:
            yield Finding(
                level=Level.WARNING,
                about=name,
                text=f"{' and '.join(given_up)} given up on.",
                what_to_do="The history shows such writes with write_back `dead`, each assignment "
                "why. Put right what the CRM's words name.",
            )


def _of_strangers(session: Session, installed: Installed, now: datetime) -> Iterator[Finding]:
    """Events and writes of a connection that was renamed or taken away: no worker takes them."""
    events, writes = figures.of_inbox(session, now=now), figures.of_outbox(session, now=now)
    for name in sorted((events.keys() | writes.keys()) - set(installed.connections)):
        waiting = sum(found[name].waiting for found in (events, writes) if name in found)
        if waiting:
            yield Finding(
                level=Level.LOSES_LEADS,
                about=name,
                text=f"{counted(waiting, 'item')} of the connection {name} cannot go on: the "
                "settings have none of this name.",
                what_to_do="Give the connection its name back.",
            )
