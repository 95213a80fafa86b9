"""Recording, scripted faults and steering by hand, seen on the sandbox HubSpot."""

from __future__ import annotations

import threading

import pytest
import requests
from hubspot_caller import code, links, serving, types_of

OWNER = "hubspot_owner_id"
OWNERS = "/crm/v3/owners"


@pytest.fixture
def site():
    with serving() as served:
        yield served


def test_every_call_is_recorded(site):
    portal, call, clock = site
    call.get(OWNERS, limit=5)
    call.post("/crm/v3/objects/contacts/batch/read", {"inputs": []})
    first, second = portal.calls
    assert (first.method, first.path, first.query, first.status) == ("GET", OWNERS, "limit=5", 200)
    assert first.headers["authorization"] == "Bearer sandbox-token"
    assert first.at == clock.now
    assert (second.json, second.status) == ({"inputs": []}, 400)
    assert portal.calls_to("batch/read", "POST") == [second]
    portal.forget_calls()
    assert portal.calls == []


def test_kept_alive_connections_are_counted_as_one(site):
    portal, call, _ = site
    for _ in range(5):
        call.get(OWNERS)
    assert portal.connections == 1
    requests.get(portal.url + OWNERS).close()
    assert portal.connections == 2


def test_calls_run_in_parallel(site):
    portal, *_ = site
    meeting = threading.Barrier(2, timeout=5)
    portal.before_write(lambda *_: meeting.wait())
    leads = [portal.create("contacts", {}) for _ in range(2)]
    owner = portal.add_owner("ann@example.test")
    address = f"{portal.url}/crm/v3/objects/contacts/"

    def write(lead):
        headers = {"Authorization": "Bearer sandbox-token"}
        requests.patch(address + lead, json={"properties": {OWNER: owner}}, headers=headers).close()

    threads = [threading.Thread(target=write, args=(lead,)) for lead in leads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [portal.owner_of("contacts", lead) for lead in leads] == [owner, owner]


def test_a_fault_breaks_the_calls_it_names_and_no_more(site):
    portal, call, _ = site
    fault = portal.faults.add("/owners", "GET", status=503, body="<h1>busy</h1>", times=2, after=1)
    told = [call.get(OWNERS) for _ in range(4)]
    assert [answer.status_code for answer in told] == [200, 503, 503, 200]
    assert told[1].headers["Content-Type"].startswith("text/html")
    assert told[1].text == "<h1>busy</h1>"
    assert call.get("/account-info/v3/details").status_code == 200
    assert (fault.fired, portal.calls[1].fault) == (2, fault)


def test_a_fault_without_end_lasts_until_it_is_removed(site):
    portal, call, _ = site
    portal.faults.add(preset="daily_limit", times=None)
    assert [call.get(OWNERS).status_code for _ in range(3)] == [429] * 3
    portal.faults.clear()
    assert call.get(OWNERS).status_code == 200


@pytest.mark.parametrize(
    ("preset", "policy"),
    [
        ("daily_limit", "DAILY"),
        ("ten_secondly_limit", "TEN_SECONDLY_ROLLING"),
        ("secondly_limit", "SECONDLY"),
    ],
)
def test_each_limit_has_a_preset_in_hubspots_words(site, preset, policy):
    portal, call, _ = site
    portal.faults.add(preset=preset)
    answer = call.get(OWNERS)
    assert code(answer) == (429, policy)
    assert answer.json()["errorType"] == "RATE_LIMIT"
    assert "Retry-After" not in answer.headers


@pytest.mark.parametrize(
    ("preset", "status", "wait"),
    [
        ("daily_limit_with_retry_after", 429, "50000"),
        ("secondly_limit_with_retry_after", 429, "1"),
        ("limit_with_retry_after", 429, "3"),
        ("migration", 477, "3600"),
        ("locked", 423, None),
        ("limit_by_category", 429, None),
    ],
)
def test_a_refusal_for_now_may_say_how_long(site, preset, status, wait):
    portal, call, _ = site
    portal.faults.add(preset=preset)
    answer = call.get(OWNERS)
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, wait)
    assert answer.json()["status"] == "error"


@pytest.mark.parametrize("status", [414, 502, 503, 504, 521, 522, 523, 524, 525, 526, 530])
def test_gateways_answer_in_html(site, status):
    portal, call, _ = site
    portal.faults.add(preset="uri_too_long" if status == 414 else f"http_{status}")
    answer = call.get(OWNERS)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")


def test_a_preset_can_be_changed(site):
    portal, call, _ = site
    portal.faults.add(preset="secondly_limit", headers={"Retry-After": "7"})
    assert call.get(OWNERS).headers["Retry-After"] == "7"


def test_a_connection_dropped_before_the_write_writes_nothing(site):
    portal, call, _ = site
    lead, owner = portal.create("contacts", {}), portal.add_owner("ann@example.test")
    portal.faults.add("/contacts/", "PATCH", preset="dropped")
    with pytest.raises(requests.ConnectionError):
        call.patch(lead, {OWNER: owner})
    assert portal.owner_of("contacts", lead) is None
    assert portal.calls[-1].status is None


def test_a_lost_reply_took_effect(site):
    portal, call, _ = site
    lead, owner = portal.create("contacts", {}), portal.add_owner("ann@example.test")
    portal.faults.add("/contacts/", "PATCH", preset="lost_reply")
    with pytest.raises(requests.ConnectionError):
        call.patch(lead, {OWNER: owner})
    assert portal.owner_of("contacts", lead) == owner


def test_a_gateway_may_time_out_although_the_write_took_effect(site):
    portal, call, _ = site
    lead, owner = portal.create("contacts", {}), portal.add_owner("ann@example.test")
    portal.faults.add("batch/update", preset="http_504", effect=True)
    assert call.update({lead: owner}).status_code == 504
    assert portal.owner_of("contacts", lead) == owner


def test_a_slow_answer_outlasts_the_callers_patience(site):
    portal, call, _ = site
    portal.faults.add("/owners", delay=60)
    with pytest.raises(requests.ReadTimeout):
        call.session.get(portal.url + OWNERS, timeout=0.2)


def test_a_truncated_answer_is_no_json(site):
    portal, call, _ = site
    portal.faults.add("/owners", truncate=True)
    answer = call.get(OWNERS)
    assert answer.status_code == 200
    with pytest.raises(requests.JSONDecodeError):
        answer.json()


def test_good_status_may_carry_nonsense(site):
    portal, call, _ = site
    portal.faults.add(preset="empty_object")
    portal.faults.add(preset="html_200")
    assert call.get(OWNERS).json() == {}
    assert call.get(OWNERS).text.startswith("<!DOCTYPE html>")


def test_every_object_may_carry_fields_nobody_knows(site):
    portal, call, _ = site
    portal.add_owner("ann@example.test")
    portal.extra_fields = True
    body = call.get(OWNERS).json()
    assert body["sandboxExtra"] == body["results"][0]["sandboxExtra"] == "unexpected"


@pytest.mark.parametrize(
    "settings",
    [{"preset": "nonsense"}, {"nonsense": 1}, {"drop": "now"}, {}, {"path": "(", "status": 500}],
)
def test_a_fault_that_cannot_be_is_refused(site, settings):
    portal, *_ = site
    with pytest.raises(ValueError, match=r"preset|fault|drop"):
        portal.faults.add(**settings)


def test_a_stopped_sandbox_is_gone_and_comes_back_at_its_port(site):
    portal, call, _ = site
    assert call.get(OWNERS).status_code == 200
    portal.stop()
    with pytest.raises(requests.ConnectionError):
        call.get(OWNERS)
    portal.start()
    assert call.get(OWNERS).status_code == 200


def test_people_steer_faults_and_calls_over_http(site):
    portal, call, _ = site
    made = call.post("/_sandbox/faults", {"path": "/owners", "preset": "http_502", "times": 1})
    assert made.status_code == 201
    assert call.get(OWNERS).status_code == 502
    told = call.get("/_sandbox/faults").json()
    assert told["faults"][0]["fired"] == 1
    assert "lost_reply" in told["presets"]
    assert call.post("/_sandbox/faults", {"preset": "nonsense"}).status_code == 400
    (seen,) = call.get("/_sandbox/calls").json()
    assert (seen["path"], seen["status"]) == (OWNERS, 502)
    call.session.delete(portal.url + "/_sandbox/faults")
    call.session.delete(portal.url + "/_sandbox/calls")
    assert (portal.faults.all(), portal.calls) == ([], [])


def test_people_throw_switches_over_http(site):
    portal, call, _ = site
    address = f"{portal.url}/_sandbox/switches"
    told = call.session.patch(address, json={"ten_secondly_limit": 5, "extra_fields": True}).json()
    assert (portal.ten_secondly_limit, told["ten_secondly_limit"]) == (5, 5)
    assert "token" in told["rules"]
    assert call.session.patch(address, json={"nonsense": 1}).status_code == 400


def test_people_keep_records_and_owners_over_http(site):
    portal, call, _ = site
    owner = call.post("/_sandbox/owners", {"email": "ann@example.test"}).json()["id"]
    made = [
        call.post("/_sandbox/records", {"properties": {"email": f"{name}@example.test"}}).json()
        for name in ("ada", "bea")
    ]
    first, second = (one["id"] for one in made)
    address = f"{portal.url}/_sandbox/records/contacts/{first}"
    assert call.session.patch(address, json={OWNER: owner}).json()[OWNER] == owner
    merged = call.post("/_sandbox/merges", {"primary": first, "others": [second]})
    assert merged.json()["id"] == first
    assert [one["id"] for one in call.get("/_sandbox/records").json()] == [first]
    assert call.session.delete(address).status_code == 204
    assert call.session.delete(address).status_code == 400
    archive = f"{portal.url}/_sandbox/owners/{owner}"
    assert call.session.patch(archive, json={"archived": True}).status_code == 204
    assert call.get("/_sandbox/owners").json()[0]["archived"] is True
    assert call.post("/_sandbox/records", {"object_type": "unicorns"}).status_code == 400


def test_people_link_records_and_say_when_they_work_over_http(site):
    portal, call, _ = site
    lead, firm = portal.create("contacts", {}), portal.create("companies", {})
    ends = {"from_type": "0-1", "from_id": lead, "to_type": "companies", "to_id": firm}
    assert call.post("/_sandbox/links", {**ends, "primary": True}).status_code == 204
    told = links(call.links("contacts", "companies", [lead]))[lead][firm]
    assert types_of(told) == [1, 279]
    address = f"{portal.url}/_sandbox/links"
    assert call.session.delete(address, json=ends).status_code == 204
    assert call.links("contacts", "companies", [lead]).json()["results"] == []
    assert call.post("/_sandbox/links", {**ends, "to_type": "unicorns"}).status_code == 400
    owner = portal.add_owner("ann@example.test")
    away = {
        "status": "away",
        "time_zone": "Europe/Paris",
        "working_hours": [["EVERY_DAY", 0, 1440]],
        "out_of_office": [["2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"]],
    }
    address = f"{portal.url}/_sandbox/owners/{owner}"
    assert call.session.patch(address, json=away).status_code == 204
    user = portal.get("users", portal.user_record_id_of(owner))
    assert (user["hs_availability_status"], user["hs_standard_time_zone"]) == (
        "away",
        "Europe/Paris",
    )
    assert user["hs_out_of_office_hours"] == (
        '[{"startTimestamp":1796083200000,"endTimestamp":1796169600000}]'
    )
    assert user["hs_working_hours"] == '[{"days":"EVERY_DAY","startMinute":0,"endMinute":1440}]'
    assert call.session.patch(address, json={"mood": "good"}).status_code == 400
