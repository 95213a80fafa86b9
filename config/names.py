"""The names of all settings, as they stand in the environment."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

GENERAL = (
    "DATABASE_URL",
    "PORT",
    "WEB_CONCURRENCY",
    "LEADROTA_PUBLIC_URL",
    "LEADROTA_API_TOKEN",
    "LEADROTA_DEFAULT_POOL",
    "LEADROTA_LOG_FORMAT",
    "LEADROTA_ENCRYPTION_KEY",
    "LEADROTA_ALLOW_EPHEMERAL_SQLITE",
)

# The platform's mark and the path of the file: these cannot stand in the file itself.
ENVIRONMENT_ONLY = ("DYNO", "LEADROTA_CONFIG")

# The keys of one connection: with a prefix in the environment, bare in a table of the file.
HUBSPOT_KEYS = (
    "access_token",
    "client_secret",
    "client_id",
    "refresh_token",
    "webhook_key",
    "availability",
    "portal_id",
    "objects",
    "api_version",
    "base_url",
)
SALESFORCE_KEYS = (
    "login_url",
    "client_id",
    "client_secret",
    "private_key",
    "username",
    "org_id",
    "webhook_key",
    "objects",
    "api_version",
    "unassigned_owners",
    "guarded_objects",
    "availability",
    "omni_channel",
    "poll_every",
)
SECRET_KEYS = frozenset(
    {"access_token", "client_secret", "private_key", "refresh_token", "webhook_key"}
)

HUBSPOT = tuple(f"HUBSPOT_{key.upper()}" for key in HUBSPOT_KEYS)
SALESFORCE = tuple(f"SALESFORCE_{key.upper()}" for key in SALESFORCE_KEYS)

# Known, so that they may be set already, but without an effect in this version.
RESERVED = (
    "LEADROTA_SECRET_KEY",
    "LEADROTA_RETENTION_DAYS",
    "LEADROTA_RESYNC_EVERY",
)
# Read by the test suite only.
TEST_ONLY = ("LEADROTA_TEST_DATABASE_URL",)

ALL = (*GENERAL, *ENVIRONMENT_ONLY, *HUBSPOT, *SALESFORCE, *RESERVED, *TEST_ONLY)

SECRETS = frozenset(
    {
        "LEADROTA_API_TOKEN",
        "LEADROTA_SECRET_KEY",
        "LEADROTA_ENCRYPTION_KEY",
        *(f"HUBSPOT_{key.upper()}" for key in HUBSPOT_KEYS if key in SECRET_KEYS),
        *(f"SALESFORCE_{key.upper()}" for key in SALESFORCE_KEYS if key in SECRET_KEYS),
    }
)
# A database URL holds a password, but names a plain SQLite file just as often.
FROM_FILE = SECRETS | {"DATABASE_URL"}

PREFIXES = ("LEADROTA_", "HUBSPOT_", "SALESFORCE_")
NEAR = 0.7  # how alike two names are, from 0 to 1, so that one may be meant by the other

KNOWN = frozenset(ALL) | {f"{name}_FILE" for name in FROM_FILE}


def unknown(given: Iterable[str], prefixes: tuple[str, ...]) -> list[str]:
    """The given names that start with a prefix of ours and mean nothing, in order."""
    return sorted(name for name in given if name.startswith(prefixes) and name not in KNOWN)


def hint(name: str, known: Iterable[str]) -> str:
    """A sentence that tells the nearest known name, with a leading blank; empty if none is near.

    What follows the prefix is compared, since a common prefix alone makes no two names alike.
    """
    prefix, rest = _parted(name)
    # Names without a prefix count too: DATABASE_URL is near to LEADROTA_DATABASE_URL.
    kin = {_parted(one)[1]: one for one in sorted(known) if _parted(one)[0] in (prefix, "")}
    near = get_close_matches(rest, kin, n=1, cutoff=NEAR)
    return f" Did you mean {kin[near[0]]}?" if near else ""


def _parted(name: str) -> tuple[str, str]:
    prefix = next((one for one in PREFIXES if name.upper().startswith(one)), "")
    return prefix, name[len(prefix) :]
