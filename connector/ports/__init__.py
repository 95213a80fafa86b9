"""What the core asks of a CRM adapter, and nothing more.

An adapter is a package named under the entry point group ``leadrota.adapters`` with two functions:

    receiver(settings) -> Receiver      for the web process; opens no connection
    crm(settings, shared) -> Crm        opens connections on the first call

``settings`` is the adapter's own frozen settings object, made by ``config``; ``shared`` is what all
processes share of the connection.
"""

from connector.ports.inbound import Answer, Choice, Delivery, Question, Received, Receiver, Verdict
from connector.ports.outbound import (
    GONE,
    OVERRIDDEN,
    Capabilities,
    Changes,
    Concern,
    Crm,
    CrmRecord,
    CrmUser,
    Mark,
    Ours,
    Outcome,
    OwnerWrite,
    Result,
)
from connector.ports.shared import Credentials, Grant, Limit, Shared

__all__ = [
    "GONE",
    "OVERRIDDEN",
    "Answer",
    "Capabilities",
    "Changes",
    "Choice",
    "Concern",
    "Credentials",
    "Crm",
    "CrmRecord",
    "CrmUser",
    "Delivery",
    "Grant",
    "Limit",
    "Mark",
    "Ours",
    "Outcome",
    "OwnerWrite",
    "Question",
    "Received",
    "Receiver",
    "Result",
    "Shared",
    "Verdict",
]
