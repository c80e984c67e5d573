"""Prolific's keys are fetched once a day, and not at the wish of strangers."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kitchen.infra.rsa_public_keys import KeysError
from study.participation import prolific_entry_links
from study.participation.prolific_entry_links import (
    AGAIN_SECONDS,
    KEPT_SECONDS,
    LARGEST,
    THREAD,
    WAITED_SECONDS,
    KeyRing,
    fetched,
    read_source,
)
from tests.study.participation.test_prolific_entry_links import key_set


class Prolific:
    """Shows its keys, unless it is away."""

    def __init__(self) -> None:
        self.now, self.asked, self.away = 0.0, 0, False
        self.answers = threading.Event()
        self.answers.set()
        self.keys = key_set(generate_private_key(65537, 2048))
        self.ring = KeyRing(self.read, lambda: self.now)

    def read(self, source: str) -> str:
        assert source == "https://api.prolific.com/.well-known/study/jwks.json"
        self.asked += 1
        self.answers.wait(WAITED_SECONDS)
        if self.away:
            raise KeysError("away")
        return self.keys


def over() -> None:
    """Waits until nothing is fetched any more."""
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()


def test_they_are_fetched_once_a_day() -> None:
    prolific = Prolific()
    for _ in range(3):
        assert prolific.ring.find("k1")
    assert prolific.asked == 1
    prolific.now += KEPT_SECONDS + 1
    assert prolific.ring.find("k1")
    over()
    assert prolific.ring.find("k1") and prolific.asked == 2


def test_the_lookup_of_a_known_key_never_waits() -> None:
    prolific = Prolific()
    assert prolific.ring.find("k1")
    prolific.answers.clear()
    prolific.now += KEPT_SECONDS + 1
    assert prolific.ring.find("k1")  # too old, and being fetched
    stranger = threading.Thread(target=prolific.ring.find, args=["made-up"])
    stranger.start()
    assert prolific.ring.find("k1")
    assert stranger.is_alive() and prolific.asked == 2
    prolific.answers.set()
    stranger.join()


def test_a_lookup_during_the_first_fetch_waits_for_it() -> None:
    prolific, found = Prolific(), []
    prolific.answers.clear()
    two = [threading.Thread(target=lambda: found.append(prolific.ring.find("k1"))) for _ in range(2)]
    for each in two:
        each.start()
    for each in two:
        each.join(0.05)
        assert each.is_alive()
    prolific.answers.set()
    for each in two:
        each.join()
    assert len(found) == 2 and all(found) and prolific.asked == 1


def test_names_that_nobody_knows_have_them_fetched_once_a_minute() -> None:
    prolific = Prolific()
    for number in range(10):
        assert prolific.ring.find(f"made-up-{number}") is None
    assert prolific.asked == 1
    prolific.now += AGAIN_SECONDS + 1
    assert prolific.ring.find("made-up") is None and prolific.asked == 2


def test_while_prolific_is_away_the_old_keys_hold() -> None:
    prolific = Prolific()
    assert prolific.ring.find("k1")
    prolific.away, prolific.now = True, KEPT_SECONDS + 1
    for _ in range(2):
        assert prolific.ring.find("k1")
        over()
    assert prolific.asked == 2


def test_they_can_be_in_a_file(tmp_path: Path, settings: pytest.FixtureRequest) -> None:
    file = tmp_path / "prolific.pem"
    public = generate_private_key(65537, 2048).public_key()
    file.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    settings.PROLIFIC_KEYS = str(file)  # type: ignore[attr-defined]
    assert KeyRing().find("whichever") == public


@pytest.mark.parametrize("source", ["/nowhere", "https://127.0.0.1:1/keys", "https://"])
def test_an_unreadable_source_is_an_error(source: str) -> None:
    with pytest.raises(KeysError, match="cannot be read"):
        read_source(source)


class Endless(httpx2.AsyncByteStream):
    """Sends on and on, and counts what was taken."""

    def __init__(self, piece: bytes) -> None:
        self.piece, self.sent = piece, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.sent < 100 * LARGEST:
            self.sent += len(self.piece)
            yield self.piece


@pytest.mark.parametrize(
    "piece, headers",
    [
        (b"x" * 1000, {}),
        ("é".encode() * 500, {}),
        (gzip.compress(b"x", mtime=0), {"content-encoding": "gzip"}),
    ],
)
async def test_no_more_is_read_than_a_set_of_keys_may_have(piece: bytes, headers: dict[str, str]) -> None:
    body = Endless(piece)
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, stream=body))
    async with httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(KeysError, match="more than"):
            await fetched(client, "https://prolific.example/keys")
    assert body.sent <= 2 * LARGEST + len(piece)


def test_a_server_that_sends_slowly_has_no_longer_than_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly(client: httpx2.AsyncClient, source: str) -> str:
        for _ in range(1000):
            await asyncio.sleep(0.01)
        return "{}"

    monkeypatch.setattr(prolific_entry_links, "FETCH_SECONDS", 0.02)
    monkeypatch.setattr(prolific_entry_links, "fetched", slowly)
    with pytest.raises(KeysError, match="cannot be read: TimeoutError"):
        read_source("https://prolific.example/keys")
