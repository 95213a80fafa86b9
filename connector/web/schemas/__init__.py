"""What requests may carry. Strict: unknown fields, ``"5"`` and ``true`` for a number are refused.

Null is taken only where null is a value, as in ``daily_quota``: what an answer shows may be sent
back.
"""

from connector.web.schemas.changes import Reassignment, Remark
from connector.web.schemas.leads import LeadRecord, NewLead, NewLeads
from connector.web.schemas.parameters import (
    AbsencePath,
    AssignmentPath,
    ConnectionPath,
    FairnessQuery,
    HistoryQuery,
    IdempotencyHeader,
    LeadHistoryQuery,
    Page,
    PoolPath,
    PreviewQuery,
    UserPath,
)
from connector.web.schemas.pools import MemberChange, NewMember, NewPool, PoolPatch
from connector.web.schemas.territories import NewTerritories, NewTerritory, Trial
from connector.web.schemas.users import Hours, NewAbsence, NewUser, UserPatch

__all__ = [
    "AbsencePath",
    "AssignmentPath",
    "ConnectionPath",
    "FairnessQuery",
    "HistoryQuery",
    "Hours",
    "IdempotencyHeader",
    "LeadHistoryQuery",
    "LeadRecord",
    "MemberChange",
    "NewAbsence",
    "NewLead",
    "NewLeads",
    "NewMember",
    "NewPool",
    "NewTerritories",
    "NewTerritory",
    "NewUser",
    "Page",
    "PoolPatch",
    "PoolPath",
    "PreviewQuery",
    "Reassignment",
    "Remark",
    "Trial",
    "UserPatch",
    "UserPath",
]
