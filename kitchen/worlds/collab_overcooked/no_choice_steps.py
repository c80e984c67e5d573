"""Summarise steps in which a person had no choice, as one entry in the list of past steps. No Django import.

A plan of several commands, a long command or a wait goes on for some steps. The history shows them as one
entry: `7 steps passed: you fetched pumpkin and put it onto the chopping board`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.world import Command
from kitchen.pages.default_page import PastStep, SeatLine
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext
from kitchen.worlds.collab_overcooked.display_text import thing_words
from kitchen.worlds.collab_overcooked.macro_checks import STARTED_BY, WAIT

DONE_WORDS: Mapping[str, str] = {
    "pickup": gettext_noop("took {0} out of the {1}"),
    "pickup counter": gettext_noop("took {0} from a counter"),
    "pickup ingredient_dispenser": gettext_noop("fetched {0}"),
    "pickup dish_dispenser": gettext_noop("fetched a dish"),
    "put_obj_in_utensil": gettext_noop("put it into the {0}"),
    "put_obj_in_utensil chopping_board0": gettext_noop("put it onto the {0}"),
    **dict.fromkeys(STARTED_BY, gettext_noop("started the {0}")),
    "place_obj_on_counter": gettext_noop("put it on a counter"),
    "fill_dish_with_food": gettext_noop("filled the dish from the {0}"),
    "deliver": gettext_noop("delivered it"),
    WAIT: gettext_noop("waited"),
}
"""Commands in the past tense, by verb, or by verb and place."""


def runs_of_steps(history: Sequence[StepView]) -> list[tuple[StepView, ...]]:
    """Return the steps of a history (newest first) in groups, newest first. The steps within a group are in
    order of time.

    A group begins with a step in which the person chose, and has all later steps until the next choice. The
    first step of the oldest group may be missing.
    """
    runs: list[list[StepView]] = []
    for step in reversed(history):
        if runs and step.unasked:
            runs[-1].append(step)
        else:
            runs.append([step])
    return [tuple(run) for run in reversed(runs)]


def summed_entry(
    run: Sequence[StepView], view: SeatView, past_step: Callable[[StepView], PastStep]
) -> PastStep:
    """Return one entry of the history for several steps: what each cook finished, the refusals, and the
    events. `past_step` returns the entry of a single step."""
    entries = [past_step(step) for step in run]
    refused = (line for entry in entries for line in entry.lines if line.why)
    news = tuple(one for entry in entries for one in entry.news)
    lines = (_summed_line(run, player) for player in view.players)
    return PastStep(run[0].number, (*lines, *refused), news, last=run[-1].number, is_sum=True)


def passed_sentence(run: Sequence[StepView], seat: int) -> str:
    """Return how many steps passed and what this person finished in them. If the first step is missing in
    `run`, the sentence names no number."""
    count, done = len(run), _done(run, seat)
    if run[0].unasked:
        text = gettext("Several steps passed")
    else:
        text = ngettext("{count} step passed", "{count} steps passed", count)
    passed = text.format(count=count)
    return gettext("{passed}: you {actions}").format(passed=passed, actions=done) if done else passed


def _summed_line(run: Sequence[StepView], player: PlayerView) -> SeatLine:
    if player.is_you:
        return SeatLine(player.seat, "", passed_sentence(run, player.seat), "")
    done = _done(run, player.seat)
    text = gettext("{cook} {actions}") if done else gettext("{cook} finished no action")
    return SeatLine(player.seat, "", text.format(cook=player.name, actions=done), "")


def _done(run: Iterable[StepView], seat: int) -> str:
    """Return what this cook finished in these steps, and whether the cook waited, as a list in the past
    tense. Repeated waits are named once."""
    parts: list[str] = []
    for macro in _finished(run, seat):
        words = done_words(macro)
        if macro[0] != WAIT or parts[-1:] != [words]:
            parts.append(words)
    *first, last = parts or [""]
    return gettext("{first} and {last}").format(first=", ".join(first), last=last) if first else last


def _finished(run: Iterable[StepView], seat: int) -> Iterator[Command]:
    for step in run:
        command = step.commands.get(seat, ())
        if command[:1] == (WAIT,):
            yield command
        for event in step.events:
            if (event.kind, event.seat) == ("done", seat):
                yield tuple(event.data["macro"])


def done_words(macro: Command) -> str:
    """Return a finished command in the past tense, such as `took potato from a counter`."""
    verb, *arguments = macro
    special = f"{verb} {arguments[-1]}" if arguments else verb
    return gettext(DONE_WORDS.get(special, DONE_WORDS[verb])).format(*map(thing_words, arguments))
