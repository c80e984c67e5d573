"""Prolific's keys are fetched once a day, and not at the wish of strangers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kitchen.machine.public_keys import KeysError
from study.taking_part.prolific_keys import AGAIN_SECONDS, KEPT_SECONDS, KeyRing, read
from tests.study.taking_part.test_prolific import key_set


class Prolific:
    """Shows its keys, unless it is away."""

    def __init__(self) -> None:
        self.now, self.asked, self.away = 0.0, 0, False
        self.keys = key_set(generate_private_key(65537, 2048))
        self.ring = KeyRing(self.read, lambda: self.now)

    def read(self, source: str) -> str:
        assert source == "https://api.prolific.com/.well-known/study/jwks.json"
        self.asked += 1
        if self.away:
            raise KeysError("away")
        return self.keys


def test_they_are_fetched_once_a_day() -> None:
    prolific = Prolific()
    for _ in range(3):
        assert prolific.ring.find("k1")
    assert prolific.asked == 1
    prolific.now += KEPT_SECONDS + 1
    assert prolific.ring.find("k1") and prolific.asked == 2


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
    assert prolific.ring.find("k1") and prolific.ring.find("k1")
    assert prolific.asked == 2


def test_they_can_be_in_a_file(tmp_path: Path, settings: pytest.FixtureRequest) -> None:
    file = tmp_path / "prolific.pem"
    public = generate_private_key(65537, 2048).public_key()
    file.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    settings.PROLIFIC_KEYS = str(file)  # type: ignore[attr-defined]
    assert KeyRing().find("whichever") == public


@pytest.mark.parametrize("source", ["/nowhere", "https://127.0.0.1:1/keys", "https://"])
def test_what_cannot_be_read_is_told(source: str) -> None:
    with pytest.raises(KeysError, match="cannot be read"):
        read(source)
