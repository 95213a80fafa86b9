"""The demo's lines are a table: no column runs into the next."""

import re

from connector.demo.screen import Screen
from connector.demo.watch import Watch


class Pools:
    """An API with one pool."""

    def call(self, method: str, path: str, **query: object) -> list[dict[str, str]]:
        return [{"id": "p", "name": "Europe"}]


def test_the_longest_texts_of_a_line_stay_apart(capsys) -> None:
    row = {
        "lead_id": "salesforce:Lead:00Q5g00000AbCdEFGH",
        "assigned_user_name": None,
        "pool_id": "p",
        "reason": "sticky",
    }

    Screen().show_new([row], Watch(Pools()))

    line = capsys.readouterr().out
    assert re.split("  +", line.strip()) == [
        "salesforce",
        "00Q5g00000AbCdEFGH",
        "no user here",
        "Europe",
        "owned already",
    ]
