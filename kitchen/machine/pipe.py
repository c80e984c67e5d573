"""Between a library that writes to a file and a download that is sent in pieces. Plain Python."""

from __future__ import annotations


class Pipe:
    """A file that can only be written: what was written waits until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._told = 0

    def write(self, data: bytes) -> int:
        """Keep these bytes until `take`."""
        piece = bytes(data)
        self._waiting.append(piece)
        self._told += len(piece)
        return len(piece)

    def tell(self) -> int:
        """Bytes written so far."""
        return self._told

    def flush(self) -> None:
        """Nothing to do."""

    def writable(self) -> bool:
        """Always."""
        return True

    def readable(self) -> bool:
        """Never."""
        return False

    def seekable(self) -> bool:
        """Never: what was sent is gone."""
        return False

    def close(self) -> None:
        """Nothing to do: what waits can still be taken."""

    def take(self) -> bytes:
        """What was written since the last time."""
        written = b"".join(self._waiting)
        self._waiting.clear()
        return written
