"""Lead Rota: a new lead gets the right owner, seconds later, and anyone can see why.

- `model`     the words: User, Pool, Lead, LeadEvent, Decision
- `engine`    pure: whose turn is it, and why not the others
- `store`     the only place that knows SQL
- `web`       webhooks in, REST API
- `intake`    events become decisions; `dispatch` decides and records in one commit
- `delivery`  decisions become owners in the CRM
- `questions` a workflow waits for its answer; `callbacks` tells it later
- `directory` who is active in the CRM, and when
- `worker`    the loop that runs these
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from config import Settings

__version__ = "0.1.0"


def create_app(
    settings: Settings | None = None, *, clock: Callable[[], datetime] | None = None
) -> Flask:
    """The web application as a WSGI callable; settings come from the environment unless given."""
    from connector import wiring  # imports everything, so only when asked for

    return wiring.create_app(settings, clock=clock)
