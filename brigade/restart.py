"""Ask the running app to replace its processes one at a time: `python -m brigade.restart [--wait]`.

The command sends the signal SIGUSR1 to the instance that runs in this folder (`brigade.runner`). With the
option `--wait`, it returns when that instance has replaced them. The instance counts its restarts in the file
`restarts`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from brigade import paths
from brigade.listen_address import RunError, running_process
from brigade.one_line_parser import OneLineParser

WAIT = "--wait"
LOOK_SECONDS = 0.2
"""Seconds between two looks whether the restart has ended."""


def record_file() -> Path:
    """Return the path of the file in which a running instance counts its restarts."""
    return paths.var_dir() / "restarts"


@dataclass
class RestartRecord:
    """How many restarts of the running instance have begun and ended, and whether the last one succeeded."""

    begun: int = 0
    ended: int = 0
    succeeded: bool = True

    @classmethod
    def begin_instance(cls) -> Self:
        """Return the empty record of an instance that starts, and write it. The record of an earlier instance
        may have the same process id, as it has in a container."""
        record = cls()
        record._write()
        return record

    def begin(self) -> None:
        """Count a restart that begins now."""
        self.begun += 1
        self._write()

    def end(self, succeeded: bool) -> None:
        """Count the end of the restart, and store whether it replaced all processes."""
        self.ended, self.succeeded = self.begun, succeeded
        self._write()

    def _write(self) -> None:
        beside = record_file().with_name("restarts.new")
        beside.write_text(f"{os.getpid()} {self.begun} {self.ended} {int(self.succeeded)}\n")
        beside.replace(record_file())

    @classmethod
    def read(cls, pid: int) -> Self:
        """Return what the instance with this process id wrote, or an empty record if it wrote nothing."""
        try:
            writer, begun, ended, succeeded = map(int, record_file().read_text().split())
        except (OSError, ValueError):
            return cls()
        return cls(begun, ended, bool(succeeded)) if writer == pid else cls()


def wait_for_restart(pid: int, before: RestartRecord) -> bool:
    """Wait until a restart has ended that began after `before` was read. Return whether it succeeded. Raises
    ProcessLookupError if the instance, which has the process id `pid`, has ended."""
    while (now := RestartRecord.read(pid)).ended <= before.begun:
        os.kill(pid, 0)
        time.sleep(LOOK_SECONDS)
    return now.succeeded


def main() -> int:
    """Send the signal SIGUSR1 to the instance that runs in this folder. The instance then replaces its
    processes.

    Return the exit code: 0, 1 if `--wait` was given and not all were replaced, or 2 after one line on stderr
    if no instance runs here. A wrong option ends the program in the same way, before the signal is sent.
    """
    parser = OneLineParser(
        prog="python -m brigade.restart",
        description="Replace the processes of the instance that runs in this folder.",
        allow_abbrev=False,
    )
    parser.add_argument(WAIT, action="store_true", help="return when all processes have been replaced")
    asked = parser.parse_args()
    try:
        pid = running_process()
        before = RestartRecord.read(pid)
        os.kill(pid, signal.SIGUSR1)
        if asked.wait:
            return 0 if wait_for_restart(pid, before) else 1
    except (RunError, OSError) as error:
        print(f"brigade: {error}", file=sys.stderr)
        return 2
    print("brigade: asked to restart one program after the other; it says how far it is where it runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
