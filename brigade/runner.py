"""`python -m brigade.runner`: the whole app on one machine, until Ctrl-C.

Valkey from its wheel on a unix socket (unless `REDIS_URL` names another server), the database prepared, a
daphne for each core on one listening socket that this process owns (connections queue while none runs), and
three Celery workers, two for people's co-players and one for experiments, and two programs that take the
steps of clocks (`brigade/ticker.py`). Whatever dies is started again
(`brigade/supervise.py`); on SIGUSR1 (`make restart`) daphne and workers are exchanged one after the other,
for those that the files make now (`brigade/crew.py`). With `BRIGADE_SMALL_MODEL` a language model is kept
alive, too (`brigade/small_model.py`). Configured by the environment only: `BRIGADE_HOST`,
`BRIGADE_PORT` (0 takes a free one), `BRIGADE_WEB`, and what the settings read. What cannot work is said in
one line, with the exit code 2.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO
from urllib.parse import urlsplit

from brigade import places
from brigade.address import Address, RunError, address_of, listen, note_instance, only_one, wanted_address
from brigade.crew import Crew
from brigade.limits import more_files
from brigade.parts import children_environment, experimenter, preparer, tickers, valkey, webs, worker
from brigade.private import say_private
from brigade.small_model import NAME, small_model
from brigade.supervise import Child, keep, last_lines, run_once
from kitchen.machine.cores import ticker_processes, web_processes
from kitchen.machine.parent import die_with_parent
from kitchen.machine.redis_access import open_to_others

DEATHS_AT_START = 4
"""A child that dies so often before the first page was served will not come up."""

SECOND = "a key of Claude's is set, so Claude goes first: a condition that names “openai:” asks it"
"""Why the small model does not play by itself."""


def main() -> int:
    """Run until asked to end; the exit code."""
    os.chdir(places.base_dir())
    more_files()
    if os.environ.get("MAKELEVEL"):
        die_with_parent(signal.SIGTERM)  # so that killing `make` ends all that it started
    wrong: BaseException | None = None
    try:
        say_private()
        with only_one(), listen(wanted_address()) as listener:
            shutil.rmtree(places.metrics_dir(), ignore_errors=True)
            asyncio.run(run(listener))
    except* (RunError, OSError) as group:
        wrong = group
    while isinstance(wrong, BaseExceptionGroup):  # as asyncio packs it
        wrong = wrong.exceptions[0]
    say(str(wrong), sys.stderr) if wrong else say("stopped")
    return 2 if wrong else 0


async def run(listener: socket.socket) -> None:
    """Serve until asked to end; all has ended then."""
    asked = asyncio.Event()
    serving = asyncio.create_task(serve(listener, asked))
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, asked.set)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def serve(listener: socket.socket, asked: asyncio.Event) -> None:
    """Start everything, say where it is and keep it alive; whenever it is asked for, exchange it. Cancelled,
    end it, Valkey last. RunError."""
    began, address = time.monotonic(), address_of(listener)
    note_instance(address)
    environment = children_environment(address)
    model = small_model(environment)
    first, *others = webs(environment, listener.fileno(), wanted(web_processes))
    clocks = tickers(environment, wanted(ticker_processes))
    async with asyncio.TaskGroup() as server, asyncio.TaskGroup() as programs:
        have_redis(server, environment)
        have_model(server, environment, model)
        await prepare(environment)
        crew = Crew(programs, say)
        await bring_up(crew, [first, worker(environment)], address)
        say_where(address, environment)
        say(f"ready after {time.monotonic() - began:.1f} s; Ctrl-C stops it, logs are in {places.log_dir()}")
        for child in (*others, worker(environment, 2), *clocks, experimenter(environment)):  # nobody waits
            crew.keep(child)
        while await asked.wait():
            asked.clear()
            await restart(crew, environment)


def have_redis(server: asyncio.TaskGroup, environment: dict[str, str]) -> None:
    """Keep a Valkey of our own alive, or see that the server that is named instead answers; if that is open
    to others, say so. RunError."""
    if places.has_own_valkey():
        server.create_task(keep(valkey(environment), say))
        return
    check_redis()
    if said := open_to_others(places.redis_url()):
        say(said)


def have_model(server: asyncio.TaskGroup, environment: Mapping[str, str], model: Child | None) -> None:
    """Keep the small model alive where there is one to be, and say whether it is asked first."""
    if model:
        server.create_task(keep(model, say))
        is_second = any(environment.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
        say(f"{NAME} is served; " + (SECOND if is_second else "it plays where no model is named"))


async def bring_up(crew: Crew, needed: Sequence[Child], address: Address) -> None:
    """Have these kept alive, and wait until they serve a page; RunError when one will not come up."""
    for child in needed:
        crew.keep(child)
    await until_served(address, needed)


def say_where(address: Address, environment: Mapping[str, str]) -> None:
    """Say by which names it is reached, where the address alone does not tell."""
    if address.local != address.host:
        say(f"reached from elsewhere only by the names in BRIGADE_HOSTS: {environment['BRIGADE_HOSTS']}")


async def restart(crew: Crew, environment: dict[str, str]) -> None:
    """Migrate, then exchange web processes and workers one after the other; what goes wrong is said, and what
    runs goes on."""
    began = time.monotonic()
    say("restarting one after the other")
    try:
        await prepare(environment)
    except RunError as error:
        say(str(error))
    else:
        if await crew.exchange():
            say(f"all restarted after {time.monotonic() - began:.1f} s")


def wanted(processes: Callable[[], int]) -> int:
    """How many of a kind are to run; RunError."""
    try:
        return processes()
    except ValueError as error:
        raise RunError(str(error)) from None


def say(line: str, stream: TextIO | None = None) -> None:
    """A line for the person at the terminal, who may have gone."""
    with contextlib.suppress(OSError, ValueError):
        print(f"brigade: {line}", file=stream or sys.stdout, flush=True)


def check_redis() -> None:
    """RunError if the server that `REDIS_URL` names does not answer."""
    import redis

    where = urlsplit(places.redis_url())
    try:
        redis.Redis.from_url(places.redis_url(), socket_connect_timeout=3, socket_timeout=3).ping()
    except (redis.RedisError, ValueError) as error:
        shown = where.hostname or where.path
        raise RunError(f"REDIS_URL: no answer from {shown}: {type(error).__name__}") from None


async def prepare(environment: dict[str, str]) -> None:
    """Have `manage.py prepare` migrate, seed and see to an administrator. It prints where all is, and a new
    password, by itself: nobody else gets to know it. RunError."""
    child = preparer(environment)
    if await run_once(child):
        why = next(iter(last_lines(child.log, 1)), "no word why")
        if why.startswith("manage.py: "):  # a variable is wrong, not the database
            raise RunError(why.removeprefix("manage.py: "))
        raise RunError(f"the database cannot be prepared: {why} (all of it in {child.log})")


async def until_served(address: Address, children: Sequence[Child]) -> None:
    """Wait until a page is served; RunError when a child will not come up."""
    while not await asyncio.to_thread(serves, address):
        for child in children:
            if child.deaths >= DEATHS_AT_START:
                raise RunError(f"{child.name} does not come up: see {child.log}")
        await asyncio.sleep(0.1)


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


if __name__ == "__main__":
    sys.exit(main())
