"""The inbound half of a HubSpot portal: app webhooks, workflow webhooks and workflow actions.

One address takes all three. An array holds events of app webhooks, an object is the body of a
workflow's webhook or, with a ``callbackId``, of its action.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from adapters.hubspot import actions, bodies, events, objects, scope, signatures, workflows
from adapters.hubspot.settings import HubSpotSettings
from adapters.hubspot.signatures import Proof
from connector.errors import BadSettings, WebhookRefused
from connector.ports import Answer, Choice, Delivery, Question, Received


class HubSpotReceiver:
    """The inbound half of one portal."""

    def __init__(self, settings: HubSpotSettings) -> None:
        if not settings.client_secret.strip():
            # With an empty key anybody can compute a good signature.
            raise BadSettings(
                f"The connection {settings.name!r} needs the client secret of its HubSpot app."
            )
        self._secret = settings.client_secret.encode()
        key = (settings.webhook_key or "").strip()
        self._key = key.encode() if key else None
        self._public_url = settings.public_url.rstrip("/")
        self._scope = scope.of(settings)

    def verify(self, delivery: Delivery, now: datetime) -> None:
        """Return when HubSpot signed this delivery, or its key is ours; else raise a 401.

        A v3 signature must be of the last five minutes; v2 and the key know no time, so ``parse``
        takes them only for what may safely come again.
        """
        signatures.check(
            delivery, secret=self._secret, key=self._key, public_url=self._public_url, now=now
        )

    def parse(self, delivery: Delivery) -> Received | Question:
        """Read a verified delivery; events that mean nothing to us carry ``ignored``."""
        match bodies.read(delivery):
            case list() as array:
                _require(delivery, "App webhooks need a v3 signature.", Proof.V3)
                return _events(array, self._scope)
            case dict() as body if actions.asks(body):
                _require(delivery, "Workflow actions need a signature.", Proof.V3, Proof.V2)
                return actions.read(body, self._scope)
            case dict() as body:
                event = workflows.read(body, delivery, self._scope)
                accepted = actions.in_json({"status": "accepted"}, status=202)
                return Received(events=[event], answer=accepted)
            case _:
                raise bodies.broken("The body must be a JSON array of events or an object.")

    def choices(self, delivery: Delivery, pools: Sequence[Choice]) -> Answer | None:
        """The options of the input field ``pool`` of a workflow action."""
        _require(delivery, "Requests for options need a signature.", Proof.V3, Proof.V2)
        return actions.options(bodies.read(delivery), pools, self._scope)

    def object_type(self, raw: str) -> str:
        """The plural name, whether the type is given by name, singular or type id."""
        return objects.canonical(raw)

    def record_id(self, object_type: str, raw: str) -> str | None:  # noqa: ARG002
        """The id when it is a positive whole number of at most 20 digits, else None."""
        return bodies.whole_id(raw)

    def owner_id(self, raw: str) -> str | None:
        """The same for the id of an owner."""
        return bodies.whole_id(raw)

    def refused(
        self,
        refusal: WebhookRefused,  # noqa: ARG002
        delivery: Delivery,  # noqa: ARG002
    ) -> Answer | None:
        """None: HubSpot reads only the status."""
        return None


def _events(array: Sequence[object], ours: scope.Scope) -> Received:
    told = [raw for raw in array if isinstance(raw, dict)]
    if len(told) < len(array):
        raise bodies.broken("An array must hold events, which are JSON objects.")
    return Received(events=[events.read(raw, ours) for raw in told], answer=Answer(status=204))


def _require(delivery: Delivery, message: str, *proofs: Proof) -> None:
    if signatures.proof(delivery.headers) not in proofs:
        raise signatures.unproven(message)
