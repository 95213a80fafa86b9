"""HubSpot's v3 request signature, checked on raw bytes.

https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
The client library's own check is not used: it takes any timestamp in the future, fails on a header
outside ASCII, and does not decode the address.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta

from connector.errors import WebhookRefused
from connector.ports import Delivery

SIGNATURE = "x-hubspot-signature-v3"
TIMESTAMP = "x-hubspot-request-timestamp"  # milliseconds since 1970
TOLERANCE = timedelta(minutes=5)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# HubSpot signs the address with these twelve decoded and all else, %20 or %26 say, left alone.
_DECODED = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
    "%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
_ENCODED = re.compile("|".join(_DECODED), re.IGNORECASE)


def check(delivery: Delivery, *, secret: bytes, public_url: str, now: datetime) -> None:
    """Return when the delivery carries a good and fresh v3 signature, else raise a 401."""
    given = delivery.headers.get(SIGNATURE)
    timestamp = delivery.headers.get(TIMESTAMP)
    if not given or not timestamp:
        raise _unsigned(
            "missing_signature",
            "App webhooks need the headers X-HubSpot-Signature-v3 and X-HubSpot-Request-Timestamp.",
        )
    if not re.fullmatch("[0-9]{13}", timestamp):
        raise _unsigned(
            "bad_timestamp", "X-HubSpot-Request-Timestamp must be 13 digits: milliseconds."
        )
    if abs(now - _EPOCH - timedelta(milliseconds=int(timestamp))) > TOLERANCE:
        raise _unsigned(
            "stale_signature", "The signature is more than five minutes away from the time here."
        )
    wanted = sign(
        secret,
        method=delivery.method,
        url=public_url + delivery.target,
        body=delivery.body,
        timestamp=timestamp,
    )
    if not hmac.compare_digest(_bytes(given), wanted):
        raise _unsigned(
            "bad_signature",
            "The signature does not fit: compare the app's client secret and the public address"
            " set here with those of the app.",
        )


def sign(secret: bytes, *, method: str, url: str, body: bytes, timestamp: str) -> bytes:
    """The v3 signature: base64 of an HMAC over method, partly decoded address, body and time."""
    address = _ENCODED.sub(lambda match: _DECODED[match[0].upper()], url)
    signed = _bytes(method) + _bytes(address) + body + _bytes(timestamp)
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _unsigned(code: str, message: str) -> WebhookRefused:
    return WebhookRefused(message, code=code, status=401)
