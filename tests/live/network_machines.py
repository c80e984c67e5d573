"""Imitate machines in a network on one Linux machine: network namespaces, joined by a bridge.

A machine has an address, a host name and process ids of its own. All its processes can be killed at once, and
its link can be cut so that packets vanish without notice. Only root may do this.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.live.stack import app_process, family_of, wait_until_ready

CLONE_NEWNET = 0x40000000
NETWORK = "198.18.{}.{}"
"""Addresses that are reserved for tests of networks (RFC 2544): the network's number, and the machine's."""
OURS = 254
"""The number of this machine in the network."""


def why_no_network() -> str:
    """Return why network namespaces cannot be made here. Empty if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need root, on Linux"
    missing = [program for program in ("ip", "unshare") if shutil.which(program) is None]
    return f"no program {missing[0]}" if missing else ""


def ip(*arguments: str) -> None:
    """Run the program `ip`. Raises LookupError if it fails."""
    found = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if found.returncode:
        raise LookupError(f"ip {' '.join(arguments)}: {found.stderr.strip()}")


@dataclass(frozen=True, slots=True)
class Place:
    """A network namespace with its address, and the end of its cable at the bridge."""

    name: str
    address: str
    link: str

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let this thread, and whatever it starts in the block, use this network."""
        with (
            Path("/proc/thread-self/ns/net").open() as ours,
            Path(f"/run/netns/{self.name}").open() as theirs,
        ):
            _use_network(theirs.fileno())
            try:
                yield
            finally:
                _use_network(ours.fileno())

    def cut(self) -> None:
        """Drop all packets from and to this machine. Nobody is told."""
        ip("link", "set", self.link, "down")

    def mend(self) -> None:
        """Let packets through again."""
        ip("link", "set", self.link, "up")


def _use_network(file: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(file, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


class Network:
    """A bridge to which this machine and all places belong: `with Network() as network`. Raises LookupError
    if it cannot be made."""

    def __init__(self) -> None:
        self._number = os.getpid() % 256
        self._prefix = f"brg{os.getpid()}"
        self._stack = ExitStack()
        self._places = 0

    def __enter__(self) -> Self:
        if why := why_no_network():
            raise LookupError(why)
        ip("link", "add", self._prefix, "type", "bridge")
        self._stack.callback(ip, "link", "delete", self._prefix)
        ip("address", "add", f"{NETWORK.format(self._number, OURS)}/24", "dev", self._prefix)
        ip("link", "set", self._prefix, "up")
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, name: str) -> Place:
        """Add a place. Its name is unique in this network."""
        self._places += 1
        link, inner = f"{self._prefix}-{self._places}", f"{self._prefix}i{self._places}"
        place = Place(f"{self._prefix}-{name}", NETWORK.format(self._number, self._places), link)
        ip("netns", "add", place.name)
        self._stack.callback(ip, "netns", "delete", place.name)  # its end of the cable, and so both, go too
        ip("link", "add", link, "type", "veth", "peer", "name", inner, "netns", place.name)
        ip("link", "set", link, "master", self._prefix, "up")
        ip("-n", place.name, "address", "add", f"{place.address}/24", "dev", inner)
        for device in ("lo", inner):
            ip("-n", place.name, "link", "set", device, "up")
        return place


class Machine:
    """A machine with the whole app, as `make run` starts it: `with Machine(place, environment) as machine`.

    Its processes see only each other, so nobody elsewhere knows that they ended.
    """

    def __init__(self, place: Place, environment: Mapping[str, str]) -> None:
        self.place, self.environment = place, dict(environment)
        self.url = f"http://{place.address}:{environment['BRIGADE_PORT']}"
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start the app. It is not ready yet."""
        named = f"echo {self.place.name} > /proc/sys/kernel/hostname"
        alone = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts")
        with self.place.entered():
            self.process = self._stack.enter_context(
                app_process(self.environment, *alone, "sh", "-c", f'{named} && exec "$@"', "sh")
            )

    def wait_until_ready(self) -> None:
        """Wait until the app serves pages. Raises RuntimeError if it ends instead."""
        wait_until_ready(self.process, self.environment)

    def kill(self) -> None:
        """Kill all processes at once. The first one in a namespace of processes takes the others along."""
        for pid in family_of(self.process.pid) - {self.process.pid}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._stack.close()

    def processes_left(self) -> list[int]:
        """Return the ids of processes that use this machine's network."""
        named = subprocess.run(["ip", "netns", "pids", self.place.name], capture_output=True, check=True)
        return [int(pid) for pid in named.stdout.split()]
