"""`python -m brigade.ticker`: takes the steps of episodes that a clock plays, until asked to end.

The work is done by `BRIGADE_TICKERS` processes that are forked off once all is loaded, so that one that dies
is there again at once, and they share their memory. There are two such programs (`brigade.parts.tickers`), so
that one goes on where the other dies whole. They share what there is to do with those of other machines, too
(`kitchen.ticking.owner`). They end with this one, however that ends (Linux).
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

from brigade.memory import share_one_heap
from brigade.notify import say_ready
from brigade.sharing import count_together
from kitchen.machine.cores import ticker_processes
from kitchen.machine.parent import tied_to

log = logging.getLogger(__name__)

FAULT_WAIT = 1.0
"""Seconds before another one takes the place of one that ended by itself."""
ENDS = (signal.SIGINT, signal.SIGTERM)


class Crew:
    """The processes that do the work."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._ending = False

    def run(self, count: int) -> None:
        """Keep so many at work until asked to end; all have ended then."""
        for number in ENDS:
            signal.signal(number, lambda *_: self.end())
        for _ in range(count):
            self._fork()
        say_ready()
        while self._running:
            pid, status = os.wait()
            self._running.discard(pid)
            if not self._ending:
                log.warning("a process of the clock ended (%s): another one is started", status)
                time.sleep(FAULT_WAIT if os.WIFEXITED(status) else 0)
                self._fork()

    def end(self) -> None:
        """Ask all to end."""
        self._ending = True
        for pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _fork(self) -> None:
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # until it is known whom to ask
        pid = 0 if self._ending else os.fork()
        if not pid and not self._ending:
            tied_to(parent)()
            _work()
        self._running |= {pid} - {0}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def _work() -> None:
    """What a forked process does; it ends with it."""
    code = 1
    try:
        count_together()
        asyncio.run(take_ticks())
        code = 0
    except BaseException:
        log.exception("a process of the clock failed")
    finally:
        logging.shutdown()
        os._exit(code)


async def take_ticks() -> None:
    """Take ticks until asked to end."""
    from channels.layers import get_channel_layer  # the apps are loaded by now

    from kitchen.ticking.owner import Owner

    taking = asyncio.create_task(Owner(get_channel_layer()).run())
    for number in ENDS:
        asyncio.get_running_loop().add_signal_handler(number, taking.cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
    with contextlib.suppress(asyncio.CancelledError):
        await taking


def main() -> int:
    """Run until asked to end; the exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    share_one_heap()
    count_together()
    django.setup()
    import kitchen.ticking.owner  # noqa: F401 - loaded once for all

    try:
        count = ticker_processes()
    except ValueError as error:
        print(f"brigade: {error}", file=sys.stderr)
        return 2
    gc.collect()
    gc.freeze()
    Crew().run(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
