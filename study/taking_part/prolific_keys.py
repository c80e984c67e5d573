"""The public keys with which Prolific signs its links: fetched, and kept by each process; or from a file.

Prolific asks that they be fetched once a day. Whoever sends a link with a made-up name of a key has them
fetched once a minute at most; where they cannot be fetched, the old ones hold.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import httpx2
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.conf import settings

from kitchen.llm.providers.deadline import bounded, within
from kitchen.machine.public_keys import Keys, KeysError, key_of, keys_read

FETCH_SECONDS = 3.0
"""Somebody waits for them."""
KEPT_SECONDS = 24 * 3600.0
AGAIN_SECONDS = 60.0
LARGEST = 262_144
"""Bytes; a set of keys has some thousand."""

log = logging.getLogger(__name__)


def read(source: str) -> str:
    """What is at this address, or in this file. KeysError."""
    try:
        if not source.startswith("https://"):
            return Path(source).read_text()
        with within(FETCH_SECONDS), bounded(httpx2.Client()) as client:
            return client.get(source).raise_for_status().text[:LARGEST]
    except (OSError, UnicodeDecodeError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise KeysError(f"the keys cannot be read: {type(error).__name__}") from error


class KeyRing:
    """Keys of one source; for all threads."""

    def __init__(
        self, read: Callable[[str], str] = read, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock, self._lock = read, clock, Lock()
        self._keys: Keys = {}
        self._read_at = self._asked_at = float("-inf")

    def find(self, name: str) -> RSAPublicKey | None:
        """The key of this name; None where Prolific has no such key, or its keys cannot be had."""
        with self._lock:
            now = self._clock()
            old = now - self._read_at > KEPT_SECONDS or key_of(self._keys, name) is None
            if old and now - self._asked_at > AGAIN_SECONDS:
                self._asked_at = now
                self._renew(now)
            return key_of(self._keys, name)

    def _renew(self, now: float) -> None:
        try:
            self._keys, self._read_at = keys_read(self._read(settings.PROLIFIC_KEYS)), now
        except KeysError as error:
            log.warning("BRIGADE_PROLIFIC_KEYS: %s", error)


ring = KeyRing()
"""That of this process."""
