"""Makes `.venv` what the requirements say, then becomes the command that was asked for.

Run by `bootstrap.py` under the machine's own Python, before anything is installed: the standard library
only, nothing of the package `brigade`. What was installed is remembered in `.venv/brigade-<kind>.stamp`, a
hash over the requirements and the Python version, so that a second start looks at one small file.

Errors::

    Exception
    └── SetupError   the environment cannot be made here; the message is one line for a person
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

BASE = Path(__file__).resolve().parent.parent
VENV = BASE / ".venv"
PYTHON = VENV / "bin" / "python"
UV = "uv==0.13.8"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

REQUIREMENTS = {"run": ("requirements.txt",), "dev": ("requirements.txt", "requirements-dev.txt")}
"""Files that make up each kind of environment; the last one is installed, `dev` holds `run` too."""

COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": ("run", ("-m", "brigade.runner")),
    "test": ("dev", ("-m", "tests.run", "test")),
    "check": ("dev", ("-m", "tests.run", "check")),
    "bench": ("dev", ("-m", "tests.run", "bench")),
    "install": ("dev", ("-c", "")),
}
"""What `make` may ask for: the environment it needs and what the environment's Python then runs."""

NO_NETWORK = re.compile(
    r"dns error|error sending request|name resolution|resolve host|network is unreachable|"
    r"failed to establish|connection (refused|reset|timed out)|connect ?timeout|newconnectionerror|"
    r"failed to fetch|could not connect|proxyerror|client error \(connect\)",
    re.IGNORECASE,
)
NO_WHEEL = re.compile(
    r"no matching distribution|no solution found|no wheels? with a matching|failed to build", re.IGNORECASE
)


class SetupError(Exception):
    """The environment cannot be made here; the message is one line for a person."""


def main(arguments: Sequence[str]) -> int:  # noqa: RET503 - `become` does not come back
    """Install what the command needs and become it; the exit code 2 after one line where that fails."""
    try:
        kind, command = COMMANDS[arguments[0] if arguments else "run"]
        ensure(kind)
    except KeyError:
        return fail(f"{arguments[0]!r} is not one of {', '.join(COMMANDS)}")
    except SetupError as error:
        return fail(str(error))
    except OSError as error:
        return fail(explain(error))
    except KeyboardInterrupt:
        return fail("stopped while installing: the next start goes on from there")
    become([str(PYTHON), *command, *arguments[1:]])


def become(command: list[str]) -> NoReturn:
    """Go on as this command, in the same process, so that signals reach it."""
    os.chdir(BASE)
    os.execv(command[0], command)  # noqa: S606 - our own program


def fail(line: str) -> int:
    """Say it in one line; the exit code for it."""
    print(f"brigade: {line}", file=sys.stderr)
    return 2


def say(line: str) -> None:
    """A line of progress."""
    print(f"brigade: {line}", flush=True)


def explain(error: OSError) -> str:
    """What went wrong with a file or folder, in words."""
    where = error.filename or VENV
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"cannot write {where}: give this user the right to, or clone to a folder of its own"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"no space left for {where}: about 1 GB is needed"
    return f"{where}: {error.strerror or error}"


# What is there


def ensure(kind: str) -> None:
    """Make `.venv` hold what this kind needs; at once where it does already. SetupError, OSError."""
    wanted = fingerprint(kind)
    if read_stamp(kind) == wanted and PYTHON.exists():
        return
    require_machine()
    with one_at_a_time():
        if read_stamp(kind) == wanted and PYTHON.exists():
            return
        make_venv()
        install(REQUIREMENTS[kind][-1])
        write_stamps(kind)


def fingerprint(kind: str) -> str:
    """A hash over everything that decides what is installed."""
    digest = hashlib.sha256(f"{VERSION} {UV}".encode())
    for name in REQUIREMENTS[kind]:
        digest.update((BASE / name).read_bytes())
    return digest.hexdigest()


def stamp(kind: str) -> Path:
    """The file that says what was installed."""
    return VENV / f"brigade-{kind}.stamp"


def read_stamp(kind: str) -> str:
    """What was installed last; nothing where nothing was."""
    try:
        return stamp(kind).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def write_stamps(kind: str) -> None:
    """Note what is installed now, for this kind and for those that it holds."""
    for held in ("run", "dev") if kind == "dev" else ("run",):
        stamp(held).write_text(fingerprint(held) + "\n", encoding="ascii")


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process of this clone install at a time; the others wait and say so."""
    with (BASE / "requirements.txt").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another `make` is installing in this folder: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Making it


def require_machine() -> None:
    """SetupError where this machine or this Python cannot make an environment."""
    if sys.platform not in {"linux", "darwin"}:
        raise SetupError(f"runs on Linux and macOS, not on {sys.platform}")
    missing = [name for name in ("venv", "ensurepip", "ssl") if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"this Python ({sys.executable}) has no {missing[0]} module: install it "
            f"(Debian: apt-get install python{VERSION}-venv) or choose another, `make run PYTHON=…`"
        )


def make_venv() -> None:
    """An environment of this Python version that can install: the one that is there, or a new one."""
    if PYTHON.exists() and (VENV / "lib" / f"python{VERSION}").is_dir() and can_install():
        return
    say(f"making .venv with Python {VERSION} (once; about a minute)")
    call([sys.executable, "-m", "venv", "--clear", str(VENV)], "making .venv")


def can_install() -> bool:
    """Whether the environment starts and has uv or pip."""
    probe = "import importlib.util as i, sys; sys.exit(not (i.find_spec('uv') or i.find_spec('pip')))"
    return subprocess.run([PYTHON, "-c", probe], capture_output=True, check=False).returncode == 0  # noqa: S603


def install(requirements: str) -> None:
    """Install a requirements file with uv, or with pip where uv is not to be had."""
    say(f"installing {requirements}")
    file = str(BASE / requirements)
    try:
        get_uv()
        with_uv = [str(PYTHON), "-m", "uv", "pip", "install", "--python", str(PYTHON), "--compile-bytecode"]
        call([*with_uv, "-q", "-r", file], f"installing {requirements}")
    except SetupError as error:
        if not has_module("pip"):
            raise
        say(f"uv could not ({error}); trying pip, which is slower")
        call([*pip_install(), "-r", file], f"installing {requirements}")


def get_uv() -> None:
    """Have uv in the environment; SetupError where pip cannot get it."""
    if not has_module("uv"):
        call([*pip_install(), UV], "installing uv")


def has_module(name: str) -> bool:
    """Whether the environment has this package, by its folder."""
    return (VENV / "lib" / f"python{VERSION}" / "site-packages" / name).is_dir()


def pip_install() -> list[str]:
    """pip's command, patient for half a minute at most where there is no network."""
    quiet = ["-q", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "15"]
    return [str(PYTHON), "-m", "pip", "install", *quiet]


def call(command: Sequence[str], doing: str) -> None:
    """Run a step of the installation; SetupError says in one line why it failed."""
    found = subprocess.run(  # noqa: S603 - our own steps
        command, env=patient(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise SetupError(reason(doing, found.stdout + found.stderr))


def patient() -> dict[str, str]:
    """The environment for uv and pip: few retries, pip's own index for uv where one is chosen."""
    found = {**os.environ, "UV_HTTP_TIMEOUT": "30", "UV_HTTP_RETRIES": "2", "UV_NO_PROGRESS": "1"}
    found.pop("PYTHONPATH", None)
    found.pop("VIRTUAL_ENV", None)
    if os.environ.get("PIP_INDEX_URL"):
        found.setdefault("UV_DEFAULT_INDEX", os.environ["PIP_INDEX_URL"])
    return found


def reason(doing: str, output: str) -> str:
    """One line out of an installer's many."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "")
    if NO_NETWORK.search(output):
        return f"{doing}: the package registry cannot be reached; is there a network?"
    if NO_WHEEL.search(output):
        return f"{doing}: a package is not to be had for this machine and Python {VERSION}: {last[:200]}"
    if re.search(r"permission denied|read-only file system", output, re.IGNORECASE):
        return f"{doing}: cannot write {VENV}"
    return f"{doing} failed: {last[:200]}"
