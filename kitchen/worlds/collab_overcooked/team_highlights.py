"""Tell at the end of a game how it went: the guest's words, where steps were lost, what was handed over.

The losses come from a comparison with the best run that is known, part by part: up to each handover, and from
the last one to the delivery. They are told only if the setting `best_run` is on. So is what the guest thinks
of the pace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.world import Event, Json
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext
from kitchen.worlds.collab_overcooked.best_runs import BestRun, best_run
from kitchen.worlds.collab_overcooked.counter_handovers import Handover, find_handovers
from kitchen.worlds.collab_overcooked.display_text import list_words, thing_words
from kitchen.worlds.collab_overcooked.guests import HUNGRY, SERVED, guest_of, quote
from kitchen.worlds.collab_overcooked.macro_checks import GO_ON, WAIT
from kitchen.worlds.collab_overcooked.room_layout import CHEF, SEAT_NAMES, SEATS, layout_of

GLAD_WITHIN = 1.15
"""A guest waits gladly for this multiple of the steps of the best run."""
LOSSES_TOLD = 2
"""Number of parts of the game whose losses are shown, the largest first."""
LEAST_LOSS = 2
"""Steps of the smallest loss that is told."""
COOKS = (gettext_noop("The chef"), gettext_noop("The assistant"))
"""Names of the cooks at the beginning of a sentence, by seat."""


class Part(NamedTuple):
    """A part of the game: its first and last step, the steps lost in it, and the handover that ends it (None
    for the delivery)."""

    first: int
    last: int
    lost: int
    handover: Handover | None


class Game(NamedTuple):
    """A game that is over: the steps it took, whether the right dish was delivered, its handovers, and the
    steps in which each cook did nothing."""

    steps: int
    is_delivered: bool
    handovers: tuple[Handover, ...]
    idle: tuple[frozenset[int], ...]


def team_highlights(brief: Mapping[str, Json], steps: Iterable[Sequence[Event]]) -> tuple[str, ...]:
    """Return sentences about a game, from the events of its steps."""
    return tuple(_sentences(brief, list(steps)))


def _sentences(brief: Mapping[str, Json], steps: Sequence[Sequence[Event]]) -> Iterator[str]:
    game, run = _game(brief, steps), best_run(brief)
    yield guest_words(brief, game)
    if run and game.is_delivered:
        yield _compared(game, run)
        yield from (_loss_words(part, game, brief) for part in largest_losses(game, run))
    if count := len(game.handovers):
        text = ngettext("{count} thing changed hands.", "{count} things changed hands.", count)
        yield text.format(count=count)
    lost = [
        thing for step in steps for one in step if one.kind == "destroyed" for thing in one.data["contents"]
    ]
    if lost:
        yield gettext("Lost: {things}.").format(things=list_words(lost))


def guest_words(brief: Mapping[str, Json], game: Game) -> str:
    """Return what the guest says at the end. The words tell the pace only if the study tells the best run."""
    guest, run = guest_of(brief), best_run(brief)
    if not game.is_delivered:
        return quote(guest, HUNGRY)
    if run is None:
        return quote(guest, SERVED)
    return quote(guest, guest.glad if game.steps <= GLAD_WITHIN * run.steps else guest.content)


def _compared(game: Game, run: BestRun) -> str:
    if game.steps <= run.steps:
        return gettext("As fast as the best run known: {steps} steps!").format(steps=game.steps)
    text = gettext("You took {steps} steps. The best run known takes {best}.")
    return text.format(steps=game.steps, best=run.steps)


def largest_losses(game: Game, run: BestRun) -> list[Part]:
    """Return the parts of a delivered game in which most steps were lost, in the order of time."""
    lost = [part for part in _parts(game, run) if part.lost >= LEAST_LOSS]
    return sorted(sorted(lost, key=lambda part: -part.lost)[:LOSSES_TOLD])


def _parts(game: Game, run: BestRun) -> Iterator[Part]:
    pairs = list(zip(game.handovers, run.handovers, strict=False))
    ends = [(0, 0, None), *((one.taken_in, best, one) for one, best in pairs)]
    for (start, best_start, _), (end, best_end, handover) in pairwise([*ends, (game.steps, run.steps, None)]):
        yield Part(start + 1, end, end - start - (best_end - best_start), handover)


def _loss_words(part: Part, game: Game, brief: Mapping[str, Json]) -> str:
    """Return what was lost in a part of the game, and what would have saved it."""
    handover = part.handover
    if handover is None:
        text = ngettext(
            "{count} step lost after the last handover.",
            "{count} steps lost after the last handover.",
            part.lost,
        )
        return f"{text.format(count=part.lost)} {_idle_words(part, game, CHEF, brief)}".rstrip()
    text = ngettext(
        "{count} step lost until this was handed over: {thing}.",
        "{count} steps lost until this was handed over: {thing}.",
        part.lost,
    )
    told, lay = (
        text.format(count=part.lost, thing=thing_words(handover.thing)),
        handover.taken_in - handover.put_in,
    )
    if lay > part.lost:
        text = gettext("It lay on the counter for {count} steps.")
        return f"{told} {text.format(count=lay)}"
    return f"{told} {_idle_words(part, game, handover.seat, brief)}".rstrip()


def _idle_words(part: Part, game: Game, seat: int, brief: Mapping[str, Json]) -> str:
    """Return how long a cook did nothing in a part of the game, and what the reader of the brief could do
    instead. Else empty."""
    idle = sum(part.first <= step <= part.last for step in game.idle[seat])
    if idle < LEAST_LOSS:
        return ""
    if part.handover is None:
        text = gettext("{cook} stood still for {count} steps: have everything ready before that.")
    elif brief.get("seat") == SEAT_NAMES[seat]:
        text = gettext("You were asked for nothing, or waited, for {count} steps: a bet wins them back.")
    else:
        text = gettext("{cook} stood still for {count} steps: ask for it earlier, or bring it unasked.")
    return text.format(cook=gettext(COOKS[seat]), count=idle)


def _game(brief: Mapping[str, Json], steps: Sequence[Sequence[Event]]) -> Game:
    players: list[dict[str, Json]] = [{"done": [], "done_in": []} for _ in SEATS]
    idle: list[set[int]] = [set() for _ in SEATS]
    busy = [False for _ in SEATS]
    for number, events in enumerate(steps, start=1):
        for event in events:
            if event.kind == "performed" and event.seat in SEATS:
                command = tuple(event.data["command"])
                busy[event.seat] = busy[event.seat] if command == GO_ON else command[0] != WAIT
        for seat in SEATS:
            idle[seat] |= set() if busy[seat] else {number}
        for event in events:
            if event.kind in ("done", "gone") and event.seat in SEATS:
                busy[event.seat] = False
            if event.kind == "done" and event.seat in SEATS:
                players[event.seat]["done"].append(event.data["macro"])
                players[event.seat]["done_in"].append(number)
    right = any(one.kind == "delivered" and one.data["right"] for step in steps for one in step)
    found = tuple(find_handovers(players, layout_of(brief)))
    return Game(len(steps), right, found, tuple(map(frozenset, idle)))
