"""What signs of life tell: which part is away, which was, and whether the clock was set. Nothing is written.

The rules.

- A part is away when none of its kind lives. It lives while one of its processes gives signs. It is known to
  be away when no sign came for `LONGEST` seconds, or at once where all of its processes can be seen to have
  ended (on one machine).
- An outage lasts from the last sign before it to the first one after it: longer than it really was by up to
  `INTERVAL`, in favour of those who waited.
- A clock that is set is no outage. On one run of one machine ticks tell how much time really passed. What
  they do not explain, by more than `CLOCK_SECONDS`, is how far the clock was set. Between two machines, or
  over a new start of one, nobody can tell: then the clocks are believed, and the outage says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from kitchen.machine.processes import machine_of, process_is_gone, process_is_here
from kitchen.uptime.models import Part, Sign
from kitchen.uptime.moments import Moment

INTERVAL = 2.0
"""Seconds between two signs of a part."""
LONGEST = 6.0
"""Seconds without a sign after which a part counts as away: two were lost."""
CLOCK_SECONDS = 2.0
"""A clock that differs by less was not set, but corrected."""

Signs = Mapping[str, Sign]
"""By part."""

CUT = (Part.WEB, Part.DATABASE)
"""Parts without which nobody can command: no page has a connection."""
GIVERS = (Part.WEB, Part.WORKERS)
"""Parts that give their own signs; the others are seen by them."""


def set_by(signs: Iterable[Sign], moment: Moment) -> timedelta:
    """How far the clock was set since the newest of these signs that was counted with the same ticks."""
    same = [sign for sign in signs if sign.place and sign.place == moment.place]
    if not same:
        return timedelta()
    last = max(same, key=lambda sign: sign.ticks)
    by = moment.at - last.seen_at - timedelta(seconds=moment.ticks - last.ticks)
    return by if abs(by.total_seconds()) > CLOCK_SECONDS else timedelta()


def is_away(signs: Signs, part: str, moment: Moment) -> bool:
    """Whether this part is known to be away now. One that never gave a sign is not known."""
    if part not in signs:
        return False
    if part in GIVERS:
        return is_silent(signs[part], moment.at) or all_gone(signs[part])
    return is_silent(signs[part], last_given(signs))


def last_given(signs: Signs) -> datetime:
    """The last sign that a part gave by itself; there is one."""
    return max(signs[one].seen_at for one in GIVERS if one in signs)


def is_silent(sign: Sign, at: datetime) -> bool:
    """No sign came for too long."""
    return (at - sign.seen_at).total_seconds() > LONGEST


def is_ahead(sign: Sign, moment: Moment) -> bool:
    """It is dated later than now, by more than two machines may differ."""
    return (sign.seen_at - moment.at).total_seconds() > LONGEST


def all_gone(sign: Sign) -> bool:
    """Every process of the part can be seen from here to have ended."""
    return bool(sign.processes) and all(process_is_gone(name) for name in sign.processes)


def all_lived(signs: Signs, until: datetime, moment: Moment) -> bool:
    """Whether people could command until that moment: nothing is known to be away that they need for it, and
    the pages certainly were there, since one of their processes can be seen to live, or has given a sign
    since. Without workers or Redis people command as ever, and their time runs."""
    if set_by(signs.values(), moment) or any(is_away(signs, part, moment) for part in CUT):
        return False
    web = signs.get(Part.WEB)
    return web is None or web.seen_at >= until or any(map(process_is_here, web.processes))


def on_one_machine(signs: Iterable[Sign], moment: Moment) -> bool:
    """Whether all processes that gave signs run on this machine."""
    return {machine_of(name) for sign in signs for name in sign.processes} <= {moment.place}
