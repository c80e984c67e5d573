"""The public keys with which Prolific signs its links: fetched, and kept by each process; or from a file.

Prolific asks that they be fetched once a day. Whoever sends a link with a made-up name of a key has them
fetched once a minute at most; where they cannot be fetched, the old ones hold. Who asks for a key that is
known never waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread

import httpx2
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.conf import settings

from kitchen.machine.deadline import bounded, within
from kitchen.machine.public_keys import Keys, KeysError, key_of, keys_read

FETCH_SECONDS = 3.0
WAITED_SECONDS = 4.0
"""So long somebody waits for a key that is not known, even where the server's name is not found in time."""
KEPT_SECONDS = 24 * 3600.0
AGAIN_SECONDS = 60.0
THREAD = "prolific-keys"
LARGEST = 262_144
"""Bytes; a set of keys has some thousand."""

log = logging.getLogger(__name__)


def read(source: str) -> str:
    """What is at this address, or in this file. KeysError."""
    try:
        if not source.startswith("https://"):
            return Path(source).read_text()
        with within(FETCH_SECONDS), bounded(httpx2.Client()) as client:
            return fetched(client, source)
    except (OSError, UnicodeDecodeError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise KeysError(f"the keys cannot be read: {type(error).__name__}") from error


def fetched(client: httpx2.Client, source: str) -> str:
    """What is at this address; KeysError as soon as it is more than `LARGEST`, packed or not."""
    body = b""
    with client.stream("GET", source, headers={"Accept-Encoding": "identity"}) as answer:
        answer.raise_for_status()
        for piece in answer.iter_raw(LARGEST):
            body += piece
            if len(body) > LARGEST:
                raise KeysError(f"the keys cannot be read: more than {LARGEST} bytes")
    return body.decode()


class KeyRing:
    """Keys of one source; for all threads."""

    def __init__(
        self, read: Callable[[str], str] = read, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock, self._lock = read, clock, Lock()
        self._keys: Keys = {}
        self._read_at = self._asked_at = float("-inf")
        self._fetch: Thread | None = None

    def find(self, name: str) -> RSAPublicKey | None:
        """The key of this name; None where Prolific has no such key, or its keys cannot be had."""
        with self._lock:
            key, fetch = key_of(self._keys, name), self._fetching(name)
        if key is None and fetch:
            fetch.join(WAITED_SECONDS)
            with self._lock:
                key = key_of(self._keys, name)
        return key

    def _fetching(self, name: str) -> Thread | None:
        """What fetches the keys just now; it is begun where this name, or their age, asks for it."""
        now = self._clock()
        old = now - self._read_at > KEPT_SECONDS or key_of(self._keys, name) is None
        idle = self._fetch is None or not self._fetch.is_alive()
        if old and idle and now - self._asked_at > AGAIN_SECONDS:
            self._asked_at = now
            self._fetch = Thread(target=self._renew, args=[now], name=THREAD, daemon=True)
            self._fetch.start()
        return self._fetch

    def _renew(self, now: float) -> None:
        try:
            keys = keys_read(self._read(settings.PROLIFIC_KEYS))
        except KeysError as error:
            log.warning("BRIGADE_PROLIFIC_KEYS: %s", error)
            return
        with self._lock:
            self._keys, self._read_at = keys, now


ring = KeyRing()
"""That of this process."""
