"""Makes `.venv` what the requirements say, then becomes the command that was asked for.

Run by `bootstrap.py` under the machine's own Python, before anything is installed: the standard library
only, nothing of the package `brigade`. What was installed is remembered in `.venv/brigade-<kind>.stamp`, a
hash over the requirements and the Python version, so that a second start looks at one small file.

Errors::

    Exception
    └── SetupError           the environment cannot be made here; the message is one line for a person
        └── NoRegistryError  the package registry cannot be reached
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

REQUIREMENTS = {
    "run": ("requirements.txt",),
    "dev": ("requirements.txt", "requirements-dev.txt"),
    "optimum": ("requirements-optimum.txt",),
}
"""Files that make up each kind of environment; the last one is installed, `dev` holds `run` too. `optimum` is
an extra that comes on top of `run`."""
EXTRAS = ("optimum",)

COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": ("run", ("-m", "brigade.runner")),
    "test": ("dev", ("-m", "tests.run", "test")),
    "check": ("dev", ("-m", "tests.run", "check")),
    "bench": ("dev", ("-m", "tests.run", "bench")),
    "install": ("dev", ("-c", "")),
    "optimum": ("optimum", ("manage.py", "optimum")),
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


class NoRegistryError(SetupError):
    """The package registry cannot be reached."""


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
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode every start takes seconds longer
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
    if kind in EXTRAS:
        ensure("run")
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
    for held in ("run", "dev") if kind == "dev" else (kind,):
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
    missing = [name for name in ("venv", "ssl") if find_spec(name) is None]
    if not missing and not find_spec("ensurepip") and not pip_from_outside():
        missing = ["ensurepip"]
    if missing:
        raise SetupError(
            f"this Python ({sys.executable}) has no {missing[0]} module: install it "
            f"(Debian: apt-get install python{VERSION}-venv) or choose another, `make run PYTHON=…`"
        )


def make_venv() -> None:
    """An environment of this Python version that starts: the one that is there, or a new one."""
    if (VENV / "lib" / f"python{VERSION}").is_dir() and starts(PYTHON):
        return
    say(f"making .venv with Python {VERSION} (once; about a minute)")
    call([sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV)], "making .venv")


def starts(python: Path) -> bool:
    """Whether this Python runs."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False


def install(requirements: str) -> None:
    """Install a requirements file with uv, or with pip where uv is not to be had. Bytecode is left to the
    first import: compiling all of it takes a minute, and most of it is never imported."""
    say(f"installing {requirements}")
    asked = ["-q", "-r", str(BASE / requirements)]
    if has_uv():
        try:
            return call([str(PYTHON), "-m", "uv", "pip", "install", "--python", str(PYTHON), *asked], "uv")
        except SetupError as error:
            say(f"{error}; trying pip, which is slower")
    return call([*pip_install(), *asked], f"installing {requirements}")


def has_uv() -> bool:
    """Whether the environment has uv, now that pip was asked for it; NoRegistryError."""
    try:
        if not has_module("uv"):
            call([*pip_install(), UV], "installing")
    except NoRegistryError:
        raise
    except SetupError:
        return False  # no uv for this machine: pip does it all
    return True


def has_module(name: str) -> bool:
    """Whether the environment has this package, by its folder."""
    return (VENV / "lib" / f"python{VERSION}" / "site-packages" / name).is_dir()


def pip_from_outside() -> bool:
    """Whether this Python has a pip that can install into another environment (22.3 and later)."""
    asked = [sys.executable, "-m", "pip", "--python", sys.executable, "--version"]
    return bool(find_spec("pip")) and subprocess.run(asked, capture_output=True, check=False).returncode == 0  # noqa: S603


def pip_install() -> list[str]:
    """pip's command for the environment, patient for half a minute at most where there is no network.
    This Python's own pip is used if it can: putting one into the environment takes ten seconds."""
    quiet = ["-q", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "15"]
    if not has_module("pip"):
        if pip_from_outside():
            return [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", *quiet]
        call([str(PYTHON), "-m", "ensurepip", "--default-pip"], "installing pip")
    return [str(PYTHON), "-m", "pip", "install", *quiet]


def call(command: Sequence[str], doing: str) -> None:
    """Run a step of the installation; SetupError says in one line why it failed."""
    found = subprocess.run(  # noqa: S603 - our own steps
        command, env=patient(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise failure(doing, found.stdout + found.stderr)


def patient() -> dict[str, str]:
    """The environment for uv and pip: few retries, pip's own index for uv where one is chosen."""
    found = {**os.environ, "UV_HTTP_TIMEOUT": "30", "UV_HTTP_RETRIES": "2", "UV_NO_PROGRESS": "1"}
    found.pop("PYTHONPATH", None)
    found.pop("VIRTUAL_ENV", None)
    if os.environ.get("PIP_INDEX_URL"):
        found.setdefault("UV_DEFAULT_INDEX", os.environ["PIP_INDEX_URL"])
    return found


def failure(doing: str, output: str) -> SetupError:
    """An error of one line out of an installer's many."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines or ["no word why"]
    if NO_NETWORK.search(output):
        return NoRegistryError(f"{doing}: the package registry cannot be reached; is there a network?")
    if NO_WHEEL.search(output):
        return SetupError(
            f"{doing}: not to be had for this machine and Python {VERSION}: {telling[-1][:200]}"
        )
    if re.search(r"permission denied|read-only file system", output, re.IGNORECASE):
        return SetupError(f"{doing}: cannot write {VENV}: give this user the right to, or clone elsewhere")
    return SetupError(f"{doing} failed: {telling[-1][:200]}")
