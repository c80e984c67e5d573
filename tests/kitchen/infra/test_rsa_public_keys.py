"""What holds keys is read; what holds none that can be used is refused."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as new_curve
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from kitchen.infra.rsa_public_keys import KeysError, find_key, read_keys


def shown(bits: int = 2048, **more: str) -> dict[str, str]:
    key = generate_private_key(65537, bits).public_key()
    return {**RSAAlgorithm.to_jwk(key, as_dict=True), "kid": "k1", **more}


def test_of_a_set_the_good_keys_are_taken_by_name() -> None:
    odd = [
        {"kty": "oct", "kid": "k0", "k": "c2VjcmV0"},
        shown(1024, kid="short"),
        shown(kid="enc", use="enc"),
        3,
        {"kty": "RSA", "kid": "no number"},
        shown(kid="bad number", n="!"),
    ]
    keys = read_keys(json.dumps({"keys": [*odd, shown(use="sig")]}))
    assert list(keys) == ["k1"]
    assert find_key(keys, "k1") and find_key(keys, "k0") is None


def _other_kind() -> str:
    public = new_curve(SECP256R1()).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"keys": 3}',
        '{"keys": [3]}',
        '{"keys": []}',
        '{"keys": [{"kty": "RSA", "kid": "x"}]}',
        "-----BEGIN PUBLIC KEY-----\nxx\n-----END PUBLIC KEY-----",
        '{"keys":' * 100_000,
    ],
)
def test_what_holds_none_is_refused(text: str) -> None:
    with pytest.raises(KeysError):
        read_keys(text)


def test_a_key_of_another_kind_is_refused() -> None:
    with pytest.raises(KeysError, match="no public RSA key"):
        read_keys(_other_kind())


def test_a_key_of_a_curve_that_nobody_knows_is_refused() -> None:
    der = new_curve(SECP256R1()).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    odd = base64.b64encode(der.replace(P256, UNKNOWN)).decode()
    with pytest.raises(KeysError):
        read_keys(f"-----BEGIN PUBLIC KEY-----\n{odd}\n-----END PUBLIC KEY-----\n")


P256, UNKNOWN = bytes.fromhex("2a8648ce3d030107"), bytes.fromhex("2a8648ce3d030001")
"""How a key names its curve."""
