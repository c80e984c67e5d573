"""Choose the host and port where the app listens, and allow only one running instance per data folder.

The environment variables `BRIGADE_HOST` and `BRIGADE_PORT` set the address, unless systemd passes a listening
socket. A running instance locks a file that contains its URL and process id. RunError reports each problem in
one line.
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
    """Raised when the app cannot run here. The message is one line."""


@dataclass(frozen=True, slots=True)
class Address:
    """The host and port where the app listens."""

    host: str
    port: int

    @property
    def local(self) -> str:
        """Return a host name or IP address under which this machine can reach the app. For example, 127.0.0.1
        for 0.0.0.0."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)  # noqa: S104

    @property
    def name(self) -> str:
        """Return the host of `local` in the form used in URLs: IPv6 addresses are in brackets."""
        return f"[{self.local}]" if ":" in self.local else self.local

    @property
    def url(self) -> str:
        """Return the URL of the app for a browser on this machine."""
        return f"http://{self.name}:{self.port}"


def lock_file() -> Path:
    """Return the path of `run.lock`, which a running instance keeps locked. The file contains its URL and
    process id."""
    return paths.make_var_dir() / "run.lock"


@contextmanager
def hold_instance_lock() -> Iterator[None]:
    """Context manager: keep the lock file locked. Raises RunError if another instance of the app holds the
    lock."""
    with lock_file().open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"is running here already: {lock_file().read_text().strip()}") from None
        lock.truncate(0)
        yield
        lock.truncate(0)


def write_instance_address(address: Address) -> None:
    """Write the app's URL and this process's id into the lock file. An instance that starts later shows
    them."""
    lock_file().write_text(f"{address.url} (process {os.getpid()})\n")


def last_instance_url() -> str | None:
    """Return the URL in the lock file: the address of the running instance or, if none runs, of the last
    one. Return None if the file has no URL."""
    try:
        return next(iter(lock_file().read_text().split()), None)
    except OSError:
        return None


def running_process() -> int:
    """Return the process id of the instance that is running. Raises RunError if none is running."""
    with suppress(OSError, ValueError), lock_file().open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(lock.read().rpartition("process ")[2].strip(")\n"))
    raise RunError("nothing runs in this folder: `make run` starts it")


def configured_address() -> Address:
    """Return the address in `BRIGADE_HOST` and `BRIGADE_PORT`, or the default. Raises RunError if the port
    is invalid."""
    given = os.environ.get("BRIGADE_PORT") or "8000"
    if not (given.isascii() and given.isdigit() and int(given) <= 65535):
        raise RunError(f"{given!r} is no port: a number up to 65535 is needed, `make run PORT=8001`")
    return Address((os.environ.get("BRIGADE_HOST") or "127.0.0.1").strip("[]"), int(given))


def listen(address: Address) -> socket.socket:
    """Return a socket that listens on this address. Raises RunError if the port is in use or the host is
    not of this machine."""
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


FIRST_PASSED = 3
"""The file descriptor of the first socket that systemd passes to a program (sd_listen_fds(3))."""
SYSTEMD_VARIABLES = ("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID")
"""Environment variables that systemd sets for one process. Its children must not read them."""


def listening_socket() -> socket.socket:
    """Return the listening socket that systemd passed to this process, or a new one at the configured
    address.

    A passed socket stays open in systemd while this program starts again, so connections wait. Raises
    RunError if the address cannot be used, if more than one socket is passed, or if it has no IP address.
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return listen(configured_address())
    if (count := os.environ.get("LISTEN_FDS")) != "1":
        raise RunError(
            f"brigade.socket passes {count or 'no'} sockets, not one: it needs a single ListenStream="
        )
    passed = socket.socket(fileno=FIRST_PASSED)
    passed.set_inheritable(False)
    if passed.family not in (socket.AF_INET, socket.AF_INET6):
        raise RunError("the socket from systemd has no IP address: brigade.socket names one")
    return passed


def listen_at(file: Path) -> socket.socket:
    """Return a unix socket that listens at this path. Only this user can connect to it. A file of an instance
    that was killed is replaced."""
    file.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(file))
    file.chmod(0o600)
    listener.listen(256)
    return listener


def socket_address(listener: socket.socket) -> Address:
    """Return the address on which a socket actually listens. The port may have been chosen by the system."""
    return Address(*listener.getsockname()[:2])
