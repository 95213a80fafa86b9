"""The CRM adapters: one package each, found by name under the entry point group ``GROUP``."""

from __future__ import annotations

from importlib.metadata import entry_points
from types import ModuleType

from connector.errors import BadSettings

GROUP = "leadrota.adapters"


def adapter(kind: str) -> ModuleType:
    """Import the adapter package that serves connections of this kind.

    Nothing of an adapter is imported before it is asked for: the CRM libraries are heavy. Raises
    ``BadSettings`` for a kind that no installed package offers.
    """
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if kind not in known:
        names = ", ".join(sorted(known)) or "none; install the leadrota package"
        raise BadSettings(f"There is no adapter for {kind!r}. Known kinds: {names}.")
    package: ModuleType = known[kind].load()
    return package
