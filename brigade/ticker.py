"""Run the clocks of real-time episodes (games in which time passes by itself): `python -m brigade.ticker`.

At each tick of its clock, an episode advances by one step. The program loads all code once and then forks
`BRIGADE_TICKERS` worker processes, which share this memory. It replaces a worker that dies. Run two of these
programs on a machine, so that one continues if the other dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time

import django

from brigade.process_startup import report_ready, share_metrics, share_one_heap
from kitchen.infra.os_processes import TICKER_NICENESS, parent_death_hook, raise_priority, ticker_processes

log = logging.getLogger(__name__)

FAULT_WAIT = 1.0
"""Seconds before a process that ended by itself is replaced."""
ENDS = (signal.SIGINT, signal.SIGTERM)


class TickerProcesses:
    """The worker processes that compute the steps of timed episodes."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._ending = False

    def run(self, count: int) -> None:
        """Start `count` worker processes with a fork, and replace each one that dies. Return after a signal
        has ended all of them."""
        for number in ENDS:
            signal.signal(number, lambda *_: self.end())
        for _ in range(count):
            self._fork()
        report_ready()
        while self._running:
            pid, status = os.wait()
            self._running.discard(pid)
            if not self._ending:
                log.warning("a process of the clock ended (%s): another one is started", status)
                time.sleep(FAULT_WAIT if os.WIFEXITED(status) else 0)
                self._fork()

    def end(self) -> None:
        """Ask all worker processes to end."""
        self._ending = True
        for pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _fork(self) -> None:
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # until the processes to end are known
        pid = 0 if self._ending else os.fork()
        if not pid and not self._ending:
            parent_death_hook(parent)()
            _work()
        self._running |= {pid} - {0}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def _work() -> None:
    """Compute the steps of timed episodes in a forked process, until it ends."""
    code = 1
    try:
        share_metrics()
        asyncio.run(take_ticks())
        code = 0
    except BaseException:
        log.exception("a process of the clock failed")
    finally:
        logging.shutdown()
        os._exit(code)


async def take_ticks() -> None:
    """Compute the steps of timed episodes in this process, until a signal ends the process."""
    from channels.layers import get_channel_layer  # the apps are loaded by now

    from kitchen.realtime.clock_owner import ClockOwner

    taking = asyncio.create_task(ClockOwner(get_channel_layer()).run())
    for number in ENDS:
        asyncio.get_running_loop().add_signal_handler(number, taking.cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    with contextlib.suppress(asyncio.CancelledError):
        await taking


def main() -> int:
    """Run until a signal ends this process; return the exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    raise_priority(TICKER_NICENESS)
    share_one_heap()
    share_metrics()
    django.setup()
    import kitchen.realtime.clock_owner  # noqa: F401 - loaded once for all processes

    try:
        count = ticker_processes()
    except ValueError as error:
        print(f"brigade: {error}", file=sys.stderr)
        return 2
    gc.collect()
    gc.freeze()
    TickerProcesses().run(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
