"""Define `LargeMap`, a dict for a large part of a world's state, such as a map of many cells.

After a step, only its changed entries are stored. The entries are divided into buckets, each with a hash, and
only changed buckets are hashed again. Maps with equal content have the same root hash.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from kitchen.contract.canonical_json import Json, canonical_json

BUCKET_COUNT = 64
"""Number of buckets and groups. Changing it changes all roots, so stored roots would no longer match."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two contents of a map: the entries to write, and the keys to remove."""

    changed: str
    """The entries that are new or have another value: a JSON object."""
    removed: str = "[]"
    """The keys that are gone: a JSON list."""

    @property
    def length(self) -> int:
        """Return the number of characters in `changed` and `removed` together."""
        return len(self.changed) + len(self.removed)


class LargeMap(dict[str, Json]):
    """A dict from text keys to JSON values. The time for computing its hash or its changes depends only on
    the number of changed entries.

    To change an entry, assign a new value: a change inside a value is not noticed. The order of the
    entries differs between processes, so sort the keys if the order matters. `copy()` and `dict()` give
    plain dicts.
    """

    __slots__ = ("_frozen", "_touched")
    _frozen: FrozenMap
    """The content when it was last frozen."""
    _touched: set[str]
    """Keys that were written since then."""

    def __init__(self, given: Mapping[str, Json] | None = None) -> None:
        """Copy the entries of `given` into a new map. Later changes of either map do not affect the other."""
        super().__init__(given or {})
        if isinstance(given, LargeMap):
            self._frozen, self._touched = given._frozen, set(given._touched)
        else:
            self._frozen, self._touched = EMPTY_MAP, set(self)

    def freeze(self) -> FrozenMap:
        """Return an unchanging snapshot of the content. Raises TypeError if a key is not text or a value
        is not JSON."""
        if self._touched:
            self._frozen = self._frozen.replaced({key: self._entry(key) for key in self._touched})
            self._touched = set()
        return self._frozen

    def _entry(self, key: str) -> str | None:
        if not isinstance(key, str):
            raise TypeError(f"{key!r} is no text: a LargeMap has text keys only")
        return f"{canonical_json(key)}:{canonical_json(self[key])}" if key in self else None

    def apply(self, changes: Changes) -> None:
        """Write and remove the entries that `changes` lists. Raises ValueError if its texts are not JSON."""
        self.update(json.loads(changes.changed))
        for key in json.loads(changes.removed):
            self.pop(key, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return LargeMap, (dict(self),)

    # All methods that write into a dict:

    def __setitem__(self, key: str, value: Json) -> None:
        super().__setitem__(key, value)
        self._touched.add(key)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._touched.add(key)

    def __ior__(self, given: Any) -> LargeMap:  # type: ignore[override,misc]
        self.update(given)
        return self

    def update(self, *given: Any, **named: Json) -> None:
        """Write several entries, with the arguments of `dict.update`."""
        fresh = dict(*given, **named)
        super().update(fresh)
        self._touched.update(fresh)

    def setdefault(self, key: str, default: Json = None) -> Json:
        """Return the value of this key. If the key is missing, first write `default`."""
        self._touched.add(key)
        return super().setdefault(key, default)

    def pop(self, key: str, *default: Json) -> Json:
        """Remove an entry and return its value. If the key is missing, return `default`. Raises KeyError
        if there is no `default` either."""
        self._touched.add(key)
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Json]:
        """Remove one entry and return (key, value). Raises KeyError if the map is empty."""
        key, value = super().popitem()
        self._touched.add(key)
        return key, value

    def clear(self) -> None:
        """Remove all entries."""
        self._touched.update(self)
        super().clear()


class _Bucket:
    """Holds the entries of some keys, as JSON; never changed."""

    __slots__ = ("digest", "entries", "length")

    def __init__(self, entries: dict[str, str]) -> None:
        text = _object(entries)
        self.entries = entries
        self.length = len(text) - 1 if entries else 0  # with one comma to join it
        self.digest = sha256(text.encode()).digest()


class _Node:
    """Holds a group of buckets, or all groups; never changed."""

    __slots__ = ("digest", "length", "parts")

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts, self.length = parts, sum([part.length for part in parts])
        self.digest = sha256(b"".join([part.digest for part in parts])).digest()


class FrozenMap:
    """An unchanging snapshot of a `LargeMap`. `root` is the hash of its content."""

    __slots__ = ("_groups", "root")

    def __init__(self, groups: _Node) -> None:
        self._groups, self.root = groups, groups.digest.hex()

    @property
    def length(self) -> int:
        """Return the number of characters of the snapshot as JSON text (`whole().changed`). It is 1 for an
        empty map."""
        return 1 + int(self._groups.length)

    def replaced(self, fresh: Mapping[str, str | None]) -> FrozenMap:
        """Return a snapshot with the entries of `fresh` added or replaced. An entry with the value None is
        removed."""
        by_bucket: dict[tuple[int, int], dict[str, str | None]] = {}
        for key, entry in fresh.items():
            by_bucket.setdefault(_place(key), {})[key] = entry
        groups: dict[int, list[_Bucket]] = {}
        for (group, place), entries in by_bucket.items():
            before: _Bucket = self._groups.parts[group].parts[place]
            after = {**before.entries, **entries}
            present = {key: entry for key, entry in after.items() if entry is not None}
            if present != before.entries:
                groups.setdefault(group, list(self._groups.parts[group].parts))[place] = _Bucket(present)
        if not groups:
            return self
        nodes = list(self._groups.parts)
        for group, buckets in groups.items():
            nodes[group] = _Node(buckets)
        return FrozenMap(_Node(nodes))

    def changes_since(self, before: FrozenMap) -> Changes | None:
        """Return the changes that turn `before` into this snapshot; None if both are equal."""
        changed: dict[str, str] = {}
        removed: list[str] = []
        for old, new in _differing(before._groups, self._groups):
            then = old.entries
            changed |= {key: entry for key, entry in new.entries.items() if then.get(key) != entry}
            removed += then.keys() - new.entries.keys()
        if not changed and not removed:
            return None
        return Changes(_object(changed), canonical_json(sorted(removed)))

    def whole(self) -> Changes:
        """Return the changes that turn an empty map into this snapshot: all of its entries."""
        buckets = (bucket for group in self._groups.parts for bucket in group.parts)
        return Changes(_object({key: entry for bucket in buckets for key, entry in bucket.entries.items()}))

    def thaw(self) -> LargeMap:
        """Return a new `LargeMap` with this content."""
        thawed = LargeMap()
        dict.update(thawed, json.loads(self.whole().changed))
        thawed._frozen = self
        return thawed


def _place(key: str) -> tuple[int, int]:
    """Return the position of a key in the hash table: the index of its group, and of its bucket within the
    group."""
    return divmod(zlib.crc32(key.encode("utf-8", "surrogatepass")) % BUCKET_COUNT**2, BUCKET_COUNT)


def _object(entries: Mapping[str, str]) -> str:
    """Return the canonical JSON object of these entries. `entries` maps each key to its text
    `"key":value`."""
    return "{" + ",".join([entries[key] for key in sorted(entries)]) + "}"


def _differing(before: _Node, after: _Node) -> Iterator[tuple[_Bucket, _Bucket]]:
    """Yield (old, new) for each bucket in which two maps differ."""
    for old, new in zip(before.parts, after.parts, strict=True):
        if old is not new:
            pairs = zip(old.parts, new.parts, strict=True)
            yield from ((one, other) for one, other in pairs if one is not other)


EMPTY_MAP = FrozenMap(_Node([_Node([_Bucket({})] * BUCKET_COUNT)] * BUCKET_COUNT))


@dataclass(frozen=True, slots=True)
class WorldState:
    """A snapshot of a world's state, in the form in which it is hashed and stored."""

    text: str
    """The canonical JSON of `World.to_dict`, in which each large part is its root."""
    parts: Mapping[str, FrozenMap] = field(default_factory=dict)
    """The large parts by name."""

    @property
    def roots(self) -> dict[str, str]:
        """Return the root hash of each large part of the state, by name."""
        return {name: part.root for name, part in self.parts.items()}

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as a dict, which `World.from_dict` accepts."""
        state: dict[str, Json] = json.loads(self.text)
        return {**state, **{name: part.thaw() for name, part in self.parts.items()}}
