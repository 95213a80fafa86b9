"""How HubSpot signs what it sends, and what a proxy on the way makes of a request.

Written from HubSpot's published description alone, so that it can catch a mistake in the adapter.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime
from urllib.parse import urlsplit

# The only percent signs that HubSpot resolves before it signs an address.
_DECODED = {
    "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@", "%21": "!", "%24": "$",
    "%27": "'", "%28": "(", "%29": ")", "%2A": "*", "%2C": ",", "%3B": ";",
}  # fmt: skip
# What the application sees behind a proxy that ends TLS; only the last value of a doubled header
# comes from that proxy, and the others may be anybody's.
PROXIES: dict[str, dict[str, str]] = {
    "tls": {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"},
    "odd_host": {"X-Forwarded-Proto": "https", "Host": "10.1.2.3:8000"},
    "doubled": {
        "X-Forwarded-Proto": "http,https",
        "X-Forwarded-For": "198.51.100.1, 203.0.113.7",
        "X-Forwarded-Host": "elsewhere.example.test, leads.example.test",
    },
}


def milliseconds(at: datetime) -> int:
    """A moment as HubSpot's events and headers tell it."""
    return int(at.timestamp() * 1000)


def sign_v1(*, secret: str, body: bytes) -> dict[str, str]:
    """The signature of app events, over secret and body alone."""
    return _old("v1", secret.encode() + body)


def sign_v2(*, secret: str, method: str, url: str, body: bytes) -> dict[str, str]:
    """The signature of workflow webhooks and custom actions; the address exactly as configured."""
    return _old("v2", secret.encode() + method.encode() + url.encode() + body)


def sign_v3(*, secret: str, method: str, url: str, body: bytes, at: datetime) -> dict[str, str]:
    """The signature with a time stamp, over a partly decoded address."""
    stamp = str(milliseconds(at))
    decoded = url
    for escape, character in _DECODED.items():
        decoded = decoded.replace(escape, character).replace(escape.lower(), character)
    signed = method.encode() + decoded.encode() + body + stamp.encode()
    v3 = base64.b64encode(hmac.digest(secret.encode(), signed, "sha256")).decode()
    return {"X-HubSpot-Signature-v3": v3, "X-HubSpot-Request-Timestamp": stamp}


def signed_url(target_url: str, public_url: str | None) -> str:
    """The address that HubSpot believes it calls; ``public_url`` may be only an origin."""
    if public_url is None:
        return target_url
    if urlsplit(public_url).path.strip("/"):
        return public_url
    parts = urlsplit(target_url)
    query = f"?{parts.query}" if parts.query else ""
    return public_url.rstrip("/") + parts.path + query


def _old(version: str, signed: bytes) -> dict[str, str]:
    return {
        "X-HubSpot-Signature": hashlib.sha256(signed).hexdigest(),
        "X-HubSpot-Signature-Version": version,
    }
