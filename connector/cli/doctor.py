"""``leadrota doctor``: is everything set up so that no lead is lost?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from config import Origin, Settings, Source, load, origins
from connector import logs
from connector.checkup.findings import Finding, Level
from connector.cli import start
from connector.errors import BadSettings
from connector.logs import clean_text

if TYPE_CHECKING:
    from config.connections import Connection
    from connector.checkup.connections import Subject
    from connector.store.database import Database

_LOOK = {
    Level.OK: ("ok", "green"),
    Level.NOTE: ("note", "cyan"),
    Level.WARNING: ("warning", "yellow"),
    Level.LOSES_LEADS: ("LOSES LEADS", "bold red"),
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def doctor(as_json: bool) -> None:
    """Look at settings, database, pools and every connection, and say what to put right.

    Reads from the CRMs and writes nothing to them; web and workers may run on. Ends within a
    minute, with 1 when something would lose leads or the database cannot be used.

    Example: leadrota doctor --json
    """
    settings, findings = _of_settings()
    if settings:
        findings += _looked_at(settings)
    came_from = origins(settings)
    if as_json:
        document = {
            "settings": [asdict(one) for one in came_from],
            "findings": [asdict(one) for one in findings],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _show(came_from, findings)
    is_well = all(one.level is not Level.LOSES_LEADS for one in findings)
    click.get_current_context().exit(0 if is_well else 1)


def _of_settings() -> tuple[Settings | None, list[Finding]]:
    """The settings, None when nothing could start with them, and what there is to say of them."""
    try:
        settings = load()
    except BadSettings as error:
        logs.configure("logfmt")
        return None, [
            Finding(level=Level.LOSES_LEADS, about="settings", text=line)
            for line in error.message.splitlines()
        ]
    logs.configure(settings.log_format)
    warnings = [
        Finding(level=Level.WARNING, about="settings", text=text) for text in settings.warnings
    ]
    return settings, [*warnings, *_of_address(settings)]


def _of_address(settings: Settings) -> Iterator[Finding]:
    if not settings.connections:
        yield Finding(
            level=Level.NOTE,
            about="settings",
            text="No CRM is connected.",
            what_to_do="Set the HUBSPOT_ or SALESFORCE_ settings, unless the REST API is all.",
        )
    elif not settings.public_url:
        yield Finding(
            level=Level.NOTE,
            about="settings",
            text="LEADROTA_PUBLIC_URL is not set.",
            what_to_do="Set it to the https address that the CRMs call.",
        )
    elif not settings.public_url.startswith("https://"):
        yield Finding(
            level=Level.NOTE,
            about="settings",
            text=f"No CRM outside of this machine can call {settings.public_url}.",
            what_to_do="Set LEADROTA_PUBLIC_URL to the https address that the CRMs call.",
        )
    else:
        text = f"CRMs call {settings.public_url}/webhooks/ with the name of the connection."
        yield Finding(level=Level.OK, about="settings", text=text)


def _looked_at(settings: Settings) -> list[Finding]:
    """The database and what is in it, then the connections, all at the same time."""
    from connector import wiring
    from connector.checkup import connections, installation

    try:
        store = wiring.open_database(settings)
    except BadSettings as error:
        return [Finding(level=Level.LOSES_LEADS, about="settings", text=error.message)]
    with closing(store):
        found = [installation.of_database(store)]
        if found[0].level is not Level.OK:
            return found  # the pace and the tokens of all calls are in there too
        installed = installation.Installed(
            default_pool=settings.default_pool,
            api_token=bool(settings.api_token),
            connections=tuple(one.name for one in settings.connections),
        )
        with store.read() as session:
            found += installation.of_installation(session, installed, now=start.now())
        subjects = [_subject(one, settings, store) for one in settings.connections]
        examine = partial(connections.examine, store, clock=start.now)
        with _patience(subjects), ThreadPoolExecutor(max(1, len(subjects))) as threads:
            for of_one in threads.map(examine, subjects):
                found += of_one
    return found


def _subject(connection: Connection, settings: Settings, store: Database) -> Subject:
    from connector import wiring
    from connector.checkup.connections import Subject

    is_hubspot = connection.kind == "hubspot"
    proof = "The app's client secret" if is_hubspot else connection.webhook_key and "A key"
    return Subject(
        name=connection.name,
        objects=connection.objects,
        open=partial(wiring.visitor, connection, store, settings, start.now),
        proof=proof,
        account=getattr(connection, "portal_id", None),
    )


@contextmanager
def _patience(subjects: Sequence[Subject]) -> Iterator[None]:
    """Show on a terminal that something happens; a slow CRM takes its time."""
    console = Console(stderr=True)
    if not subjects or not console.is_terminal:
        yield
        return
    with console.status(f"Asking {', '.join(one.name for one in subjects)} …"):
        yield


def _show(came_from: Iterable[Origin], findings: Iterable[Finding]) -> None:
    console = Console(highlight=False)
    console.print("Settings", style="bold")
    rows = [(one.name, one.value or _absent(one), _place(one)) for one in came_from]
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, value, place in rows:
        line = Text(f"  {_plain(name):<{width}}  {_plain(value)}")
        if place:
            line.append(f"  {_plain(place)}", style="dim")
        console.print(line, soft_wrap=True)
    console.print("\nChecked", style="bold")
    for one in findings:
        word, style = _LOOK[one.level]
        line = Text(f"  {word:<11}", style=style)
        line.append(f"  {one.about}: {_plain(clean_text(one.text))}", style="default")
        console.print(line, soft_wrap=True)
        if one.what_to_do:
            console.print(Text(f"{'':15}{_plain(one.what_to_do)}", style="dim"), soft_wrap=True)


def _plain(text: str) -> str:
    """The text without characters that a terminal would obey; names in a CRM may hold any."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _absent(one: Origin) -> str:
    return "not set" if one.source is Source.DEFAULT else "set"


def _place(one: Origin) -> str:
    match one.source:
        case Source.ENVIRONMENT:
            return "environment" if one.place == one.name else f"environment, {one.place}"
        case Source.FILE | Source.TOML:
            return str(one.place)
        case Source.DEFAULT:
            return "default" if one.value else ""
