"""``leadrota audit``: is the history what the rules make of it?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from connector.cli import start

if TYPE_CHECKING:
    from connector.audit import Audited


@click.command()
@click.option("--pool", help="Name or id of one pool. Default: all, archived ones too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def audit(pool: str | None, as_json: bool) -> None:
    """Make every recorded decision again, and name the first of each pool that differs.

    Reads one moment of the database and changes nothing; web and workers may run on. Ends with 1
    when anything differs.

    Example: leadrota audit --pool "SDR Team A"
    """
    from connector import audit as auditing

    with start.database() as store, store.snapshot() as session:
        found = auditing.audit(session, pool, now=start.now())
        audited = [one if as_json else _tell(one) for one in found]
    differs = any(one.differs for one in audited)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in audited], indent=2, ensure_ascii=False))
    click.get_current_context().exit(1 if differs else 0)


def _tell(one: Audited) -> Audited:
    """Say at once what came of a pool: a long history takes its time."""
    if one.differs:
        click.echo(f"{one.pool_name} ({one.pool_id}): {one.differs}.")
    else:
        looked_at = f"decisions: {one.decisions}, journal rows: {one.entries}"
        click.echo(f"{one.pool_name}: nothing differs ({looked_at}).")
    return one
