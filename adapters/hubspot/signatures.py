"""Who sent a delivery: HubSpot's request signatures v3 and v2, or a shared key. Raw bytes only.

https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation
The client library's own check is not used: it takes any timestamp in the future, fails on a header
outside ASCII, and does not decode the address.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from connector.errors import WebhookRefused
from connector.ports import Delivery

SIGNATURE = "x-hubspot-signature-v3"
TIMESTAMP = "x-hubspot-request-timestamp"  # milliseconds since 1970
OLD_SIGNATURE = "x-hubspot-signature"
OLD_VERSION = "x-hubspot-signature-version"
KEY = "x-leadrota-key"
TOLERANCE = timedelta(minutes=5)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# HubSpot signs the address with these twelve decoded and all else, %20 or %26 say, left alone.
_DECODED = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
    "%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
_ENCODED = re.compile("|".join(_DECODED), re.IGNORECASE)


class Proof(StrEnum):
    """By what a delivery proves its sender; the strongest of its headers counts, alone."""

    V3 = "v3"
    V2 = "v2"  # or v1 or an unknown version, which prove nothing
    KEY = "key"


def proof(headers: Mapping[str, str]) -> Proof:
    """By what a delivery with these headers has to prove its sender.

    One header of v3 is enough to ask for v3: who takes the other away must not get an easier check.
    """
    if SIGNATURE in headers or TIMESTAMP in headers:
        return Proof.V3
    return Proof.V2 if OLD_SIGNATURE in headers or OLD_VERSION in headers else Proof.KEY


def check(
    delivery: Delivery, *, secret: bytes, key: bytes | None, public_url: str, now: datetime
) -> None:
    """Return when the delivery's proof is good, a v3 signature also fresh; else raise a 401."""
    match proof(delivery.headers):
        case Proof.V3:
            _check_v3(delivery, secret=secret, public_url=public_url, now=now)
        case Proof.V2:
            _check_v2(delivery, secret=secret, public_url=public_url)
        case Proof.KEY:
            _check_key(delivery.headers.get(KEY), key)


def sign(secret: bytes, *, method: str, url: str, body: bytes, timestamp: str) -> bytes:
    """The v3 signature: base64 of an HMAC over method, partly decoded address, body and time."""
    address = _ENCODED.sub(lambda match: _DECODED[match[0].upper()], url)
    signed = _bytes(method) + _bytes(address) + body + _bytes(timestamp)
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())


def sign_v2(secret: bytes, *, method: str, url: str, body: bytes) -> bytes:
    """The v2 signature: a hash, in hex, over secret, method, address as it stands, and body."""
    signed = secret + _bytes(method) + _bytes(url) + body
    return hashlib.sha256(signed).hexdigest().encode()


def unproven(kind: str) -> WebhookRefused:
    """The refusal of a body whose proof is good, but not of the sort that this kind needs."""
    return _unsigned("missing_signature", kind)


def _check_v3(delivery: Delivery, *, secret: bytes, public_url: str, now: datetime) -> None:
    given = delivery.headers.get(SIGNATURE)
    timestamp = delivery.headers.get(TIMESTAMP)
    if not given or not timestamp:
        raise _unsigned(
            "missing_signature",
            "X-HubSpot-Signature-v3 and X-HubSpot-Request-Timestamp only count together.",
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
    _compare(given, wanted)


def _check_v2(delivery: Delivery, *, secret: bytes, public_url: str) -> None:
    given = delivery.headers.get(OLD_SIGNATURE)
    if not given or delivery.headers.get(OLD_VERSION) != "v2":
        raise _unsigned(
            "missing_signature",
            "A signature must be v3, or v2 with X-HubSpot-Signature-Version: v2.",
        )
    wanted = sign_v2(
        secret, method=delivery.method, url=public_url + delivery.target, body=delivery.body
    )
    _compare(given, wanted)


def _check_key(given: str | None, key: bytes | None) -> None:
    if key is None and given is None:
        raise _unsigned("missing_signature", "The delivery carries no signature of HubSpot's.")
    if key is None:
        raise _unsigned(
            "bad_key",
            "X-Leadrota-Key came, but no key is set here: set HUBSPOT_WEBHOOK_KEY (webhook_key in "
            "a table of the TOML file).",
        )
    if given is None or not hmac.compare_digest(_bytes(given), key):
        raise _unsigned(
            "bad_key",
            "Without a signature the header X-Leadrota-Key must hold the key that is set here.",
        )


def _compare(given: str, wanted: bytes) -> None:
    if not hmac.compare_digest(_bytes(given), wanted):
        raise _unsigned(
            "bad_signature",
            "The signature does not fit: compare the app's client secret and the public address"
            " set here with those of the app.",
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _unsigned(code: str, message: str) -> WebhookRefused:
    return WebhookRefused(message, code=code, status=401)
