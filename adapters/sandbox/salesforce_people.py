"""The users and queues of the sandbox org, and who of them is there."""

from __future__ import annotations

from datetime import datetime

from adapters.sandbox.salesforce_records import Records


class People:
    """What an admin does with the people of an org, past every API rule."""

    records: Records

    def add_user(
        self,
        name: str,
        email: str,
        *,
        active: bool = True,
        user_id: str | None = None,
        time_zone: str = "UTC",
        user_type: str = "Standard",
    ) -> str:
        """Add a user and return the id."""
        values = {
            "Name": name,
            "Email": email,
            "Username": email,
            "IsActive": active,
            "UserType": user_type,
            "TimeZoneSidKey": time_zone,
        }
        return self.records.add("User", values, user_id)

    def add_queue(self, name: str, *, queue_id: str | None = None) -> str:
        """Add a queue, which may own leads, cases and tasks, and return the id."""
        return self.add_group(name, "Queue", group_id=queue_id)

    def add_group(self, name: str, kind: str = "Regular", *, group_id: str | None = None) -> str:
        """Add a group and return the id; one that is no queue owns nothing."""
        values = {"Name": name, "DeveloperName": name.replace(" ", "_"), "Type": kind}
        return self.records.add("Group", values, group_id)

    def deactivate(self, user_id: str) -> None:
        """Make a user inactive; what they own stays theirs."""
        self.records.change(user_id, {"IsActive": False})

    def activate(self, user_id: str) -> None:
        """Make a user active again."""
        self.records.change(user_id, {"IsActive": True})

    def freeze(self, user_id: str) -> None:
        """Let a user log in no more; they stay active and may own records."""
        self.records.add("UserLogin", {"UserId": self.records.wide(user_id), "IsFrozen": True})

    def set_out_of_office(
        self, user_id: str, start: datetime, end: datetime, *, is_enabled: bool = True
    ) -> str:
        """Let a user be out of office between two moments; the id of the row."""
        values = {
            "UserId": self.records.wide(user_id),
            "StartDate": start,
            "EndDate": end,
            "IsEnabled": is_enabled,
            "Message": "Out of office",
        }
        return self.records.add("OutOfOffice", values)

    def set_presence(self, user_id: str, *, is_away: bool = False) -> str:
        """Let a user be on-line in Omni-Channel or away from it; the id of the row.

        The org needs the feature ``omni_channel`` for API clients to see it.
        """
        self.end_presence(user_id)
        values = {
            "UserId": self.records.wide(user_id),
            "IsAway": is_away,
            "IsCurrentState": True,
            "StatusStartDate": self.records.now(),
        }
        return self.records.add("UserServicePresence", values)

    def end_presence(self, user_id: str) -> None:
        """Let a user be off-line in Omni-Channel; past states stay as rows."""
        wide = self.records.wide(user_id)
        for row in self.records.of_type("UserServicePresence"):
            if row.values["UserId"] == wide and row.values["IsCurrentState"]:
                ended = {"IsCurrentState": False, "StatusEndDate": self.records.now()}
                self.records.change(row.id, ended)
