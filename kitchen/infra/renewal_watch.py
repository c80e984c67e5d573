"""Notice that nobody renews a claim any more, without comparing the clocks of two machines.

A claim is a row that a process renews every few seconds by writing a later end into it. If its machine
vanishes, the end stays as it is. Imports no Django.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping


class RenewalWatch:
    """Remembers since when each claim has had its present end.

    A claim counts as abandoned if its end has not changed for `seconds`. If the last look is more than `gap`
    seconds ago, this process or its database was away itself. The count then begins anew, so that the others
    can renew their claims first.
    """

    def __init__(self, seconds: float, gap: float = 2.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._gap, self._clock = seconds, gap, clock
        self._since: dict[str, tuple[Hashable, float]] = {}
        self._looked = clock()
        self._lock = threading.Lock()

    def abandoned(self, ends: Mapping[str, Hashable]) -> list[str]:
        """Return the abandoned ones of all claims that there are, given as a mapping from claim to end."""
        with self._lock:
            now = self._clock()
            known = self._since if now - self._looked <= self._gap else {}
            self._looked = now
            self._since = {
                claim: known[claim] if claim in known and known[claim][0] == end else (end, now)
                for claim, end in ends.items()
            }
            return [claim for claim, (_, since) in self._since.items() if now - since >= self._seconds]

    def begin_anew(self, claims: Iterable[str]) -> None:
        """Count from the next look on for these claims, as if they had not been seen before."""
        with self._lock:
            for claim in claims:
                self._since.pop(claim, None)
