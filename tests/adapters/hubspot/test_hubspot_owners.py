"""The list of owners: pages, life, and who counts as an active person."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from connector.errors import CrmAgain, CrmUnreachable


def person(owner_id, **changes):
    return {"id": owner_id, "type": "PERSON", "archived": False} | changes


def page(*owners, after=None):
    return {"results": owners} | ({"paging": {"next": {"after": after}}} if after else {})


def owned(answers, crm, owner_id="5501"):
    """Whether the owner of a record stays, as read now."""
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": owner_id}}]})
    return crm.read_records("contacts", ["1"])["1"].owner_stays


def lists(answers):
    return len(answers.paths("/owners"))


def test_all_pages_are_read(answers, crm):
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5503"}}]})
    answers.say(200, page(person("5501"), after="a b"))
    answers.say(200, page(person("5502"), after="c"))
    answers.say(200, page(person("5503")))

    assert crm.read_records("contacts", ["1"])["1"].owner_stays
    assert answers.paths("/owners") == [
        "/crm/v3/owners/?limit=100",
        "/crm/v3/owners/?after=a+b&limit=100",
        "/crm/v3/owners/?after=c&limit=100",
    ]


@pytest.mark.parametrize(
    ("owner", "stays"),
    [
        (person("5501"), True),
        (person(5501), True),
        (person("5501", type="QUEUE"), False),
        (person("5501", archived=True), False),
        (person(None), False),
        ("5501", False),
    ],
    ids=repr,
)
def test_only_an_active_person_keeps_a_record(answers, crm, owner, stays):
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(200, page(person("5509"), owner))

    assert crm.read_records("contacts", ["1"])["1"].owner_stays is stays


def test_a_list_without_anybody_switches_nobody_off(answers, crm):
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(200, page())
    answers.say(200, page())

    with pytest.raises(CrmAgain, match="without anybody"):
        crm.read_records("contacts", ["1"])


def test_the_list_is_kept_for_a_minute(answers, crm, clock):
    answers.employ("5501")
    owned(answers, crm)
    clock.now += 59
    owned(answers, crm)
    assert lists(answers) == 1

    clock.now += 1
    owned(answers, crm)
    assert lists(answers) == 2


def test_someone_who_left_is_noticed_after_a_minute(answers, crm, clock):
    answers.employ("5501")
    assert owned(answers, crm)

    answers.employ("5502")
    clock.now += 60
    assert not owned(answers, crm)


def test_an_unknown_owner_is_looked_up_at_once(answers, crm, clock):
    answers.employ("5501")
    owned(answers, crm)

    answers.employ("5501", "5502")
    clock.now += 1
    assert owned(answers, crm, "5502")
    assert lists(answers) == 2


def test_unknown_owners_ask_for_the_list_every_15_seconds_at_most(answers, crm, clock):
    answers.employ("5501")
    owned(answers, crm)
    for _ in range(5):
        clock.now += 2
        assert not owned(answers, crm, "7777")
    assert lists(answers) == 2

    clock.now += 15
    owned(answers, crm, "7777")
    assert lists(answers) == 3


def test_a_list_that_cannot_be_read_makes_nobody_unowned(answers, crm):
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(403, {"category": "MISSING_SCOPES", "message": "no scope"})

    with pytest.raises(CrmUnreachable, match="no scope"):
        crm.read_records("contacts", ["1"])


def test_an_unknown_owner_is_asked_for_again_when_the_list_failed(answers, crm, clock):
    answers.employ("5501")
    owned(answers, crm)
    answers._owners = None
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5502"}}]})
    answers.say(500, {})
    answers.say(500, {})
    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1"])

    answers.employ("5502")
    assert owned(answers, crm, "5502")


@pytest.mark.parametrize(("after", "pages"), [("a", 2), ("b", 3)])
def test_pages_that_run_in_a_circle_end(answers, crm, after, pages):
    answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})
    answers.say(200, page(person("5501"), after="a"))
    answers.say(200, page(person("5502"), after=after))
    answers.say(200, page(person("5503"), after="a"))

    with pytest.raises(CrmAgain):
        crm.read_records("contacts", ["1"])

    assert lists(answers) == pages


def test_threads_share_one_reading_of_the_list(answers, crm):
    answers.employ("5501")
    for _ in range(8):
        answers.say(200, {"results": [{"id": "1", "properties": {"hubspot_owner_id": "5501"}}]})

    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda _: crm.read_records("contacts", ["1"]), range(8)))

    assert all(rows["1"].owner_stays for rows in read)
    assert lists(answers) == 1
