"""The main job, for real: two sandbox CRMs, a web and a worker process, and every owner checked.

Nothing in here is canned. Leads are made in the sandboxes, signed webhooks and outbound messages
tell of them, separate processes assign them, and the sandboxes are read back at the end.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from connector.demo.checks import check_all
from connector.demo.people import set_up
from connector.demo.screen import Screen
from connector.demo.servers import Servers
from connector.demo.watch import Watch
from connector.demo.world import World

PATIENCE_SECONDS = 50.0  # until every lead must have its owner


def run(stay: bool) -> int:
    """Run the demo; the exit status is 0 only when every check held.

    ``stay`` leaves everything up afterwards until Ctrl-C.
    """
    # So that both processes end with this one, however it is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    screen = Screen()
    with (
        tempfile.TemporaryDirectory(prefix="leadrota-demo-") as folder,
        World() as world,
        Servers(world, Path(folder)) as servers,
    ):
        screen.tell("Two sandbox CRMs, one web and one worker process are up.")
        set_up(servers.api, world)
        watch = Watch(servers.api)
        _send_and_watch(world, watch, screen)
        checks = check_all(world, watch)
        screen.show_result(world, watch, checks, seconds=time.monotonic() - started)
        if stay:
            _stay(servers, screen)
    return 0 if all(check.held for check in checks) else 1


def _send_and_watch(world: World, watch: Watch, screen: Screen) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    with screen.live(watch):
        world.make_leads()
        while time.monotonic() < give_up_at:
            screen.show_new(watch.look(), watch)
            if world.is_told() and watch.is_settled():
                return
            time.sleep(0.2)


def _stay(servers: Servers, screen: Screen) -> None:
    screen.tell(f"\nStill up: {servers.url}/docs shows the REST API. Try it:")
    screen.tell(f"curl -H 'Authorization: Bearer {servers.token}' {servers.url}/round-robin/pools")
    screen.tell(f"Ctrl-C or `kill {os.getpid()}` ends it.")
    try:
        servers.wait()
    except KeyboardInterrupt:
        screen.tell("Stopped.")
