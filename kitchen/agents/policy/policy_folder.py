"""Find policy files on this machine: those that come with a world, and those of this installation.

A file is named by its name and the SHA-256 of its content, as `NAME:SHA256`. It never changes. Worlds have
theirs in `data/policies/`. Uploaded files are in the database; each machine has copies of those that it needs
in `policies/` of the data folder, so that programs without a database can read them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from kitchen.agents.policy.onnx_header import OnnxHeader, read_onnx_header
from kitchen.agents.policy.policy_card import PolicyCard
from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Json, World
from kitchen.infra.file_writing import write_atomically
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_encoding, known_worlds, world_folders

FOLDER = "policies"
REFERENCE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,59}):([0-9a-f]{64})")
"""The name and hash of a policy file."""
KNOWN_FILES = 64
"""Maximum number of files whose descriptions a process remembers."""


class MissingPolicyError(LookupError):
    """Raised if a policy file is not on this machine. The message is one line."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A policy file on this machine."""

    name: str
    sha256: str
    path: Path
    card: PolicyCard
    header: OnnxHeader

    @property
    def reference(self) -> str:
        """Return `NAME:SHA256`, as settings of co-players name it."""
        return f"{self.name}:{self.sha256}"

    def encoding(self, world: str) -> Encoding | None:
        """Return the file's encoding in this world. None if the world has no such encoding."""
        if not self.card.encoding or self.card.world not in ("", world):
            return None
        try:
            return get_encoding(world, self.card.encoding)
        except UnknownNameError:
            return None

    def unfit(self, world: World) -> str:
        """Return why the policy cannot play this world with its present settings; empty if it can."""
        encoding = self.encoding(world.kind)
        if encoding is None:
            return f"{self.name} reads {self.card.encoding or 'no encoding'}, which is none of this world"
        brief = world.brief(0)
        wanted, has = encoding.shape(brief), self.header.inputs.get("obs", ())[1:]
        if not sizes_match(has, wanted):
            return f"{self.name} was made for shape {shape_text(has)}, and here it is {shape_text(wanted)}"
        count, listed = encoding.action_count(brief), self.header.outputs.get("logits", ())[1:]
        if not sizes_match(listed, (count,)):
            return f"{self.name} was made for {shape_text(listed)} actions, and here are {count}"
        return ""


def sizes_match(has: tuple[int | None, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether an array of the shape `wanted` fits; None fits every size."""
    return len(has) == len(wanted) and all(one in (None, size) for one, size in zip(has, wanted, strict=True))


def shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as text, such as `5 x 4 x 26`."""
    return " x ".join("?" if size is None else str(size) for size in shape) or "none"


def policy_folder() -> Path:
    """Return the folder with this machine's copies of uploaded files. It need not exist."""
    chosen = os.environ.get("BRIGADE_VAR")
    data = Path(chosen).expanduser().resolve() if chosen else Path(__file__).resolve().parents[3] / "var"
    return data / FOLDER


def parse_reference(text: str) -> tuple[str, str] | None:
    """Return (name, hash) of a reference. None if the text is none."""
    found = REFERENCE.fullmatch(text)
    return (found[1], found[2]) if found else None


def full_reference(text: str) -> str:
    """Return `NAME:SHA256` of the file of this name that comes with a world. Any other text is returned as it
    is. So a study file can name a shipped file without its hash, and the stored condition has the hash."""
    return next((one.reference for one in shipped_policies() if one.name == text), text)


def find_policy(reference: str) -> PolicyFile:
    """Return the file with this name and hash. Raises MissingPolicyError if this machine does not have it."""
    named = parse_reference(reference)
    if named is None:
        raise MissingPolicyError("no policy file is chosen")
    name, digest = named
    for shipped in shipped_policies():
        if shipped.sha256 == digest:
            return shipped
    path = policy_folder() / f"{digest}.onnx"
    if not path.is_file():
        raise MissingPolicyError(f"the policy file {name} ({digest[:12]}) is not on this machine")
    return _known_file(name, digest, path)


def shipped_policies() -> tuple[PolicyFile, ...]:
    """Return the files that come with the worlds, in the order of their names."""
    return _shipped(tuple(known_worlds().items()))


@lru_cache(maxsize=4)
def _shipped(worlds: tuple[tuple[str, str], ...]) -> tuple[PolicyFile, ...]:
    """`worlds` are the known worlds: with others, the files are found anew."""
    paths = (path for folder in world_folders(f"data/{FOLDER}") for path in folder.glob("*.onnx"))
    return tuple(_read(path.stem, None, path) for path in sorted(paths, key=lambda path: path.name))


@lru_cache(maxsize=KNOWN_FILES)
def _known_file(name: str, digest: str, path: Path) -> PolicyFile:
    return _read(name, digest, path)


def _read(name: str, digest: str | None, path: Path) -> PolicyFile:
    """Read a file and its description, which is beside it or in its metadata."""
    data = path.read_bytes()
    found = sha256(data).hexdigest()
    if digest not in (None, found):
        raise MissingPolicyError(f"the policy file {name} was changed on this machine")
    header, beside = read_onnx_header(data), path.with_suffix(".json")
    is_described = digest is not None and beside.is_file()
    card = (
        PolicyCard.from_json(json.loads(beside.read_text()))
        if is_described
        else PolicyCard.from_metadata(header.metadata)
    )
    return PolicyFile(name, found, path, card, header)


def store_copy(digest: str, data: bytes, card: dict[str, Json]) -> None:
    """Write a copy of an uploaded file and its description into this machine's folder."""
    folder = policy_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(folder / f"{digest}.json", json.dumps(card).encode())
    write_atomically(folder / f"{digest}.onnx", data)


def has_copy(digest: str) -> bool:
    """Return whether this machine has the file with this hash, or it comes with a world."""
    is_shipped = any(one.sha256 == digest for one in shipped_policies())
    return is_shipped or (policy_folder() / f"{digest}.onnx").is_file()


def remove_copy(digest: str) -> None:
    """Remove this machine's copy of a file."""
    for ending in ("onnx", "json"):
        (policy_folder() / f"{digest}.{ending}").unlink(missing_ok=True)


def named_digests(value: Json) -> Iterator[str]:
    """Yield the hashes of all policy files that settings name, however deep they are."""
    if isinstance(value, dict):
        for one in value.values():
            yield from named_digests(one)
    elif isinstance(value, list):
        for one in value:
            yield from named_digests(one)
    elif isinstance(value, str) and (named := parse_reference(value)):
        yield named[1]
