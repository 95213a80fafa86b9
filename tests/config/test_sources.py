import pytest

from config import load

TOKEN = "t0ken-" * 8


def test_the_environment_wins_over_the_file(load_toml):
    toml = 'port = 9000\nleadrota_default_pool = "Inbound"\n'

    settings = load_toml(toml, PORT="7000")

    assert settings.port == 7000
    assert settings.default_pool == "Inbound"


def test_the_file_in_config_is_read_when_it_is_there(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/leadrota.toml").write_text('leadrota_log_format = "json"\n')

    assert load({}).log_format == "json"


def test_a_named_file_that_is_not_there_is_told(problems, tmp_path):
    path = str(tmp_path / "nowhere.toml")

    (problem,) = problems(lambda: load({"LEADROTA_CONFIG": path}))

    assert path in problem


def test_a_broken_file_is_told_by_its_place_without_its_text(problems, load_toml):
    (problem,) = problems(lambda: load_toml("port = 1\nleadrota_api_token = hidden\n"))

    assert "line 2" in problem
    assert "hidden" not in problem


@pytest.mark.parametrize(
    ("text", "place"),
    [(b"port = 1\nleadrota_default_pool = [\n'hidden'", "line 3"), (b"port = 1\n# \xff", "line 2")],
    ids=["ends too soon", "no UTF-8"],
)
def test_a_broken_file_is_told_by_its_line_whatever_is_broken(tmp_path, problems, text, place):
    path = tmp_path / "broken.toml"
    path.write_bytes(text)

    (problem,) = problems(lambda: load({"LEADROTA_CONFIG": str(path)}))

    assert place in problem
    assert "hidden" not in problem


def test_an_unknown_key_of_the_file_names_the_nearest(problems, load_toml):
    (problem,) = problems(lambda: load_toml('leadrota_publik_url = "hidden"\n'))

    assert "Did you mean leadrota_public_url?" in problem
    assert "hidden" not in problem


def test_a_key_of_the_wrong_type_is_told(problems, load_toml):
    (problem,) = problems(lambda: load_toml("port = {a = 1}\n"))

    assert problem.startswith("port in the TOML file must be")


def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")

    assert load({"LEADROTA_API_TOKEN_FILE": str(path)}).api_token == TOKEN


def test_a_secret_both_plain_and_in_a_file_is_refused(problems, tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    env = {"LEADROTA_API_TOKEN": TOKEN, "LEADROTA_API_TOKEN_FILE": str(path)}

    (problem,) = problems(lambda: load(env))

    assert "LEADROTA_API_TOKEN and LEADROTA_API_TOKEN_FILE" in problem
    assert TOKEN not in problem


def test_a_secret_file_that_cannot_be_read_is_named(problems, tmp_path):
    env = {"LEADROTA_API_TOKEN_FILE": str(tmp_path / "nowhere")}

    (problem,) = problems(lambda: load(env))

    assert str(tmp_path / "nowhere") in problem


def test_a_secret_file_that_is_empty_or_no_text_is_refused(problems, tmp_path):
    path = tmp_path / "token"
    for content in (b"\n", b"\xff\xfe\x00"):
        path.write_bytes(content)

        (problem,) = problems(lambda: load({"LEADROTA_API_TOKEN_FILE": str(path)}))

        assert problem.startswith("LEADROTA_API_TOKEN_FILE names")


def test_only_secrets_are_read_from_files(problems, tmp_path):
    (problem,) = problems(lambda: load({"LEADROTA_PUBLIC_URL_FILE": str(tmp_path)}))

    assert problem.startswith("LEADROTA_PUBLIC_URL_FILE is no setting")


def test_a_secret_of_the_toml_file_names_its_variable(load_toml):
    settings = load_toml('leadrota_api_token = "MY_TOKEN"\n', MY_TOKEN=TOKEN)

    assert settings.api_token == TOKEN


def test_a_secret_written_into_the_toml_file_is_refused_and_not_repeated(problems, load_toml):
    (problem,) = problems(lambda: load_toml(f'leadrota_api_token = "{TOKEN}"\n'))

    assert "name of an environment variable" in problem
    assert TOKEN not in problem
