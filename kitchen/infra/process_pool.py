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
import select
import subprocess
import sys
import threading
import traceback
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
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
LOAD_TIMEOUT_SECONDS = 30.0
"""The same for a call that loads something in each child."""
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
    seconds: float | None = None
    """Seconds after which it fails, if not those of the pool's limits."""


class _CallQueue:
    """The calls that wait: those for any child, and those for the child with a number."""

    def __init__(self, most: int) -> None:
        self._most, self._changed = most, threading.Condition()
        self._for_any, self._for_one = deque[_Call](), defaultdict[int, deque[_Call]](deque)

    def put(self, call: _Call) -> None:
        """Add a call for any child. Raises BusyError if too many wait."""
        with self._changed:
            if len(self._for_any) >= self._most:
                raise BusyError(f"{self._most} calls wait already")
            self._for_any.append(call)
            self._changed.notify_all()

    def put_for(self, child: int, call: _Call) -> None:
        """Add a call for this child. Raises BusyError if too many wait."""
        with self._changed:
            if len(self._for_one[child]) >= self._most:
                raise BusyError(f"{self._most} calls wait already")
            self._for_one[child].append(call)
            self._changed.notify_all()

    def get(self, child: int) -> _Call:
        """Wait for the next call of this child, and remove it."""
        with self._changed:
            self._changed.wait_for(lambda: self._for_one[child] or self._for_any)
            return (self._for_one[child] or self._for_any).popleft()


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
        self._calls = _CallQueue(self._most)
        self._lock = threading.Lock()
        self._number = 0
        """Number of children that were started."""
        self._forked: list[_Child] = []

    def fork_children(self) -> None:
        """Start the children now, by forking this process. They share the code that it has loaded. Do nothing
        if the children run already.

        If a fork fails, or is unsafe because this process has several threads, the log says so. The missing
        children are then started when they are needed.
        """
        if sys.platform != "linux" or self._number or self._forked:
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

    def submit_to_each(self, function: Callable[[*Ts], object], /, *arguments: *Ts) -> list[Future[object]]:
        """Call `function(*arguments)` once in each child, before its next other call, to load something.
        Return a future for each child. Nothing is called if too many calls wait."""
        asked = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        calls = [_Call(asked, Future(), LOAD_TIMEOUT_SECONDS) for _ in range(self._start())]
        with contextlib.suppress(BusyError):
            for child, call in enumerate(calls):
                self._calls.put_for(child, call)
            return [call.future for call in calls]
        return []

    def submit(self, function: Callable[[*Ts], T], /, *arguments: *Ts) -> Future[T]:
        """Call `function(*arguments)` in a child process, and return a future of its result.

        The future raises the function's error, or ProcessPoolError if the child fails. Raises BusyError at
        once if too many calls wait, and the error of `pickle` if the arguments cannot be pickled.
        """
        call = _Call(pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL), Future())
        self._start()
        self._calls.put(call)
        return call.future

    def _start(self, first: bytes = b"") -> int:
        """Start the children, if they do not run yet. Return their number."""
        with self._lock:
            if not self._number:
                missing = self._processes() - len(self._forked)
                children: list[_Child | None] = [*self._forked, *missing * [None]]
                for number, child in enumerate(children):
                    call = _Call(first, Future()) if first else None
                    get = partial(self._calls.get, number)
                    arguments = (get, lambda: self.limits, call, child)
                    threading.Thread(target=_send_calls, args=arguments, name="apart", daemon=True).start()
                self._number = len(children)
            return self._number


def _send_calls(
    get: Callable[[], _Call], limits: Callable[[], ChildLimits], call: _Call | None, child: _Child | None
) -> None:
    """Send calls to a child process, one after another, beginning with `call`. Runs in a separate thread for
    each child. Without a `child`, the first call starts one.

    The thread never ends, because the system kills a child when the thread that started it ends.
    """
    while True:
        call = call or get()
        if call.future.set_running_or_notify_cancel():
            try:
                child = child if child and child.alive else _Child(limits(), _start_child)
                done, value = pickle.loads(child.ask(call.asked, call.seconds))  # noqa: S301 - our own child
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

    def ask(self, request: bytes, seconds: float | None = None) -> bytes:
        """Send a call to the child process and return its answer. `seconds` replaces those of its limits.
        Raises ChildDiedError or ChildTimeoutError, after which the process has ended."""
        seconds = seconds or self._limits.seconds
        try:
            self._line.send_bytes(request)
            if self._ears.poll(seconds * 1000):
                return self._line.recv_bytes()
        except (EOFError, OSError):
            raise ChildDiedError(f"its process {self._end()}") from None
        self._end()
        raise ChildTimeoutError(f"no answer within {seconds:g} s")

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
