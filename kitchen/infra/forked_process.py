"""Represent a forked process as `subprocess` represents a program that it has started. Imports no Django."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time

LOOK_SECONDS = 0.02
"""Seconds between two checks whether the process has ended."""


class ForkedProcess:
    """A forked process, which is a child of this process. It has the interface of a `subprocess` process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs. It is 0 if other code has collected it."""
        with self._lock:
            if self.returncode is None:
                try:
                    ended, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:
                    ended, status = self.pid, 0
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
            return self.returncode

    def kill(self) -> None:
        """Send the signal SIGKILL, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code when the process has ended. Raises subprocess.TimeoutExpired after `timeout`
        seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is None:
                self._wait_for_end()
            elif time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            else:
                time.sleep(LOOK_SECONDS)
        return code

    def _wait_for_end(self) -> None:
        """Wait, and leave the exit code to `poll`. Another thread may have collected it already."""
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
