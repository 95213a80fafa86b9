"""What Prometheus reads."""

from datetime import timedelta

from prometheus_client.parser import text_string_to_metric_families

from connector.ports import Limit
from connector.store import calls, lanes
from tests.store import rows


def samples(api):
    """Every sample by name and the values of its labels, which come in the order of their names."""
    families = text_string_to_metric_families(api.get("/metrics").text)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def ago(world, *minutes):
    return [world.now - timedelta(minutes=number) for number in minutes]


def test_the_answer_is_text_as_prometheus_reads_it(api) -> None:
    answer = api.get("/metrics")

    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")
    assert "# TYPE leadrota_held_leads gauge\n" in answer.text


def test_a_pool_tells_its_decisions_and_what_waits(world, api) -> None:
    with world.database.write() as session:
        pool_id = rows.pool(session, "SDR", decisions=7)
        rows.history(session, pool_id, at=ago(world, 2, 1))

    found = samples(api)

    labels = ("SDR", pool_id)
    assert found["leadrota_decisions_total", *labels] == 7
    assert found["leadrota_recent_decisions", *labels, "no_member_available"] == 2
    assert found["leadrota_held_leads", *labels] == 2
    assert found["leadrota_held_oldest_seconds", *labels] == 120


def test_leads_that_wait_without_a_pool_have_empty_labels(world, api) -> None:
    with world.database.write() as session:
        rows.history(session, None, at=ago(world, 3), reason="no_territory_match")

    found = samples(api)

    assert found["leadrota_held_leads", "", ""] == 1
    assert found["leadrota_held_oldest_seconds", "", ""] == 180
    assert ("leadrota_decisions_total", "", "") not in found


def test_a_connection_tells_its_events_and_owner_writes(world, api) -> None:
    with world.database.write() as session:
        (row,) = rows.history(session, rows.pool(session, "SDR"), at=[world.now])
        rows.events(session, "hubspot", "ready", at=ago(world, 4, 1))
        rows.events(session, "hubspot", "dead", at=ago(world, 70))
        rows.writes(session, "hubspot", "ready", at=ago(world, 5), assignment_id=row)

    found = samples(api)

    assert found["leadrota_recent_events", "hubspot", "ready", ""] == 2
    assert found["leadrota_events_waiting", "hubspot"] == 2
    assert found["leadrota_events_due", "hubspot"] == 2
    assert found["leadrota_events_oldest_seconds", "hubspot"] == 240
    assert found["leadrota_events_dead", "hubspot"] == 1
    assert found["leadrota_owner_writes_waiting", "hubspot"] == 1
    assert found["leadrota_owner_writes_oldest_seconds", "hubspot"] == 300


def test_a_quiet_connection_tells_zeros_so_that_an_alert_has_something_to_look_at(
    world, api
) -> None:
    with world.database.write() as session:
        lanes.ensure(session, ["hubspot"])

    found = samples(api)

    for name in ("events_waiting", "events_dead", "owner_writes_due", "connection_pause_seconds"):
        assert found[f"leadrota_{name}", "hubspot"] == 0


def test_a_name_cannot_break_out_of_its_label(world, api) -> None:
    name = 'a"} 1\nleadrota_held_leads{pool="b\\'
    with world.database.write() as session:
        rows.pool(session, name)

    assert samples(api)["leadrota_held_leads", name, f"id-of-{name}"] == 0


def test_two_processes_give_the_same_numbers(world, api) -> None:
    with world.database.write() as session:
        rows.pool(session, "SDR", decisions=7)
    other = world.build().test_client()

    assert other.get("/metrics", headers=api.headers).data == api.get("/metrics").data


def test_a_metric_is_the_same_in_the_next_request(api) -> None:
    assert api.get("/metrics").data == api.get("/metrics").data


def test_the_limits_of_a_crm_are_told_as_it_told_them(world, api) -> None:
    limit = Limit(name="daily", most=250_000, left=1_234)
    with world.database.write() as session:
        calls.note_limits(session, "hubspot", [limit], now=world.now)

    found = samples(api)

    assert found["leadrota_crm_calls_left", "hubspot", "daily"] == 1_234
    assert found["leadrota_crm_calls_most", "hubspot", "daily"] == 250_000
