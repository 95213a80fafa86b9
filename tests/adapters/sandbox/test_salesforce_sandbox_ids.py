"""The checksum of Salesforce ids, against ids seen in public material and vectors by hand."""

from __future__ import annotations

import pytest

from adapters.sandbox import salesforce_ids as ids


@pytest.mark.parametrize(
    "wide",
    [
        "a0D30000001n7PiEAI",
        "0019000000B98deAAB",
        "003ak00000jvIfpAAE",
        "00Q000000000001EAA",
        "00QRR00000AbCdE2AV",
        "003ABCDEFGHIJKLY55",
        "001aBcDeFgHiJkLQKV",
        "006Zz9Yy8Xx7Ww6ISE",
        "00G8Z000001qRsTUAU",
        "00D5g000000XyZ1EAK",
        "00U0000000ZZZZZEA5",
    ],
)
def test_a_known_id_is_widened_to_its_known_form(wide):
    assert ids.widen(wide[:15]) == wide
    assert ids.widen(wide) == wide


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "00QRR00000AbCdE2AA",
        "00qrr00000abcde2av",
        "00QRR00000AbCdE2A",
        "00QRR00000AbC-E",
        "https://evil.ex",
        None,
        15,
    ],
)
def test_what_cannot_be_an_id_is_malformed(raw):
    with pytest.raises(ids.MalformedId):
        ids.widen(raw)


def test_made_ids_differ_and_are_well_formed():
    made = [ids.make_id("00Q", number) for number in (1, 2, 61, 62, 3844, 10**8)]
    assert len(set(made)) == len(made)
    assert [ids.widen(each) for each in made] == made
