"""Attack a running app from a process of its own: `with Attackers(load, plan) as attackers`.

The process is `python -m tests.live.attack_clients NAME`. It reads the plan, an object of JSON, from the
first line of its input, and says that it begins. It answers each later line with what was sent and
answered so far.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any, Self

from brigade.paths import base_dir
from kitchen.infra.os_processes import parent_death_hook
from tests.live.attack_requests import REQUESTS, request_without_end
from tests.live.attack_sockets import SOCKETS, run_sockets
from tests.live.attack_tally import Tally
from tests.live.hostile_files import HOSTILE_FILES

PATIENCE = 60.0
"""Seconds to wait for a report. The machine may be busy."""


class Attackers:
    """Programs that attack in another process until the block ends."""

    def __init__(self, name: str, plan: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._name, self._plan, self._environment = name, plan, dict(environment)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.attack_clients", self._name],
            cwd=base_dir(),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=parent_death_hook(os.getpid()),
        )
        self._write(json.dumps(self._plan))
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    async def begun(self) -> None:
        """Wait until they attack. Raises RuntimeError if the process ends, and TimeoutError."""
        await asyncio.wait_for(asyncio.to_thread(self._read), PATIENCE)

    async def report(self) -> dict[str, Any]:
        """Return what was sent and answered so far (`Tally.report`). Raises the errors of `begun`."""
        self._write("")
        return await asyncio.wait_for(asyncio.to_thread(self._read), PATIENCE)

    def _read(self) -> dict[str, Any]:
        output: IO[str] = self._process.stdout  # type: ignore[assignment]
        if not (line := output.readline()):
            raise RuntimeError(f"{self._name}: the attackers have ended, see above")
        report: dict[str, Any] = json.loads(line)
        return report

    def _write(self, line: str) -> None:
        print(line, file=self._process.stdin, flush=True)


# In the process


def begin(name: str, plan: Mapping[str, Any], tally: Tally) -> None:
    """Start the threads of this attack."""
    if name in REQUESTS:
        for number in range(plan["clients"]):
            _start(request_without_end, REQUESTS[name], plan, number, tally)
    if name in SOCKETS:
        _start(run_sockets, SOCKETS[name], plan, tally)


def _start(act: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=act, args=arguments, daemon=True).start()


def main(name: str) -> None:
    """Attack until the input ends."""
    tally = Tally()
    plan = json.loads(sys.stdin.readline())
    if name == "files":
        _ = [make() for make in HOSTILE_FILES.values()]
    print(json.dumps(tally.report()), flush=True)
    begin(name, plan, tally)
    for _ in sys.stdin:
        print(json.dumps(tally.report()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # its threads never end
