"""Step-by-step hints for practice: how the page is used, and what would be good to do next. No Django.

They are made for one seat from what this seat may know, whenever its page is shown; nothing is typed in for a
level. The same state gives the same hint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.agent import Situation
from kitchen.contract.page import Page, SeatView
from kitchen.contract.skills import Sight
from kitchen.contract.world import Command, Intent, Json, World
from kitchen.registry.agents import get_adviser, get_skills
from kitchen.registry.worlds import get_kit, get_page
from kitchen.words.speech import gettext


class Hints(NamedTuple):
    """What is told before a step, and the command that the last sentence is about."""

    sentences: tuple[str, ...]
    command: Command | None = None


def hints_for(world: World, view: SeatView) -> Hints:
    """What to tell the person in this seat before this step, one sentence each."""
    page = get_page(world.kind)
    first = [gettext(text) for text in page.first_steps[view.step : view.step + 1]]
    if view.until and view.step == 1:
        first.append(page.aim.format(steps=view.length))
    advice = get_adviser(world.kind).lead(_situation(world, view))
    if advice is None or advice.command not in view.legal:
        return Hints((*first, page.general_hint))
    return Hints((*first, page.hint(view, advice.command, advice.aim)), advice.command)


def first_steps(page: Page) -> tuple[str, ...]:
    """How the page is used, all at once: where a clock takes the steps, what to do next would be old in a
    moment."""
    return tuple(gettext(text) for text in page.first_steps)


def errand_for(world: World, seat: int, brief: Mapping[str, Json]) -> Intent:
    """What somebody sensible in this seat would be at, as `Decision.intents` has it: where a clock takes the
    steps, it outlasts many of them. Empty where the world has no skills or no words for them."""
    if not get_kit(world.kind).skills:
        return {}
    skills = get_skills(world.kind)
    sight = Sight(seat, brief, world.observe(seat), world.legal_actions(seat))
    return skills.intent(skills.errand(sight))


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
