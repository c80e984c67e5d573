"""Complete a request to the agent `blocks_planner` by the person's last request.

Examples: *also row 5*, *the same in row 2*, *another one in column 5*, *yes* after a question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kitchen.worlds.blocks.builder_words import AXES, PlannerWords
from kitchen.worlds.blocks.parsed_requests import FOLLOW, PLACE, REMOVE, UNCLEAR, YES, ParsedRequest


def completed_request(new: ParsedRequest, last: Sequence[ParsedRequest]) -> ParsedRequest:
    """Return a request of kind FOLLOW or YES with what it does not name taken from the last of the earlier
    requests; other requests as they are. It is UNCLEAR if there is nothing to take."""
    if new.do not in (FOLLOW, YES):
        return new
    earlier = last[-1] if last else ParsedRequest(UNCLEAR)
    asked_back = earlier.do == UNCLEAR or not earlier.places[0]
    if new.do == YES:
        has_all = bool(earlier.thing and earlier.places[0])
        return replace(earlier, do=PLACE) if earlier.do == UNCLEAR and has_all else new
    only_level = not any(new.places[1:])
    has_context = bool(earlier.thing or new.thing) and any(earlier.places)
    if earlier.do not in (PLACE, REMOVE, UNCLEAR) or not has_context:
        return ParsedRequest(UNCLEAR, players=new.players)
    if only_level and not (asked_back or new.adds):
        return ParsedRequest(UNCLEAR, players=new.players)
    return replace(
        earlier,
        do=PLACE if earlier.do == UNCLEAR else earlier.do,
        thing=new.thing or earlier.thing,
        amount=0 if new.amount == 1 else new.amount,
        players=new.players or earlier.players,
        places=tuple(now or then for now, then in zip(new.places, earlier.places, strict=True)),
        shape=earlier.shape if only_level else "",
        without=(*new.without, *(earlier.without if only_level else ())),
        corrects=False,
    )


def following_request(
    words: PlannerWords, clause: str, content: ParsedRequest | None, items: Sequence[str]
) -> ParsedRequest | None:
    """Return the request of a clause that only names places, and perhaps a thing, beside words like *also*.
    None for other clauses. `content` has what the clause names without its exception."""
    main, left_out = words.split_exception(clause)
    without = words.excepted_place(left_out, main) if left_out else None
    if content is None or not any(content.places) or (left_out and without is None):
        return None
    left = main
    for axis in AXES:
        left = re.sub(rf"(?:{words.same})\s*(?:{words.axes[axis]}|{words.axes_after[axis]})", " ", left)
    left = re.sub(words.follows, " ", left)
    if not words.is_understood(left, content.thing, items, content.amount):
        return None
    return replace(content, do=FOLLOW, adds=left != main, without=(without,) if without else ())
