"""Tables of what all processes share of the calls to a CRM: pace, limits left, OAuth tokens."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, Integer, PrimaryKeyConstraint, Table, text

from connector.store.columns import Moment, Words
from connector.store.tables.rules import in_range, metadata

call_buckets = Table(
    "call_buckets",
    metadata,
    Column("connection", Words, nullable=False),
    Column("name", Words, nullable=False),  # "calls", "search"
    Column("tokens", Float, nullable=False),  # how many calls may be made at ``filled_at``
    Column("filled_at", Moment, nullable=False),
    PrimaryKeyConstraint("connection", "name"),
)

call_limits = Table(
    "call_limits",
    metadata,
    Column("connection", Words, nullable=False),
    Column("name", Words, nullable=False),  # "ten_secondly", "daily"
    Column("most", Integer, nullable=False),
    Column("left", Integer, nullable=False),
    Column("told_at", Moment, nullable=False),
    PrimaryKeyConstraint("connection", "name"),
    in_range("most", ">= 0"),
)

crm_tokens = Table(
    "crm_tokens",
    metadata,
    Column("connection", Words, primary_key=True),
    Column("access_token", Words),  # encrypted, as is the next
    Column("refresh_token", Words),  # None until there is a first one
    # Of what the settings gave when these were stored: something else there wins once.
    Column("given_hash", Words),
    Column("expires_at", Moment),  # None with a token: the CRM does not say
    Column("lease_until", Moment),  # somebody fetches a new one until then
    Column("leased_by", Words),
    CheckConstraint("(lease_until IS NULL) = (leased_by IS NULL)", name="lease_is_whole"),
    Column("log_ins", Integer, nullable=False, server_default=text("0")),  # none got a call through
    Column("logged_in_at", Moment),  # the last of them
    Column("made_with_hash", Words),  # of what it was made with
    Column("refused_hash", Words),  # of the access token that the CRM refused last
    Column("log_in_error", Words),  # why the last log-in gave no token; JSON
    CheckConstraint("expires_at IS NULL OR access_token IS NOT NULL", name="end_has_a_token"),
    in_range("log_ins", ">= 0"),
)
