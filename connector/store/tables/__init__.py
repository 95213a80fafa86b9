"""Every table, with all the invariants that a database can hold."""

from connector.store.tables.access import api_tokens, idempotency_keys
from connector.store.tables.calls import call_buckets, call_limits, crm_tokens
from connector.store.tables.history import assignments, journal
from connector.store.tables.people import absences, user_availability, user_owners, users
from connector.store.tables.pools import pool_members, pool_state, round_robin_pools, territories
from connector.store.tables.queues import callbacks, inbox, lanes, outbox, poll_marks
from connector.store.tables.rules import metadata

__all__ = [
    "absences",
    "api_tokens",
    "assignments",
    "call_buckets",
    "call_limits",
    "callbacks",
    "crm_tokens",
    "idempotency_keys",
    "inbox",
    "journal",
    "lanes",
    "metadata",
    "outbox",
    "poll_marks",
    "pool_members",
    "pool_state",
    "round_robin_pools",
    "territories",
    "user_availability",
    "user_owners",
    "users",
]
