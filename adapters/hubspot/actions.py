"""HubSpot's custom workflow actions: what an action asks, and what it is answered.

https://developers.hubspot.com/docs/api-reference/automation-actions-v4-v4/guide
"""

from __future__ import annotations

from connector.ports import Verdict


def output_fields(verdict: Verdict | None) -> dict[str, str]:
    """The ``outputFields`` for a verdict; None lets the workflow wait, a week at most.

    A verdict without an owner ends the action as failed, and the workflow goes on.
    """
    if verdict is None:
        # HubSpot's own default is a week too; said here so that a change there changes nothing.
        return {"hs_execution_state": "BLOCK", "hs_expiration_duration": "P7D"}
    return {
        "assignedOwnerId": verdict.owner_id,
        "assignedOwnerEmail": verdict.owner_email,
        "assignedUserName": verdict.user_name,
        "pool": verdict.pool,
        "reason": verdict.reason,
        "hs_execution_state": "SUCCESS" if verdict.owner_id else "FAIL_CONTINUE",
    }
