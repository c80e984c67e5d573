"""Build the play page's panels about plans: what this seat has planned, and what other seats will do.

The commands that can be planned are a panel of their own. It stays the same while steps pass, so that it is
sent only once.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from kitchen.contract.agent import REASON_PLAN_BROKEN
from kitchen.contract.automatic_commands import PLAN_ILLEGAL
from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command

_TEMPLATES = "kitchen/play"


class Plan(NamedTuple):
    """The commands that this seat has planned. The commands that it can plan are a part of the panel, which
    stays the same while steps pass."""

    step: int
    choosing: bool
    left: tuple[str, ...]
    now: str
    """The facts about the seat on which it depends what can be planned first (`Page.plan_facts`)."""
    broken: str = ""
    """The planned command that was impossible after the last step, as text. The plan was then dropped."""
    under_way: str = ""
    """The command before those in `left` that is not finished, as text. Empty if there is none."""


class PlanOption(NamedTuple):
    """A command that can be planned: the menu's form value, and its text."""

    value: str
    text: str
    needs: str
    """The facts that must hold before it, such as `at=pot0 hands=full`."""
    makes: str
    """The facts that hold after it."""


class PlanOptions(NamedTuple):
    """The commands that can be planned, under headings."""

    groups: tuple[tuple[str, tuple[PlanOption, ...]], ...]


class Plans(NamedTuple):
    """The plans of other seats that the page shows: a name, and its planned commands as text."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]


def plan_panel(page: Page, view: SeatView) -> Panel:
    """Return the panel of what this seat has planned. While it can plan, the commands for it are a part."""
    left = tuple(page.worded(view, command) for command in view.plans.by_seat.get(view.seat, ()))
    current = page.under_way(view)
    under_way = page.worded(view, current) if current else ""
    adds = view.phase == "choose" and not (left or under_way)
    now = page.plan_facts(view) if adds else ""
    shows = Plan(view.step, view.phase == "choose", left, now, _broken(page, view), under_way)
    options = (
        (Panel("plan_options", f"{_TEMPLATES}/plan_options.jinja", _options(page, view)),) if adds else ()
    )
    return Panel("plan", f"{_TEMPLATES}/plan.jinja", shows, parts=options)


def _options(page: Page, view: SeatView) -> PlanOptions:
    """Return the commands that can be planned, in the groups of `Page.plan_group`."""
    groups: dict[str, list[PlanOption]] = {}
    for command in view.plans.plannable:
        option = PlanOption(
            command_value(command), page.worded(view, command), *page.plan_effect(view, command)
        )
        groups.setdefault(page.plan_group(command), []).append(option)
    return PlanOptions(tuple((heading, tuple(options)) for heading, options in groups.items()))


def _broken(page: Page, view: SeatView) -> str:
    events = view.history[0].events if view.history else ()
    own = (event.data for event in events if (event.kind, event.seat) == (REASON_PLAN_BROKEN, view.seat))
    return next((page.worded(view, tuple(one["left"][0])) for one in own if one["why"] == PLAN_ILLEGAL), "")


def others_plans_panel(page: Page, view: SeatView) -> Panel:
    """Return the panel of the plans of other seats that the page shows."""
    names = {player.seat: player.name for player in view.players}
    others = (seat for seat in sorted(view.plans.by_seat) if seat != view.seat)
    rows = tuple(
        (names[seat], tuple(page.worded(view, each) for each in view.plans.by_seat[seat])) for seat in others
    )
    return Panel("plans", f"{_TEMPLATES}/plans.jinja", Plans(rows))


def command_value(command: Command | tuple[Command, ...] | None) -> str:
    """Return a command, or several that are one choice, as the menu's form value: `["goto","pot0"]`. Empty
    without a command."""
    return json.dumps(command, separators=(",", ":")) if command else ""
