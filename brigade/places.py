"""Where things lie: the one module that the settings and the runner ask. Plain Python, no Django.

Everything the app writes is below `var_dir()`. Read from the environment: `BRIGADE_VAR` (another place for
it), `BRIGADE_SECRET_KEY`, `REDIS_URL`. An empty variable counts as one that is not set.

Errors::

    OSError
    └── PlaceError   a place that exists and cannot be trusted or used; the message is one line
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

LONGEST_SOCKET = 100
"""Bytes of a unix socket's path that every system takes (Linux 107, macOS 103)."""

_PLAIN = re.compile(r"[A-Za-z0-9._/+@=,-]+\Z")
"""Paths that mean themselves inside a URL."""


class PlaceError(OSError):
    """A place that exists and cannot be trusted or used; the message is one line."""


def base_dir() -> Path:
    """The folder that `manage.py` is in."""
    return Path(__file__).resolve().parent.parent


def var_dir() -> Path:
    """The folder of everything the app writes, absolute; it need not exist yet."""
    chosen = os.environ.get("BRIGADE_VAR")
    return Path(chosen).expanduser().resolve() if chosen else base_dir() / "var"


def make_var_dir() -> Path:
    """`var_dir()`, made if it was missing; OSError if it cannot be."""
    found = var_dir()
    found.mkdir(parents=True, exist_ok=True)
    return found


def database_file() -> Path:
    """The SQLite file that is used where `DATABASE_URL` is not set."""
    return var_dir() / "db.sqlite3"


def log_dir() -> Path:
    """Where the runner's children write what they have to say."""
    return var_dir() / "log"


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
    folder = _short_temp_dir() / f"brigade-{os.getuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PlaceError(f"{folder} is not this user's folder: remove it or set BRIGADE_VAR to a short path")
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def _short_temp_dir() -> Path:
    """The same for every process of this user, whatever its TMPDIR, wherever /tmp can be used."""
    common = Path("/tmp")  # noqa: S108 - what is put there is a private folder, checked by its owner
    return common if os.access(common, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def has_own_valkey() -> bool:
    """True where the embedded Valkey is used: `REDIS_URL` is not set."""
    return not os.environ.get("REDIS_URL")


def redis_url() -> str:
    """`REDIS_URL`, or the embedded Valkey's address; in the form that redis-py and channels_redis take."""
    return os.environ.get("REDIS_URL") or unix_url(valkey_socket())


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
    """`BRIGADE_SECRET_KEY`, or the key in `var/secret.key`, made (mode 0600) by whoever comes first."""
    given = os.environ.get("BRIGADE_SECRET_KEY")
    if given:
        return given
    file = make_var_dir() / "secret.key"
    try:
        return _read_key(file)
    except FileNotFoundError:
        return _make_key(file)


def _read_key(file: Path) -> str:
    key = file.read_text(encoding="ascii").strip()
    if len(key) < 50:
        raise PlaceError(f"{file} holds no key of 50 characters or more: remove it, a new one is made")
    return key


def _make_key(file: Path) -> str:
    """Write a new key beside the file and link it there: a reader sees a whole key or none."""
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=".secret.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(48) + "\n")
        os.link(beside, file)
    except FileExistsError:
        pass  # another process was first: its key is the key
    finally:
        Path(beside).unlink()
    return _read_key(file)
