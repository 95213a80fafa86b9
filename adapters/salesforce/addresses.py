"""Which addresses may get a token: the org's own and Salesforce's, by https unless on loopback."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine."""
    host = _split(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def origin(url: str) -> str | None:
    """Return ``https://host[:port]`` without a trailing slash, None if it is anything more or less.

    ``http`` is an origin on loopback only.
    """
    parts = _split(url.strip())
    if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
        return None
    if parts.path not in ("", "/"):
        return None
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(url)):
        return None
    return f"{parts.scheme}://{parts.netloc}"


def trusted_instance(instance_url: str, *, login_url: str) -> str | None:
    """Return the origin that calls may go to, None if the token must not be sent there."""
    instance = origin(instance_url)
    if instance is None:
        return None
    host, login_host = _split(instance).hostname or "", _split(login_url).hostname
    if host == login_host or host.endswith(".salesforce.com"):
        return instance
    return instance if is_loopback(instance) and is_loopback(login_url) else None


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a port that is no number is found here only
    except ValueError:
        return urlsplit("")
    return parts
