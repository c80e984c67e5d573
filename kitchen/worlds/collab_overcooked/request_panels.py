"""Build the panels in which a cook requests actions from the other cook, and sees and accepts requests.

A person picks actions in lists, or types them. The lists never tell the recipe to a cook who may not know
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command, canonical_json
from kitchen.pages.default_page import may_choose
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.chef_requests import USE_KEY
from kitchen.worlds.collab_overcooked.display_text import command_words, picker_words, use_words
from kitchen.worlds.collab_overcooked.food_rules import UTENSILS, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    FILL,
    PICKUP,
    PLACE,
    PUT,
    WAIT,
    WAIT_ONE,
    known_macros,
    possible_macros,
    things_from_observation,
    typed_forms,
    visible_things,
    with_waits,
)
from kitchen.worlds.collab_overcooked.order_progress import SOON
from kitchen.worlds.collab_overcooked.practice_hints import hinted_requests
from kitchen.worlds.collab_overcooked.refused_requests import was_refused
from kitchen.worlds.collab_overcooked.remaining_plan import remaining_unit
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF, layout_of
from kitchen.worlds.collab_overcooked.work_names import refusal_words, works_name
from kitchen.worlds.collab_overcooked.work_steps import estimated_steps

_TEMPLATES = "worlds/collab_overcooked"


class PickedWord(NamedTuple):
    """One word of a macro in a list to choose from: its code and its text."""

    code: str
    text: str


class OfferedMacro(NamedTuple):
    """One macro in a list to choose from, as a whole and word by word."""

    value: str
    text: str
    words: tuple[PickedWord, ...]


class AskForm(NamedTuple):
    """The content of the form in which a person requests macros from the teammate and writes a message. It
    is empty if there is no teammate."""

    teammate: str
    to: int
    typed: bool
    macros: tuple[OfferedMacro, ...]
    """The teammate's macros."""
    own: tuple[OfferedMacro, ...]
    """The person's own macros, for the plan; empty if plans are not picked from a list."""
    made_with: tuple[tuple[str, tuple[str, ...]], ...]
    """(thing, products that one job makes of it)."""
    forms: tuple[str, ...] = ()
    """The forms in which the teammate's macros are typed; empty if they are picked."""


class PickerState(NamedTuple):
    """The state of the page's command picker in this step: the things to take or to ask for, and the
    macros that the hint recommends.

    `first` and `own_first` are the first words of the teammate's and of the own macros that are possible now.
    """

    things: tuple[str, ...]
    hinted: tuple[str, ...]
    first: tuple[str, ...]
    own_first: tuple[str, ...]


class RequestCard(NamedTuple):
    """One message with requests. `first` is its first command, `then` are the others. `possible` is true
    if the first one can begin now."""

    number: int
    who: str
    step: int
    macros: tuple[str, ...]
    first: str
    then: tuple[tuple[str, str], ...]
    possible: bool
    pictures: tuple[str, ...] = ()
    """The thing that each macro takes, for its picture; empty texts if there is none."""
    state: str = ""
    """UNDERWAY or DONE if the one who was asked does or did this; empty if not, or if it was refused."""
    name: str = ""
    """The short name of the whole work, such as *Cut pumpkin*; empty if it has none."""
    picture: str = ""
    """The last thing that is taken for it."""
    key: str = ""
    """The key that accepts it; empty if it is the reader's own, or not open."""
    use: str = ""
    """What the teammate needs it for, as text; empty if the request does not say it."""
    steps: int = 0
    """About how many steps it takes the reader from now on; 0 if it is not the reader's work."""
    refusal: str = ""
    """The words that refuse it for now; empty if it has no name, or if the reader cannot write."""
    tip: str = ""
    """The price of a refusal, as text: the chef then names another thing early. Empty if there is none."""
    sender: int = 0
    """The member to whom the refusal is sent: the one who asked."""


class RequestCards(NamedTuple):
    """The newest messages with requests that one side sent: the open ones in order of time, then the others,
    the newest first. `are_yours` is true if the reader sent them. `items` are the things of the oldest ones
    that are under way or open. `at_left` is true if the teammate is drawn on the left. `open_count` counts
    the open requests that the reader can accept."""

    are_yours: bool
    cards: tuple[RequestCard, ...]
    items: tuple[str, ...] = ()
    at_left: bool = False
    open_count: int = 0


UNDERWAY, DONE, REFUSED = "underway", "done", "refused"
"""States of a request: its actions are the reader's plan, the reader has finished them, or has refused it."""
CARDS_SHOWN = 3
ITEMS_SHOWN = 2
"""Things in the bubble at the head of the one who was asked."""


def ask_panel(view: SeatView) -> Panel:
    """Return the panel in which a person requests commands from the teammate."""
    others = [number for number in view.talk.addressees if number != view.talk.member]
    others.sort(key=lambda number: number != 1 - view.seat)  # a leader without a seat comes last
    if not (others and view.acts):
        return Panel("ask", f"{_TEMPLATES}/ask.jinja", AskForm("", 0, False, (), (), ()))
    name, typed = view.talk.members[others[0]], view.brief["typed"]
    plans = view.plans.offered and not typed
    own = [*known_macros(food_rules(), view.seat), WAIT_ONE] if plans else []
    is_cook = others[0] == 1 - view.seat
    asked = _requestable(view) if is_cook and not typed else []
    made_with = () if typed else tuple(food_rules().made_with(_known_utensils(view)).items())
    forms = typed_forms(food_rules(), 1 - view.seat, gettext("thing")) if is_cook and typed else ()
    shows = AskForm(name, others[0], typed, _offered(asked), _offered(own), made_with, forms)
    part = Panel("ask-now", f"{_TEMPLATES}/ask_now.jinja", _picker_state(view))
    return Panel("ask", f"{_TEMPLATES}/ask.jinja", shows, parts=() if typed else (part,))


def _picker_state(view: SeatView) -> PickerState:
    requested = [macro for said in view.talk.messages for macro in commands_in(said.data, REQUESTS_KEY)]
    is_asking = view.choice.hints and view.choice.hinted is None
    hinted = hinted_requests(view) if is_asking else ()
    things = things_from_observation(view.observation, view.brief)
    first, own = (_first_words(possible_macros(things, seat)) for seat in (1 - view.seat, view.seat))
    return PickerState(visible_things(view.observation, requested), tuple(map(_value, hinted)), first, own)


def request_panel(name: str, view: SeatView, *, is_yours: bool) -> Panel:
    """Return the panel with the newest messages with requests. If `is_yours`, these are the person's own,
    without those that were refused."""
    found = [
        said
        for said in view.talk.messages
        if commands_in(said.data, REQUESTS_KEY) and (said.sender == view.talk.member) == is_yours
        if not (is_yours and was_refused(said, view.talk.messages))
    ]
    cards = [_card(view, said) for said in reversed(found[-CARDS_SHOWN:])]
    of_time = zip(found[-CARDS_SHOWN:], reversed(cards), strict=True)
    pictures = (card.picture for said, card in of_time if card.picture and _is_open(view, said, card))
    items = () if view.phase == "over" else tuple(dict.fromkeys(pictures))[:ITEMS_SHOWN]
    waiting = [] if is_yours else [card for card in reversed(cards) if not card.state]
    keyed = [card._replace(key=str(number)) for number, card in enumerate(waiting, start=1)]
    others = [card for card in cards if card not in waiting]
    shows = RequestCards(is_yours, (*keyed, *others), items, view.seat == CHEF, len(keyed))
    return Panel(name, f"{_TEMPLATES}/requests.jinja", shows)


def _is_open(view: SeatView, said: TeamMessage, card: RequestCard) -> bool:
    """Return whether a request that nobody refused is still thought of: until it is done.

    People and models may refuse in their own words, or not at all. A request to them that is not begun ends
    when it can no longer be met soon (`SOON`). A request of the stand-in stays, because it needs the thing.
    """
    if card.state:
        return card.state == UNDERWAY
    later = (one for one in view.talk.messages if one.number > said.number)
    codes = [one.data.get(CODE_KEY) for one in later if one.sender != view.talk.member]
    if any(codes) or CODE_KEY in said.data:
        return True
    return view.step - said.step < SOON * len(card.macros)


def _card(view: SeatView, said: TeamMessage) -> RequestCard:
    macros = commands_in(said.data, REQUESTS_KEY)
    is_theirs, name = said.sender != view.talk.member, works_name(macros)
    refusal = _refusal(view, said)
    left = macros if said.sender == view.talk.member else _left_of(view, tuple(macros))
    who = "" if said.sender is None else view.talk.members.get(said.sender, "")
    return RequestCard(
        said.number,
        who,
        said.step,
        tuple(map(command_words, macros)),
        _value(left[0]),
        tuple((_value(macro), command_words(macro)) for macro in with_waits(left)[1:]),
        _can_accept(view, left),
        tuple(macro[1] if macro[0] == PICKUP else "" for macro in macros),
        REFUSED if _is_refused(view, said) else _request_state(view, said),
        name,
        next((macro[1] for macro in reversed(macros) if macro[0] == PICKUP), ""),
        use=use_words(str(said.data.get(USE_KEY, ""))),
        steps=estimated_steps(tuple(left), view.seat, layout_of(view.brief))
        if is_theirs and view.acts and name
        else 0,
        refusal=refusal if is_theirs and view.acts and not view.brief["typed"] else "",
        tip=gettext("If the chef then names something else early, it costs a ★.")
        if is_theirs and view.seat == ASSISTANT and CODE_KEY in said.data
        else "",
        sender=said.sender or 0,
    )


def _refusal(view: SeatView, said: TeamMessage) -> str:
    """Return the words with which the reader refuses a request for now; empty if it has no name, or if the
    reader cannot write to the sender."""
    can_answer = said.sender != view.talk.member and said.sender in view.talk.addressees
    return refusal_words(commands_in(said.data, REQUESTS_KEY)) if can_answer else ""


def _is_refused(view: SeatView, said: TeamMessage) -> bool:
    """Return whether the reader has refused a request since, with the words of its button."""
    refusal = refusal_words(commands_in(said.data, REQUESTS_KEY))
    own = (one for one in view.talk.messages if one.sender == view.talk.member and one.number > said.number)
    return bool(refusal) and any(one.text.strip() == refusal for one in own)


def _left_of(view: SeatView, macros: Sequence[Command]) -> Sequence[Command]:
    """Return what this cook still has to do of requested macros that were begun, so that one press goes on
    with them. Return all of them if they bring more than one thing, or cannot be gone on with."""
    if not view.acts or view.seat == CHEF or macros.count((PLACE,)) != 1 or macros[-1] != (PLACE,):
        return macros
    things = things_from_observation(view.observation, view.brief)
    left = remaining_unit(things, tuple(macros))
    return left if left and left == macros[-len(left) :] else macros


def _can_accept(view: SeatView, macros: Sequence[Command]) -> bool:
    """Return whether the person can do these requested macros now, or plan them as an answer."""
    if may_choose(view):
        return macros[0] in view.choice.legal
    return view.phase == "answer" and set(with_waits(macros)) <= set(view.plans.plannable)


def _value(macro: Command) -> str:
    return canonical_json(list(macro))


def _offered(macros: Iterable[Command]) -> tuple[OfferedMacro, ...]:
    return tuple(
        OfferedMacro(_value(macro), command_words(macro), tuple(starmap(PickedWord, picker_words(macro))))
        for macro in macros
    )


def _first_words(macros: Iterable[Command]) -> tuple[str, ...]:
    """Return the codes from which a person picks first to compose these macros, without repetitions."""
    return tuple(dict.fromkeys(picker_words(macro)[0][0] for macro in macros))


def _request_state(view: SeatView, said: TeamMessage) -> str:
    """Return the state of a request to this seat, or of an own one to the teammate: UNDERWAY, DONE, or an
    empty text if it is not begun. Only actions that were finished after the request count. Of two equal
    requests, the earlier one is done first."""
    is_own = said.sender == view.talk.member
    if is_own and not view.acts:
        return ""
    seat = 1 - view.seat if is_own else view.seat
    wanted, mine = commands_in(said.data, REQUESTS_KEY), view.observation["players"][seat]
    equal = [
        one.step
        for one in view.talk.requests
        if one.sender == said.sender
        and one.number <= said.number
        and commands_in(one.data, REQUESTS_KEY) == wanted
        and not _is_refused(view, one)
    ]
    done = list(zip(mine["done_in"], map(tuple, mine["done"]), strict=True))
    if _is_last_done(equal, wanted, done):
        return DONE
    doing = [tuple(mine["doing"])] if mine["doing"] else []
    left = [*doing, *view.plans.by_seat.get(seat, ())]
    return UNDERWAY if left and left == with_waits(wanted)[-len(left) :] else ""


def _is_last_done(
    requested_in: Iterable[int], wanted: Iterable[Command], done: Sequence[tuple[int, Command]]
) -> bool:
    """Return whether these macros were finished, in their order, for the last of several equal requests.

    `requested_in` has the step of each request, and `done` each finished macro with its step. A macro counts
    for one request, made before the macro was finished. Waits are left out.
    """
    order = [macro for macro in wanted if macro[0] != WAIT]
    left, is_done = list(done), False
    for step in requested_in if order else ():
        number, todo = 0, list(order)
        while todo and number < len(left):
            done_in, macro = left[number]
            number += 1
            if done_in >= step and macro == todo[0]:
                todo.pop(0)
        is_done = not todo
        left = left[number:] if is_done else left
    return is_done


def _known_utensils(view: SeatView) -> set[str] | None:
    """Return the utensils whose products may be named to this seat. These are all of them (None) if the seat
    knows the recipe, else those of its own room. A chef without the recipe gets none: what its utensils make
    of several things is the recipe of the order."""
    if "recipe" in view.brief:
        return None
    if view.seat == CHEF:
        return set()
    return {macro[1] for macro in known_macros(food_rules(), view.seat) if macro[0] == PUT}


def _requestable(view: SeatView) -> list[Command]:
    """Return the macros that this seat can request from the other cook. Without the recipe, it cannot ask to
    take something out of the other's utensils: the list of these products would tell the recipe."""
    macros = known_macros(food_rules(), 1 - view.seat)
    if "recipe" in view.brief:
        return list(macros)
    return [macro for macro in macros if macro[0] not in (PICKUP, FILL) or macro[-1] not in UTENSILS]
