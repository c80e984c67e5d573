"""The page, guide, JSON and prompt of a cook without the recipe hold it only after somebody said it."""

from __future__ import annotations

import html
import json

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.situation_json import situation_to_json
from kitchen.contract.team_messages import TeamMessage
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import render_guide, render_panel
from kitchen.worlds.collab_overcooked.collab_agent.prompt import fixed_prompt
from kitchen.worlds.collab_overcooked.display_text import recipe_steps
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import game
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import BY_LEVEL, view


def page_text(world: CollabOvercooked, seat: int, messages: list[TeamMessage]) -> str:
    seen = view(world, seat, messages)
    panels = (*shared_panels(PAGE, seen), *(make(seen) for make in PAGE.makers(seen)))
    guide = render_guide(PAGE, world.brief(seat), clocked=False, drawn=True, asks_first=False, leads=False)
    return html.unescape("".join([*(str(render_panel(panel)) for panel in panels), str(guide)]))


@pytest.mark.parametrize(("knowledge", "sealed"), [("chef", 1), ("assistant", 0)])
@pytest.mark.parametrize("task", BY_LEVEL)
def test_a_cook_without_the_recipe_sees_it_only_after_it_was_said(
    task: str, knowledge: str, sealed: int
) -> None:
    world = game(task, knowledge=knowledge)
    steps = recipe_steps(world.brief(1 - sealed))
    assert all(step in page_text(world, 1 - sealed, []) for step in steps), "the other cook sees all of it"
    sent = json.dumps(situation_to_json(make_situation(world, (sealed,))))
    for shown in (
        page_text(world, sealed, []),
        fixed_prompt(world.brief(sealed), sealed, structured=True).text,
    ):
        assert not [step for step in steps if step in shown]
    assert '"recipe"' not in sent
    said = TeamMessage(1, 1, 1 - sealed, (sealed,), "say", "; ".join(steps), {})
    assert all(step in page_text(world, sealed, [said]) for step in steps)
