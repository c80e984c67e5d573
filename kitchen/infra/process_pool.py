"""Run CPU-bound calls in a few child processes.

A child imports only the code that its call needs. A process that has loaded the app can fork its first
children (`ProcessPool.fork_children`), which then import nothing. If a child is killed, its current call
fails, and the next call gets a new child. The same holds if its call takes too long or needs too much memory.
Children end with their parent. Imports no Django.
"""

# Other libraries do not offer this: loky 3.7 fails all calls after one killed child;
# concurrent.futures and pebble import the parent's main module into each child.

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import queue
import select
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import Any, TypeVar, TypeVarTuple

from kitchen.infra import process_pool_worker
from kitchen.infra.forked_process import ForkedProcess
from kitchen.infra.os_processes import planner_processes

log = logging.getLogger(__name__)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MAX_WAITING_CALLS = 200
"""Maximum number of calls that wait for a child."""
CALL_TIMEOUT_SECONDS = 5.0
"""Seconds after which a call fails and its child is killed."""
WORKER_MODULE = "kitchen.infra.process_pool_worker"


class ProcessPoolError(Exception):
    """A call was not answered.

    ├─ BusyError           too many calls wait: it was refused
    ├─ ChildDiedError      its child ended during the call
    ├─ ChildMemoryError    it needed too much memory: its child was killed
    └─ ChildTimeoutError   it took too long: its child was killed
    """


class BusyError(ProcessPoolError):
    """The call was refused because too many calls wait. The caller can do the work in another way."""


class ChildDiedError(ProcessPoolError):
    """The child process ended before it answered the call."""


class ChildMemoryError(ProcessPoolError):
    """The call needed more memory than its pool allows, so its child process was killed."""


class ChildTimeoutError(ProcessPoolError):
    """The call took too long, so its child process was killed."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a child process may use."""

    seconds: float = CALL_TIMEOUT_SECONDS
    """Seconds of a call."""
    memory: int = 0
    """Bytes that a call may need, besides the memory of the child's program. 0: no limit."""
    nice: int = 0
    """How much less the child's claim to the processor is than that of its parent, from 0 to 19."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call in serialised form, with the future for its result."""

    asked: bytes
    future: Future[Any]


class ProcessPool:
    """A few child processes that run calls. The child processes are started by `fork_children`, by `warm_up`,
    or at the first call."""

    def __init__(
        self,
        processes: Callable[[], int] = planner_processes,
        *,
        waiting: int = MAX_WAITING_CALLS,
        limits: ChildLimits = ChildLimits(),
    ) -> None:
        """Set the limits of the pool. `processes` returns the number of child processes. `waiting` is the
        number of calls that may wait."""
        self._processes, self._most, self.limits = processes, waiting, limits
        self.forget()

    def forget(self) -> None:
        """Reset the pool to a state without child processes. Called in a forked process, because the children
        belong to its parent."""
        self._calls: queue.Queue[_Call] = queue.Queue(self._most)
        self._lock, self._started = threading.Lock(), False
        self._forked: list[_Child] = []

    def fork_children(self) -> None:
        """Start the children now, by forking this process. They share the code that it has loaded. Do nothing
        if the children run already.

        If a fork fails, or is unsafe because this process has several threads, the log says so. The missing
        children are then started when they are needed.
        """
        if sys.platform != "linux" or self._started or self._forked:
            return
        if (threads := threading.active_count()) > 1:
            log.warning("no child processes are forked, because this process has %s threads", threads)
            return
        try:
            for _ in range(self._processes()):
                self._forked.append(_Child(self.limits, _fork_child))
        except OSError as error:
            log.warning("only %s child processes could be forked: %s", len(self._forked), error)

    def warm_up(self, function: Callable[[], object]) -> None:
        """Start the children in the background, if they do not run yet. Each child first calls `function`,
        for example to import modules."""
        self._start(pickle.dumps((function, ())))

    def submit_to_each(self, function: Callable[[*Ts], object], /, *arguments: *Ts) -> None:
        """Call `function(*arguments)` once for each child, in the background, to load something. Idle
        children take one call each. Nobody gets the results; too many waiting calls are dropped."""
        with contextlib.suppress(BusyError):
            for _ in range(self._processes()):
                self.submit(function, *arguments)

    def submit(self, function: Callable[[*Ts], T], /, *arguments: *Ts) -> Future[T]:
        """Call `function(*arguments)` in a child process, and return a future of its result.

        The future raises the function's error, or ProcessPoolError if the child fails. Raises BusyError at
        once if too many calls wait, and the error of `pickle` if the arguments cannot be pickled.
        """
        call = _Call(pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL), Future())
        self._start()
        try:
            self._calls.put_nowait(call)
        except queue.Full:
            raise BusyError(f"{self._most} calls wait already") from None
        return call.future

    def _start(self, first: bytes = b"") -> None:
        with self._lock:
            if not self._started:
                missing = self._processes() - len(self._forked)
                for child in [*self._forked, *missing * [None]]:
                    call = _Call(first, Future()) if first else None
                    arguments = (self._calls, lambda: self.limits, call, child)
                    threading.Thread(target=_send_calls, args=arguments, name="apart", daemon=True).start()
                self._started = True


def _send_calls(
    calls: queue.Queue[_Call], limits: Callable[[], ChildLimits], call: _Call | None, child: _Child | None
) -> None:
    """Send calls to a child process, one after another, beginning with `call`. Runs in a separate thread for
    each child. Without a `child`, the first call starts one.

    The thread never ends, because the system kills a child when the thread that started it ends.
    """
    while True:
        call = call or calls.get()
        if call.future.set_running_or_notify_cancel():
            try:
                child = child if child and child.alive else _Child(limits(), _start_child)
                done, value = pickle.loads(child.ask(call.asked))  # noqa: S301 - of our own child
                if not done:
                    raise child.killed_for_memory() if isinstance(value, MemoryError) else value
                call.future.set_result(value)
            except Exception as error:  # the caller that waits raises it
                call.future.set_exception(error)
        call = None


class _Child:
    """A child process that answers one call at a time."""

    def __init__(
        self,
        limits: ChildLimits,
        start: Callable[[Connection, ChildLimits], subprocess.Popen[bytes] | ForkedProcess],
    ) -> None:
        """Start the process with the function `start`: `_start_child` or `_fork_child`. Raises OSError if it
        cannot be started."""
        self._limits = limits
        self._line, theirs = Pipe()
        self._process = start(theirs, limits)
        theirs.close()
        self._ears = select.poll()
        self._ears.register(self._line.fileno(), select.POLLIN)

    @property
    def alive(self) -> bool:
        """Return True if the process runs."""
        return self._process.poll() is None

    def ask(self, request: bytes) -> bytes:
        """Send a call to the child process and return its answer. Raises ChildDiedError or ChildTimeoutError,
        after which the process has ended."""
        try:
            self._line.send_bytes(request)
            if self._ears.poll(self._limits.seconds * 1000):
                return self._line.recv_bytes()
        except (EOFError, OSError):
            raise ChildDiedError(f"its process {self._end()}") from None
        self._end()
        raise ChildTimeoutError(f"no answer within {self._limits.seconds:g} s")

    def killed_for_memory(self) -> ChildMemoryError:
        """Kill the process, whose call had not enough memory, and return the error to raise."""
        self._end()
        return ChildMemoryError(f"it needs more than {self._limits.memory // 2**20} MiB")

    def _end(self) -> str:
        self._process.kill()
        code = self._process.wait()
        self._line.close()
        return f"ended with code {code}"


def _start_child(line: Connection, limits: ChildLimits) -> subprocess.Popen[bytes]:
    """Start a child process that is connected to the other end of `line`. It has the same module search path
    as this process."""
    found = os.pathsep.join(path or "." for path in sys.path)
    numbers = line.fileno(), os.getpid(), limits.memory, limits.nice
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", "-m", WORKER_MODULE, *map(str, numbers)],
        env={**os.environ, "PYTHONPATH": found},
        stdin=subprocess.DEVNULL,
        pass_fds=[line.fileno()],
    )


def _fork_child(line: Connection, limits: ChildLimits) -> ForkedProcess:
    """Fork a child process that is connected to the other end of `line`. Only the parent returns."""
    parent = os.getpid()
    if pid := os.fork():
        return ForkedProcess(pid)
    code = 1
    try:
        process_pool_worker.run_forked(line.fileno(), parent, limits.memory, limits.nice)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


_pool = ProcessPool()
os.register_at_fork(after_in_child=_pool.forget)

fork_children = _pool.fork_children
"""`ProcessPool.fork_children` of this process's pool for agents."""
submit = _pool.submit
"""`ProcessPool.submit` of this process's pool for agents."""
submit_to_each = _pool.submit_to_each
"""`ProcessPool.submit_to_each` of this process's pool for agents."""
warm_up = _pool.warm_up
"""`ProcessPool.warm_up` of this process's pool for agents."""
