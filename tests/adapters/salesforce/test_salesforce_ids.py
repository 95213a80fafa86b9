from __future__ import annotations

import pytest

from adapters.salesforce import ids

VECTORS = [
    ("00Q000000000001", "EAA"),
    ("00QRR00000AbCdE", "2AV"),
    ("00Q5e00000XyZzZ", "EAV"),
    ("003ABCDEFGHIJKL", "Y55"),
    ("00300000000000a", "AAA"),
    ("001aBcDeFgHiJkL", "QKV"),
    ("006Zz9Yy8Xx7Ww6", "ISE"),
    ("500Am0000012345", "IAA"),
    ("00T0000000zzzzz", "EAA"),
    ("00U0000000ZZZZZ", "EA5"),
    ("0055g000009AbCd", "AAK"),
    ("00G8Z000001qRsT", "UAU"),
    ("00D5g000000XyZ1", "EAK"),
    ("00Q0000000AAAAA", "EA5"),
    ("a0D30000001n7Pi", "EAI"),
    ("0019000000B98de", "AAB"),
]


@pytest.mark.parametrize(("short", "ending"), VECTORS)
def test_fifteen_characters_get_the_suffix_that_salesforce_gives(short: str, ending: str) -> None:
    assert ids.full_id(short) == short + ending


@pytest.mark.parametrize(("short", "ending"), VECTORS)
def test_eighteen_characters_stay_as_they_are(short: str, ending: str) -> None:
    assert ids.full_id(short + ending) == short + ending


@pytest.mark.parametrize(
    "wrong",
    [
        "0015000000Gf1ABAAE",  # the suffix of a well-known wrong converter: AAZ is right
        "00QRR00000AbCdE000",
        "00QRR00000AbCdE2AW",
        "00QRR00000aBcDe2AV",  # the case twin's suffix
        "00q0000000999995aa",  # the suffix wants a capital where a digit stands
    ],
)
def test_a_suffix_that_does_not_fit_is_refused(wrong: str) -> None:
    assert ids.full_id(wrong) is None


@pytest.mark.parametrize("lost", ["00qrr00000abcde2av", "00QRR00000ABCDE2AV"])
def test_an_id_that_lost_its_case_is_repaired_from_its_suffix(lost: str) -> None:
    assert ids.full_id(lost) == "00QRR00000AbCdE2AV"


def test_ids_that_differ_only_by_case_stay_two_records() -> None:
    assert ids.full_id("00QRR00000AbCdE") == "00QRR00000AbCdE2AV"
    assert ids.full_id("00QRR00000aBcDe") == "00QRR00000aBcDe2AK"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "https://evil.example/x",
        "//evil.example",
        "../User/0055g000009AbCd",
        "00Q5e00000XyZz",
        "00Q5e00000XyZzZEA",
        "00Q5e00000XyZzZ\n",
        "00Q5e00000XyZz'",
        "00Q5e00000XyZz\u00e9",
        "00Q5e00000XyZz\u0661",
    ],
)
def test_what_is_no_base_62_id_is_refused(raw: str) -> None:
    assert ids.full_id(raw) is None
    assert ids.record_id("Lead", raw) is None


@pytest.mark.parametrize(("object_type", "prefix"), ids.PREFIXES.items())
def test_a_record_id_must_have_the_prefix_of_its_object_type(object_type: str, prefix: str) -> None:
    assert ids.record_id(object_type, prefix + "000000000001") is not None
    assert ids.record_id(object_type, "005000000000001") is None


def test_a_custom_object_takes_ids_that_begin_with_a() -> None:
    assert ids.record_id("Deal__c", "a0D30000001n7Pi") == "a0D30000001n7PiEAI"
    assert ids.record_id("Deal__c", "00Q000000000001") is None


def test_only_a_user_can_be_the_owner_of_a_rep() -> None:
    assert ids.user_id("0055g000009AbCd") == "0055g000009AbCdAAK"
    assert ids.user_id("00G8Z000001qRsTUAU") is None
