"""``leadrota connect``: let an admin of the CRM allow the app, and keep the tokens."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from connector.cli import start

if TYPE_CHECKING:
    from adapters.hubspot.settings import HubSpotSettings
    from config import Settings


@click.command()
@click.argument("name")
@click.option("--code", help="The code from the address bar, once the app is allowed.")
@click.option(
    "--redirect-uri",
    help="Where the browser ends up with the code; must be a redirect URL of the app. "
    "Default: LEADROTA_PUBLIC_URL with /oauth/hubspot.",
)
def connect(name: str, code: str | None, redirect_uri: str | None) -> None:
    """Connect a HubSpot account whose app uses OAuth: a connection with a client id.

    Without --code it prints an address. An admin of the account opens it in a browser and allows
    the app; the browser then goes to the redirect URL. There is no page there: copy what stands
    behind code= in the address bar, and call this again with --code within a few minutes.

    Example: leadrota connect hubspot --code 3f1c9a52-example
    """
    settings = start.settings()
    connection = _connection(settings, name)
    back = redirect_uri or f"{settings.public_url}/oauth/hubspot"
    from adapters.hubspot import oauth

    if code is None:
        _explain(connection, back, oauth.scopes(connection))
        click.echo(oauth.consent_url(connection, back))
        return
    from connector import wiring
    from connector.store import schema

    with closing(wiring.open_database(settings)) as store:
        schema.check(store)  # the code works once
        grant = oauth.exchange(connection, code.strip(), back)
        wiring.shared(connection, store, settings, start.now).keep(grant)
    click.echo(f"{name} is connected. All processes use the new tokens by themselves.")


def _connection(settings: Settings, name: str) -> HubSpotSettings:
    from adapters.hubspot.settings import HubSpotSettings

    able = {
        one.name: one
        for one in settings.connections
        if isinstance(one, HubSpotSettings) and one.client_id
    }
    if name not in able:
        names = ", ".join(sorted(able)) or "none"
        raise click.UsageError(
            f"There is no HubSpot connection {name!r} with a client id. Those with one: {names}."
        )
    return able[name]


def _explain(connection: HubSpotSettings, back: str, scopes: list[str]) -> None:
    """Say what to do with the address; on standard error, so that a script gets the address."""
    for line in (
        f"1. In the settings of the app, {back} must be one of the redirect URLs, and these must",
        "   be its scopes, with `automation` as an optional one for workflow actions:",
        f"   {' '.join(scopes)}",
        "2. Let an admin of the HubSpot account open the address below and allow the app.",
        "3. Copy what stands behind code= in the address bar, and within a few minutes run:",
        f"   leadrota connect {connection.name} --code …"
        + ("" if back.endswith("/oauth/hubspot") else f" --redirect-uri {back}"),
    ):
        click.echo(line, err=True)
