"""What an org tells of its limits is noted with each answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.salesforce import limits
from adapters.salesforce.org import SalesforceCrm
from adapters.sandbox.salesforce import SalesforceSandbox
from connector.errors import CrmError
from connector.ports import Limit

LEAD = "00Q000000000001"
DAILY = Limit(name="daily", most=100_000, left=89_982)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("api-usage=10018/100000", [DAILY]),
        (
            "api-usage=10018/100000; api-bursts=1/750",
            [DAILY, Limit(name="bursts", most=750, left=749)],
        ),
        (
            "api-usage=10018/100000;per-app-api-usage=17/250(appName=x)",
            [DAILY, Limit(name="per_app", most=250, left=233)],
        ),
        ("API-Usage = 10018 / 100000", [DAILY]),
        ("api-usage=120/100", [Limit(name="daily", most=100, left=0)]),
        ("", []),
        ("api-usage=many/100000", []),
        ("api-usage=10018", []),
        ("api-usage=-1/5", []),
        (f"api-usage={'9' * 5000}/1", []),
        ("api-usage=\u0661/\u0662", []),
        ("something-new=1/2; api-usage=10018/100000", [DAILY]),
    ],
)
def test_the_header_tells_what_is_left(header: str, told: list[Limit]) -> None:
    assert limits.told({"Sforce-Limit-Info": header}) == told


def test_each_answer_of_the_org_is_noted(org: SalesforceSandbox, crm: SalesforceCrm) -> None:
    org.daily_limit = 50
    crm.read_records("Lead", [LEAD])
    left = 50 - len(org.calls_to("/services/data"))
    assert crm._shared.limits == [Limit(name="daily", most=50, left=left)]  # type: ignore[attr-defined]


def test_so_is_a_refusal(org: SalesforceSandbox, connect: Callable[..., SalesforceCrm]) -> None:
    crm = connect(org.url)
    org.faults.add("/query", preset="daily_limit")
    with pytest.raises(CrmError):
        crm.read_records("Lead", [LEAD])
    assert crm._shared.limits == [  # type: ignore[attr-defined]
        Limit(name="daily", most=100_000, left=0)
    ]
