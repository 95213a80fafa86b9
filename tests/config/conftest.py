from collections.abc import Callable
from pathlib import Path

import pytest

from config import Settings, load
from connector.errors import BadSettings


@pytest.fixture(autouse=True)
def _no_file_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def load_toml(tmp_path: Path) -> Callable[..., Settings]:
    def load_with(toml: str, **env: str) -> Settings:
        path = tmp_path / "settings.toml"
        path.write_text(toml, encoding="utf-8")
        return load({"LEADROTA_CONFIG": str(path), **env})

    return load_with


@pytest.fixture
def problems() -> Callable[..., list[str]]:
    def refused(load_it: Callable[[], Settings]) -> list[str]:
        with pytest.raises(BadSettings) as caught:
            load_it()
        return caught.value.message.splitlines()

    return refused
