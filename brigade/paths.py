"""Paths of files, the addresses of Redis and its broker, the secret key, and private file permissions.
Plain Python, no Django. Settings and the runner use it.

The app writes only below `var_dir()`. These variables are read: `BRIGADE_VAR` (another folder),
`BRIGADE_SECRET_KEY` and `REDIS_URL`. An empty variable counts as unset. Files that the app writes are
readable by its user only, because they contain sessions, personal links and keys.
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
"""Bytes of a unix socket's path that every system takes (Linux 107, macOS 103)."""

SHORTEST_KEY = 50
"""Characters of a key that signs sessions, as Django wants them."""

_PLAIN = re.compile(r"[A-Za-z0-9._/+@=,-]+\Z")
"""Paths that mean themselves inside a URL."""


class PathError(OSError):
    """A place that exists and cannot be trusted or used; the message is one line."""


def base_dir() -> Path:
    """The folder that `manage.py` is in."""
    return Path(__file__).resolve().parent.parent


def version() -> str:
    """Which version this is, as `pyproject.toml` says."""
    said = tomllib.loads((base_dir() / "pyproject.toml").read_text())
    return str(said["project"]["version"])


def var_dir() -> Path:
    """The folder of everything the app writes, absolute; it need not exist yet. PlaceError."""
    chosen = os.environ.get("BRIGADE_VAR")
    try:
        return Path(chosen).expanduser().resolve() if chosen else base_dir() / "var"
    except (OSError, RuntimeError) as error:  # `~nobody`, links in a circle
        raise PathError(f"BRIGADE_VAR: {chosen!r}: {error}") from error


def make_var_dir() -> Path:
    """`var_dir()`, made if it was missing; PlaceError if it cannot be."""
    folder = var_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PathError(unwritable_message(folder, error)) from error
    return folder


def unwritable_message(place: Path | str, error: OSError) -> str:
    """Why nothing can be written there and what to do, in one line."""
    return (
        f"cannot write {place} ({error.strerror}): give this user the right to, "
        "or set BRIGADE_VAR to another folder"
    )


def database_file() -> Path:
    """The SQLite file that is used where `DATABASE_URL` is not set."""
    return var_dir() / "db.sqlite3"


def log_dir() -> Path:
    """Where the runner's children write what they have to say."""
    return var_dir() / "log"


def metrics_dir() -> Path:
    """Where the processes of one machine count what they do; nothing in it must be kept."""
    return var_dir() / "metrics"


def valkey_socket() -> Path:
    """The embedded Valkey's unix socket: in `var_dir()`, or in a short private folder where that path is
    too long for a socket or does not mean itself in a URL. PlaceError if the short folder is another's."""
    wanted = var_dir() / "valkey.sock"
    if len(os.fsencode(wanted)) <= LONGEST_SOCKET and _PLAIN.match(str(wanted)):
        return wanted
    return _private_dir(wanted.parent) / "valkey.sock"


def _private_dir(var: Path) -> Path:
    """A folder with a short path for this `var`, this user's and nobody else's (mode 0700)."""
    name = hashlib.sha256(os.fsencode(var)).hexdigest()[:16]
    common = Path("/tmp")  # noqa: S108 - the same whatever TMPDIR is; what is put there is checked
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
    """True where the embedded Valkey is used: `REDIS_URL` is not set."""
    return not os.environ.get("REDIS_URL")


def redis_url() -> str:
    """`REDIS_URL`, or the embedded Valkey's address; in the form that redis-py and channels_redis take.
    PlaceError if it is no address; the message does not show it, for it may hold a password."""
    given = os.environ.get("REDIS_URL")
    if given and not _is_redis(given):
        raise PathError("REDIS_URL: an address with redis://, rediss:// or unix:// is wanted")
    return given or unix_url(valkey_socket())


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number
        return False
    return bool(parts.path) if parts.scheme == "unix" else named and parts.scheme in {"redis", "rediss"}


def unix_url(socket: Path, db: int = 0) -> str:
    """The address of a server on a unix socket, in the form that redis-py and channels_redis take."""
    return f"unix://{socket}?db={db}"


def broker_url(redis_url: str) -> str:
    """The same address in the form that Celery's broker takes; only `unix://` ones differ."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    db = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={db}"


def secret_key() -> str:
    """`BRIGADE_SECRET_KEY`, or the key in `var/secret.key`, made (mode 0600) by whoever comes first.
    PlaceError if it is too short or cannot be read or made."""
    given, file = os.environ.get("BRIGADE_SECRET_KEY"), var_dir() / "secret.key"
    wrong = "BRIGADE_SECRET_KEY" if given else f"remove {file}, a new one is made"
    try:
        key = given or _read_key(file)
    except PermissionError as error:
        raise PathError(f"cannot read {file}: it belongs to another user") from error
    if len(key) < SHORTEST_KEY:
        raise PathError(f"{wrong}: {SHORTEST_KEY} characters or more are needed")
    return key


def _read_key(file: Path) -> str:
    """What the file holds; OSError."""
    if not file.exists():
        _make_key(file)
    return file.read_text(encoding="ascii", errors="ignore").strip()


def _make_key(file: Path) -> None:
    """Write a new key beside the file and link it there: a reader sees a whole key or none."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=make_var_dir(), prefix=".secret.") as beside:  # mode 0600
            beside.write(secrets.token_urlsafe(48) + "\n")
            beside.flush()
            with contextlib.suppress(FileExistsError):  # another process was first: its key is the key
                os.link(beside.name, file)
    except OSError as error:
        raise PathError(unwritable_message(file.parent, error)) from error


UMASK = 0o077
LOOSE = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but the owner."""
OF_SQLITE = ("", "-wal", "-shm", "-journal")
"""A database's own file and those beside it."""


def make_private(database: str | Path | None = None) -> str:
    """From now on nobody else may read what this process writes; `var/`, and the SQLite file if one is named,
    are put right. One line for whoever looks on, or nothing where all was well."""
    os.umask(UMASK)
    loose = [path for path in _ours(database) if _is_loose(path)]
    kept = [path for path in loose if not _close(path)]
    closed = len(loose) - len(kept)
    said = [f"closed to other users: {closed} of our files and folders ({var_dir()})"] if closed else []
    said += [f"{kept[0]} can be read by other users, and is not ours to close"] if kept else []
    return "; ".join(said)


def make_private_and_warn(database: str | Path | None = None) -> None:
    """The same; what there is to say goes to standard error."""
    if said := make_private(database):
        print(f"brigade: {said}", file=sys.stderr, flush=True)


def _ours(database: str | Path | None) -> Iterator[Path]:
    """What the app writes, as far as it is there."""
    var = var_dir()
    yield from (var, log_dir(), *log_dir().glob("*"), var / "secret.key", var / "run.lock")
    for file in {str(database_file()), *([str(database)] if database else [])}:
        yield from (Path(file + end) for end in OF_SQLITE)


def _is_loose(path: Path) -> bool:
    """Whether others have a right to it. A link is what it leads to; a shared folder is nobody's own."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return bool(mode & LOOSE) and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)


def _close(path: Path) -> bool:
    """Take all rights from everybody but the owner; False where we may not, or where it belongs to somebody
    else: whoever may write in `var/` could name any file there, and root may close them all."""
    with suppress(OSError):
        found = path.stat()
        if found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & ~LOOSE)
            return True
    return False
