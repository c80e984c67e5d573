"""Step-by-step hints for practice: how the page is used, and what would be good to do next. No Django.

They are made for one seat from what this seat may know, whenever its page is shown; nothing is typed in for a
level. The same state gives the same hint.
"""

from __future__ import annotations

from kitchen.contract.agent import Situation
from kitchen.contract.page import SeatView
from kitchen.contract.world import World
from kitchen.registry.agents import get_adviser
from kitchen.registry.worlds import get_page


def hints_for(world: World, view: SeatView) -> tuple[str, ...]:
    """What to tell the person in this seat before this step, one sentence each."""
    page = get_page(world.kind)
    return (*page.first_steps[view.step : view.step + 1], _next(world, view))


def _next(world: World, view: SeatView) -> str:
    page = get_page(world.kind)
    advice = get_adviser(world.kind).advise(_situation(world, view))
    if advice is None or advice.command not in view.legal:
        return page.general_hint
    return page.hint(view, advice.command, advice.aim)


def _situation(world: World, view: SeatView) -> Situation:
    return Situation(
        world=world.kind,
        step=view.step,
        seats=(view.seat,),
        briefs={view.seat: view.brief},
        observations={view.seat: view.observation},
        legal={view.seat: view.legal},
        people=(view.seat,),
        seed=view.step,
    )
