"""Outbound messages from a SOAP client that was made from the WSDL and knows nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
import zeep

from adapters.sandbox.salesforce_ids import widen
from tests.acceptance.stage import KEY, Stage

WSDL = Path(__file__).parents[1] / "adapters" / "salesforce" / "lead.wsdl"
BINDING = "{http://soap.sforce.com/2005/09/outbound}NotificationBinding"
FIELDS = ("Id", "Company", "CreatedDate", "Email", "LastModifiedDate", "LastName", "OwnerId")


class SoapClient:
    """Tells of leads as the org would; notification ids count up unless given."""

    def __init__(self, stage: Stage, session: requests.Session) -> None:
        self._stage = stage
        self._client = zeep.Client(str(WSDL), transport=zeep.Transport(session=session))

    def notify(self, ids: Sequence[str], *, org_id: str | None = None, key: str = KEY) -> Any:
        """Returns what the client takes our answer for: the Ack."""
        address = f"{self._stage.url}/webhooks/salesforce?key={quote(key, safe='')}"
        return self._client.create_service(BINDING, address).notifications(
            OrganizationId=org_id or self._stage.salesforce.org_id,
            ActionId="04k5g0000004C92AAE",
            SessionId=zeep.xsd.Nil,
            EnterpriseUrl=self._stage.salesforce.url,
            PartnerUrl=self._stage.salesforce.url,
            Notification=[
                {
                    "Id": widen("04l" + one[3:15]),
                    "sObject": self._stage.salesforce.read_fields(one, FIELDS),
                }
                for one in ids
            ],
        )


@contextmanager
def soap_client(stage: Stage) -> Iterator[SoapClient]:
    with requests.Session() as session:
        yield SoapClient(stage, session)
