"""Install the packages that requirements files pin: `python3 brigade/install_requirements.py FILE…`.

The packages go into the virtual environment `.venv`. With `--into .venv-NAME` before the files, they go into
another one, for packages that the app must not import. The installer, uv, accepts only packages whose hash is
in the files. The script imports only the standard library, because it runs before any package is installed.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
VENV = BASE / ".venv"
UV = VENV / "bin" / "uv"
QUIETLY = ("install", "-q", "--retries", "1", "--require-hashes")
PINNED = BASE / "requirements-uv.txt"
VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
"""Name of the folder that holds this Python's packages in an environment."""

NO_NETWORK = re.compile(
    r"dns error|sending request|failed to (fetch|establish)|resol|unreachable|refused|timed ?out|proxy", re.I
)
ANOTHER_HASH = re.compile(r"hash mismatch|must have a hash|do not match the hashes", re.I)
TELLING = re.compile(r"error|failed|no solution|not created|no module", re.I)


class SetupError(Exception):
    """Raised when the virtual environment cannot be made. The message is one line."""


def main(arguments: Sequence[str]) -> int:
    """Install the packages that the requirements files pin.

    `arguments` are the names of these files. With `--into FOLDER` first, the packages go into a separate
    virtual environment. Return the exit code: 0, or 2 after one line on stderr if the installation fails.
    """
    apart, files = (arguments[1], arguments[2:]) if arguments[:1] == ["--into"] else ("", arguments)
    try:
        with (BASE / "requirements.txt").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one `make` of this clone at a time
            install(files, BASE / apart if apart else VENV)
    except SetupError as error:
        wrong = str(error)
    except OSError as error:
        wrong = f"{error.filename or VENV}: {error.strerror}"
    except KeyboardInterrupt:
        wrong = "stopped while installing: the next start goes on from there"
    else:
        return 0
    print(f"brigade: {wrong}", file=sys.stderr)
    return 2


def install(files: Sequence[str], venv: Path = VENV) -> None:
    """Install the packages of the requirements files with uv, into a virtual environment for this version of
    Python. Raises SetupError if this fails.

    `.venv` must exist before a separate environment is made, because it contains uv.
    """
    python, ours = venv / "bin" / "python", venv == VENV
    if not all(path.exists() for path in (venv / "lib" / VERSION, python, *([UV] if ours else []))):
        without = [] if ours else ["--without-pip"]
        call([sys.executable, "-m", "venv", "--clear", *without, str(venv)], f"making {venv.name}")
        if ours:
            call([str(python), "-I", "-m", "pip", *QUIETLY, "-r", str(PINNED)], "installing uv")
    asked = [part for file in files for part in ("-r", str(BASE / file))]
    command = [str(UV), "pip", "install", "--require-hashes", "--python", str(python), *asked]
    call(command, "installing " + " ".join(files))


def call(command: Sequence[str], doing: str) -> None:
    """Run `command`. If it takes more than a second, print `doing`, a text for the user. Raises SetupError
    with the reason if the command fails."""
    index = os.environ.get("PIP_INDEX_URL")  # uv must use the same index as pip
    environment = {**({"UV_DEFAULT_INDEX": index} if index else {}), "UV_HTTP_RETRIES": "1", **os.environ}
    with subprocess.Popen(  # noqa: S603 - our own steps
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            print(f"brigade: {doing}", flush=True)
            said, _ = process.communicate()
    if process.returncode:
        raise SetupError(f"{doing}: {failure_reason(said)}")


def failure_reason(output: str) -> str:
    """Return in one line why an installer failed: the text from the last line of `output` that reports an
    error. Without a network connection, the line says this instead."""
    if NO_NETWORK.search(output) and not ANOTHER_HASH.search(output):
        return "the package registry cannot be reached; is there a network?"
    lines = output.splitlines()
    telling = [number for number, line in enumerate(lines) if TELLING.search(line)]
    return " ".join(" ".join(lines[max(telling, default=0) :]).split())[:300] or "no word why"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
