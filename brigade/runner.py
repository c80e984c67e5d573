"""`python -m brigade.runner`: the whole app on one machine, until Ctrl-C.

Valkey from its wheel on a unix socket (unless `REDIS_URL` names another server), the database prepared,
daphne on a listening socket that this process owns (connections queue while daphne is started again), and
two Celery workers, for people's co-players and for experiments. Whatever dies is started again. Configured by
the environment only: `BRIGADE_HOST`, `BRIGADE_PORT` (0 takes a free one), and what the settings read.

Errors::

    Exception
    └── RunError   the app cannot run here; the message is one line for a person, the exit code is 2
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TextIO
from urllib.parse import urlsplit

from brigade import places
from brigade.address import Address, RunError, address_of, listen, note_instance, only_one, wanted_address
from brigade.parts import children_environment, experimenter, log_of, python, valkey, web, worker
from brigade.prepared import is_prepared, note_prepared
from brigade.supervise import Child, Keeper, Signals, die_with_parent, last_lines, spawn

DEATHS_AT_START = 4
"""A child that dies so often before the first page was served will not come up."""


def main() -> int:
    """Run until asked to end; the exit code."""
    os.chdir(places.base_dir())
    if os.environ.get("MAKELEVEL"):
        die_with_parent(signal.SIGTERM)  # so that killing `make` ends all that it started
    try:
        with only_one(), Signals() as signals:
            return run(Keeper(signals, say))
    except RunError as error:
        say(str(error), sys.stderr)
    except OSError as error:
        say(explain(error), sys.stderr)
    return 2


def run(keeper: Keeper) -> int:
    """Start everything, say where it is, keep it alive, stop it; the exit code."""
    began = time.monotonic()
    with listen(wanted_address()) as listener:
        address = address_of(listener)
        note_instance(address)
        environment = children_environment(address)
        try:
            keeper.add(valkey(environment)) if places.has_own_valkey() else check_redis()
            news = prepare_and_start(keeper, environment, listener)
            wait_until_served(keeper, address)
            if not keeper.ending:
                greet(address, environment, news, time.monotonic() - began)
                keeper.add(experimenter(environment))  # last: nobody waits for it
            keeper.watch()
            say("stopping")
        finally:
            keeper.stop()
    say("stopped")
    return 0


def say(line: str, stream: TextIO | None = None) -> None:
    """A line for the person at the terminal, who may have gone."""
    with contextlib.suppress(OSError, ValueError):
        print(f"brigade: {line}", file=stream or sys.stdout, flush=True)


def explain(error: OSError) -> str:
    """What went wrong with a file or folder, in one line."""
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        where = error.filename or places.var_dir()
        return f"cannot write {where}: give this user the right to, or set BRIGADE_VAR to another folder"
    return " ".join(str(error).split())


def check_redis() -> None:
    """RunError if the server that `REDIS_URL` names does not answer."""
    import redis

    where = urlsplit(places.redis_url())
    try:
        redis.Redis.from_url(places.redis_url(), socket_connect_timeout=3, socket_timeout=3).ping()
    except (redis.RedisError, ValueError) as error:
        shown = where.hostname or where.path
        raise RunError(f"REDIS_URL: no answer from {shown}: {type(error).__name__}") from None


def prepare_and_start(keeper: Keeper, environment: dict[str, str], listener: socket.socket) -> list[str]:
    """Prepare the database and start the app: side by side where the database was prepared before for this
    very version, else one after the other. What `prepare` returns."""
    ready = is_prepared()
    if ready:
        start_app(keeper, environment, listener)
    news = prepare(keeper, environment)
    if not ready:
        start_app(keeper, environment, listener)
    if not keeper.ending:
        note_prepared()
    return news


def prepare(keeper: Keeper, environment: dict[str, str]) -> list[str]:
    """Have `manage.py prepare` migrate, seed and see to an administrator; the lines it prints, without those
    about a new administrator: these are said at once, for whatever fails later, they cannot be had again.
    RunError."""
    log = log_of("prepare")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as errors:
        process = spawn(python("manage.py", "prepare"), environment, output=subprocess.PIPE, errors=errors)
    keeper.watch(until=lambda: process.poll() is not None)
    if keeper.ending:
        process.kill()
    printed = (process.communicate()[0] or b"").decode(errors="replace")
    secret, news = told_apart(printed.splitlines())
    say_secret(secret)
    if process.returncode and not keeper.ending:
        why = next(iter(last_lines(log, 1)), "no word why")
        if why.startswith("manage.py: "):  # a variable is wrong, not the database
            raise RunError(why.removeprefix("manage.py: "))
        raise RunError(f"the database cannot be prepared: {why} (all of it in {log})")
    return news


def told_apart(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines about a new administrator, and the others."""
    secret = [line for line in lines if line.startswith("admin ") and ": " in line]
    return secret, [line for line in lines if line not in secret]


def say_secret(lines: Sequence[str]) -> None:
    """Say who the new administrator is, if there is one, and how to get another password."""
    said = dict(line.split(": ", 1) for line in lines)
    for name, value in said.items():
        say_value(name, value)
    if said:
        again = f".venv/bin/python manage.py changepassword {said.get('admin name', 'admin')}"
        say_value("another one, if it gets lost", again)


def start_app(keeper: Keeper, environment: dict[str, str], listener: socket.socket) -> None:
    """Start what serves pages and what plays, unless asked to end meanwhile."""
    if keeper.ending:
        return
    keeper.add(web(environment, listener.fileno()))
    keeper.add(worker(environment))


# Until it is there


def wait_until_served(keeper: Keeper, address: Address) -> None:
    """Watch until a page is served; RunError when a child will not come up."""
    keeper.watch(until=lambda: given_up(keeper.children) or serves(address), every=0.1)
    for child in keeper.children:
        if child.deaths >= DEATHS_AT_START:
            raise RunError(f"{child.name} does not come up: see {child.log}")


def given_up(children: Sequence[Child]) -> bool:
    """Whether some child dies again and again."""
    return any(child.deaths >= DEATHS_AT_START for child in children)


def serves(address: Address) -> bool:
    """Whether a page comes from there, any page."""
    connection = http.client.HTTPConnection(address.local, address.port, timeout=0.5)
    try:
        connection.request("GET", "/", headers={"Host": "localhost"})
        return connection.getresponse().status > 0
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def greet(address: Address, environment: dict[str, str], news: Sequence[str], seconds: float) -> None:
    """Say where everything is. What `prepare` printed is `name: /path or words`, a line each."""
    base = environment["BRIGADE_URL"].rstrip("/")
    say(f"ready after {seconds:.1f} s; Ctrl-C stops it, logs are in {places.log_dir()}")
    for line in news:
        name, _, value = line.partition(": ")
        say_value(name, base + value if value.startswith("/") else value)
    if address.local != address.host:
        say(f"  reached from elsewhere only by the names in BRIGADE_HOSTS: {environment['BRIGADE_HOSTS']}")


def say_value(name: str, value: str) -> None:
    """One line of a list."""
    say(f"  {name + ':':<34} {value}")


if __name__ == "__main__":
    sys.exit(main())
