"""Adapters are found by the name of their entry point, and imported only then."""

import subprocess
import sys

import pytest

from adapters import adapter
from connector.errors import BadSettings


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with two adapters, as an installer leaves it."""
    metadata = tmp_path / "extra_crm-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: extra-crm\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[leadrota.adapters]\nextra = extra_crm_adapter\nhubspot = adapters.hubspot\n"
    )
    (tmp_path / "extra_crm_adapter.py").write_text("NAME = 'extra'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("extra_crm_adapter", None)


def test_an_adapter_is_found_by_its_kind(installed):
    import adapters.hubspot

    assert adapter("hubspot") is adapters.hubspot


def test_an_adapter_of_another_package_is_imported_when_asked_for(installed):
    assert "extra_crm_adapter" not in sys.modules
    assert adapter("extra").NAME == "extra"


def test_an_unknown_kind_names_the_known_ones(installed):
    with pytest.raises(BadSettings, match=r"'pipedrive'.*extra.*hubspot"):
        adapter("pipedrive")


def test_the_receiver_loads_no_crm_client():
    code = (
        "import sys, adapters.hubspot, adapters.hubspot.webhooks;"
        "sys.exit(any(name.split('.')[0] in ('hubspot', 'urllib3') for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
