"""Read RSA public keys of a signer: a JSON Web Key Set (RFC 7517), or one key as PEM. Plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt import InvalidKeyError
from jwt.algorithms import RSAAlgorithm

Keys = Mapping[str, RSAPublicKey]
"""By their names (`kid`); the one under `UNNAMED_KEY` is everybody's."""

UNNAMED_KEY = ""
MIN_KEY_BITS = 2048
"""Bits; shorter keys can be broken."""

READ_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
    InvalidKeyError,
    UnsupportedAlgorithm,
)
"""What the libraries raise for a key, or a set, that is none."""


class KeysError(ValueError):
    """No keys, or none that can be used."""


def read_keys(text: str) -> Keys:
    """The keys in this text; KeysError where there is none. A key that is not RSA, too short, or damaged, is
    passed over."""
    try:
        found = _pem(text) if text.lstrip().startswith("-----") else dict(_set(text))
    except READ_ERRORS as error:
        raise KeysError("neither a JSON Web Key Set nor a public key as PEM") from error
    good = {name: key for name, key in found.items() if key.key_size >= MIN_KEY_BITS}
    if not good:
        raise KeysError(f"no public RSA key of {MIN_KEY_BITS} bits or more")
    return good


def find_key(keys: Keys, name: str) -> RSAPublicKey | None:
    """The key of this name, if there is one."""
    return keys.get(name) or keys.get(UNNAMED_KEY)


def _pem(text: str) -> dict[str, RSAPublicKey]:
    key = load_pem_public_key(text.encode())
    return {UNNAMED_KEY: key} if isinstance(key, RSAPublicKey) else {}


def _set(text: str) -> Iterator[tuple[str, RSAPublicKey]]:
    for each in json.loads(text)["keys"]:
        key = _one(each)
        if key:
            yield str(each["kid"]), key


def _one(given: Any) -> RSAPublicKey | None:
    """One key of a set; None where it is for something else, or damaged."""
    try:
        if not (given.get("kty") == "RSA" and given.get("use", "sig") == "sig" and given.get("kid")):
            return None
        key = RSAAlgorithm.from_jwk(given)
    except READ_ERRORS:
        return None
    return key if isinstance(key, RSAPublicKey) else None
