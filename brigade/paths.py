"""Find the app's folders, its Redis address and its secret key, and protect private files from other users.

The app writes only into its data folder, `var_dir()`. Only the operating-system user that runs the app can
read this folder. The environment variables `BRIGADE_VAR`, `BRIGADE_SECRET_KEY` and `REDIS_URL` replace the
defaults. An empty variable counts as unset. The module does not import Django.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

LONGEST_SOCKET = 100
"""Bytes of a unix socket's path that every system accepts (Linux 107, macOS 103)."""

SHORTEST_KEY = 50
"""Minimum length of a key that signs sessions, as Django requires."""

_PLAIN = re.compile(r"[A-Za-z0-9._/+@=,-]+\Z")
"""Paths that need no quoting inside a URL."""


class PathError(OSError):
    """Raised when a path cannot be used or trusted. The message is one line."""


def base_dir() -> Path:
    """Return the folder that contains `manage.py`."""
    return Path(__file__).resolve().parent.parent


def version() -> str:
    """Return the version of the app, from `pyproject.toml`."""
    said = tomllib.loads((base_dir() / "pyproject.toml").read_text())
    return str(said["project"]["version"])


def var_dir() -> Path:
    """Return the absolute path of the folder for everything that the app writes. It need not exist yet.

    Raises PathError if `BRIGADE_VAR` is not a usable path.
    """
    chosen = os.environ.get("BRIGADE_VAR")
    try:
        return Path(chosen).expanduser().resolve() if chosen else base_dir() / "var"
    except (OSError, RuntimeError) as error:  # `~nobody`, circular links
        raise PathError(f"BRIGADE_VAR: {chosen!r}: {error}") from error


def make_var_dir() -> Path:
    """Return `var_dir()` and create it if it is missing. Raises PathError if it cannot be created."""
    folder = var_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PathError(unwritable_message(folder, error)) from error
    return folder


def unwritable_message(place: Path | str, error: OSError) -> str:
    """Return one line that says why the app cannot write to the path `place`, and how to fix it."""
    return (
        f"cannot write {place} ({error.strerror}): give this user the right to, "
        "or set BRIGADE_VAR to another folder"
    )


def database_file() -> Path:
    """Return the path of the SQLite file that is used if `DATABASE_URL` is not set."""
    return var_dir() / "db.sqlite3"


def log_dir() -> Path:
    """Return the folder for the log files of the app's processes."""
    return var_dir() / "log"


def metrics_dir() -> Path:
    """Return the folder where processes on this machine store their metrics. Its content may be deleted."""
    return var_dir() / "metrics"


def valkey_socket() -> Path:
    """Return the path of the unix socket of the embedded Valkey (a Redis server), in `var_dir()`.

    A path that is too long for a socket, or that needs quoting in a URL, cannot be used. The socket is
    then in a short private folder. Raises PathError if that folder belongs to another user.
    """
    wanted = var_dir() / "valkey.sock"
    if len(os.fsencode(wanted)) <= LONGEST_SOCKET and _PLAIN.match(str(wanted)):
        return wanted
    return _private_dir(wanted.parent) / "valkey.sock"


STAFF_SOCKET_VARIABLE = "BRIGADE_STAFF_SOCKET"


def staff_socket() -> Path:
    """Return the path of the unix socket on which the staff process of `make run` listens. It lies beside the
    socket of Valkey."""
    return valkey_socket().with_name("staff.sock")


def staff_socket_in_use() -> str:
    """Return the path of the unix socket of a running staff process (`BRIGADE_STAFF_SOCKET`), or an empty
    text if web processes answer all requests. Raises PathError if the path is relative, since each process
    may run in another folder."""
    given = os.environ.get(STAFF_SOCKET_VARIABLE, "")
    if given and not Path(given).is_absolute():
        raise PathError(f"{STAFF_SOCKET_VARIABLE}: {given!r} is not an absolute path")
    return given


def _private_dir(var: Path) -> Path:
    """Return the path of a private folder (mode 0700) with a short path. `var` is the data folder, and each
    data folder gets a different private folder."""
    name = hashlib.sha256(os.fsencode(var)).hexdigest()[:16]
    common = Path("/tmp")  # noqa: S108 - independent of TMPDIR; the folder in it is checked
    usable = os.access(common, os.W_OK | os.X_OK)
    folder = (common if usable else Path(tempfile.gettempdir())) / f"brigade-{os.getuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise PathError(f"{folder} is not this user's folder: remove it or set BRIGADE_VAR to a short path")
    if stat.S_IMODE(status.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def has_own_valkey() -> bool:
    """Return whether the embedded Valkey (a Redis server) is used. It is used if `REDIS_URL` is not set."""
    return not os.environ.get("REDIS_URL")


def redis_url() -> str:
    """Return `REDIS_URL`, in a form that redis-py and channels_redis accept. If it is not set, return the
    address of the embedded Valkey.

    Raises PathError if `REDIS_URL` is not a valid address. The error message does not show the address,
    because it may contain a password.
    """
    given = os.environ.get("REDIS_URL")
    if given and not _is_redis(given):
        raise PathError("REDIS_URL: an address with redis://, rediss:// or unix:// is wanted")
    return given or unix_url(valkey_socket())


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:  # unclosed brackets, a port that is not a number
        return False
    return bool(parts.path) if parts.scheme == "unix" else named and parts.scheme in {"redis", "rediss"}


def unix_url(socket: Path) -> str:
    """Return the address of a Redis on a unix socket, in the form that redis-py and channels_redis accept."""
    return f"unix://{socket}?db=0"


def broker_url(redis_url: str) -> str:
    """Return this Redis address in the form that Celery's broker needs. Only addresses of unix sockets
    (`unix://`) differ."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    db = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={db}"


def secret_key() -> str:
    """Return `BRIGADE_SECRET_KEY`, or the key in the file `secret.key` in `var_dir()`. The first process
    creates that file (mode 0600). Raises PathError if the key is too short or cannot be read or created."""
    given, file = os.environ.get("BRIGADE_SECRET_KEY"), var_dir() / "secret.key"
    wrong = "BRIGADE_SECRET_KEY" if given else f"remove {file}, a new one is made"
    try:
        if not given and not file.exists():
            _make_key(file)
        key = given or file.read_text(encoding="ascii", errors="ignore").strip()
    except PermissionError as error:
        raise PathError(f"cannot read {file}: it belongs to another user") from error
    if len(key) < SHORTEST_KEY:
        raise PathError(f"{wrong}: {SHORTEST_KEY} characters or more are needed")
    return key


def _make_key(file: Path) -> None:
    """Write a new secret key to `file`. The key is written to a temporary file, which is then linked to
    `file`. So no reader sees an incomplete key."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=make_var_dir(), prefix=".secret.") as beside:  # mode 0600
            beside.write(secrets.token_urlsafe(48) + "\n")
            beside.flush()
            with contextlib.suppress(FileExistsError):  # another process was first, and its key is used
                os.link(beside.name, file)
    except OSError as error:
        raise PathError(unwritable_message(file.parent, error)) from error


UMASK = 0o077
LOOSE = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of everybody except the owner."""
OF_SQLITE = ("", "-wal", "-shm", "-journal")
"""Suffixes of a SQLite database's own file and the files beside it."""


def make_private(database: str | Path | None = None) -> str:
    """Make the app's files unreadable for other users of this machine. Return a text about files that were
    closed or could not be closed; empty if there are none.

    The files are `var_dir()`, the SQLite file `database`, and all files that this process will write.
    """
    os.umask(UMASK)
    loose = [path for path in _ours(database) if _is_loose(path)]
    kept = [path for path in loose if not _close(path)]
    closed = len(loose) - len(kept)
    said = [f"closed to other users: {closed} of our files and folders ({var_dir()})"] if closed else []
    said += [f"{kept[0]} can be read by other users, and is not ours to close"] if kept else []
    return "; ".join(said)


def make_private_and_warn(database: str | Path | None = None) -> None:
    """Call `make_private`, and print the text that it returns, if any, to standard error."""
    if said := make_private(database):
        print(f"brigade: {said}", file=sys.stderr, flush=True)


def _ours(database: str | Path | None) -> Iterator[Path]:
    """Yield the files and folders that the app writes. Some of them may not exist. `database` is the SQLite
    file."""
    var = var_dir()
    yield from (var, log_dir(), *log_dir().glob("*"), var / "secret.key", var / "run.lock")
    for file in {str(database_file()), *([str(database)] if database else [])}:
        yield from (Path(file + end) for end in OF_SQLITE)


def _is_loose(path: Path) -> bool:
    """Return True if other users of the machine can access this path, or the target of a link. Return False
    for a shared folder (a folder with the sticky bit)."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & LOOSE) and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)


def _close(path: Path) -> bool:
    """Remove all permissions on this path except the owner's. Return True if this succeeded. Return False if
    it is not allowed, or if the file belongs to another user.

    Files of other users are refused for safety. Users who may write in `var/` could link any file there, and
    root would then change that file's permissions.
    """
    with suppress(OSError):
        found = path.stat()
        if found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & ~LOOSE)
            return True
    return False
