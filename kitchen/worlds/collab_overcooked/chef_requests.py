"""Decide what the chef that plays by fixed rules asks a person for, and how it reacts to the person.

The chef asks for up to two things at a time, tells what each is for, and the person chooses the order. It
asks for a thing only if it needs it before it starts a utensil again, so that thinking ahead saves steps. It
praises a choice with which it can go on at once, and a useful thing that it did not ask for. It says so if it
cannot use a thing. A person may refuse a request: the chef then asks for something else first. It never sends
a request twice while it is open. A wrong request is dropped when the thing that the chef needs arrives, or
after a reminder. Two programs play as in the benchmark instead, with one request at a time
(`recipe_partner`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, takewhile
from typing import Any

from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import in_english
from kitchen.worlds.collab_overcooked.chef_answers import ASKS_NEXT, DECLINES
from kitchen.worlds.collab_overcooked.display_text import SERVE_USE, stand_in_sentence
from kitchen.worlds.collab_overcooked.food_rules import JOB_STEPS
from kitchen.worlds.collab_overcooked.macro_checks import (
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    KitchenThings,
    refusal_code,
)
from kitchen.worlds.collab_overcooked.reference_trajectories import Macros, ReferencePair
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    COUNTER,
    DISPENSERS,
    INGREDIENTS,
    OWN_UTENSILS,
)

MOST_OPEN = 2
"""Requests that are open at the same time, if the setting `requests_at_once` does not say less."""
REMIND_AFTER = 8
"""Steps without any progress after which the chef reminds the person of an open request, in words."""
LAPSE_AFTER = 1
"""Reminders without any progress after which a wrong request is dropped instead of being named again. The
chef then requests something again."""
ABOUT_KEY = "about"
"""Key of a message's data for commands that its sentence names. They are neither a request nor a plan."""
USE_KEY = "use"
"""Key of a request's data for what the chef needs the thing for: a utensil, or `SERVE_USE`."""
TIP_KEY = "tip"
"""Key of a request's data that is true if the chef names a thing early, because the person asked what to do
next or refused something. It costs an own idea."""
WHY_KEY = "why"
"""Key of a message's data for the reason why its commands are not possible, as a code of the checks."""
CHOICE = "good_choice"
"""The code of the praise for a choice between requests."""
COURTESIES = ("thanks_ahead", "thanks_again", CHOICE)
"""Codes of sentences that need no reaction, so that they do not end a person's wait."""
CANNOT_USE = "cannot_use"
"""The code of the sentence about what the chef cannot use."""
UNASKED = ("thanks_ahead", "thanks_again")
"""Codes of sentences that praise what somebody brought without being asked."""


@dataclass(frozen=True, slots=True)
class PersonAtWork:
    """What the chef sees of a person who assists it."""

    step: int
    done: Sequence[Command]
    """The person's macros that took effect."""
    is_busy: bool
    idle_steps: int
    """Steps since the person's last macro took effect."""
    things: KitchenThings
    pair: ReferencePair
    """The known good sequences that the chef follows."""
    units: Sequence[Macros]
    """The sequences that the person still has to carry out, in the order in which the chef needs them."""
    ingredients: Sequence[str]
    """The raw ingredients of the order."""
    chef_left: Macros = ()
    """The macros that the chef still has to carry out; empty if nothing leads to the delivery."""
    declined: Sequence[str] = ()
    """The things that the person has just refused to bring now."""
    messages_left: int = 3
    """How many messages the chef may still send in this step, besides an answer to the person's words."""
    tells_use: bool = False
    """True if its requests tell what the things are for."""
    most_open: int = MOST_OPEN
    """How many requests may be open at the same time."""


@dataclass(frozen=True, slots=True)
class OpenRequests:
    """The memory of a chef beside a person."""

    open: tuple[tuple[str, Macros], ...] = ()
    """(thing that the chef needs, requested macros) of each open request."""
    macros_read: int = 0
    """How many of the person's macros were looked at."""
    progress_step: int = 0
    """The step of the last request, reminder, or macro of the person."""
    reminders: int = 0
    """How many reminders came since the last request or macro of the person."""
    later: tuple[str, ...] = ()
    """The things that the person refused, until the person brings something or a reminder is due."""
    ideas: int = 0
    """How many useful things the person brought without being asked."""
    chosen: str = ""
    """The thing of a good choice that is praised with the next request."""

    @classmethod
    def from_memory(cls, memory: Any) -> OpenRequests:
        """Return what `to_memory` stored; nothing is open without a memory."""
        stored = memory if isinstance(memory, Mapping) and "open" in memory else {"open": []}
        listed = tuple((thing, tuple(map(tuple, macros))) for thing, macros in stored["open"])
        numbers = {key: stored.get(key, 0) for key in ("macros_read", "progress_step", "reminders", "ideas")}
        later, chosen = tuple(stored.get("later", ())), str(stored.get("chosen", ""))
        return cls(listed, later=later, chosen=chosen, **numbers)

    def to_memory(self) -> Json:
        """Return the requests as JSON."""
        return {
            "open": [[thing, macros] for thing, macros in self.open],
            "macros_read": self.macros_read,
            "progress_step": self.progress_step,
            "reminders": self.reminders,
            "later": list(self.later),
            "ideas": self.ideas,
            "chosen": self.chosen,
        }


def message(
    code: str, key: str = "", macros: Sequence[Command] = (), use: str = "", why: str = ""
) -> MessageDraft:
    """Return the sentence with this code. The text is English; pages translate it by its code."""
    data: dict[str, Json] = {key: [list(macro) for macro in macros]} if key else {}
    data |= ({USE_KEY: use} if use else {}) | ({WHY_KEY: why} if why else {})
    with in_english():
        text = stand_in_sentence(code, macros, use=use, why=why)
    return MessageDraft(text, SAY, data={**data, CODE_KEY: code})


def _with_tip(said: MessageDraft, is_tip: bool) -> MessageDraft:
    return replace(said, data={**said.data, TIP_KEY: True}) if is_tip else said


def is_tip(said: TeamMessage) -> bool:
    """Return whether the chef names a thing early in this request."""
    return bool(said.data.get(TIP_KEY))


def is_useless(said: TeamMessage) -> bool:
    """Return whether the chef says in this message that it cannot use what the person took or brought."""
    return said.data.get(CODE_KEY) == CANNOT_USE


def ask_person(
    seen: PersonAtWork, before: OpenRequests, answer: str, wrong_unit: Callable[[], Macros | None]
) -> tuple[OpenRequests, tuple[MessageDraft, ...]]:
    """Return what is open now, and what the chef says: reactions, new requests, or a reminder.

    `answer` is the code of the answer to what the person has just said. With ASKS_NEXT, an open request is
    named again. `wrong_unit` returns a wrong request to make instead of the next one, or None. A person in
    the middle of an action is not disturbed, unless the person asked something.
    """
    is_asked, before = answer == ASKS_NEXT, _without_declined(before, seen.declined)
    if seen.is_busy:
        return before, (message("finish_first"),) if is_asked else ()
    reactions = tuple(_reactions(seen, before))
    is_late = seen.step - before.progress_step >= REMIND_AFTER and len(seen.done) == before.macros_read
    open_now = tuple(_still_open(seen, before, drops_wrong=is_late and before.reminders >= LAPSE_AFTER))
    later = () if is_late or any(_brought(seen.done, before.macros_read)) else before.later
    room = max(0, seen.messages_left - len(reactions))
    asked = tuple(
        islice(_new_requests(seen, open_now, later, wrong_unit, asks_ahead=is_asked or bool(later)), room)
    )
    needed = _needed_now(seen.chef_left)
    new = tuple(
        _with_tip(
            message("do_this", REQUESTS_KEY, macros, _told_use(seen, thing, macros)), thing not in needed
        )
        for thing, macros in asked
    )
    chosen = next(
        (one.data[ABOUT_KEY][0][1] for one in reactions if one.data[CODE_KEY] == CHOICE), before.chosen
    )
    reactions = tuple(one for one in reactions if one.data[CODE_KEY] != CHOICE)
    if new and chosen and len(new) < room:  # alone, this praise would only interrupt
        reactions, chosen = (*reactions, message(CHOICE, ABOUT_KEY, ((PICKUP, chosen, COUNTER),))), ""
    chosen = chosen if open_now else ""  # later, it would praise what is long past
    has_progress = bool(asked) or len(seen.done) != before.macros_read
    ideas = before.ideas + sum(one.data[CODE_KEY] in UNASKED for one in reactions)
    now = replace(
        before, open=(*open_now, *asked), macros_read=len(seen.done), later=later, ideas=ideas, chosen=chosen
    )
    now = replace(now, progress_step=seen.step, reminders=0) if has_progress else now
    if new or reactions or answer == DECLINES:
        return now, (*reactions, *new)
    if open_now and (is_late or is_asked):
        reminder = message("still_need", ABOUT_KEY, open_now[0][1])
        return replace(now, progress_step=seen.step, reminders=now.reminders + is_late), (reminder,)
    return now, (message("nothing_now"),) if is_asked else ()


def _without_declined(before: OpenRequests, declined: Sequence[str]) -> OpenRequests:
    """Return the memory after the person refused to bring these things now."""
    left = tuple(one for one in before.open if one[0] not in declined)
    return replace(before, open=left, later=tuple(dict.fromkeys((*before.later, *declined))))


def _told_use(seen: PersonAtWork, thing: str, macros: Macros) -> str:
    """Return the use that a request names. Empty if requests name none, or if this one is wrong: its macros
    bring something else."""
    return thing_use(seen.pair.chef, thing) if seen.tells_use and _thing(macros, thing) == thing else ""


def thing_use(chef: Macros, thing: str) -> str:
    """Return what the chef uses a thing for in these macros: the utensil that it goes into, or `SERVE_USE`.
    Empty if the chef does not take it."""
    taken = (PICKUP, thing, COUNTER)
    after = next((then for macro, then in pairwise(chef) if macro == taken), ())
    return after[1] if after[:1] == (PUT,) else SERVE_USE if after else ""


def chef_pairs(pairs: Sequence[ReferencePair], shortest: int) -> Iterator[ReferencePair]:
    """Yield the known good sequences that a chef beside a person can follow, the shortest one first. The
    others use the same things in another order. So each has the units of the shortest one, which are whole.
    """
    yield pairs[shortest]
    yield from (pair._replace(units=pairs[shortest].units) for pair in pairs if pair != pairs[shortest])


def _thing(unit: Macros, held: str | None = None) -> str:
    """Return the thing that a unit brings: what its last pickup takes, or what is held already."""
    return next((macro[1] for macro in reversed(unit) if macro[0] == PICKUP), held or "")


def _brought(done: Sequence[Command], first: int) -> Iterator[str]:
    """Yield what was put down by the macros from number `first` on."""
    for number in range(max(first, 1), len(done)):
        if done[number] == (PLACE,) and done[number - 1][0] == PICKUP:
            yield done[number - 1][1]


def _still_open(
    seen: PersonAtWork, before: OpenRequests, *, drops_wrong: bool
) -> Iterator[tuple[str, Macros]]:
    """Yield the requests for which neither the requested nor the needed thing was brought. With
    `drops_wrong`, leave out those for a thing that the chef does not need."""
    brought = set(_brought(seen.done, before.macros_read))
    for needed, macros in before.open:
        requested = _thing(macros, needed)
        if brought.isdisjoint((needed, requested)) and not (drops_wrong and requested != needed):
            yield needed, macros


def _missing(seen: PersonAtWork) -> list[str]:
    """Return the things that the person still has to bring."""
    return [_thing(unit, seen.things.hold[ASSISTANT]) for unit in seen.units]


def _reactions(seen: PersonAtWork, before: OpenRequests) -> Iterator[MessageDraft]:
    """Yield a sentence about each thing that the person took or brought without being asked, and about a
    choice between requests with which the chef can go on at once."""
    yield from _reactions_to_taken(seen, before)
    yield from _reactions_to_brought(seen, before)


def _reactions_to_taken(seen: PersonAtWork, before: OpenRequests) -> Iterator[MessageDraft]:
    requested = {macro[1] for _, macros in before.open for macro in macros if macro[0] == PICKUP}
    requested.update(before.later)
    for macro in seen.done[before.macros_read :]:
        is_foreign = macro[0] == PICKUP and macro[-1] == INGREDIENTS and macro[1] not in seen.ingredients
        if is_foreign and macro[1] not in requested:
            yield message(CANNOT_USE, ABOUT_KEY, (macro,))


def _reactions_to_brought(seen: PersonAtWork, before: OpenRequests) -> Iterator[MessageDraft]:
    wanted = {macro[1] for macro in seen.chef_left if macro[0] == PICKUP and macro[-1] == COUNTER}
    asked_for = {thing for needed, macros in before.open for thing in (needed, _thing(macros, needed))}
    asked_for.update(before.later)
    handed_over = {
        macro[1] for macro in _still_to_do(seen, before) if (macro[0], macro[-1]) == (PICKUP, COUNTER)
    }
    for thing in _brought(seen.done, before.macros_read):
        macro = (PICKUP, thing, COUNTER)
        if thing in asked_for:
            if len(before.open) > 1 and seen.chef_left[:1] == (macro,):
                yield message(CHOICE, ABOUT_KEY, (macro,))
        elif thing in wanted:
            yield message("thanks_again" if before.ideas else "thanks_ahead", ABOUT_KEY, (macro,))
        elif thing in handed_over:
            continue  # the person has put back what the chef handed over
        elif thing in seen.ingredients or thing not in seen.things.rules.raw:  # else told when it was taken
            yield message(CANNOT_USE, ABOUT_KEY, (macro,))


def _still_to_do(seen: PersonAtWork, before: OpenRequests) -> Iterator[Command]:
    """Yield the macros that the person still has to carry out, and those of the open requests."""
    return chain(chain.from_iterable(seen.units), *(macros for _, macros in before.open))


def _new_requests(
    seen: PersonAtWork,
    open_now: Sequence[tuple[str, Macros]],
    later: Collection[str],
    wrong_unit: Callable[[], Macros | None],
    *,
    asks_ahead: bool,
) -> Iterator[tuple[str, Macros]]:
    """Yield the next units that the person can begin, until as many requests are open as may be. A unit that
    is not the next one must leave a shared counter free. A person in the middle of a request is left alone.
    The things in `later` are not requested. Things that are not needed yet (`_needed_now`) are requested only
    if `asks_ahead`: the person has asked what to do, or refused something."""
    if open_now and _is_midway(seen):
        return
    known, free = {thing for thing, _ in open_now}, len(seen.things.free(seen.things.layout.shared))
    blocked = set() if free else known - set(_missing(seen)[:1])  # no counter is left for them
    needed = _missing(seen) if asks_ahead else _needed_now(seen.chef_left)
    for number, (thing, unit) in enumerate(zip(_missing(seen), seen.units, strict=True)):
        has_room = len(known - blocked) < seen.most_open and (number == 0 or free - len(known) > 1)
        if has_room and thing in needed and thing not in (*known, *later) and _can_begin(seen.things, unit):
            known.add(thing)
            yield thing, wrong_unit() or unit


def _needed_now(chef_left: Macros) -> set[str]:
    """Return the things that the chef takes before it starts a utensil again."""
    until_start = takewhile(lambda macro: macro[0] not in STARTED_BY, chef_left)
    return {macro[1] for macro in until_start if macro[0] == PICKUP and macro[-1] == COUNTER}


def _is_midway(seen: PersonAtWork) -> bool:
    """Return whether the person has begun something and goes on with it."""
    own = (seen.things.utensils[name] for name in OWN_UTENSILS[ASSISTANT])
    has_begun = seen.things.hold[ASSISTANT] is not None or any(one.contents or one.ready for one in own)
    return has_begun and seen.idle_steps <= JOB_STEPS


def _can_begin(things: KitchenThings, unit: Macros) -> bool:
    """Return whether the person can begin a unit now, or could with empty hands."""
    first = unit[0]
    if first[-1] in DISPENSERS:
        return True
    return refusal_code(things, ASSISTANT, first) in ("", "hands_full")
