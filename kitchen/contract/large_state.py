"""Hold a part of a world's state that has thousands of entries, of which a step changes few.

A `LargeMap` is a dict. Beside its entries it keeps their canonical JSON in `BUCKETS` buckets, each with a
SHA-256. A key's bucket follows from its CRC-32. The root is the SHA-256 of the buckets' digests. It follows
from the content alone, and after a change only the buckets that changed are hashed again. Two moments of a
map share the buckets in which they agree, so what changed between them is found without comparing the rest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from kitchen.contract.canonical_json import Json, canonical_json

BUCKETS = 512
"""Part of what a root is: another number gives other hashes."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What leads from one moment of a map to another, or from nothing to all of it."""

    changed: str
    """The entries that are new or have another value: a JSON object."""
    removed: str = "[]"
    """The keys that are gone: a JSON list."""

    @property
    def length(self) -> int:
        """Characters of both."""
        return len(self.changed) + len(self.removed)


class LargeMap(dict[str, Json]):
    """A dict from text keys to JSON values. Asking for its root or its changes costs what was changed.

    Replace a value to change it: a change inside of a value is not noticed. The order of the entries differs
    between processes: sort keys where the order matters. `copy()` and `dict()` give plain dicts.
    """

    __slots__ = ("_frozen", "_touched")
    _frozen: FrozenMap
    """The content as it was when it was frozen last."""
    _touched: set[str]
    """Keys that were written since then."""

    def __init__(self, given: Mapping[str, Json] | None = None) -> None:
        """The entries of `given`; changes of one map are not seen in the other."""
        super().__init__(given or {})
        self._frozen, self._touched = NOTHING, set(self)
        if isinstance(given, LargeMap):
            self._frozen, self._touched = given._frozen, set(given._touched)

    def freeze(self) -> FrozenMap:
        """The present content, which later changes leave alone. TypeError for a key that is no text, and for
        a value that is no JSON."""
        if self._touched:
            self._frozen = self._frozen.replaced({key: self._entry(key) for key in self._touched})
            self._touched = set()
        return self._frozen

    def _entry(self, key: str) -> str | None:
        if not isinstance(key, str):
            raise TypeError(f"{key!r} is no text: a LargeMap has text keys only")
        return f"{canonical_json(key)}:{canonical_json(self[key])}" if key in self else None

    def apply(self, changes: Changes) -> None:
        """Become what these changes lead to. ValueError for text that is no JSON."""
        self.update(json.loads(changes.changed))
        for key in json.loads(changes.removed):
            self.pop(key, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return LargeMap, (dict(self),)

    # every way to write into a dict

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
        """Write many entries."""
        fresh = dict(*given, **named)
        super().update(fresh)
        self._touched.update(fresh)

    def setdefault(self, key: str, default: Json = None) -> Json:
        """The value of this key, which is `default` from now on if it had none."""
        self._touched.add(key)
        return super().setdefault(key, default)

    def pop(self, key: str, *default: Json) -> Json:
        """Remove an entry; its value, or `default`. KeyError if there is neither."""
        self._touched.add(key)
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Json]:
        """Remove some entry; KeyError if there is none."""
        key, value = super().popitem()
        self._touched.add(key)
        return key, value

    def clear(self) -> None:
        """Remove all entries."""
        self._touched.update(self)
        super().clear()


class _Bucket:
    """The entries of some keys, as JSON; never changed."""

    __slots__ = ("digest", "entries", "length")

    def __init__(self, entries: dict[str, str]) -> None:
        text = _object(entries)
        self.entries = entries
        self.length = len(text) - 1 if entries else 0  # with one comma to join it
        self.digest = sha256(text.encode()).digest()


class FrozenMap:
    """What a `LargeMap` held at one moment."""

    __slots__ = ("_buckets", "root")

    def __init__(self, buckets: tuple[_Bucket, ...]) -> None:
        self._buckets = buckets
        self.root = sha256(b"".join([bucket.digest for bucket in buckets])).hexdigest()

    @property
    def length(self) -> int:
        """Characters of `whole`, if it has any entry."""
        return 1 + sum([bucket.length for bucket in self._buckets])

    def replaced(self, fresh: Mapping[str, str | None]) -> FrozenMap:
        """With these entries in the place of those of the same keys; None: without any."""
        changed: dict[int, dict[str, str]] = {}
        for key, entry in fresh.items():
            place = zlib.crc32(key.encode("utf-8", "surrogatepass")) % BUCKETS
            entries = changed.get(place)
            if entries is None:
                entries = changed[place] = dict(self._buckets[place].entries)
            if entry is None:
                entries.pop(key, None)
            else:
                entries[key] = entry
        buckets = list(self._buckets)
        for place, entries in changed.items():
            if entries != buckets[place].entries:
                buckets[place] = _Bucket(entries)
        return FrozenMap(tuple(buckets))

    def changes_since(self, before: FrozenMap) -> Changes | None:
        """What leads from `before` to this; None if they are the same."""
        changed: dict[str, str] = {}
        removed: list[str] = []
        for old, new in zip(before._buckets, self._buckets, strict=True):
            if old is not new:
                then = old.entries
                changed |= {key: entry for key, entry in new.entries.items() if then.get(key) != entry}
                removed += then.keys() - new.entries.keys()
        if not changed and not removed:
            return None
        return Changes(_object(changed), canonical_json(sorted(removed)))

    def whole(self) -> Changes:
        """What leads from nothing to this."""
        return Changes(_object({key: entry for one in self._buckets for key, entry in one.entries.items()}))

    def thaw(self) -> LargeMap:
        """A map with this content."""
        thawed = LargeMap()
        dict.update(thawed, json.loads(self.whole().changed))
        thawed._frozen = self
        return thawed


def _object(entries: Mapping[str, str]) -> str:
    """The canonical JSON object with these entries, each `"key":value` under its key."""
    return "{" + ",".join([entries[key] for key in sorted(entries)]) + "}"


NOTHING = FrozenMap((_Bucket({}),) * BUCKETS)


@dataclass(frozen=True, slots=True)
class WorldState:
    """A world's state at one moment, as it is hashed and stored."""

    text: str
    """The canonical JSON of `World.to_dict`, in which each large part is its root."""
    parts: Mapping[str, FrozenMap] = field(default_factory=dict)
    """The large parts by name."""

    @property
    def roots(self) -> dict[str, str]:
        """The root of each large part."""
        return {name: part.root for name, part in self.parts.items()}

    def to_dict(self) -> dict[str, Json]:
        """The whole state, for `World.from_dict`."""
        state: dict[str, Json] = json.loads(self.text)
        return {**state, **{name: part.thaw() for name, part in self.parts.items()}}
