"""Build the play page of Collab-Overcooked: both rooms, order, recipe, menu and guide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from kitchen.contract.page import Panel, TypedTextError
from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.team_messages import CODE_KEY, PLAN_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Aim, Command, Event, Json, World
from kitchen.pages.default_page import (
    DefaultPage,
    PanelMaker,
    PastStep,
    SeatLine,
    SpokenStep,
    history_panel,
)
from kitchen.pages.grid_page import FLOOR_LETTER, CellLook, GridPage
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, ngettext
from kitchen.worlds.collab_overcooked.assistant_ideas import ideas_panel
from kitchen.worlds.collab_overcooked.chef_requests import ABOUT_KEY, USE_KEY, WHY_KEY, is_useless
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
    recipe_steps,
    stand_in_sentence,
    thing_words,
    utensil_words,
)
from kitchen.worlds.collab_overcooked.doubtful_commands import doubt_words
from kitchen.worlds.collab_overcooked.food_rules import DISH, IN_DISH, JOB_STEPS, UTENSILS, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    GO_ON,
    WAIT,
    never_code,
    read_macros,
    typed_forms,
    unbalanced_entry,
    without_request,
)
from kitchen.worlds.collab_overcooked.no_choice_steps import passed_sentence, runs_of_steps, summed_entry
from kitchen.worlds.collab_overcooked.order_progress import SOON, met_soon, order_panel, own_ideas, pace_news
from kitchen.worlds.collab_overcooked.order_tasks import room_dressing
from kitchen.worlds.collab_overcooked.pictured_menu import (
    in_pantry_order,
    is_from_pantry,
    pictured_choice,
    with_pantry,
)
from kitchen.worlds.collab_overcooked.plan_lanes import lane_rules, lanes_panel, shows_lanes
from kitchen.worlds.collab_overcooked.practice_hints import reason_words, teammate_hint
from kitchen.worlds.collab_overcooked.quick_requests import bubble_panel
from kitchen.worlds.collab_overcooked.request_panels import ask_panel, request_panel
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    PLACE_LETTERS,
    RELEASED,
    SEAT_NAMES,
    SEATS,
    SERVING,
    layout_of,
)
from kitchen.worlds.collab_overcooked.team_highlights import team_highlights
from kitchen.worlds.collab_overcooked.wait_for_teammate import (
    lost_words,
    room_words,
    unspoken_news,
    wait_panel,
)
from kitchen.worlds.collab_overcooked.work_names import works_name
from kitchen.worlds.collab_overcooked.world import CollabOvercooked

_TEMPLATES = "worlds/collab_overcooked"
PLACES: Mapping[str, str] = {
    **{letter: NAMES.get(place, place) for letter, place in PLACE_LETTERS.items()},
    "G": gettext_noop("serving place"),
}

COUNTER_NAMES: Mapping[str, str] = {"C": gettext_noop("counter"), "S": gettext_noop("shared counter")}


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


class KitchenContents(NamedTuple):
    """The things on counters and in utensils, as texts: one for all counters, and one for each utensil.
    `lost` says what a utensil has just destroyed."""

    texts: tuple[str, ...]
    lost: str = ""
    room: str = ""
    """A warning if only one shared counter is free, or none."""


class TypedPlan(NamedTuple):
    """The box in which a person types own macros."""

    forms: tuple[str, ...]
    """The forms in which macros of the own seat are typed."""


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


class CollabPage(GridPage):
    """The page of Collab-Overcooked. It shows the recipe only to seats that know it."""

    supports_clock = False
    lasting_commands = (GO_ON,)
    cover = f"{_TEMPLATES}/cover.webp"
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    styles = (
        *GridPage.styles,
        f"{_TEMPLATES}/kitchen_spots.css",
        f"{_TEMPLATES}/kitchen_moments.css",
        f"{_TEMPLATES}/room_dressings.css",
        f"{_TEMPLATES}/wait_on.css",
        f"{_TEMPLATES}/ask_bubble.css",
        f"{_TEMPLATES}/collab_overcooked.css",
        f"{_TEMPLATES}/request_row.css",
        f"{_TEMPLATES}/pantry_and_asking.css",
        f"{_TEMPLATES}/rooms_sizes.css",
        f"{_TEMPLATES}/plan_lanes.css",
    )
    scripts = (
        "js/amounts.js",
        f"{_TEMPLATES}/utensils.js",
        f"{_TEMPLATES}/requests.js",
        f"{_TEMPLATES}/pantry.js",
        f"{_TEMPLATES}/kitchen_spots.js",
        f"{_TEMPLATES}/wait_on.js",
        f"{_TEMPLATES}/ask_bubble.js",
        f"{_TEMPLATES}/lane_forecast.js",
        f"{_TEMPLATES}/plan_lanes.js",
        f"{_TEMPLATES}/lane_runner.js",
        "js/grid_characters.js",
        "js/grid_motion.js",
        "js/grid.js",
    )
    pictures = f"{_TEMPLATES}/collab_overcooked.svg"
    looks = {letter: _look(letter) for letter in (*PLACES, "X", "C", "S", FLOOR_LETTER)}
    layers = ("utensils", "counters")
    pad = {}
    names = {**NAMES, **VERB_WORDS, FETCH: PICKER_WORDS["pickup ingredient_dispenser"]}
    reasons = REASON_WORDS
    verbs = ("pickup", "put_obj_in_utensil", "fill_dish_with_food")
    last_verbs = (FETCH,)
    keys: Mapping[str, str] = {WAIT: ""}
    """The key W waits for the teammate."""
    title = gettext_lazy("Two rooms, one recipe")
    body = gettext_lazy("cook")
    guide_ignores_settings = ("task",)
    first_steps = ()
    events: Mapping[str, str] = {
        "gone": gettext_noop("{player}: what was needed is gone"),
        "destroyed": gettext_noop("{utensil}: this made nothing, and {contents} is lost"),
        "ready": gettext_noop("{utensil}, ready: {product}"),
        "delivered": gettext_noop("{player} delivered {thing}"),
    }

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that make the panels. The order panel replaces the score and the other
        facts."""
        makers = [make for make in super().makers(view) if make != self.facts]
        drawn = (self.contents,) if self.board in makers else ()
        lanes = (lanes_panel,) if shows_lanes(view) and drawn else ()
        own = (wait_panel, self.ask, self.asked, self.requests, ideas_panel, *lanes)
        return (makers[0], self.queues, *drawn, bubble_panel, *makers[1:], *own)

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
        return ask_panel(view)

    def asked(self, view: SeatView) -> Panel:
        """Return the panel with the newest requests that this person sent."""
        return request_panel("asked", view, is_yours=True)

    def requests(self, view: SeatView) -> Panel:
        """Return the panel with the newest requests from others, which the person can accept."""
        return request_panel("requests", view, is_yours=False)

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

    def contents(self, view: SeatView) -> Panel:
        """Return the panel below the drawing that names what is on counters and in utensils, because the
        drawing has only pictures of it."""
        on_counters = list_words(each["thing"] for each in view.observation["counters"])
        counters = [gettext("Counters: {things}").format(things=on_counters)] if on_counters else []
        used = (each for each in view.observation["utensils"] if each["contents"] or each["ready"])
        utensils = (f"{sentence_case(thing_words(each['thing']))}: {utensil_words(each)}" for each in used)
        return Panel(
            "contents",
            f"{_TEMPLATES}/contents.jinja",
            KitchenContents((*counters, *utensils), lost_words(view), room_words(view)),
        )

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
        """Return the data that the page's JavaScript needs, with the names of all things, the steps of a job,
        the serving cell, and how the room is dressed."""
        rules = food_rules()
        served = {f"{name}{IN_DISH}" for name in rules.served_in_dish}
        labels = {name: thing_words(name) for name in sorted(rules.things | served)}
        layout = layout_of(view.brief)
        own = layout.own[view.seat] if view.acts else ()
        where = {
            "job": JOB_STEPS,
            "dressing": room_dressing(view.brief["order"]),
            "limit": view.brief["limit"],
            "serving": list(layout.places[SERVING]),
            "places": {place: list(cell) for place, cell in layout.places.items()},
            "reach": [list(cell) for cell in (*layout.shared, *own)],
            "shared": [list(cell) for cell in layout.shared],
        }
        lanes = lane_rules(view.brief)
        return {**super().script_rules(view), "labels": labels, **where} | ({"lanes": lanes} if lanes else {})

    def changing(self, view: SeatView) -> Mapping[str, Json]:
        """Return what changes on the grid, the number of requests that were met soon (`met`) and of things
        that came unasked (`ideas`), the newest message that something was brought in vain (`useless`), the
        steps left (`left`), how the newest handover is beside the best run (`pace`), and for each seat that
        delivered whether its newest delivery was right (`delivered`)."""
        oldest_first = (event for step in reversed(view.history) for event in step.events)
        right = {str(one.seat): one.data["right"] for one in oldest_first if one.kind == "delivered"}
        requests, players = view.talk.requests, view.observation["players"]
        counts: dict[str, Json] = {
            "met": met_soon(requests, players),
            "ideas": own_ideas(requests, players, layout_of(view.brief)),
            "useless": max((one.number for one in view.talk.messages if is_useless(one)), default=0),
        }
        left = view.observation["steps_left"]
        counts |= pace_news(view)
        return {**super().changing(view), **counts, "left": left, **({"delivered": right} if right else {})}

    def score(self, view: SeatView) -> Panel:
        """Return the panel with the order, the time, the recipe and the progress."""
        return order_panel(view)

    def menu(self, view: SeatView) -> Panel:
        """Return the panel with all commands that are possible now. If the setting `typed` is on, the
        panel also has a box to type commands in."""
        choice = replace(view.choice, legal=in_pantry_order(view.choice.legal))
        menu = DefaultPage.menu(self, replace(view, choice=choice))
        titles = (self._group_title(FETCH, ()), self._group_title(WAIT, ()))
        parts = (with_pantry(part, *titles) if part.id == "menu-actions" else part for part in menu.parts)
        menu = menu._replace(template=f"{_TEMPLATES}/menu.jinja", parts=tuple(parts))
        shows = TypedPlan(typed_forms(food_rules(), view.seat, gettext("thing")))
        box = Panel("typed-plan", f"{_TEMPLATES}/typed_plan.jinja", shows)
        return menu._replace(parts=(*menu.parts, box)) if view.brief["typed"] else menu

    def _choice(self, command: Command, view: SeatView, note: str) -> Panel:
        note = note or doubt_words(command, view)
        return pictured_choice(super()._choice(command, view, note), command, view)

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
        so they have a group of their own. To stay for a step belongs to the waits."""
        if command == GO_ON:
            return WAIT
        return FETCH if is_from_pantry(command) else super().verb_group(command)

    def phrase(self, command: Command) -> str:
        """Return a command as a text for participants."""
        return command_words(command)

    def line(self, step: StepView, player: PlayerView, view: SeatView) -> SeatLine | None:
        """Return the line about one seat in the history of a step. For a continued command, it says
        so, not what the menu offers."""
        line = super().line(step, player, view)
        carries_on = step.commands.get(player.seat) == GO_ON
        return line._replace(text=gettext("goes on with the same action")) if line and carries_on else line

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
        """Return the panel with the text for screen readers. It ends with what ends a wait for the teammate.
        When the person can choose again after several steps, it begins with how many passed."""
        panel = super().spoken(view)
        if news := unspoken_news(view):
            panel = panel._replace(shows=SpokenStep(". ".join(filter(None, (*panel.shows, news)))))
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
        macros = [
            macro for key in (REQUESTS_KEY, PLAN_KEY, ABOUT_KEY) for macro in commands_in(message.data, key)
        ]
        use, why = (str(message.data.get(key, "")) for key in (USE_KEY, WHY_KEY))
        return stand_in_sentence(code, macros, works_name(macros), use, why)

    def guide_sentences(self, brief: Mapping[str, Json]) -> tuple[str, ...]:
        """Return sentences that the stand-in understands as assistant. Empty for the assistant."""
        if brief.get("seat") == SEAT_NAMES[ASSISTANT]:
            return ()
        bring = (gettext("Bring an egg"), gettext("Cut a potato"), gettext("Bring a plate"))
        return (*bring, gettext("Stop"), gettext("What are you doing?"))

    def requests_named(self, data: Mapping[str, Json]) -> str:
        """Return what a message requests: the short name of the whole work, such as *Cut pumpkin*, or its
        commands."""
        return works_name(commands_in(data, REQUESTS_KEY)) or super().requests_named(data)

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

    def cover_of(self, settings: Mapping[str, Json]) -> str:
        """Return the picture of the rooms that these settings choose."""
        layout = settings.get("layout", RELEASED)
        return self.cover if layout == RELEASED else f"{_TEMPLATES}/cover-{layout}.webp"

    def highlights(
        self, brief: Mapping[str, Json], start: Mapping[str, Json], steps: Iterable[Sequence[Event]]
    ) -> tuple[str, ...]:
        """Return what the guest says, where steps were lost, and what was handed over."""
        return team_highlights(brief, steps)

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game, which is the order, as text. The recipe is not in it."""
        food = thing_words(brief["order"])
        order = f"{food} ({gettext('in a dish')})" if brief["in_dish"] else food
        return gettext("Two cooks in two rooms prepare one dish together: %(order)s.") % {"order": order}

    def part_words(self, brief: Mapping[str, Json]) -> str:
        """Return what the chef or the assistant does, where only the chef knows the recipe."""
        knows = "recipe" in brief
        if brief.get("seat") == SEAT_NAMES[CHEF] and knows:
            return gettext("As the chef you know the recipe: ask the other cook for what you need.")
        if brief.get("seat") == SEAT_NAMES[ASSISTANT] and not knows:
            return gettext("As the assistant you bring what the chef asks for, and think ahead.")
        return ""

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return an aim as an instruction, such as `Put egg on a shared counter`."""
        words = AIM_WORDS.get(f"{aim[0]} {aim[-1]}", AIM_WORDS[aim[0]])
        return gettext(words).format(*map(thing_words, aim[1:]))

    def aim_group(self, aim: Aim) -> str:
        """Return the heading of the aim's group in the list of aims."""
        return gettext(AIM_GROUPS[aim[0]])

    def usual_aims(self, view: SeatView, aims: Sequence[Aim]) -> Sequence[Aim]:
        """Return a cook's aims about the order, as far as the reader knows the recipe. Without the recipe,
        return the aims that name nothing but utensils."""
        names = set(UTENSILS)
        if "recipe" in view.brief:
            known = view.brief["recipe"]
            names = {name for name, *_ in known["ingredients"]}.union(*known["steps"])
            names |= {DISH} if view.brief["in_dish"] else set()
        return [aim for aim in aims if names.issuperset(aim[1:])]

    def event_sentence(self, event: Event, view: SeatView) -> str:
        """Return the sentence about an event. Empty for a command that took effect (`done`), because
        another part of the page shows it. A wrong delivery is called wrong."""
        if event.kind == "done":
            return ""
        text = sentence_case(super().event_sentence(event, view))
        is_wrong = event.kind == "delivered" and not event.data["right"]
        return f"{text}. {gettext('This was not what was ordered')}" if is_wrong else text

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the content of the guide: the order, the time limit, the recipe if the seat knows it, and
        the names of the buttons to ask and to wait."""
        teammate = self.named(1 if brief.get("seat") == SEAT_NAMES[ASSISTANT] else 2)
        return {
            "ask": gettext("Ask %(teammate)s") % {"teammate": teammate},
            "wait": gettext("Wait for %(teammate)s") % {"teammate": teammate},
            "order": thing_words(brief["order"]),
            "in_dish": brief["in_dish"],
            "limit": brief["limit"],
            "soon": SOON,
            "knows": "recipe" in brief,
            "role": brief.get("seat", ""),
            "knowers": brief["knowledge"],
            "recipe": recipe_steps(brief),
            "typed": brief["typed"],
        }


PAGE = CollabPage()
