"""Turn the text of a setting into what it means, or say what is wrong with it.

Each function raises ``ValueError`` with the rest of a sentence that begins with the setting's name.
"""

from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from adapters.salesforce.ids import full_id


def is_loopback(url: str) -> bool:
    """Whether a URL points to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def origin(text: str) -> str:
    """An https origin without a path; http for loopback only. A trailing slash is dropped."""
    wrong = ValueError(
        "must be an address such as https://leads.example.com, without a path, query or user; "
        "http is taken for 127.0.0.1 only."
    )
    url = text.removesuffix("/")
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is no number
    except ValueError:
        raise wrong from None
    if not re.fullmatch(r"https?://[A-Za-z0-9.\-\[\]:_]+", url) or not parts.hostname:
        raise wrong
    if parts.scheme == "http" and not is_loopback(url):
        raise wrong
    return url


def whole_number(text: str, *, low: int, high: int) -> int:
    """A whole number within limits."""
    if not re.fullmatch(r"[0-9]{1,6}", text) or not low <= int(text) <= high:
        raise ValueError(f"must be a whole number from {low} to {high}.")
    return int(text)


def api_token(text: str) -> str:
    """A token that fits into a header and is long enough not to be guessed."""
    if not re.fullmatch(r"[!-~]{32,}", text):
        raise ValueError(
            "must be at least 32 printable characters without blanks; make one with "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    return text


def encryption_keys(text: str) -> str:
    """Keys with commas between them, each long enough not to be guessed."""
    keys = [key.strip() for key in text.split(",") if key.strip()]
    if not keys or any(len(key) < 32 for key in keys):
        raise ValueError(
            "must be a text of at least 32 characters, or several with commas between them, the "
            "newest first; make one with "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    return text


def one_of(text: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if text not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}.")
    return text


def switch(text: str) -> bool:
    """1 or 0."""
    return one_of(text, ("1", "0")) == "1"


def interval(text: str) -> timedelta | None:
    """A time such as 30s, 5m or 1h, from 10 seconds to a day; 0 for never."""
    if text == "0":
        return None
    found = re.fullmatch(r"([0-9]{1,5})([smh])", text)
    unit = {"s": "seconds", "m": "minutes", "h": "hours"}
    time = timedelta(**{unit[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta(seconds=10) <= time <= timedelta(days=1):
        raise ValueError("must be a time such as 30s, 5m or 1h, from 10s to 24h, or 0 for never.")
    return time


def listed(text: str) -> tuple[str, ...]:
    """Words with commas between them, each once, in order."""
    return tuple(dict.fromkeys(word for part in text.split(",") if (word := part.strip())))


def object_types(text: str) -> tuple[str, ...]:
    """Names of object types of a CRM."""
    words = listed(text)
    if not words or not all(re.fullmatch(r"[A-Za-z0-9_-]+", word) for word in words):
        raise ValueError("must be names of object types with commas between them.")
    return words


def matching(text: str, pattern: str, sentence: str) -> str:
    """A text of one form; ``sentence`` says which."""
    if not re.fullmatch(pattern, text):
        raise ValueError(sentence)
    return text


def private_key(text: str) -> str:
    """A key in PEM form; line breaks written as backslash and n are taken as such."""
    pem = text.replace("\\n", "\n").strip() + "\n"
    if not pem.startswith("-----BEGIN ") or "PRIVATE KEY-----" not in pem:
        raise ValueError("must be a private key in PEM form (-----BEGIN PRIVATE KEY----- …).")
    return pem


def salesforce_id(text: str, prefix: str, what: str) -> str:
    """An id of Salesforce in its 18-character form."""
    id18 = full_id(text, prefix=prefix)
    if id18 is None:
        raise ValueError(f"must be the id of {what} ({prefix}…) in 15 or 18 characters.")
    return id18
