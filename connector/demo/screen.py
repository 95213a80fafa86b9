"""What a person sees of the demo: one screen that moves, then one that says what came out.

Without a terminal each new assignment is a line and the end is the same two tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from connector.demo.checks import Check, calls, first_writes, spread
from connector.demo.watch import Row, Watch
from connector.demo.world import PLANNED, World

LINES = 10  # of the stream of assignments
LOOK: Any = {"box": None, "title_justify": "left", "title_style": "bold", "padding": (0, 2, 0, 0)}

WHY = {
    "rotation": "by turn",
    "owed": "owed a turn",
    "sticky": "owned already",
    "kept_existing_owner": "an owner appeared first",
    "no_member_available": "held: nobody available",
}


class Screen:
    """Writes to standard output; moves only on a terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._stream: deque[Row] = deque(maxlen=LINES)
        self._live: Live | None = None

    def tell(self, sentence: str) -> None:
        """One line above everything else."""
        self._console.print(sentence, soft_wrap=True)

    @contextmanager
    def live(self, watch: Watch) -> Iterator[None]:
        """Show the stream and the progress while the block runs."""
        if not self._console.is_terminal:
            yield
            return
        with Live(console=self._console, refresh_per_second=8, transient=True) as live:
            self._live = live
            yield
            live.update(self._moving(watch))
        self._live = None

    def show_new(self, rows: list[Row], watch: Watch) -> None:
        """Add these assignments to the stream."""
        self._stream.extend(rows)
        if self._live:
            self._live.update(self._moving(watch))
            return
        for row in rows:
            self._console.print(_line(row, watch))

    def show_result(
        self, world: World, watch: Watch, checks: list[Check], *, seconds: float
    ) -> None:
        """The summary, the spread over the users, what was checked, and the verdict."""
        self._console.print()
        self._console.print(Columns([_summary(world, watch), _spread(watch)], padding=(0, 4)))
        self._console.print()
        self._console.print(_checked(checks))
        broken = sum(not check.held for check in checks)
        verdict = f"{broken} of {len(checks)} checks failed" if broken else "All checks held"
        self._console.print(f"\n{verdict}, after {seconds:.0f} s.", style="bold")

    def _moving(self, watch: Watch) -> RenderableType:
        bars = Progress(TextColumn("{task.description:<12}"), BarColumn(44), MofNCompleteColumn())
        for connection, total in PLANNED.items():
            bars.add_task(connection, total=total, completed=watch.settled(connection))
        return Group(*(_line(row, watch) for row in self._stream), Text(), bars)


def _line(row: Row, watch: Watch) -> Text:
    connection, _, record_id = row["lead_id"].split(":")
    name = row["assigned_user_name"] or "no user here"
    line = Text(f"{connection:<10}  ", style="cyan")
    line.append(f"{record_id:<18}  ", style="default")
    line.append(f"{name!s:<12}  ", style="bold green")
    line.append(f"{watch.pools[row['pool_id']]:<15}  ", style="default")
    line.append(WHY.get(row["reason"], str(row["reason"])), style="dim")
    return line


def _summary(world: World, watch: Watch) -> Table:
    rows = list(watch.rows.values())
    made = {lead_id: lead.at for lead_id, lead in world.leads.items()}
    seconds = [at - made[lead_id] for lead_id, at in first_writes(world).items()]
    made_calls = calls(world)
    table = Table(title="Leads", show_header=False, **LOOK)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_row("in", str(len(world.leads)))
    table.add_row("assigned by turn", str(sum(row["status"] == "assigned" for row in rows)))
    table.add_row("sticky (owner stayed)", str(sum(row["status"] == "kept" for row in rows)))
    table.add_row("held", str(sum(row["status"] == "held" for row in rows)))
    table.add_row("owners written", str(sum(row["write_back"] == "done" for row in rows)))
    table.add_row("record reads and writes", f"{made_calls.reads} + {made_calls.writes}")
    table.add_row("look-ups of companies", str(made_calls.look_ups))
    if len(seconds) > 1:
        table.add_row("seconds to owner, median", f"{median(seconds):.2f}")
        table.add_row("seconds to owner, p95", f"{quantiles(seconds, n=20)[-1]:.2f}")
    return table


def _spread(watch: Watch) -> Table:
    table = Table(title="Turns", show_header=False, **LOOK)
    table.add_column(style="dim")
    table.add_column()
    table.add_column(justify="right")
    for pool, turns in spread(watch).items():
        for place, (name, count) in enumerate(sorted(turns.items())):
            table.add_row("" if place else pool, name, str(count))
    return table


def _checked(checks: list[Check]) -> Table:
    table = Table(title="Checked", show_header=False, **LOOK)
    table.add_column(min_width=2, no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    for check in checks:
        mark = Text("ok", style="green") if check.held else Text("BROKEN", style="bold red")
        table.add_row(mark, check.promise, check.figures)
    return table
