"""Answer what people ask the agent `blocks_planner` about its present work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kitchen.contract.agent import Situation
from kitchen.worlds.blocks.open_requests import HALT, BuilderRequest
from kitchen.worlds.blocks.parsed_requests import GIVE, PLACE, REMOVE, STOP
from kitchen.worlds.blocks.planner_messages import BUILDS_PLAN, GIVES, NO_REQUEST, PLACES, REMOVES
from kitchen.worlds.blocks.withdrawn_requests import Part


def progress_answer(situation: Situation, kept: Sequence[BuilderRequest]) -> list[Part]:
    """Return the sentences that say what the builder still does because of the open requests (`kept`)."""
    parts = list(_open_parts(situation, [one for one in kept if one.do != HALT]))
    if parts:
        return parts
    knows = any("blueprint" in situation.briefs[seat] for seat in situation.seats)
    return [(BUILDS_PLAN if knows else NO_REQUEST,)]


def _open_parts(situation: Situation, kept: Sequence[BuilderRequest]) -> Iterator[Part]:
    if any(one.do == STOP for one in kept):
        yield (STOP,)
        return
    doing = [seen["doing"] or [""] for seen in situation.observations.values()]
    busy = Counter({do: sum(words[0] == do for words in doing) for do in (PLACE, REMOVE)})
    cells = Counter[tuple[str, str]]()
    for each in (one for one in kept if not one.paused):
        if each.do == GIVE:
            yield GIVES, each.item, each.amount
        else:
            cells[each.do, each.item] += len(each.cells)
    for (do, item), number in cells.items():
        left = number + busy.pop(do, 0)
        if left:
            yield (PLACES, item, left) if do == PLACE else (REMOVES, left)
