"""Where things lie."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brigade import paths


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BRIGADE_VAR", "BRIGADE_SECRET_KEY", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


def test_what_is_written_lies_in_var_beside_manage_py() -> None:
    assert paths.var_dir() == paths.base_dir() / "var"
    assert (paths.base_dir() / "manage.py").exists()


def test_brigade_var_moves_all_of_it(var: Path) -> None:
    assert paths.valkey_socket().parent == paths.database_file().parent == paths.var_dir() == var.resolve()


@pytest.mark.parametrize("folder", ["x" * 120, "a folder with spaces", "what?"])
def test_a_path_that_makes_no_socket_address_has_a_short_private_stand_in(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path / folder))
    found = paths.valkey_socket()
    assert found == paths.valkey_socket()
    assert len(os.fsencode(found)) <= paths.LONGEST_SOCKET
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    found.parent.rmdir()


def test_a_stand_in_that_is_not_a_folder_of_ours_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_VAR", str(tmp_path / ("x" * 120)))
    folder = paths.valkey_socket().parent
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(paths.PathError, match="BRIGADE_VAR"):
        paths.valkey_socket()
    folder.unlink()


def test_redis_url_goes_before_the_embedded_valkey(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.has_own_valkey()
    assert paths.redis_url() == f"unix://{var.resolve()}/valkey.sock?db=0"
    monkeypatch.setenv("REDIS_URL", "redis://example:6380/2")
    assert not paths.has_own_valkey()
    assert paths.redis_url() == "redis://example:6380/2"


@pytest.mark.parametrize(
    ("redis", "broker"),
    [
        ("unix:///var/v.sock?db=3", "redis+socket:///var/v.sock?virtual_host=3"),
        ("unix:///var/v.sock", "redis+socket:///var/v.sock?virtual_host=0"),
        ("redis://:word@example:6380/2", "redis://:word@example:6380/2"),
        ("rediss://example/0", "rediss://example/0"),
    ],
)
def test_celery_gets_the_same_address_in_its_own_words(redis: str, broker: str) -> None:
    assert paths.broker_url(redis) == broker


def test_the_key_is_made_once_by_whoever_comes_first_and_is_private(var: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: paths.secret_key(), range(8)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE((var / "secret.key").stat().st_mode) == 0o600
    assert [file.name for file in var.iterdir()] == ["secret.key"]


def test_a_given_key_writes_nothing(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIGADE_SECRET_KEY", "given" * 10)
    assert paths.secret_key() == "given" * 10
    assert not var.exists()


def test_a_given_key_that_is_too_short_is_refused_without_showing_it(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGADE_SECRET_KEY", "tiny")
    with pytest.raises(paths.PathError, match="BRIGADE_SECRET_KEY: 50 characters") as caught:
        paths.secret_key()
    assert "tiny" not in str(caught.value)


@pytest.mark.parametrize("key", [b"short", b"\xff" * 60])
def test_a_damaged_key_is_said_and_not_used(var: Path, key: bytes) -> None:
    var.mkdir()
    (var / "secret.key").write_bytes(key)
    with pytest.raises(paths.PathError, match=r"secret\.key"):
        paths.secret_key()


@pytest.mark.parametrize("place", ["/proc/x", "/dev/null", "/dev/null/x"])
def test_a_var_that_cannot_be_is_said_in_one_line(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIGADE_VAR", place)
    with pytest.raises(paths.PathError, match=f"cannot write {place}.*BRIGADE_VAR"):
        paths.make_var_dir()


def test_a_var_of_nobody_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIGADE_VAR", "~no-such-user-here/var")
    with pytest.raises(paths.PathError, match="BRIGADE_VAR"):
        paths.var_dir()


@pytest.mark.parametrize(
    "url", ["foo", "http://host/0", "redis://", "redis://[::1", "redis://:word@h:x/0", "unix://"]
)
def test_a_redis_url_that_is_none_is_refused_without_showing_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(paths.PathError, match="REDIS_URL: an address with redis://") as caught:
        paths.redis_url()
    assert "word" not in str(caught.value)
