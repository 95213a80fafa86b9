"""``leadrota token``: who may call the REST API."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from connector.cli import start
from connector.model import Scope

_SCOPES = [word.value for word in (Scope.ASSIGN, Scope.READ, Scope.ADMIN)]
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")


@click.group()
def token() -> None:
    """Look after the tokens of the REST API."""


def _usable(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """The name stands in logs and histories as whoever did it, so it must be plain there."""
    if not (name.isprintable() and name == name.strip() and 1 <= len(name) <= 200):
        raise click.BadParameter("must have 1 to 200 printable characters and no outer blanks")
    if name.upper() == "LEADROTA_API_TOKEN":
        raise click.BadParameter("is the name of the token that stands in the settings")
    return name


@token.command()
@click.argument("name", callback=_usable)
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    required=True,
    help="read reads; assign also assigns leads, passes them on and takes them back; admin all.",
)
@_AS_JSON
def create(name: str, scope: str, as_json: bool) -> None:
    """Make a token and print it, this once and never again.

    Standard output holds nothing but the token, so that a script can take it from there.

    Example: leadrota token create forms --scope assign
    """
    from connector.store import access

    now = start.now()
    with start.database() as store, store.write() as session:
        made = access.create(session, name, scope=Scope(scope), now=now)
    if as_json:
        _print({"name": name, "scope": scope, "created_at": _instant(now), "token": made})
    else:
        click.echo(f"Keep the token {name} ({scope}) now: it is not shown again.", err=True)
        click.echo(made)


@token.command("list")
@_AS_JSON
def list_tokens(as_json: bool) -> None:
    """List the tokens by name: scope, when made, when last used (up to a minute old).

    Example: leadrota token list
    """
    from connector.store import access

    with start.database() as store, store.read() as session:
        rows = [
            {
                "name": one.name,
                "scope": one.scope.value,
                "created_at": _instant(one.created_at),
                "last_used_at": _instant(one.last_used_at) if one.last_used_at else None,
            }
            for one in access.listed(session)
        ]
    if as_json:
        _print(rows)
        return
    width = max((len(str(row["name"])) for row in rows), default=0)
    for row in rows:
        used = f"used {row['last_used_at']}" if row["last_used_at"] else "never used"
        click.echo(f"{row['name']:{width}}  {row['scope']:6}  made {row['created_at']}  {used}")


@token.command()
@click.argument("name")
@_AS_JSON
def revoke(name: str, as_json: bool) -> None:
    """Make a token worthless, at once and in all processes.

    Example: leadrota token revoke forms
    """
    from connector.store import access

    now = start.now()
    with start.database() as store, store.write() as session:
        access.revoke(session, name, now=now)
    if as_json:
        _print({"name": name, "revoked_at": _instant(now)})
    else:
        click.echo(f"The token {name} is revoked.")


def _print(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
