"""Start a server that only echoes messages (`tests/live/echo.py`), and clients that measure it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from brigade.listen_address import Address
from brigade.paths import base_dir
from brigade.runner import is_serving
from kitchen.infra.os_processes import parent_death_hook
from tests.live.crowd import Played, play
from tests.live.line import dial
from tests.live.player import Player
from tests.live.stack import Running, plain_environment
from tests.needs import free_port
from tests.servers import wait_until


class Caller(Player):
    """A client that sends a message and receives its echo, like a player who sends a command and receives a
    state."""

    def __init__(self, url: str, *, every: float = 0.0, seed: int = 0) -> None:
        super().__init__(url, ["echo"], every=every, seed=seed)
        self.options = [["goto", "storage0"]]

    async def connect(self) -> None:
        """Mark the client as ready when it has connected. The echo server sends no first message."""
        self.step, self.phase = 0, "choose"
        self._use(await dial(f"{self.base}/", [], self.heard, self.lost))

    def heard(self, text: bytes) -> None:
        """Record that the message was echoed."""
        now = perf_counter()
        self.step += 1
        self._see(now)


@dataclass(frozen=True, slots=True)
class Echoed:
    """The times of the echo server for the three numbers of players in the benchmark."""

    alone: Played
    twenty: Played
    crowd: Played


@contextmanager
def echoing() -> Iterator[Running]:
    """Run daphne with the echo application until the block ends."""
    with tempfile.TemporaryDirectory(prefix="brigade-echo-") as folder:
        environment, port = plain_environment(folder), free_port()
        command = ["-m", "daphne", "-v", "0", "-p", str(port), "tests.live.echo:application"]
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=base_dir(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=parent_death_hook(os.getpid()),
        )
        try:
            wait_until(lambda: is_serving(Address("127.0.0.1", port)), "an echo")
            yield Running(f"http://127.0.0.1:{port}", process.pid, environment, str(Path(folder)))
        finally:
            process.terminate()
            process.wait()


async def echo_measured(seconds: float) -> Echoed:
    """Measure the echo server with one client, with twenty, and with two hundred that send a message every
    two seconds."""
    with echoing() as echo:
        alone = await play(echo, [Caller(echo.url)], warm=0.5, seconds=seconds)
        twenty = await play(echo, [Caller(echo.url) for _ in range(20)], warm=0.5, seconds=seconds)
        crowd = [Caller(echo.url, every=2.0, seed=number) for number in range(200)]
        return Echoed(alone, twenty, await play(echo, crowd, warm=2.0, seconds=max(2.0, seconds)))
