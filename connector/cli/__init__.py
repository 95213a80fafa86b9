"""The command line: ``leadrota``. Exit status 0 done, 1 failed, 2 wrong use."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from typing import Any

import click

from connector import __version__
from connector.cli import checking, connecting, doctor, start, tokens
from connector.errors import LeadRotaError


class _Commands(click.Group):
    """A group whose commands tell an error of ours in plain lines, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LeadRotaError as error:
            for line in error.message.splitlines():
                click.echo(f"leadrota: {line}", err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leadrota")
def main() -> None:
    """Lead Rota gives each new lead its owner, in turn.

    Settings are environment variables or lines of config/leadrota.toml; the README lists them.
    """


@main.command()
@click.option("--host", help="Address to listen at. Default: all if PORT is set, else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port. Default: PORT, else 8000.")
def serve(host: str | None, port: int | None) -> None:
    """Run the web process: webhooks and REST API.

    With SQLite it also runs the worker.

    Example: leadrota serve --port 8080
    """
    settings = start.settings()
    from connector import wiring

    wiring.serve(settings, host or settings.host, settings.port if port is None else port)


@main.command()
@click.option("--drain", is_flag=True, help="Work until nothing is due, print counts, end.")
def worker(drain: bool) -> None:
    """Run the worker process: takes leads in and writes owners to the CRMs.

    Example: leadrota worker --drain
    """
    settings = start.settings()
    from connector import wiring
    from connector import worker as loop

    if not drain:
        click.get_current_context().exit(wiring.work(settings))
    drained = loop.drain(settings)
    for each in fields(drained):
        click.echo(f"{each.name}: {getattr(drained, each.name)}")


@main.group()
def db() -> None:
    """Look after the database's tables."""


@db.command()
def upgrade() -> None:
    """Bring the tables up to this version. Running it again changes nothing.

    Example: leadrota db upgrade
    """
    settings = start.settings()
    from connector.store import database, schema

    with closing(database.connect(settings.database_url)) as store:
        schema.upgrade(store)
    click.echo("The database is up to date.")


@db.command()
def check() -> None:
    """Fail when the tables do not fit this version.

    Example: leadrota db check
    """
    settings = start.settings()
    from connector.store import database, schema

    with closing(database.connect(settings.database_url)) as store:
        schema.check(store)
    click.echo("The database is up to date.")


@main.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65534),
    default=8100,
    show_default=True,
    help="Port of the HubSpot sandbox; Salesforce gets the next one.",
)
@click.option(
    "--target",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="Where your `leadrota serve` listens; both tell it of every change.",
)
def sandbox(port: int, target: str) -> None:
    """Run a sandbox HubSpot and a sandbox Salesforce on this machine until Ctrl-C.

    Prints the settings that connect to them and how to make records.

    Example: leadrota sandbox --port 8100
    """
    from adapters.sandbox import by_hand

    try:
        by_hand.serve(port=port, target=target, tell=click.echo)
    except OSError as error:
        raise click.ClickException(
            f"The ports {port} and {port + 1} cannot be used ({error.strerror}); choose others "
            "with --port."
        ) from None


@main.command()
@click.option("--stay", is_flag=True, help="Leave everything up afterwards until Ctrl-C.")
def demo(stay: bool) -> None:
    """Send leads through sandbox CRMs, web and worker, and check every owner.

    Needs no settings and touches no account of yours.

    Example: leadrota demo
    """
    from connector.demo import run

    click.get_current_context().exit(run(stay))


main.add_command(checking.audit)
main.add_command(connecting.connect)
main.add_command(doctor.doctor)
main.add_command(tokens.token)
