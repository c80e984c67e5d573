"""The menu of the default page: the commands that are offered, grouped by verb. Plain Python, no Django.

Commands without arguments share one group. Each other verb has a group of its own, whose key leads from one
of its commands to the next. A command with an amount is one choice with a number field, from which
`static/js/amounts.js` takes the amount when the choice is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command, canonical_json, text_hash
from kitchen.words.codes import sentence_case
from kitchen.words.speech import gettext

_TEMPLATES = "kitchen/pages"


class Wording(NamedTuple):
    """How a page says what its menu offers."""

    command: Callable[[SeatView, Command], str]
    """Returns a command in words, beside a view."""
    verb: Callable[[str], str]
    """Returns the words for a verb."""
    if_possible: str
    """Said of a command that only another seat makes possible."""
    first: tuple[str, ...] = ()
    """Verbs whose groups come first."""


class Menu(NamedTuple):
    """The form of one seat."""

    seat: int
    player: str
    may_act: bool
    """This seat is not asked, but may act."""


class ForStep(NamedTuple):
    """The step that is chosen for."""

    step: int


class Group(NamedTuple):
    """The commands of one verb; `actions` are ids of parts."""

    title: str
    key: str
    """Leads from one of them to the next; empty where each has its own."""
    actions: tuple[str, ...]


class Actions(NamedTuple):
    """The commands on offer; none while others choose. `chosen` is the command that was chosen, in words."""

    choosing: bool
    chosen: str
    groups: tuple[Group, ...]


class Action(NamedTuple):
    """One choice. Where `least` and `most` differ from None, its last word is an amount."""

    value: str
    text: str
    key: str
    anticipated: str
    """A remark on a command that another seat has to make possible; empty for one that is possible now."""
    least: int | None
    most: int | None


class Hint(NamedTuple):
    """The sentence below the button."""

    choosing: bool
    chosen: str


def menu_panel(view: SeatView, wording: Wording) -> Panel:
    """Return the panel `menu`: a form with all commands that are offered."""
    chosen = wording.command(view, view.chosen) if view.chosen else ""
    groups, actions = grouped(view, wording)
    parts = (
        Panel("menu-step", f"{_TEMPLATES}/menu_step.jinja", ForStep(view.step + 1)),
        Panel(
            "menu-actions",
            f"{_TEMPLATES}/menu_actions.jinja",
            Actions(is_choosing(view), chosen, groups),
            parts=actions,
        ),
        Panel("menu-hint", f"{_TEMPLATES}/menu_hint.jinja", Hint(is_choosing(view), chosen)),
    )
    shows = Menu(view.seat, view.players[view.seat].name, view.may_act)
    return Panel("menu", f"{_TEMPLATES}/menu.jinja", shows, parts=parts)


def is_choosing(view: SeatView) -> bool:
    """Return whether this seat may hand in a command now."""
    return view.phase == "choose" or view.may_act


def grouped(
    view: SeatView, wording: Wording, without: Container[Command] = ()
) -> tuple[tuple[Group, ...], tuple[Panel, ...]]:
    """Return the groups of the commands that are offered, but for those of `without`, and a part for each
    command."""
    offered = {command: "" for command in view.legal if command not in without}
    for command in view.anticipated:
        if command not in without:
            offered.setdefault(command, wording.if_possible)
    verbs: dict[str, list[Command]] = {verb: [] for verb in wording.first}
    for command in offered:
        verbs.setdefault(command[0] if len(command) > 1 else "", []).append(command)
    parts = {command: _action(command, view, wording, note) for command, note in offered.items()}
    groups = (
        Group(_title(verb, verbs, wording), verb[:1].upper(), tuple(parts[one].id for one in commands))
        for verb, commands in verbs.items()
        if commands
    )
    return tuple(groups), tuple(parts.values())


def _title(verb: str, verbs: Collection[str], wording: Wording) -> str:
    if verb:
        return sentence_case(wording.verb(verb))
    return gettext("Other actions") if len(verbs) > 1 else gettext("What to do")


def _action(command: Command, view: SeatView, wording: Wording, note: str) -> Panel:
    value = canonical_json(list(command))
    least, most = view.amounts.get(command[:-1], (None, None))
    text = wording.command(view, command if least is None else command[:-1])
    key = command[0][:1].upper() if len(command) == 1 else ""
    shows = Action(value, text, key, note, least, most)
    return Panel(f"do-{text_hash(value)[:16]}", f"{_TEMPLATES}/menu_action.jinja", shows)
