"""The list of commands to plan: grouped, with what each needs and makes, and sent only once."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

from kitchen.contract.page_view import SeatView
from kitchen.play.live.plan_panels import PlanOptions, plan_panel
from kitchen.play.live.render_page import Screen, render_panel
from kitchen.worlds.cuisine.page import PAGE
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.test_page import seen


def planning(world: CuisineWorld) -> SeatView:
    """Return the view of a person who can plan now."""
    return changed(seen(world, 0), offered=True, plannable=world.plannable(0))


def facts_in(text: str) -> list[tuple[str, bool, str]]:
    """Return (name, whether it must be equal, value) for each fact."""
    parts = [(*one.replace("!=", "=").split("="), "!=" not in one) for one in text.split()]
    return [(str(name), bool(equal), str(value)) for name, value, equal in parts]


def holds(facts: dict[str, str], needs: str) -> bool:
    """Return whether these facts fulfil the needs of a command, as `js/plan.js` decides it."""
    return all((facts.get(name) == value) is equal for name, equal, value in facts_in(needs))


class Groups(HTMLParser):
    """The labels of the groups of a list."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the label of a group."""
        if tag == "optgroup":
            self.labels.append(dict(attrs)["label"] or "")


def test_commands_to_plan_are_grouped_as_in_the_menu() -> None:
    html = str(render_panel(plan_panel(PAGE, planning(kitchen()))))
    assert Groups(html).labels == ["Go", "Take", "Put down", "Use a tool", "Wait"]


def test_a_command_is_possible_after_a_plan_exactly_when_the_facts_say_so() -> None:
    """The rules decide: each command is tried where the robot is after a walk, a taking and a putting."""
    world = kitchen()
    (options,) = plan_panel(PAGE, planning(world)).parts
    assert isinstance(options.shows, PlanOptions)
    listed = [one for _, group in options.shows.groups for one in group]
    for done in ((), (("goto", "storage0"),), (("goto", "storage0"), ("get", "storage0", "salmon"))):
        world = kitchen()
        for command in done:
            world.step({0: command})
        facts = {name: value for name, _, value in facts_in(PAGE.plan_facts(seen(world, 0)))}
        legal = world.legal_actions(0)
        for one in listed:
            command = tuple(json.loads(one.value))
            if command in legal and command[0] != "goto":
                assert holds(facts, one.needs), (done, command)
            if command[0] in ("get", "put", "activate") and holds(facts, one.needs):
                assert command[1] == facts["at"]


def test_the_list_is_sent_once_and_not_with_every_step() -> None:
    world, screen = kitchen(), Screen()
    assert screen.fragments(PAGE, planning(world)).count("data-needs") > 20
    world.step({0: ("goto", "pot0")})
    later = screen.fragments(PAGE, planning(world))
    assert 'data-now="at=pot0 hands=empty"' in later
    assert "data-needs" not in later and '<template id="plan_options">' in later


def test_a_person_with_a_plan_gets_no_list() -> None:
    view = changed(planning(kitchen()), by_seat={0: (("noop",),)})
    assert (
        plan_panel(PAGE, view).parts == () and plan_panel(PAGE, replace(view, phase="thinking")).parts == ()
    )
