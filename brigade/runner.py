"""Run the whole app on one machine until Ctrl-C: `python -m brigade.runner`.

The program starts Valkey (a Redis server), unless `REDIS_URL` names another server. It then prepares the
database and starts the processes that `brigade.app_processes` defines. On the signal SIGUSR1 (`make
restart`), it replaces these processes one at a time. Environment variables configure the program. It prints
an error in one line and exits with code 2.

On a server, systemd runs the program with `--migrate` and passes the listening socket (`brigade.service`).
The option migrates the database, and adds neither the demo study nor an administrator. With it, the program
also starts while Redis or the database is away. Pages then say so, and the database is migrated later.
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
from collections.abc import Callable, Sequence
from typing import TextIO
from urllib.parse import urlsplit

from brigade import paths
from brigade.app_processes import (
    SMALL_MODEL_NAME,
    children_environment,
    experiment_worker,
    fork_server,
    people_worker,
    prepare_process,
    small_model_process,
    staff_process,
    valkey_process,
)
from brigade.app_processes import ticker_processes as tickers
from brigade.app_processes import web_processes as webs
from brigade.fork_server import CAN_FORK, LOOK_SECONDS, ForkServer
from brigade.listen_address import (
    Address,
    RunError,
    hold_instance_lock,
    listen_at,
    listening_socket,
    socket_address,
    write_instance_address,
)
from brigade.one_line_parser import OneLineParser
from brigade.paths import make_private_and_warn
from brigade.process_startup import report_ready
from brigade.process_supervisor import (
    START_SECONDS,
    ChildProcess,
    ProcessGroup,
    collect_orphans,
    keep_running,
    last_lines,
    run_once,
)
from brigade.restart import RestartRecord
from brigade.server_limits import raise_open_file_limit
from kitchen.infra.os_processes import die_with_parent, ticker_processes, web_processes
from kitchen.infra.redis_exposure import why_exposed

ONLY_MIGRATE = "--migrate"
"""The option without which the demo study and an administrator are created."""
DATABASE_AWAY = "manage.py: the database does not answer"
"""How the last line of `manage.py` begins if the database cannot be reached."""
PREPARE_PAUSE_SECONDS = 2.0
"""Seconds between two attempts to prepare a database that cannot be reached."""
DEATHS_AT_START = 4
"""A child that dies so often before the first page was served is given up."""

SECOND = "a key of Claude's is set, so Claude goes first: a condition that names “openai:” asks it"
"""The reason why the small model does not play by itself."""


class DatabaseAwayError(RunError):
    """Raised when the database cannot be prepared because it does not answer."""


def main() -> int:
    """Run the app until a signal ends it; return the exit code. A wrong option ends the program before it
    starts anything."""
    parser = OneLineParser(
        prog="python -m brigade.runner",
        description="Run the whole app on one machine until Ctrl-C.",
        allow_abbrev=False,
    )
    wanted = "only migrate the database, and start also while Redis or the database is away"
    parser.add_argument(ONLY_MIGRATE, action="store_true", help=wanted)
    parser.parse_args()
    os.chdir(paths.base_dir())
    raise_open_file_limit()
    if os.environ.get("MAKELEVEL"):
        die_with_parent(signal.SIGTERM)  # so that killing `make` ends all that it started
    wrong: BaseException | None = None
    try:
        paths.staff_socket_in_use()  # a relative path is refused, although `make run` has its own
        make_private_and_warn()
        with (
            hold_instance_lock(),
            listening_socket() as listener,
            listen_at(paths.staff_socket()) as staff_listener,
        ):
            shutil.rmtree(paths.metrics_dir(), ignore_errors=True)
            asyncio.run(run(listener, staff_listener))
    except* (RunError, OSError) as group:
        wrong = group
    while isinstance(wrong, BaseExceptionGroup):  # asyncio wraps errors in groups
        wrong = wrong.exceptions[0]
    print_line(str(wrong), sys.stderr) if wrong else print_line("stopped")
    return 2 if wrong else 0


async def run(listener: socket.socket, staff_listener: socket.socket) -> None:
    """Serve on the socket `listener` until a signal ends the app. The staff process uses `staff_listener`.
    All processes have ended on return."""
    asked, interrupted = asyncio.Event(), asyncio.Event()
    serving = asyncio.create_task(serve(listener, staff_listener, asked, interrupted))
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        interrupted.set()
        serving.cancel()

    loop.add_signal_handler(signal.SIGUSR1, asked.set)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def serve(
    listener: socket.socket,
    staff_listener: socket.socket,
    restart_requested: asyncio.Event,
    interrupted: asyncio.Event,
) -> None:
    """Start all processes, print the address, and keep the processes running. Replace them whenever
    `restart_requested` is set.

    If this task is cancelled, all processes are ended, Valkey last. They may finish their work, unless
    `interrupted` is set. Raises RunError if a process cannot start.
    """
    began, address = time.monotonic(), socket_address(listener)
    record = RestartRecord.begin_instance()  # before anybody can read which process runs here
    write_instance_address(address)
    environment = children_environment(address)
    environment[paths.STAFF_SOCKET_VARIABLE] = str(paths.staff_socket())
    model = small_model_process(environment)
    first, *others = webs(environment, listener.fileno(), configured_count(web_processes))
    clocks = tickers(environment, configured_count(ticker_processes))
    forks = fork_server(environment, listener.fileno(), staff_listener.fileno())
    async with asyncio.TaskGroup() as server, asyncio.TaskGroup() as programs:
        start_redis(server, environment)
        start_small_model(server, environment, model)
        with contextlib.ExitStack() as unprepared:
            unprepared.callback(forks.close)
            if CAN_FORK:
                forks.start()  # loads the app while the database is prepared
            is_prepared = await prepare_or_warn(environment)
            unprepared.pop_all()
        if CAN_FORK:
            programs.create_task(keep_running(forks, print_line))
            programs.create_task(collect_orphans())
        await wait_until_loaded(forks)
        crew = ProcessGroup(programs, print_line, forks.fork, interrupted)
        needed = [first, staff_process(environment, staff_listener.fileno()), people_worker(environment)]
        for child in needed:
            crew.keep(child)
        await wait_until_served(address, needed)
        if address.local != address.host:
            names = environment["BRIGADE_HOSTS"]
            print_line(f"reached from elsewhere only by the names in BRIGADE_HOSTS: {names}")
        seconds = time.monotonic() - began
        print_line(f"ready after {seconds:.1f} s; Ctrl-C stops it, logs are in {paths.log_dir()}")
        report_ready()
        for child in (*others, people_worker(environment, 2), *clocks, experiment_worker(environment)):
            crew.keep(child)  # nobody waits for these
        programs.create_task(crew.watch_memory())
        if not is_prepared:
            await prepare_when_back(environment)
        while await restart_requested.wait():
            restart_requested.clear()
            record.begin()
            record.end(await restart(crew, forks, environment))


def start_redis(server: asyncio.TaskGroup, environment: dict[str, str]) -> None:
    """Keep the embedded Valkey (a Redis server) running. If `REDIS_URL` names another server, check instead
    that this server answers.

    Print a warning if that server is on another machine and has no password. Raises RunError if it does not
    answer; with the option `--migrate`, print this and continue.
    """
    if paths.has_own_valkey():
        server.create_task(keep_running(valkey_process(environment), print_line))
        return
    try:
        check_redis()
    except RunError as error:
        if not only_migrates():
            raise
        print_line(f"{error}; starting all the same")
    if said := why_exposed(paths.redis_url()):
        print_line(said)


def start_small_model(
    server: asyncio.TaskGroup, environment: dict[str, str], model: ChildProcess | None
) -> None:
    """Keep the small language model running if `model`, its process, is not None. Print whether agents use
    it by default."""
    if model:
        server.create_task(keep_running(model, print_line))
        is_second = any(environment.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))
        used = SECOND if is_second else "it plays where no model is named"
        print_line(f"{SMALL_MODEL_NAME} is served; {used}")


async def restart(crew: ProcessGroup, forks: ForkServer, environment: dict[str, str]) -> bool:
    """Migrate the database, load the present code in the fork server, then replace the web processes and
    workers (`crew`) one after another. Return whether all were replaced. A failure is printed."""
    began = time.monotonic()
    print_line("restarting one after the other")
    try:
        await prepare(environment)
    except RunError as error:
        print_line(str(error))
        return False
    forks.let_end()
    await wait_until_loaded(forks)
    if await crew.exchange():
        print_line(f"all restarted after {time.monotonic() - began:.1f} s")
        return True
    return False


def configured_count(processes: Callable[[], int]) -> int:
    """Return the number of processes that `processes` reads from the environment. Raises RunError if it is
    invalid."""
    try:
        return processes()
    except ValueError as error:
        raise RunError(str(error)) from None


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print a line for the person at the terminal. Do nothing if the terminal was closed."""
    with contextlib.suppress(OSError, ValueError):
        print(f"brigade: {line}", file=stream or sys.stdout, flush=True)


def check_redis() -> None:
    """Raise RunError if the Redis server in `REDIS_URL` does not answer."""
    import redis

    where = urlsplit(paths.redis_url())
    try:
        redis.Redis.from_url(paths.redis_url(), socket_connect_timeout=3, socket_timeout=3).ping()
    except (redis.RedisError, ValueError) as error:
        shown = where.hostname or where.path
        raise RunError(f"REDIS_URL: no answer from {shown}: {type(error).__name__}") from None


async def prepare(environment: dict[str, str]) -> None:
    """Run `manage.py prepare`, which migrates the database and adds initial data and an administrator. With
    the option `--migrate`, only migrate. Raises DatabaseAwayError if the database does not answer, and
    RunError if it fails otherwise.

    The command itself prints the addresses and a new password, so that no other process sees the password.
    """
    child = prepare_process(environment, only_migrates())
    if await run_once(child):
        why = next(iter(last_lines(child.log, 1, since=child.log_start)), "no word why")
        if why.startswith(DATABASE_AWAY):
            raise DatabaseAwayError(why.removeprefix("manage.py: "))
        if why.startswith("manage.py: "):  # a variable is wrong, not the database
            raise RunError(why.removeprefix("manage.py: "))
        raise RunError(f"the database cannot be prepared: {why} (all of it in {child.log})")


def only_migrates() -> bool:
    """Return whether the option `--migrate` was given."""
    return ONLY_MIGRATE in sys.argv[1:]


async def prepare_or_warn(environment: dict[str, str]) -> bool:
    """Prepare the database (`prepare`), and return True. With the option `--migrate`, print it if the
    database does not answer, and return False. Raises RunError otherwise."""
    try:
        await prepare(environment)
    except DatabaseAwayError as error:
        if not only_migrates():
            raise
        print_line(f"{error}; starting all the same, and migrating it when it answers")
        return False
    return True


async def prepare_when_back(environment: dict[str, str]) -> None:
    """Try to prepare the database until it answers. Raises RunError if it answers and cannot be prepared."""
    while True:
        await asyncio.sleep(PREPARE_PAUSE_SECONDS)
        with contextlib.suppress(DatabaseAwayError):
            await prepare(environment)
            print_line("the database answers, and is prepared")
            return


async def wait_until_loaded(forks: ForkServer) -> None:
    """Wait until the fork server has loaded the app. Return also if it fails: programs then start by
    themselves."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while CAN_FORK and not forks.is_ready() and forks.deaths < DEATHS_AT_START:
                await asyncio.sleep(LOOK_SECONDS)


async def wait_until_served(address: Address, children: Sequence[ChildProcess]) -> None:
    """Wait until the app serves a page at `address`. Raises RunError if one of the processes `children`
    does not start."""
    while not await asyncio.to_thread(is_serving, address):
        for child in children:
            if child.deaths >= DEATHS_AT_START:
                raise RunError(f"{child.name} does not come up: see {child.log}")
        await asyncio.sleep(0.1)


def is_serving(address: Address) -> bool:
    """Return whether the app answers HTTP requests at this address. The path needs neither the database nor
    Redis, which may be away."""
    connection = http.client.HTTPConnection(address.local, address.port, timeout=0.5)
    try:
        connection.request("GET", "/health", headers={"Host": "localhost"})
        return connection.getresponse().status > 0
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
