"""Find the address where the app listens, and allow only one running instance for each folder. Errors are
RunError, in one line.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from brigade import paths


class RunError(Exception):
    """The app cannot run here; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address where the app listens."""

    host: str
    port: int

    @property
    def local(self) -> str:
        """Return a host under which this machine reaches it."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)  # noqa: S104

    @property
    def name(self) -> str:
        """Return that host in the form used in URLs."""
        return f"[{self.local}]" if ":" in self.local else self.local

    @property
    def url(self) -> str:
        """Return its URL for a browser on this machine."""
        return f"http://{self.name}:{self.port}"


def lock_file() -> Path:
    """Return the file that a running instance keeps locked and that contains its address."""
    return paths.make_var_dir() / "run.lock"


@contextmanager
def hold_instance_lock() -> Iterator[None]:
    """Hold this folder's lock. Raises RunError if another instance holds it."""
    with lock_file().open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"is running here already: {lock_file().read_text().strip()}") from None
        lock.truncate(0)
        yield
        lock.truncate(0)


def write_instance_address(address: Address) -> None:
    """Write this process and its URL into the lock file, for the next instance that tries to start."""
    lock_file().write_text(f"{address.url} (process {os.getpid()})\n")


def last_instance_url() -> str | None:
    """Return the URL of this folder's present or last instance; None if it was not written down."""
    try:
        return next(iter(lock_file().read_text().split()), None)
    except OSError:
        return None


def running_process() -> int:
    """Return the process that runs in this folder. Raises RunError if there is none."""
    with suppress(OSError, ValueError), lock_file().open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(lock.read().rpartition("process ")[2].strip(")\n"))
    raise RunError("nothing runs in this folder: `make run` starts it")


def configured_address() -> Address:
    """Return the address from `BRIGADE_HOST` and `BRIGADE_PORT`. Raises RunError if the port is wrong."""
    given = os.environ.get("BRIGADE_PORT") or "8000"
    if not (given.isascii() and given.isdigit() and int(given) <= 65535):
        raise RunError(f"{given!r} is no port: a number up to 65535 is needed, `make run PORT=8001`")
    return Address((os.environ.get("BRIGADE_HOST") or "127.0.0.1").strip("[]"), int(given))


def listen(address: Address) -> socket.socket:
    """Return a listening socket. Raises RunError if the port is taken or the host is of another machine."""
    six = ":" in address.host
    family = socket.AF_INET6 if six else socket.AF_INET
    both = six and socket.has_dualstack_ipv6()
    where = (address.host, address.port)
    try:
        return socket.create_server(where, family=family, backlog=1024, dualstack_ipv6=both)
    except OSError as error:
        wrong = f"cannot listen on {address.host!r}: it is no address of this machine"
        if error.errno == errno.EADDRINUSE:
            wrong = f"port {address.port} is taken: `make run PORT={address.port + 1}` takes another"
        elif error.errno in {errno.EACCES, errno.EPERM}:
            wrong = f"port {address.port} is not for this user: `make run PORT=8000` takes another"
        raise RunError(wrong) from None


def socket_address(listener: socket.socket) -> Address:
    """Return the real address of a listening socket."""
    return Address(*listener.getsockname()[:2])
