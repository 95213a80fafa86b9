"""Two leads are of one person or company whatever the case and the blanks around."""

from __future__ import annotations

import pytest

from connector.model.keys import FREE_MAIL, company_key, domain_key, email_key


def test_case_and_outer_blanks_do_not_tell_people_apart() -> None:
    assert email_key(" Kim@Example.COM\n") == email_key("kim@example.com") == "kim@example.com"


def test_case_and_outer_blanks_do_not_tell_companies_apart() -> None:
    assert company_key("\tGROSSE Straße GmbH ") == company_key("grosse STRASSE gmbh")
    assert company_key("Acme Ltd") != company_key("AcmeLtd")


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
def test_nothing_is_nobody(nothing: str | None) -> None:
    assert email_key(nothing) is None
    assert company_key(nothing) is None
    assert domain_key(nothing) is None


def test_a_key_is_never_too_long_for_an_index() -> None:
    assert email_key("x" * 400 + "@example.com") is None
    assert domain_key("x" * 400 + "@example.com") is None
    assert company_key("ß" * 10_000) == "s" * 200


def test_the_domain_of_an_email_tells_the_company() -> None:
    assert domain_key("Kim@Sales.Example.com ") == "sales.example.com"
    assert domain_key('"a@b"@acme.com') == "acme.com"


@pytest.mark.parametrize("broken", ["kim", "@example.com", "kim@", "kim@localhost"])
def test_an_address_without_a_domain_tells_no_company(broken: str) -> None:
    assert domain_key(broken) is None


ANYBODYS = (
    "gmail.com GMX.de gmx.net yahoo.co.uk yahoo.com.br hotmail.fr outlook.com web.de qq.com"
    " comcast.net t-online.de live.nl yandex.ru bigpond.com"
)


@pytest.mark.parametrize("domain", ANYBODYS.split())
def test_a_mailbox_that_anybody_may_have_tells_no_company(domain: str) -> None:
    assert domain_key(f"kim@{domain}") is None


@pytest.mark.parametrize(
    "domain", ["live.example.com", "outlook.agency", "mygmail.com", "gmx.ag.ch"]
)
def test_a_company_may_be_called_much_like_a_provider(domain: str) -> None:
    assert domain_key(f"kim@{domain}") == domain


def test_no_listed_domain_tells_a_company() -> None:
    assert {domain_key(f"kim@{domain}") for domain in FREE_MAIL} == {None}
    assert len(FREE_MAIL) > 60
