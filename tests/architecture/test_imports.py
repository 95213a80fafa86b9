"""The import rules of pyproject.toml hold, and each of them notices when it is broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("connector", "adapters", "config")
LINT = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports({}))"


def lint(folder: Path, contract: str | None = None) -> subprocess.CompletedProcess[str]:
    only = f"limit_to_contracts=({contract!r},), no_cache=True" if contract else "no_cache=True"
    return subprocess.run(
        [sys.executable, "-c", LINT.format(only)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_imports_go_where_they_may():
    result = lint(ROOT)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("contract", "module", "line"),
    [
        ("layers", "connector/ports.py", "import connector.store.database"),
        ("layers", "connector/engine/__init__.py", "import connector.store.database"),
        ("keys", "connector/store/database.py", "import connector.engine.decide"),
        ("sql", "connector/cli/__init__.py", "import sqlalchemy"),
        ("sql", "adapters/salesforce/ids.py", "from sqlalchemy import select"),
        ("flask", "connector/store/database.py", "import flask"),
        ("crm", "connector/ports.py", "from simple_salesforce import Salesforce"),
        ("adapters", "adapters/hubspot/settings.py", "import connector.store.database"),
        ("adapters", "adapters/hubspot/settings.py", "import config"),
        ("apart", "adapters/hubspot/settings.py", "import adapters.salesforce.ids"),
        ("apart", "adapters/sandbox/__init__.py", "import adapters.hubspot.settings"),
        ("pure", "connector/model/words.py", "import random"),
        ("pure", "connector/engine/__init__.py", "import logging"),
        ("settings", "connector/ports.py", "import config"),
        ("config", "config/values.py", "import connector.store.database"),
        ("config", "config/sources.py", "import adapters.salesforce.ids"),
    ],
)
def test_a_forbidden_import_breaks_its_rule(tmp_path, contract, module, line):
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "connector/store/database.py").touch()
    with (tmp_path / module).open("a") as file:
        file.write(f"\n{line}\n")

    result = lint(tmp_path, contract)

    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout
    assert line.split()[1].split(".")[0] in result.stdout
