"""The programs that are kept alive together, and how all of them are exchanged while they are used.

One after the other: the new one is started beside the old one, and only once it says that it does its work
(`brigade/notify.py`) the old one is asked to end. So there is never one less than there should be, and those
who are connected to the old one spread over all others.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from brigade.notify import READY
from brigade.supervise import Child, keep

START_SECONDS = 120.0
"""A program that does not work after so long will not come up."""
LAST_SECONDS = 90.0
"""An old one may take so long to finish what it does: longer than a decision takes."""


class Crew:
    """Programs that run in a task group; `say` takes lines for who looks on."""

    def __init__(self, group: asyncio.TaskGroup, say: Callable[[str], None]) -> None:
        self._group, self._say = group, say
        self._kept: dict[str, tuple[Child, asyncio.Task[None]]] = {}

    def keep(self, child: Child) -> None:
        """One more, or another one in place of that of this name."""
        self._kept[child.name] = child, self._group.create_task(keep(child, self._say))

    async def exchange(self) -> bool:
        """Have new ones in place of all; False where one does not come up: it is left out, and the old ones
        go on from there."""
        for child, task in list(self._kept.values()):
            with listening() as (line, environment):
                self.keep(
                    replace(child, process=None, deaths=0, environment={**child.environment, **environment})
                )
                if not await heard(line):
                    self._say(f"{child.name}: no new one comes up, see {child.log}; the old one stays")
                    self._kept[child.name][1].cancel()
                    self._kept[child.name] = child, task
                    return False
            child.patience = LAST_SECONDS
            task.cancel()
            await asyncio.wait([task])
            self._say(f"{child.name}: a new one has taken over")
        return True


@contextmanager
def listening() -> Iterator[tuple[socket.socket, dict[str, str]]]:
    """Where a program can say that it works, and the environment that tells it."""
    with tempfile.TemporaryDirectory(prefix="brigade-") as folder:  # its path is short enough for a socket
        where = os.path.join(folder, "notify")  # noqa: PTH118 - what the environment takes is a text
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.bind(where)
            line.setblocking(False)
            yield line, {"NOTIFY_SOCKET": where}


async def heard(line: socket.socket) -> bool:
    """Whether the program that was told of this line says in time that it works."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while await asyncio.get_running_loop().sock_recv(line, 256) != READY:
                pass
            return True
    return False
