"""Limit the rate of one sender's websocket messages or requests, and the number of open connections.

The rate limits are token buckets. Imports no Django.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

RATE_CLOSE_CODE = 4429
"""Close code of a websocket: too many messages or connections at once. The page informs its user."""


@dataclass
class TokenBucket:
    """A rate limit: a bucket that starts with `most` tokens and gains `rate` tokens a second, up to
    `most`."""

    rate: float
    most: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _left: float = field(init=False)
    _seen: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._seen = self.most, self.clock()

    @property
    def left(self) -> float:
        """Return the number of tokens in the bucket now."""
        now = self.clock()
        self._left = min(self.most, self._left + (now - self._seen) * self.rate)
        self._seen = now
        return self._left

    @property
    def is_empty(self) -> bool:
        """Return True if the bucket has less than one token now."""
        return self.left < 1

    @property
    def is_full(self) -> bool:
        """Return True if the bucket has all its tokens."""
        return self.left >= self.most

    def take(self) -> bool:
        """Take a token. Returns False, and takes nothing, if none is left."""
        if self.is_empty:
            return False
        self._left -= 1
        return True

    def charge(self, tokens: float) -> None:
        """Remove this number of tokens. If there are fewer, the bucket gains the rest later and has no token
        until then."""
        self._left = self.left - tokens

    async def taken(self) -> None:
        """Take a token. If none is left, go into debt, and wait until the bucket has gained this token. So
        those who wait go on one by one, in the order in which they came. If the wait is cancelled, the token
        is given back."""
        self.charge(1)
        if (debt := -self._left) > 0:
            try:
                await self.sleep(debt / self.rate)
            except asyncio.CancelledError:
                self._left += 1
                raise


class TokenBuckets:
    """One token bucket for each name (such as a key or a network), with limited memory.

    Full buckets are removed, because a new bucket is also full. Of the others, the `KEPT` most recently
    used ones are kept.
    """

    KEPT = 10_000

    def __init__(self, new: Callable[[], TokenBucket]) -> None:
        self._new = new
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Take a token from the bucket of this name. Returns False, and takes nothing, if none is left."""
        return self.bucket(name).take()

    async def taken(self, name: str) -> None:
        """Take a token from the bucket of this name. If none is left, wait until there is one."""
        await self.bucket(name).taken()

    def charge(self, name: str, tokens: float) -> None:
        """Remove this number of tokens from the bucket of this name, also if it has fewer."""
        self.bucket(name).charge(tokens)

    def bucket(self, name: str) -> TokenBucket:
        """Return the bucket of this name, and remove others. Take tokens from it at once: as long as it is
        full, a later call for another name may remove it."""
        if name not in self._buckets:
            self._buckets[name] = self._new()
        self._buckets.move_to_end(name)
        while len(self._buckets) > 1 and (
            len(self._buckets) > self.KEPT or next(iter(self._buckets.values())).is_full
        ):
            self._buckets.popitem(last=False)
        return self._buckets[name]

    def __len__(self) -> int:
        """Return the number of known names."""
        return len(self._buckets)

    def is_empty(self, name: str) -> bool:
        """Return whether the bucket of this name has no token left."""
        return name in self._buckets and self._buckets[name].is_empty


class NewestPerOwner(Generic[T]):
    """Keeps the newest items of each owner, at most `most`. If there are more, a new item replaces the
    oldest one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._here: dict[Hashable, list[T]] = {}

    def add(self, owner: Hashable, item: T) -> list[T]:
        """Add an item of this owner. Return the owner's oldest items that are removed because there are too
        many."""
        here = [*self._here.get(owner, ()), item]
        self._here[owner] = here[-self._most :]
        return here[: -self._most]

    def remove(self, owner: Hashable, item: T) -> None:
        """Remove an item of this owner. Does nothing if it was already removed."""
        if left := [each for each in self._here.pop(owner, ()) if each is not item]:
            self._here[owner] = left
