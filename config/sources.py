"""Where a setting comes from: the environment, a file that a variable names, the TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config import names

DEFAULT_FILE = "config/leadrota.toml"


class Sources:
    """Looks settings up by name and collects every problem on the way.

    The environment wins over the TOML file. An empty value counts as not set. No message ever
    holds a value that may be a secret.
    """

    def __init__(self, env: Mapping[str, str], table: Mapping[str, Any]) -> None:
        self.env = env
        self.table = table
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.referenced: set[str] = set()  # variables that the TOML file names

    def get(self, name: str) -> str | None:
        """The value of a setting; None when it is not set anywhere."""
        if (value := self.variable(name, from_file=name in names.FROM_FILE)) is not None:
            return value
        return self.from_toml(name.lower(), self.table, secret=name in names.SECRETS)

    def is_given(self, name: str) -> bool:
        """Whether a setting is there at all, good or bad."""
        return bool(
            self.env.get(name)
            or (name in names.FROM_FILE and self.env.get(f"{name}_FILE"))
            or is_set(self.table, name.lower())
        )

    def variable(self, name: str, *, from_file: bool) -> str | None:
        """The value of an environment variable, or the text of the file that NAME_FILE names."""
        value = self.env.get(name) or None
        path = (self.env.get(f"{name}_FILE") or None) if from_file else None
        if path is None:
            return value
        if value is not None:
            self.problems.append(f"{name} and {name}_FILE are both set; remove one of them.")
            return None
        try:
            text = Path(path).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
            self.problems.append(
                f"{name}_FILE names {path}, which cannot be read ({reason}); "
                "name a file that this process may read."
            )
            return None
        if not text:
            self.problems.append(f"{name}_FILE names {path}, which is empty; fill or unset it.")
        return text or None

    def from_toml(
        self, key: str, table: Mapping[str, Any], *, where: str = "", secret: bool
    ) -> str | None:
        """The value of a key of the TOML file as text; a secret is looked up in the environment."""
        if not is_set(table, key):
            return None
        value = _text(table[key])
        if value is None:
            self.problems.append(f"{where}{key} in the TOML file must be a text, number or list.")
            return None
        if not secret:
            return value
        self.referenced |= {value, f"{value}_FILE"}
        found = self.variable(value, from_file=True)
        if found is None and not self.env.get(f"{value}_FILE"):
            # The text may be the secret itself, put there by mistake: it is not repeated.
            self.problems.append(
                f"{where}{key} in the TOML file must be the name of an environment variable that "
                "holds the secret; no variable of the name given there is set."
            )
        return found


def read_toml(env: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    """Read the TOML file that LEADROTA_CONFIG names, or the default one if it is there."""
    named = env.get("LEADROTA_CONFIG")
    path = Path(named or DEFAULT_FILE)
    if not named and not path.is_file():
        return {}
    raw = b""
    try:
        raw = path.read_bytes()
        return tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        problems.append(
            f"The settings file {path} cannot be read ({error.strerror}); "
            "correct LEADROTA_CONFIG or the file's permissions."
        )
    except ValueError as error:  # a broken line may hold a secret: only its place is repeated
        where = _place(error, raw)
        problems.append(f"The settings file {path} is not valid TOML at {where}; correct it.")
    return {}


def _place(error: ValueError, raw: bytes) -> str:
    if isinstance(error, UnicodeDecodeError):
        number = raw[: error.start].count(b"\n") + 1
        return f"line {number} (no UTF-8)"
    told = re.search(r"line \d+, column \d+", str(error))
    return told[0] if told else f"its end, line {len(raw.splitlines())}"


def is_set(table: Mapping[str, Any], key: str) -> bool:
    """Whether a table of the TOML file gives a key a value that is not empty."""
    return table.get(key) not in (None, "", [])


def _text(raw: object) -> str | None:
    match raw:
        case bool():
            return "1" if raw else "0"
        case str() | int():
            return str(raw).strip()
        case list() if all(isinstance(item, str) for item in raw):
            return ",".join(raw)
        case _:
            return None
