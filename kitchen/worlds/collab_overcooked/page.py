"""Build the play page of Collab-Overcooked: both rooms, order, recipe, menu and guide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import NamedTuple, cast

from kitchen.contract.page import Panel, PlayerView, SeatView, StepView, TypedTextError
from kitchen.contract.team_messages import CODE_KEY, PLAN_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Aim, Command, Event, Json, World, canonical_json
from kitchen.pages.default_page import (
    DefaultPage,
    PanelMaker,
    PastStep,
    SeatLine,
    SpokenStep,
    history_panel,
    may_choose,
)
from kitchen.pages.grid_page import FLOOR_LETTER, CellLook, GridPage
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, ngettext
from kitchen.worlds.collab_overcooked.display_text import (
    AIM_GROUPS,
    AIM_WORDS,
    FETCH,
    NAMES,
    PICKER_WORDS,
    REASON_WORDS,
    STAND_IN_SENTENCES,
    VERB_WORDS,
    command_words,
    doing_words,
    list_words,
    picker_words,
    recipe_steps,
    stand_in_sentence,
    thing_words,
    utensil_words,
)
from kitchen.worlds.collab_overcooked.food_rules import JOB_STEPS, UTENSILS, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    FILL,
    GO_ON,
    PICKUP,
    PUT,
    WAIT,
    WAIT_ONE,
    known_macros,
    never_code,
    possible_macros,
    read_macros,
    things_from_observation,
    typed_forms,
    unbalanced_entry,
    visible_things,
    with_waits,
    without_request,
)
from kitchen.worlds.collab_overcooked.passed_steps import passed_sentence, runs_of_steps, summed_entry
from kitchen.worlds.collab_overcooked.practice_hints import hinted_requests, reason_words, teammate_hint
from kitchen.worlds.collab_overcooked.room_layout import CHEF, DISPENSERS, PLACE_LETTERS, SEATS
from kitchen.worlds.collab_overcooked.world import CollabOvercooked

_TEMPLATES = "worlds/collab_overcooked"
PLACES: Mapping[str, str] = {
    **{letter: NAMES.get(place, place) for letter, place in PLACE_LETTERS.items()},
    "G": gettext_noop("serving place"),
}

COUNTER_NAMES: Mapping[str, str] = {"C": gettext_noop("counter"), "S": gettext_noop("shared counter")}


class OrderContent(NamedTuple):
    """The content of the order panel: the ordered food, the steps left, and the recipe if the seat knows
    it."""

    order: str
    in_dish: bool
    step: int
    left: int
    recipe: tuple[str, ...]


class CookQueue(NamedTuple):
    """One cook in the panel that shows both cooks: what the cook holds, does and plans, as text."""

    seat: int
    name: str
    is_you: bool
    is_chef: bool
    holds: str
    doing: str
    plan: tuple[str, ...]


class CookQueues(NamedTuple):
    """The content of the panel that shows both cooks."""

    cooks: tuple[CookQueue, ...]


class LyingThings(NamedTuple):
    """The things on counters and in utensils, as texts: one for all counters, and one for each utensil."""

    texts: tuple[str, ...]


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


class TypedPlan(NamedTuple):
    """The box in which a person types own macros."""

    forms: tuple[str, ...]
    """The forms in which macros of the own seat are typed."""


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
    state: str = ""
    """UNDERWAY or DONE if the reader does or did this; empty if not, and for own requests."""


class RequestCards(NamedTuple):
    """The newest messages with requests that one side sent, the newest first. `are_yours` is true if the
    reader sent them."""

    are_yours: bool
    cards: tuple[RequestCard, ...]


UNDERWAY, DONE = "underway", "done"
"""States of a request: its actions are the reader's plan, or the reader has finished them."""
CARDS_SHOWN = 3
LONGEST_ECHO = 80
"""Characters of a typed action that its refusal repeats."""


def _look(letter: str) -> CellLook:
    if letter == FLOOR_LETTER:
        return CellLook(gettext_noop("floor"), walkable=True)
    if letter in PLACES:
        return CellLook(PLACES[letter], picture=f"box-{letter}")
    if letter in COUNTER_NAMES:
        return CellLook(COUNTER_NAMES[letter], picture=f"box-{letter}")
    return CellLook(gettext_noop("wall"))


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
    """Return the state of a request to this seat: UNDERWAY, DONE, or an empty text if it is not begun.
    Only actions that were finished after the request count. Of two equal requests, the earlier one is done
    first."""
    wanted, mine = commands_in(said.data, REQUESTS_KEY), view.observation["players"][view.seat]
    equal = [
        one.step
        for one in view.talk.requests
        if one.sender != view.talk.member
        and one.number <= said.number
        and commands_in(one.data, REQUESTS_KEY) == wanted
    ]
    done = list(zip(mine["done_in"], map(tuple, mine["done"]), strict=True))
    if _is_last_done(equal, wanted, done):
        return DONE
    doing = [tuple(mine["doing"])] if mine["doing"] else []
    left = [*doing, *view.plans.by_seat.get(view.seat, ())]
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


class CollabPage(GridPage):
    """The page of Collab-Overcooked. It shows the recipe only to seats that know it."""

    supports_clock = False
    lasting_commands = (GO_ON,)
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    styles = (*GridPage.styles, f"{_TEMPLATES}/collab_overcooked.css")
    scripts = ("js/amounts.js", f"{_TEMPLATES}/utensils.js", f"{_TEMPLATES}/requests.js", "js/grid.js")
    pictures = f"{_TEMPLATES}/collab_overcooked.svg"
    looks = {letter: _look(letter) for letter in (*PLACES, "X", "C", "S", FLOOR_LETTER)}
    layers = ("utensils", "counters")
    pad = {}
    names = {**NAMES, **VERB_WORDS, FETCH: PICKER_WORDS["pickup ingredient_dispenser"]}
    reasons = REASON_WORDS
    verbs = ("pickup", "put_obj_in_utensil", "fill_dish_with_food")
    last_verbs = (FETCH,)
    title = gettext_lazy("Two rooms, one recipe")
    body = gettext_lazy("cook")
    guide_ignores_settings = ("task",)
    first_steps = ()
    events: Mapping[str, str] = {
        "gone": gettext_noop("{player}: what was needed is gone"),
        "destroyed": gettext_noop("{utensil}: this made nothing, and {contents} is lost"),
        "ready": gettext_noop("{utensil}: {product} is ready"),
        "delivered": gettext_noop("{player} delivered {thing}"),
    }

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that make the panels. The order panel replaces the score and the other
        facts."""
        makers = [make for make in super().makers(view) if make != self.facts]
        drawn = (self.lying,) if self.board in makers else ()
        return (makers[0], self.queues, *drawn, *makers[1:], self.ask, self.asked, self.requests)

    def read_typed(self, world: World, seat: int, text: str, *, asks: bool, most: int) -> tuple[Command, ...]:
        """Return the commands in a text that a person typed, in the form that models write.

        Raises TypedTextError if the text has no command, more than `most` commands, a command without one of
        its parentheses, or a command that the cook can never carry out. If `asks` is false, the person plans
        for the own seat. Then the first command must also be possible now.
        """
        if seat not in SEATS or not world.brief(seat)["typed"]:
            return super().read_typed(world, seat, text, asks=asks, most=most)
        if cut_short := unbalanced_entry(text):
            self._refuse((cut_short,), "parenthesis_missing")
        macros = tuple(filter(None, map(without_request, read_macros(text))) if asks else read_macros(text))
        if not macros:
            raise TypedTextError(gettext("Type at least one action."))
        if len(macros) > most:
            text = ngettext("Type at most {count} action.", "Type at most {count} actions.", most)
            raise TypedTextError(text.format(count=most))
        cook = 1 - seat if asks else seat
        for macro in macros:
            self._refuse(macro, never_code(food_rules(), cook, macro))
        if not asks and not world.accepts(seat, macros[0]):
            self._refuse(macros[0], cast(CollabOvercooked, world).why_not(seat, macros[0]))
        return macros

    def _refuse(self, macro: Command, code: str) -> None:
        """Raise TypedTextError unless the code is empty."""
        if code:
            text = gettext("“{action}” was not accepted: {reason}.")
            action = " ".join(macro)[:LONGEST_ECHO]
            raise TypedTextError(text.format(action=action, reason=self.reason(code)))

    def ask(self, view: SeatView) -> Panel:
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
        part = Panel("ask-now", f"{_TEMPLATES}/ask_now.jinja", self._picker_state(view))
        return Panel("ask", f"{_TEMPLATES}/ask.jinja", shows, parts=() if typed else (part,))

    def _picker_state(self, view: SeatView) -> PickerState:
        requested = [macro for said in view.talk.messages for macro in commands_in(said.data, REQUESTS_KEY)]
        is_asking = view.choice.hints and view.choice.hinted is None
        hinted = hinted_requests(view) if is_asking else ()
        things = things_from_observation(view.observation, needs_dish=view.brief["in_dish"])
        first, own = (_first_words(possible_macros(things, seat)) for seat in (1 - view.seat, view.seat))
        return PickerState(
            visible_things(view.observation, requested), tuple(map(_value, hinted)), first, own
        )

    def asked(self, view: SeatView) -> Panel:
        """Return the panel with the newest requests that this person sent."""
        return self._request_panel("asked", view, is_yours=True)

    def requests(self, view: SeatView) -> Panel:
        """Return the panel with the newest requests from others, which the person can accept."""
        return self._request_panel("requests", view, is_yours=False)

    def _request_panel(self, name: str, view: SeatView, *, is_yours: bool) -> Panel:
        found = [
            said
            for said in view.talk.messages
            if commands_in(said.data, REQUESTS_KEY) and (said.sender == view.talk.member) == is_yours
        ]
        cards = tuple(self._card(view, said) for said in reversed(found[-CARDS_SHOWN:]))
        return Panel(name, f"{_TEMPLATES}/requests.jinja", RequestCards(is_yours, cards))

    def _card(self, view: SeatView, said: TeamMessage) -> RequestCard:
        macros = commands_in(said.data, REQUESTS_KEY)
        who = "" if said.sender is None else view.talk.members.get(said.sender, "")
        return RequestCard(
            said.number,
            who,
            said.step,
            tuple(map(command_words, macros)),
            _value(macros[0]),
            tuple((_value(macro), command_words(macro)) for macro in with_waits(macros)[1:]),
            self._can_accept(view, macros),
            "" if said.sender == view.talk.member else _request_state(view, said),
        )

    def _can_accept(self, view: SeatView, macros: Sequence[Command]) -> bool:
        """Return whether the person can do these requested macros now, or plan them as an answer."""
        if may_choose(view):
            return macros[0] in view.choice.legal
        return view.phase == "answer" and set(with_waits(macros)) <= set(view.plans.plannable)

    def queues(self, view: SeatView) -> Panel:
        """Return the panel of what both cooks hold, do and plan."""
        cooks = tuple(
            CookQueue(
                player.seat,
                player.name,
                player.is_you,
                player.seat == CHEF,
                thing_words(each["holds"]),
                self._doing(view, player, each),
                tuple(map(command_words, view.plans.by_seat.get(player.seat, ()))),
            )
            for player, each in zip(view.players, view.observation["players"], strict=True)
        )
        return Panel("queues", f"{_TEMPLATES}/queues.jinja", CookQueues(cooks))

    def lying(self, view: SeatView) -> Panel:
        """Return the panel below the drawing that names what is on counters and in utensils. In the drawing
        there is room only for the first letters."""
        on_counters = list_words(each["thing"] for each in view.observation["counters"])
        counters = [gettext("Counters: {things}").format(things=on_counters)] if on_counters else []
        used = (each for each in view.observation["utensils"] if each["contents"] or each["ready"])
        utensils = (f"{sentence_case(thing_words(each['thing']))}: {utensil_words(each)}" for each in used)
        return Panel("lying", f"{_TEMPLATES}/lying.jinja", LyingThings((*counters, *utensils)))

    def _doing(self, view: SeatView, player: PlayerView, seen: Mapping[str, Json]) -> str:
        """Return what a cook does, as text. For the person's own cook, this can be a chosen macro that has
        not begun yet."""
        chosen = self.under_way(view) if player.is_you else None
        return command_words(chosen) if chosen else doing_words(seen)

    def under_way(self, view: SeatView) -> Command | None:
        """Return the macro in progress of the person's own cook, or the macro that was chosen for the open
        step. None if there is none."""
        doing, chosen = view.observation["players"][view.seat]["doing"], view.choice.chosen
        return tuple(doing) if doing else chosen if chosen != GO_ON else None

    def script_rules(self, view: SeatView) -> Mapping[str, Json]:
        """Return the data that the page's JavaScript needs, with the names of the ingredients and the
        steps of a job."""
        labels = {name: thing_words(name) for name in food_rules().raw}
        return {**super().script_rules(view), "labels": labels, "job": JOB_STEPS}

    def score(self, view: SeatView) -> Panel:
        """Return the panel with the order, the time and the recipe."""
        seen = view.observation
        shows = OrderContent(
            thing_words(view.brief["order"]),
            view.brief["in_dish"],
            seen["step"],
            seen["steps_left"],
            recipe_steps(view.brief),
        )
        return Panel("score", f"{_TEMPLATES}/order.jinja", shows)

    def menu(self, view: SeatView) -> Panel:
        """Return the panel with all commands that are possible now. If the setting `typed` is on, the
        panel also has a box to type commands in."""
        menu = DefaultPage.menu(self, view)._replace(template=f"{_TEMPLATES}/menu.jinja")
        shows = TypedPlan(typed_forms(food_rules(), view.seat, gettext("thing")))
        box = Panel("typed-plan", f"{_TEMPLATES}/typed_plan.jinja", shows)
        return menu._replace(parts=(*menu.parts, box)) if view.brief["typed"] else menu

    def entry_words(self, layer: str, entry: Mapping[str, Json], brief: Mapping[str, Json]) -> str:
        """Return the text for an entry of the grid: the state of a utensil, or the thing on a counter."""
        return utensil_words(entry) if layer == "utensils" else thing_words(entry["thing"])

    def thing_words(self, thing: Json) -> str:
        """Return the name of a thing for participants."""
        return thing_words(thing)

    def word(self, code: str) -> str:
        """Return the participant's word for the code of a thing, a place or a verb."""
        return super().word(code) if code in self.names else thing_words(code)

    def verb_group(self, command: Command) -> str:
        """Return the group of a command in the menu. Commands that fetch something from a dispenser are many,
        so they have a group of their own."""
        return FETCH if command[2:] and command[2] in DISPENSERS else super().verb_group(command)

    def phrase(self, command: Command) -> str:
        """Return a command as a text for participants."""
        return command_words(command)

    def line(self, step: StepView, player: PlayerView, view: SeatView) -> SeatLine | None:
        """Return the line about one seat in the history of a step. For a continued command, it says `Carry
        on`, without the second choice that the menu offers."""
        line = super().line(step, player, view)
        carries_on = step.commands.get(player.seat) == GO_ON
        return line._replace(text=gettext("Carry on")) if line and carries_on else line

    def story(self, view: SeatView) -> Panel:
        """Return the panel of the last steps. The steps between two choices of the person are one entry."""
        runs = {run[0].number: run for run in runs_of_steps(view.history)}

        def entry(step: StepView) -> PastStep:
            run = runs[step.number]
            return self.past(step, view) if len(run) == 1 else self._sum(run, view)

        first = replace(view, history=tuple(run[0] for run in runs.values()))
        return history_panel(first, entry, self.lasting_commands)

    def _sum(self, run: Sequence[StepView], view: SeatView) -> PastStep:
        return summed_entry(run, view, lambda step: self.past(step, view))

    def spoken(self, view: SeatView) -> Panel:
        """Return the panel with the text for screen readers. When the person can choose again after several
        steps, it begins with how many passed."""
        panel = super().spoken(view)
        run = next(iter(runs_of_steps(view.history)), ())
        if len(run) < 2 or view.phase not in ("choose", "over"):
            return panel
        text = ". ".join(filter(None, (passed_sentence(run, view.seat), *panel.shows)))
        return panel._replace(shows=SpokenStep(text))

    def translated_message(self, message: TeamMessage) -> str:
        """Return a sentence of the stand-in in the reader's language; empty for all other messages."""
        code = str(message.data.get(CODE_KEY, ""))
        if code not in STAND_IN_SENTENCES:
            return ""
        macros = (macro for key in (REQUESTS_KEY, PLAN_KEY) for macro in commands_in(message.data, key))
        return stand_in_sentence(code, macros)

    def outcome(self, view: SeatView) -> str:
        """Return a heading that tells whether the ordered dish was delivered in time."""
        if view.result.score.get("success"):
            return gettext("The dish was delivered in time")
        return gettext("The time is up: the dish was not delivered")

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """Return a hint that recommends this command and explains why it comes next."""
        return f"{super().hint(view, command, aim)} {reason_words(command)}".rstrip()

    def hint_without_advice(self, view: SeatView) -> str:
        """Return a hint for a step without a recommended command: ask the teammate, accept a request, or
        wait."""
        return teammate_hint(view)

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game, which is the order, as text. The recipe is not in it."""
        served = gettext("in a dish") if brief["in_dish"] else gettext("without a dish")
        order = f"{thing_words(brief['order'])} ({served})"
        return gettext("Two cooks in two rooms prepare one dish together: %(order)s.") % {"order": order}

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return an aim as an instruction, such as `Put egg on a shared counter`."""
        return gettext(AIM_WORDS[aim[0]]).format(*map(thing_words, aim[1:]))

    def aim_group(self, aim: Aim) -> str:
        """Return the heading of the aim's group in the list of aims."""
        return gettext(AIM_GROUPS[aim[0]])

    def event_sentence(self, event: Event, view: SeatView) -> str:
        """Return the sentence about an event. Empty for a command that took effect (`done`), because
        another part of the page shows it."""
        return "" if event.kind == "done" else sentence_case(super().event_sentence(event, view))

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the content of the guide: the order, the time limit, and the recipe if the seat knows it."""
        return {
            "order": thing_words(brief["order"]),
            "in_dish": brief["in_dish"],
            "limit": brief["limit"],
            "knows": "recipe" in brief,
            "role": brief.get("seat", ""),
            "knowers": brief["knowledge"],
            "recipe": recipe_steps(brief),
            "typed": brief["typed"],
        }


PAGE = CollabPage()
