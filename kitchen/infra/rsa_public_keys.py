"""Read RSA public keys from a JSON Web Key Set (RFC 7517) or a PEM text. Imports no Django."""

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
"""Keys by their id (`kid`). The key under `UNNAMED_KEY` is used for every id."""

UNNAMED_KEY = ""
MIN_KEY_BITS = 2048
"""Smallest key size in bits. Shorter keys can be broken."""

READ_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
    InvalidKeyError,
    UnsupportedAlgorithm,
)
"""Errors that the libraries raise for invalid keys or key sets."""


class KeysError(ValueError):
    """The text contains no usable RSA public key."""


def read_keys(text: str) -> Keys:
    """Return the RSA public keys in this text, by id. A single key in PEM format has no id and matches every
    id.

    Other, short or damaged keys are skipped. Raises KeysError if none is left.
    """
    try:
        found = _pem(text) if text.lstrip().startswith("-----") else dict(_set(text))
    except READ_ERRORS as error:
        raise KeysError("neither a JSON Web Key Set nor a public key as PEM") from error
    good = {name: key for name, key in found.items() if key.key_size >= MIN_KEY_BITS}
    if not good:
        raise KeysError(f"no public RSA key of {MIN_KEY_BITS} bits or more")
    return good


def find_key(keys: Keys, name: str) -> RSAPublicKey | None:
    """Return the key with the id `name`, or the key without an id if there is one. None otherwise."""
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
    """Return the public key in one entry of a JSON Web Key Set. Return None if the entry is damaged or no
    RSA key for signatures."""
    try:
        if not (given.get("kty") == "RSA" and given.get("use", "sig") == "sig" and given.get("kid")):
            return None
        key = RSAAlgorithm.from_jwk(given)
    except READ_ERRORS:
        return None
    return key if isinstance(key, RSAPublicKey) else None
