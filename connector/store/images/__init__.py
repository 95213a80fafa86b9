"""Boards, users and turns as plain JSON, for the journal and the trace of a decision, and back.

Equal things give equal JSON text: mappings and sets are sorted, times are ISO 8601 in UTC. What a
board counts (takings, meetings) is no part of its images: the history tells that.
"""

from connector.store.images.boards import board_of, config, difference, patched, state
from connector.store.images.moments import Image, moment, moment_of, slot, slot_of, times, times_of
from connector.store.images.people import (
    absences,
    absences_of,
    hours,
    hours_of,
    user,
    user_of,
)
from connector.store.images.turns import (
    given_back,
    given_back_of,
    skips,
    skips_of,
    turn,
    turn_of,
)

__all__ = [
    "Image",
    "absences",
    "absences_of",
    "board_of",
    "config",
    "difference",
    "given_back",
    "given_back_of",
    "hours",
    "hours_of",
    "moment",
    "moment_of",
    "patched",
    "skips",
    "skips_of",
    "slot",
    "slot_of",
    "state",
    "times",
    "times_of",
    "turn",
    "turn_of",
    "user",
    "user_of",
]
