"""Where the tests' own PostgreSQL comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import postgres


def folder_with_programs(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("initdb", "pg_ctl"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_best_place_comes_first(tmp_path: Path) -> None:
    debian, wheel = tmp_path / "debian", tmp_path / "wheel"
    on_path = folder_with_programs(tmp_path / "local")
    places = [folder_with_programs(debian / version / "bin") for version in ("9.6", "15", "16")]
    found = list(postgres.candidates({"PATH": str(on_path)}, debian=debian, wheel=lambda: [wheel]))
    assert found == [*places[::-1], on_path, wheel]


def test_a_given_folder_is_the_only_place(tmp_path: Path) -> None:
    environment = {"PG_BIN": str(tmp_path), "PATH": "/usr/bin"}
    assert list(postgres.candidates(environment)) == [tmp_path]


def test_the_wheel_has_the_programs() -> None:
    newest, *_ = postgres.wheel_binaries()
    assert (newest / "initdb").is_file()
    assert (newest / "pg_ctl").is_file()


def test_no_programs_anywhere_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PG_BIN", str(tmp_path))
    with pytest.raises(postgres.NoPostgres, match="set PG_BIN"):
        postgres.first_binaries()


def test_a_given_server_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADROTA_TEST_DATABASE_URL", "postgresql://u@h/x")
    with postgres.server() as url:
        assert url == "postgresql://u@h/x"
