"""What the environment means, and what it must not."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from brigade import settings
from brigade.celery import app
from brigade.paths import base_dir

OURS = ("BRIGADE_", "DATABASE_URL", "REDIS_URL", "OPENAI_", "ANTHROPIC_")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def elsewhere(nothing_set: None, var: Path) -> Path:
    """Everything is written in a folder of the test's own."""
    return var


def read() -> ModuleType:
    """The settings of the environment as it is now, in a module of their own."""
    spec = importlib.util.spec_from_file_location("settings_of_a_test", settings.__file__)
    assert spec and spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("name", ["plain", "a#b", "a?b=c", "%41", "a b"])
def test_the_database_lies_in_var_whatever_it_is_called(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path / name))
    found = read().DATABASES["default"]
    assert found["NAME"] == str((tmp_path / name / "db.sqlite3").resolve())
    assert found["ENGINE"] == "django.db.backends.sqlite3"


def test_a_named_database_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:word@host:5433/name")
    found = read().DATABASES["default"]
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("host", 5433, "name")


def test_connections_to_a_machine_that_vanished_end_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "DATABASE_URL", "postgres://user:word@host:5433/name?keepalives_idle=9&options=-c jit=off"
    )
    monkeypatch.setenv("REDIS_URL", "redis://host:6379/0")
    found = read()
    options = found.DATABASES["default"]["OPTIONS"]
    assert (options["tcp_user_timeout"], options["keepalives_idle"]) == (5000, 9), "what is given goes first"
    assert "-c tcp_user_timeout=5s" in options["options"] and options["options"].endswith("-c jit=off")
    (host,) = found.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    for redis in (host, found.CELERY_BROKER_TRANSPORT_OPTIONS):
        assert redis["socket_keepalive"]
        assert redis["socket_keepalive_options"][socket.TCP_USER_TIMEOUT] == 5000


def test_a_unix_socket_has_no_machine_that_could_vanish() -> None:
    found = read()
    (host,) = found.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    assert not {"socket_keepalive", "socket_keepalive_options"} & {
        *host,
        *found.CELERY_BROKER_TRANSPORT_OPTIONS,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BRIGADE_URL", "http://[::1"),
        ("BRIGADE_URL", "http://host:port"),
        ("BRIGADE_URL", "host:8000"),
        ("BRIGADE_URL", "https://host/brigade"),
        ("BRIGADE_URL", "https://host?x=1"),
        ("BRIGADE_URL", "https://user:word@host"),
        ("BRIGADE_DEBUG", "maybe"),
        ("BRIGADE_HOSTS", "*"),
        ("BRIGADE_HOSTS", "a b"),
        ("BRIGADE_HOSTS", "good.example, *.example"),
        ("BRIGADE_MODELS", "/nowhere"),
        ("BRIGADE_MODELS", "/etc/passwd"),
        ("BRIGADE_PRICES", "/nowhere"),
        ("BRIGADE_PRICES", "/etc/passwd"),
        ("OPENAI_BASE_URL", "foo"),
        ("OPENAI_BASE_URL", "http://[::1"),
        ("ANTHROPIC_BASE_URL", "localhost:8765"),
        ("ANTHROPIC_SERVICE_TIER", "quick"),
        ("BRIGADE_TRUSTED_PROXIES", "127.0.0.1, proxy.example"),
        ("BRIGADE_STAFF_IDLE_MINUTES", "0"),
        ("BRIGADE_STAFF_IDLE_MINUTES", "two hours"),
        ("BRIGADE_SECOND_FACTOR", "perhaps"),
        ("BRIGADE_PROLIFIC_KEYS", "/nowhere"),
        ("BRIGADE_PROLIFIC_KEYS", "/etc/passwd"),
        ("BRIGADE_PROLIFIC_KEYS", "http://api.prolific.com/jwks.json"),
        ("BRIGADE_LOG", "xml"),
        ("BRIGADE_METRICS_TOKEN", "short"),
        ("BRIGADE_METRICS_TOKEN", "with spaces in it, and long"),
        ("BRIGADE_PREFIX", "two words"),
        ("BRIGADE_WORLDS", "beacon"),
        ("BRIGADE_WORLDS", "beacon=no.such.module:KIT"),
        ("BRIGADE_DECISION_SECONDS", "soon"),
        ("BRIGADE_DECISION_SECONDS", "nan"),
        ("BRIGADE_PLANNERS", "0"),
        ("BRIGADE_WEB", "many"),
        ("DATABASE_URL", "mysql://host/name"),
        ("DATABASE_URL", "xx"),
        ("DATABASE_URL", "postgres://host:port/name"),
    ],
)
def test_a_variable_that_means_nothing_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"{name}: "):
        read()


@pytest.mark.parametrize(
    "name", [*OURS[1:], "BRIGADE_URL", "BRIGADE_DEBUG", "BRIGADE_HOSTS", "BRIGADE_PREFIX", "BRIGADE_WORLDS"]
)
def test_an_empty_variable_is_one_that_is_not_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    found = read()
    assert found.ALLOWED_HOSTS == ["localhost", "127.0.0.1", "[::1]"]
    assert (found.DEBUG, found.PREFIX, found.PUBLIC_URL) == (False, "brigade", "http://localhost:8000")


@pytest.mark.parametrize(
    ("form", "formatter"), [("", "LineFormatter"), ("text", "LineFormatter"), ("JSON", "JsonFormatter")]
)
def test_logs_are_for_people_unless_programs_are_to_read_them(
    form: str, formatter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_LOG", form)
    assert read().LOGGING["formatters"]["line"]["()"] == f"brigade.log_formatters.{formatter}"


@pytest.mark.parametrize(("word", "meant"), [("True", True), ("1", True), ("on", True), ("no", False)])
def test_debug_is_read_in_the_usual_words(word: str, meant: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIGADE_DEBUG", word)
    assert read().DEBUG is meant


@pytest.mark.parametrize(
    ("url", "own"),
    [("https://Lab.example", "lab.example"), ("http://[fe80::1]:8000/", "[fe80::1]"), ("http://a:80", "a")],
)
def test_we_always_answer_at_our_own_address(url: str, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIGADE_URL", url)
    monkeypatch.setenv("BRIGADE_HOSTS", "other.example, ")
    found: list[str] = read().ALLOWED_HOSTS
    assert found == ["other.example", own]


def test_two_installations_on_one_redis_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://host/0")
    monkeypatch.setenv("BRIGADE_PREFIX", "second")
    found = read()
    assert found.CELERY_TASK_DEFAULT_QUEUE == "second"
    assert found.CACHES["default"]["KEY_PREFIX"] == "second"
    assert found.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] == "second"
    assert found.CELERY_BROKER_TRANSPORT_OPTIONS["unacked_key"] == "second.unacked"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BRIGADE_URL", "http://[::1"),
        ("BRIGADE_VAR", "/proc/x"),
        ("BRIGADE_SECRET_KEY", "x"),
        ("BRIGADE_PRICES", "/etc/passwd"),
        ("DATABASE_URL", "xx"),
    ],
)
def test_a_command_ends_with_one_line_and_exit_2(name: str, value: str) -> None:
    found = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=base_dir(),
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "brigade.settings", name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1 and name in found.stderr and found.stdout == ""


@pytest.mark.parametrize(("url", "prefix"), [("http://lab.example", ""), ("https://lab.example", "__Host-")])
def test_cookies_of_staff_are_this_hosts_alone_over_tls(
    url: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_URL", url)
    found = read()
    assert (f"{prefix}sessionid", f"{prefix}csrftoken") == (found.SESSION_COOKIE_NAME, found.CSRF_COOKIE_NAME)


def test_workers_never_give_up_on_their_broker() -> None:
    assert app.conf.broker_connection_max_retries is None


def test_djangos_checks_of_the_default_settings_warn_of_nothing() -> None:
    call_command("check", fail_level="WARNING")


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("2", "2")])
def test_numpy_computes_in_one_thread_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    read()
    assert os.environ["OPENBLAS_NUM_THREADS"] == used
