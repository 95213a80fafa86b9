"""Each rule of the sandbox HubSpot, and that its check over HTTP notices its absence."""

from __future__ import annotations

import hubspot_rows_accounts
import hubspot_rows_links
import hubspot_rows_records
import hubspot_rows_search
import pytest
from hubspot_caller import serving
from hubspot_rows import ROWS

from adapters.sandbox.hubspot import HubSpotSandbox
from adapters.sandbox.hubspot_rules import RULES

WRITTEN_IN = (hubspot_rows_records, hubspot_rows_links, hubspot_rows_accounts, hubspot_rows_search)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_portal_keeps_its_rule(row):
    with serving() as (portal, call, clock):
        row.check(portal, call, clock)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_the_check_fails_without_its_rule(row):
    with serving(without={row.rule}) as (portal, call, clock), pytest.raises(AssertionError):
        row.check(portal, call, clock)


def test_every_rule_has_a_row():
    assert sorted(row.rule for row in ROWS) == sorted(RULES)


def test_an_unknown_rule_cannot_be_left_out():
    with pytest.raises(ValueError, match="no rule"):
        HubSpotSandbox(without={"gravity"})
