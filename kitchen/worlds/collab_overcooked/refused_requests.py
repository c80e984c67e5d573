"""Find which requests were refused: by the stand-in, with a code, or by a person, with *Not now: Cut carrot*.

A refusal of the stand-in is about what was requested since its message before. If it names commands, it is
about these alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.worlds.collab_overcooked.chef_answers import is_refusal_of
from kitchen.worlds.collab_overcooked.chef_requests import ABOUT_KEY
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP

ABOUT_NEWEST = ("not_now", "chef_cannot")
"""Codes of refusals of what was requested since the stand-in's message before."""
ABOUT_ALL = ("stops",)
"""Codes of refusals of everything that was requested before."""
ABOUT_NAMED = ("leaves_out", "gives_up")
"""Codes of refusals of the commands that the message names."""


def was_refused(said: TeamMessage, messages: Sequence[TeamMessage]) -> bool:
    """Return whether somebody else has refused this request since. `messages` are all messages, in the order
    of time."""
    wanted = commands_in(said.data, REQUESTS_KEY)
    is_newest = True
    for one in messages:
        if one.number <= said.number or one.sender in (None, said.sender):
            continue
        code = one.data.get(CODE_KEY)
        if not code and is_refusal_of(one.text, wanted):
            return True
        if code in ABOUT_ALL or (code in ABOUT_NEWEST and is_newest):
            return True
        named = commands_in(one.data, ABOUT_KEY)
        if code in ABOUT_NAMED and (
            not named or any(macro in named for macro in wanted if macro[0] == PICKUP)
        ):
            return True
        is_newest = is_newest and not code
    return False
