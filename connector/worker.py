"""The loop that keeps leads moving: claim a connection's work, do it, record it, again.

Any number of threads and processes may run it. Each claim is a lease on one connection; work whose
process died is claimed again when the lease runs out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from connector import (
    callbacks,
    delivery,
    directory,
    dispatch,
    held,
    intake,
    polling,
    routing,
    setbacks,
)
from connector.errors import CrmAgain, CrmError, CrmPaced, StoreUnavailable
from connector.ports import Result
from connector.store import lanes, outbox, pools
from connector.store.lanes import Claim
from connector.workshop import Drained, Workshop

if TYPE_CHECKING:
    from config import Settings

LEASE_SECONDS = 50.0  # a claim works at most 20 s + one call of 20 s
IDLE_SECONDS = 0.5
ROUTE_EVERY = timedelta(minutes=1)

log = structlog.get_logger()


def drain(settings: Settings, *, clock: Callable[[], datetime] | None = None) -> Drained:
    """Work inbox, outbox and held leads until nothing is due at ``clock()``."""
    from connector import wiring  # the public entry sits below the module that builds everything

    with wiring.workshop(settings, clock=clock) as shop:
        return work_off(shop)


def work_off(shop: Workshop) -> Drained:
    """Work until nothing is due at the shop's clock."""
    total = Drained()
    while (done := work_once(shop)) is not None:
        total += done
    return total


def run(shop: Workshop, *, stop: threading.Event, wake: threading.Event) -> None:
    """Work until ``stop`` is set; what was begun is finished. ``wake`` cuts the idle wait short."""
    while not stop.is_set():
        try:
            if work_once(shop) is not None:
                continue
        except StoreUnavailable as error:
            log.warning("store_unavailable", error=error.message)
        except Exception:
            # The lease runs out and the work is claimed again; the loop itself must not end.
            log.exception("work_failed")
        wake.wait(IDLE_SECONDS * (0.5 + shop.chance()))
        wake.clear()


def work_once(shop: Workshop) -> Drained | None:
    """Do one claimed batch, else look after held leads; None when nothing was to be done."""
    limits = {
        name: (crm.capabilities.read_batch, crm.capabilities.write_batch)
        for name, crm in shop.crms.items()
    }
    with shop.database.write() as session:
        claim = lanes.claim(
            session,
            holder=shop.holder,
            now=shop.clock(),
            lease_seconds=LEASE_SECONDS,
            limits=limits,
            directories=[name for name, crm in shop.crms.items() if crm.capabilities.people],
            polls=polling.types_of(shop.polls),
        )
    if claim is None:
        return _release_held(shop)
    try:
        done = _work(shop, claim)
    except Exception as error:
        return _put_off(shop, claim, error)
    if done is None:
        log.warning("claim_lost", connection=claim.connection)
        return Drained()
    return done


def _work(shop: Workshop, claim: Claim) -> Drained | None:
    """Do what was claimed, whichever it is; None when the claim was lost meanwhile."""
    if claim.directory:
        return _refresh(shop, claim)
    if claim.poll:
        return _ask_for_changes(shop, claim)
    if claim.callbacks:
        return _tell(shop, claim)
    return _deliver(shop, claim) if claim.outbox else _take_in(shop, claim)


def _refresh(shop: Workshop, claim: Claim) -> Drained | None:
    crm = shop.crms[claim.connection]
    read = directory.refresh(shop.database, claim, crm, now=shop.clock())
    if read is None:
        return None
    if read.asked and not read.found:
        log.warning("no_user_found", connection=claim.connection, asked=read.asked)
    if crm.availability_problem:
        log.warning(
            "availability_not_told", connection=claim.connection, why=crm.availability_problem
        )
    log.info("directory_read", connection=claim.connection, found=read.found, changed=read.changed)
    return Drained(directories=1)


def _ask_for_changes(shop: Workshop, claim: Claim) -> Drained | None:
    polled = polling.poll(
        shop.database,
        claim,
        shop.crms[claim.connection],
        every=shop.polls[claim.connection].every,
        clock=shop.clock,
        is_stopping=shop.is_stopping,
    )
    if polled is None:
        return None
    log.info(
        "changes_polled",
        connection=claim.connection,
        object_type=claim.poll,
        events=polled.events,
        new=polled.new,
        is_all=polled.is_all,
    )
    return Drained(polled=polled.new)


def _take_in(shop: Workshop, claim: Claim) -> Drained | None:
    crm = shop.crms[claim.connection]
    plan = intake.take_in(
        shop.database, claim, crm, default_pool=shop.default_pool, now=shop.clock()
    )
    if plan is None:
        return None
    for record_id, refusal in plan.unreadable.items():
        log.warning(
            "record_not_read",
            connection=claim.connection,
            object_type=claim.inbox[0].event.object_type,
            record_id=record_id,
            code=refusal.code,
            crm_message=refusal.crm_message or refusal.message,
        )
    log.info("events_taken_in", connection=claim.connection, events=len(claim.inbox))
    return Drained(events=len(claim.inbox))


def _deliver(shop: Workshop, claim: Claim) -> Drained | None:
    crm = shop.crms[claim.connection]
    settled = delivery.deliver(
        shop.database,
        claim,
        crm,
        clock=shop.clock,
        chance=shop.chance(),
        is_stopping=shop.is_stopping,
    )
    if settled is None:
        return None
    counts = Drained(
        written=len(settled.done),
        kept=len(settled.kept),
        refused=len(settled.refused),
        dead=len(settled.never),
        postponed=len(settled.again) + len(settled.closed) + len(settled.untried),
    )
    log.info(
        "owners_written",
        connection=claim.connection,
        done=counts.written,
        kept=counts.kept,
        refused=counts.refused,
        dead=counts.dead,
        postponed=counts.postponed,
    )
    for item, outcome in settled.never:
        log.warning(
            "owner_not_written",
            connection=claim.connection,
            object_type=item.object_type,
            record_id=item.record_id,
            code=outcome.code,
            crm_message=outcome.message,
        )
    if settled.pause:
        log.warning("connection_paused", connection=claim.connection, why=settled.pause.message)
    return counts


def _tell(shop: Workshop, claim: Claim) -> Drained | None:
    crm = shop.crms[claim.connection]
    told = callbacks.tell(
        shop.database,
        claim,
        crm,
        clock=shop.clock,
        chance=shop.chance(),
        is_stopping=shop.is_stopping,
    )
    if told is None:
        return None
    log.info("workflows_told", connection=claim.connection, done=len(told.done))
    for _, refusal in told.failed:
        log.warning("workflow_not_told", connection=claim.connection, why=refusal.message)
    return Drained(told=len(told.done), postponed=len(told.failed) + len(told.untried))


def _put_off(shop: Workshop, claim: Claim, error: Exception) -> Drained:
    """Record that the claimed work failed as a whole; it is tried again later."""
    if isinstance(error, StoreUnavailable):
        # Nothing is wrong with the work, so if the database answers again it need not wait for
        # the lease to run out.
        error = CrmPaced(error.message, pause_seconds=1, code=error.code)
    elif not isinstance(error, CrmError):
        log.exception("work_failed", connection=claim.connection)
        error = CrmAgain(f"Lead Rota itself failed: {type(error).__name__}.", code="internal_error")
    log.warning(
        "work_put_off",
        connection=claim.connection,
        code=error.code,
        why=error.message,
        crm_message=error.crm_message,
    )
    with shop.database.write() as session:
        now, chance = shop.clock(), shop.chance()
        if setbacks.hand_back(session, claim, error, now=now):
            if claim.directory:
                setbacks.postpone_directory(session, claim, error, now=now)
            if claim.poll:
                setbacks.postpone_poll(session, claim, error, now=now)
            setbacks.postpone_events(session, claim.inbox, error, now=now, chance=chance)
            callbacks.postpone(session, claim.callbacks, error, now=now, chance=chance)
            if isinstance(error, CrmPaced):
                outbox.give_back(session, claim.outbox)
            else:
                failed = [delivery.failed(item, Result.AGAIN, error) for item in claim.outbox]
                setbacks.postpone_writes(session, failed, now=now, chance=chance)
    return Drained(postponed=len(claim.inbox) + len(claim.outbox) + len(claim.callbacks))


def _release_held(shop: Workshop) -> Drained | None:
    """Assign held leads for which there is a pool or a user now."""
    released = _route_held(shop)
    with shop.database.read() as session:
        pool_ids = pools.due_openings(session, shop.clock())
    for pool_id in pool_ids:
        with shop.database.write() as session:
            released += held.release_due(session, pool_id, now=shop.clock())
    return Drained(released=released) if released else None


def _route_held(shop: Workshop) -> int:
    """Look again at leads that had no pool, when the routing changed and once in a while."""
    now = shop.clock()
    with shop.database.read() as session:
        rules = routing.read(session, shop.default_pool)
    if shop.routed and shop.routed[1] == rules and now - shop.routed[0] < ROUTE_EVERY:
        return 0
    shop.routed = (now, rules)
    routed = 0
    while True:
        with shop.database.write() as session:
            brought = dispatch.route_held(session, default_pool=shop.default_pool, now=now)
        if not brought:
            return routed
        routed += brought
