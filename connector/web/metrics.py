"""``GET /metrics``: what Prometheus reads.

The numbers are asked of the database at each call, so every web process gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from flask import Response
from flask_openapi.blueprint import APIBlueprint
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from connector.store import figures
from connector.store.database import Session
from connector.store.figures import NOTHING, Backlog
from connector.web import auth
from connector.web.context import current, reading
from connector.web.documented import refusals

LATELY = timedelta(hours=1)

Values = Sequence[tuple[tuple[str, ...], float]]  # label values, value

api = APIBlueprint(
    "metrics",
    __name__,
    abp_tags=[{"name": "service"}],
    abp_security=[{"token": []}],
    abp_responses=refusals(401, 403, 405, 503),
)
api.before_request(auth.require)


@api.get(
    "/metrics",
    responses={
        200: {
            "description": "Metrics in the text format of Prometheus",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    },
)
def show_metrics() -> Response:
    """Show how much waits and what came out lately, for Prometheus."""
    now = current().clock()
    with reading() as session:
        found = [
            *_of_pools(session, now),
            *_of_connections(session, now),
            *_of_limits(session),
        ]
    registry = CollectorRegistry()
    registry.register(_Filled(found))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Filled(Collector):
    """Metrics that have their values already, in the form that a registry takes."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Sequence[Metric]:
        return self._metrics


def _of_pools(session: Session, now: datetime) -> list[Metric]:
    labels = ("pool_id", "pool")
    pools = [((one.id, one.name), one) for one in figures.of_pools(session)]
    names = {one.id: one.name for _, one in pools}
    lately = figures.decisions_since(session, now - LATELY)
    return [
        _counter(
            "leadrota_decisions_total",
            "Rows in the history of the pool.",
            labels,
            [(label, one.decisions) for label, one in pools if one.id],
        ),
        _gauge(
            "leadrota_recent_decisions",
            "Rows of the last hour in the history of the pool, by reason.",
            (*labels, "reason"),
            [((pool, names[pool], reason), n) for (pool, reason), n in lately.items()],
        ),
        _gauge(
            "leadrota_held_leads",
            "Leads that wait for a user or a pool.",
            labels,
            [(label, one.held) for label, one in pools],
        ),
        _gauge(
            "leadrota_held_oldest_seconds",
            "For how long the oldest of them has waited.",
            labels,
            [(label, _age(one.oldest_held_at, now)) for label, one in pools],
        ),
    ]


def _of_connections(session: Session, now: datetime) -> list[Metric]:
    labels = ("connection",)
    pauses = figures.pauses(session, now=now)
    events = figures.of_inbox(session, now=now)
    writes = figures.of_outbox(session, now=now)
    names = sorted({*pauses, *events, *writes})
    inbox = [(name, events.get(name, NOTHING)) for name in names]
    outbox = [(name, writes.get(name, NOTHING)) for name in names]
    lately = figures.events_since(session, now - LATELY)
    return [
        _gauge(
            "leadrota_recent_events",
            "Events of the last hour by what became of them, among the newest 1,000 of all.",
            (*labels, "outcome", "reason"),
            list(lately.items()),
        ),
        *_backlog("leadrota_events", "Events", inbox, now),
        *_backlog("leadrota_owner_writes", "Owner writes", outbox, now),
        _gauge(
            "leadrota_connection_pause_seconds",
            "For how long no call will be made: the CRM asked for a pause or cannot be reached.",
            labels,
            [((name,), pauses.get(name, 0)) for name in names],
        ),
    ]


def _of_limits(session: Session) -> list[Metric]:
    labels = ("connection", "limit")
    limits = figures.limits(session)
    return [
        _gauge(
            "leadrota_crm_calls_left",
            "Calls that the CRM still takes, as it told last.",
            labels,
            [(label, left) for label, (left, _) in limits.items()],
        ),
        _gauge(
            "leadrota_crm_calls_most",
            "Calls that the CRM takes in all within that limit's time.",
            labels,
            [(label, most) for label, (_, most) in limits.items()],
        ),
    ]


def _backlog(
    prefix: str, things: str, found: Sequence[tuple[str, Backlog]], now: datetime
) -> Iterator[Metric]:
    values: Mapping[str, tuple[str, Callable[[Backlog], float]]] = {
        "waiting": ("that wait, due now or later.", lambda one: one.waiting),
        "due": ("that could be worked off now.", lambda one: one.due),
        "oldest_seconds": ("that wait: age of the oldest.", lambda one: _age(one.oldest_at, now)),
        "dead": ("that were given up on.", lambda one: one.dead),
    }
    for name, (meaning, value) in values.items():
        yield _gauge(
            f"{prefix}_{name}",
            f"{things} {meaning}",
            ("connection",),
            [((connection,), value(one)) for connection, one in found],
        )


def _counter(name: str, meaning: str, labels: Sequence[str], values: Values) -> Metric:
    counter = CounterMetricFamily(name, meaning, labels=labels)
    for label, value in values:
        counter.add_metric(label, value)
    return counter


def _gauge(name: str, meaning: str, labels: Sequence[str], values: Values) -> Metric:
    gauge = GaugeMetricFamily(name, meaning, labels=labels)
    for label, value in values:
        gauge.add_metric(label, value)
    return gauge


def _age(moment: datetime | None, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0
