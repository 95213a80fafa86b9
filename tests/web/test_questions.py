"""A workflow asks who gets a lead: answered at once, or told later; never asked in vain."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest
from sqlalchemy import select

from connector import questions
from connector.errors import CrmAgain, CrmNever, CrmPaced, CrmUnreachable
from connector.model import EventKind, LeadEvent
from connector.ports import CrmUser, Question
from connector.store import lanes
from connector.store.tables import callbacks, inbox
from connector.web.waiting import PLACES, SEATS, WaitingRoom
from connector.worker import work_off, work_once
from connector.workshop import Workshop
from tests.web.knock import told


class Workflow:
    """Asks by way of the made-up CRM ``knock``, and is told by its callbacks."""

    def __init__(self, api, client, world) -> None:
        self.api, self.client, self.world = api, client, world
        self.crm = world.crm
        self.shop = Workshop(
            database=world.database,
            crms={"knock": self.crm},
            clock=lambda: world.now,
            holder="test",
            chance=lambda: 1.0,
        )
        with world.database.write() as session:
            lanes.ensure(session, ["knock"])
        for name in "AB":
            body = {"name": name, "email": f"{name}@example.com", "owners": {"knock": f"H{name}"}}
            api.put(f"/round-robin/users/{name}", body)
        self.pool = api.pool("A", "B", name="Sales")
        self.crm.create("1", "2", "3")

    def ask(
        self,
        callback_id: str = "call-1",
        record: str = "1",
        pool: str = "Sales",
        account: str = "",
    ):
        asked = f"{record}@{pool}@{account}"
        answer = self.client.post("/webhooks/knock", data=f"sesame:?{callback_id}={asked}".encode())
        assert answer.status_code == 200
        return answer.json

    def away(self, *names: str, away: bool = True) -> None:
        for name in names:
            body = {"status": "away" if away else "available"}
            self.api.patch(f"/round-robin/users/{name}", body)

    def work(self):
        return work_off(self.shop)

    def given(self) -> list[str | None]:
        rows = self.api.get(f"/round-robin/pools/{self.pool}/history").json
        return [row["assigned_user_id"] for row in rows][::-1]

    def states(self, table) -> list[str]:
        with self.world.database.read() as session:
            return list(session.scalars(select(table.c.status).order_by(table.c.id)))


@pytest.fixture
def workflow(api, client, world) -> Workflow:
    return Workflow(api, client, world)


def test_the_answer_names_the_owner_and_why(workflow) -> None:
    assert workflow.ask() == {
        "owner_id": "HA",
        "owner_email": "A@example.com",
        "user_name": "A",
        "pool": "Sales",
        "reason": "rotation",
    }
    workflow.work()
    assert workflow.crm.owners()["1"] == "HA"
    assert workflow.crm.told == []


def test_asked_again_it_answers_the_same_and_uses_no_turn(workflow) -> None:
    first = workflow.ask()
    assert workflow.ask() == first
    assert workflow.given() == ["A"]
    assert len(workflow.crm.reads) == 1


def test_another_question_about_the_same_record_gets_the_same_user(workflow) -> None:
    assert workflow.ask("call-1")["owner_id"] == "HA"
    assert workflow.ask("call-2")["owner_id"] == "HA"
    assert workflow.given() == ["A"]


def test_an_owner_of_the_record_is_named_whether_or_not_a_user_here(workflow) -> None:
    workflow.crm.rows["1"].owner_id = "X9"
    workflow.crm.users = {"X9": CrmUser(owner_id="X9", name="Xenia", email="x@example.com")}
    told = workflow.ask()
    assert (told["owner_id"], told["user_name"], told["owner_email"], told["reason"]) == (
        "X9",
        "Xenia",
        "x@example.com",
        "sticky",
    )


def test_a_lead_that_nobody_can_take_lets_the_workflow_wait_and_tells_it_later(workflow) -> None:
    workflow.away("A", "B")
    assert workflow.ask() is None
    workflow.work()
    assert workflow.crm.told == []
    workflow.away("B", away=False)
    assert workflow.work().told == 1
    ((callback_id, verdict),) = workflow.crm.told
    assert (callback_id, verdict.owner_id, verdict.user_name) == ("call-1", "HB", "B")
    assert workflow.work().told == 0
    assert workflow.ask()["owner_id"] == "HB"  # asked again after all, it is answered


@pytest.mark.parametrize(
    "failure",
    [CrmAgain("502"), CrmUnreachable("refused"), CrmPaced("429", pause_seconds=10)],
    ids=lambda error: type(error).__name__,
)
def test_a_crm_that_cannot_be_asked_lets_it_wait_and_the_worker_goes_on(workflow, failure) -> None:
    workflow.crm.read_errors = [failure]
    assert workflow.ask() is None
    assert workflow.given() == []
    workflow.world.later(seconds=11)
    workflow.work()
    assert workflow.given() == ["A"]
    assert [callback_id for callback_id, _ in workflow.crm.told] == ["call-1"]


def test_a_pause_that_the_crm_asks_for_holds_for_the_worker_too(workflow) -> None:
    workflow.crm.read_errors = [CrmPaced("429", pause_seconds=60)]
    workflow.ask()
    workflow.world.later(seconds=59)
    workflow.work()
    assert workflow.given() == []
    workflow.world.later(seconds=2)
    workflow.work()
    assert workflow.given() == ["A"]


def test_a_fault_of_our_own_lets_it_wait_and_the_worker_goes_on(workflow) -> None:
    workflow.crm.read_errors = [RuntimeError("a bug")]
    assert workflow.ask() is None
    workflow.work()
    assert workflow.given() == ["A"]
    assert len(workflow.crm.told) == 1


def test_a_question_whose_process_died_is_worked_by_another(workflow, world) -> None:
    event = LeadEvent(
        key="asked", kind=EventKind.CREATED, object_type="contacts", record_id="1", pool="Sales"
    )
    question = Question(event=event, callback_id="call-1", answer=told)
    with world.database.write() as session:
        questions.note(session, "knock", question, world.now)
    workflow.work()
    assert workflow.given() == []  # left alone for as long as it may be worked on
    world.later(seconds=15)
    workflow.work()
    assert workflow.given() == ["A"]
    assert len(workflow.crm.told) == 1


def test_a_workflow_for_which_there_is_no_place_waits_no_longer_than_it_must(workflow) -> None:
    go_on, waiting = threading.Event(), threading.Semaphore(0)

    def hang() -> None:
        waiting.release()
        go_on.wait(10)

    workflow.crm.before_read = hang
    askers = [threading.Thread(target=workflow.ask, args=(f"call-{n}",)) for n in range(PLACES)]
    for asker in askers:
        asker.start()
    for _ in range(SEATS):
        assert waiting.acquire(timeout=10)
    while workflow.ask("call-99", record="2"):
        pass  # the last of them has not sat down yet
    go_on.set()
    for asker in askers:
        asker.join()
    workflow.work()
    assert "call-99" in [callback_id for callback_id, _ in workflow.crm.told]


def test_a_record_that_does_not_exist_gets_no_owner(workflow) -> None:
    told = workflow.ask(record="404")
    assert (told["owner_id"], told["reason"]) == ("", "record_gone")


def test_a_question_from_a_foreign_account_is_not_left_waiting(workflow) -> None:
    workflow.crm.account = "4242"
    told = workflow.ask(account="6666")
    assert (told["owner_id"], told["reason"]) == ("", "other_portal")


def test_a_record_that_is_not_routed_gets_no_owner(workflow) -> None:
    told = workflow.ask(record="x1")
    assert (told["owner_id"], told["reason"]) == ("", "object_not_routed")
    assert workflow.states(inbox) == ["ignored"]


def test_a_pool_that_does_not_exist_lets_it_wait(workflow, api) -> None:
    assert workflow.ask(pool="EMEA") is None
    api.pool("B", name="EMEA")
    workflow.work()
    ((_, verdict),) = workflow.crm.told
    assert (verdict.owner_id, verdict.pool) == ("HB", "EMEA")


def test_a_crowd_of_leads_does_not_keep_a_workflow_waiting(workflow, client) -> None:
    workflow.away("A", "B")
    workflow.ask()
    workflow.away("A", away=False)
    workflow.shop.default_pool = "Sales"
    for number in range(100, 1100):
        workflow.crm.create(str(number))
    ids = ",".join(map(str, range(100, 1100)))
    assert client.post("/webhooks/knock", data=f"sesame:{ids}".encode()).status_code == 204
    for _ in range(5):
        work_once(workflow.shop)
    assert len(workflow.crm.told) == 1


def test_a_callback_that_fails_is_tried_again(workflow) -> None:
    workflow.away("A", "B")
    workflow.ask()
    workflow.away("A", away=False)
    workflow.crm.tell_errors = [CrmAgain("500"), CrmPaced("429", pause_seconds=10)]
    for _ in range(3):
        workflow.work()
        workflow.world.later(minutes=1)
    assert len(workflow.crm.told) == 1


def test_a_workflow_that_does_not_wait_yet_is_told_again_and_one_that_is_over_is_not(
    workflow,
) -> None:
    workflow.away("A", "B")
    workflow.ask()
    workflow.away("A", away=False)
    workflow.crm.tell_errors = [CrmNever("404")] * 50
    for _ in range(50):
        workflow.work()
        workflow.world.later(minutes=1)
    assert workflow.states(callbacks) == ["dead"]
    assert 1 < 50 - len(workflow.crm.tell_errors) < 50


def test_a_workflow_that_went_on_by_itself_is_not_told(workflow) -> None:
    workflow.away("A", "B")
    workflow.ask()
    workflow.world.later(days=7)
    workflow.away("A", away=False)
    workflow.work()
    assert workflow.crm.told == []
    assert workflow.states(callbacks) == ["expired"]
    assert workflow.given()[-1] == "A"


def test_the_pools_are_listed_by_name_for_a_drop_down(api, client) -> None:
    api.pool("u1", name="Zulu")
    api.pool("u1", "u2", name="alpha")
    answer = client.post("/webhooks/knock/options", data=b"sesame:")
    names = [line.split(" ", 1)[1] for line in answer.text.splitlines()]
    assert names == ["alpha: strict, members: 2", "Zulu: strict, members: 1"]


def test_the_pools_are_for_the_crm_alone(client) -> None:
    assert client.post("/webhooks/knock/options", data=b"wrong:").status_code == 401
    assert client.post("/webhooks/nobody/options", data=b"sesame:").status_code == 404
    assert client.post("/webhooks/soap/options", data=b"sesame:").status_code == 404
    assert client.get("/webhooks/knock/options").status_code == 405


def test_whoever_waits_too_long_goes_and_the_work_goes_on() -> None:
    room, go_on, done = WaitingRoom(patience_seconds=0.05), threading.Event(), threading.Event()

    def work() -> str:
        go_on.wait(10)
        done.set()
        return "late"

    assert room.ask(work) is None
    go_on.set()
    assert done.wait(10)


def test_a_full_room_lets_nobody_wait() -> None:
    room = WaitingRoom(places=1, seats=1, patience_seconds=10)
    inside, go_on = threading.Event(), threading.Event()

    def work() -> str:
        inside.set()
        go_on.wait(10)
        return "done"

    first = threading.Thread(target=room.ask, args=(work,))
    first.start()
    assert inside.wait(10)
    assert room.ask(lambda: "never asked") is None
    go_on.set()
    first.join()
    assert room.ask(lambda: "asked") == "asked"


def test_more_requests_than_seats_are_served_one_after_the_other() -> None:
    room = WaitingRoom(places=20, seats=2, patience_seconds=10)
    answers: SimpleQueue[int | None] = SimpleQueue()
    askers = [
        threading.Thread(target=lambda number=number: answers.put(room.ask(lambda: number)))
        for number in range(20)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(answers.get() for _ in askers) == list(range(20))


def test_whoever_finds_no_seat_in_time_goes() -> None:
    room, go_on = WaitingRoom(seats=1, patience_seconds=0.05), threading.Event()
    assert room.ask(lambda: go_on.wait(10) and None) is None
    assert room.ask(lambda: "never asked") is None
    go_on.set()


def test_a_seat_is_free_again_for_the_next() -> None:
    room = WaitingRoom(seats=1, patience_seconds=10)
    assert [room.ask(lambda number=number: f"answer {number}") for number in range(20)] == [
        f"answer {number}" for number in range(20)
    ]
