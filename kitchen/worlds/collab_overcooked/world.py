"""Implement the Collab-Overcooked world: carry out the commands of each step.

The docstring of `kitchen.worlds.collab_overcooked` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY
from kitchen.contract.world import Aim, Command, Event, Json, Metric
from kitchen.worlds.collab_overcooked.collaboration_scores import tes
from kitchen.worlds.collab_overcooked.cook_aims import aim_mark, aim_status, seat_aims
from kitchen.worlds.collab_overcooked.food_rules import JOB_STEPS, UTENSILS, base_food, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    DELIVER,
    FILL,
    GO_ON,
    LONGEST_WAIT,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    WAIT,
    WAIT_ONE,
    KitchenThings,
    Utensil,
    is_known_macro,
    known_macros,
    possible_macros,
    refusal_code,
    with_dish,
)
from kitchen.worlds.collab_overcooked.order_tasks import Task, recipe, tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    COUNTER,
    INTERACT,
    LAYOUTS,
    NORTH,
    ROOM_COLUMNS,
    ROWS_AFTER,
    SEAT_NAMES,
    SEATS,
    SERVING,
    START_CELLS,
    STAY,
    Cell,
    approach,
    nearest,
)
from kitchen.worlds.collab_overcooked.settings import KNOWING_SEATS, METRICS, PLAN_LANES, SETTINGS

_GOES_ON = tuple((Event("performed", seat, {"command": list(GO_ON)}),) for seat in SEATS)
POINTS = 20
"""Points of the right delivery."""


class CollabOvercooked(SimpleWorld):
    """A world with two rooms and one order, in which a chef and an assistant know different things."""

    kind: ClassVar[str] = "collab_overcooked"
    event_kinds: ClassVar[Mapping[str, str]] = {
        "delivered": "a dish was delivered",
        "ready": "a utensil had finished",
        "destroyed": "something was destroyed",
        "done": "an action was finished",
    }
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    steps_setting: ClassVar[str] = ""
    idle: ClassVar[Command] = GO_ON
    waits: ClassVar[frozenset[str]] = frozenset((WAIT,))
    passes_by: ClassVar[bool] = True
    shows_plans: ClassVar[bool] = True
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = METRICS
    secret: ClassVar[tuple[str, ...]] = ("recipe",)
    drawn: ClassVar[str] = "events"
    news: ClassVar[str] = "food that became ready, was destroyed or delivered"
    state: ClassVar[tuple[str, ...]] = (
        *("rows", "faces", "hold", "counters", "utensils"),
        *("doing", "wait_left", "history", "delivered"),
    )

    def begin(self) -> None:
        """Put both seats on their start cells, facing north. Hands, counters and utensils are empty."""
        self.task: Task = tasks()[self.chosen["task"]]
        self.step_limit = self.task.steps_allowed(self.chosen["gamma"])
        self.layout = LAYOUTS[self.chosen["layout"]]
        self.rows = [y for _, y in START_CELLS]
        self.faces = [NORTH, NORTH]
        self.things = KitchenThings(
            food_rules(),
            self.task.needs_dish,
            [None, None],
            [None] * len(self.layout.counters),
            {name: Utensil() for name in UTENSILS},
            self.layout,
        )
        self.doing: list[Sequence[str] | None] = [None, None]
        """The macro in progress of each seat."""
        self.wait_left = [0, 0]
        """Steps that are left of each seat's wait."""
        self.history: list[list[list[Json]]] = [[], []]
        """The macros of each seat that took effect, as [step from 0, *words]."""
        self.delivered = False
        self.low: list[str | None] = [STAY, STAY]
        """The low-level action of each seat in the last step; None if its target was gone."""
        self._started: list[str] = []

    @property
    def over(self) -> bool:
        """Return True if the ordered dish was delivered."""
        return self.delivered

    @property
    def cut_off(self) -> bool:
        """Return True if the time limit was reached without the right delivery."""
        return self.clock >= self.step_limit and not self.delivered

    # The parts of the state that `things` holds

    @property
    def hold(self) -> list[str | None]:
        """Return the thing that each seat holds, None if its hands are empty."""
        return self.things.hold

    @hold.setter
    def hold(self, value: list[str | None]) -> None:
        self.things.hold = value

    @property
    def counters(self) -> list[str | None]:
        """Return the thing on each counter, in the order of the layout; None if a counter is empty."""
        return self.things.counters

    @counters.setter
    def counters(self, value: list[str | None]) -> None:
        self.things.counters = value

    @property
    def utensils(self) -> dict[str, Json]:
        """Return the state of each utensil by its name, as [contents, steps of the running job, product if
        ready]."""
        return {name: [each.contents, each.ticks, each.ready] for name, each in self.things.utensils.items()}

    @utensils.setter
    def utensils(self, value: Mapping[str, Json]) -> None:
        self.things.utensils = {name: Utensil(*value[name]) for name in UTENSILS}

    # Knowledge

    def brief(self, seat: int) -> dict[str, Json]:
        """Return what the seat knows before the episode: the order, the step limit and the rooms. A seat
        that knows the recipe also gets it, as `recipe` (see
        `kitchen.worlds.collab_overcooked.order_tasks.recipe`)."""
        task = self.task
        known: dict[str, Json] = {
            "order": task.name,
            "level": task.level,
            "limit": self.step_limit,
            "in_dish": task.needs_dish,
            "grid": list(self.layout.grid),
            "knowledge": self.chosen["knowledge"],
            "typed": self.chosen["typed"],
            "seat": SEAT_NAMES[seat],
        }
        known |= {name: True for name in ("one_press", "best_run", PLAN_LANES) if self.chosen[name]}
        return known | ({"recipe": recipe(task)} if seat in KNOWING_SEATS[self.chosen["knowledge"]] else {})

    def public_state(self) -> dict[str, Json]:
        """Return the order and the steps left. The recipe is not among them, because only some cooks know
        it."""
        return {"steps_left": max(0, self.step_limit - self.clock), "order": self.task.name}

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the observation, the whole state. It is the same for both seats. A player's `doing` is
        the macro in progress. `done` lists the macros that took effect, and `done_in` the step of each, from
        1."""
        return {
            "step": self.clock,
            "steps_left": max(0, self.step_limit - self.clock),
            "players": [self._player(each) for each in SEATS],
            "utensils": [self._utensil(name) for name in UTENSILS],
            "counters": [
                {"at": list(cell), "thing": thing}
                for cell, thing in zip(self.layout.counters, self.counters, strict=True)
                if thing is not None
            ],
        }

    def _player(self, seat: int) -> dict[str, Json]:
        doing = self.doing[seat]
        return {
            "at": [ROOM_COLUMNS[seat], self.rows[seat]],
            "face": self.faces[seat],
            "holds": self.hold[seat],
            "doing": None if doing is None else list(doing),
            "done": [list(macro) for macro in self.effective_macros(seat)],
            "done_in": [clock + 1 for clock, *_ in self.history[seat]],
        }

    def _utensil(self, name: str) -> dict[str, Json]:
        """Return a utensil: its contents, `left` (steps of the running job; None if none runs), its product
        if it is ready, and whether the contents make a product, could become one, or cannot."""
        utensil = self.things.utensils[name]
        return {
            "at": list(self.layout.places[name]),
            "thing": name,
            "contents": list(utensil.contents),
            "left": JOB_STEPS - utensil.ticks if utensil.ticks else None,
            "ready": utensil.ready,
            "fit": self.things.rules.fit(name, utensil.contents),
        }

    # Commands

    def asks(self, seat: int) -> bool:
        """Return whether the seat can choose a command. It cannot while a macro (a command of several
        steps) is in progress."""
        return self.doing[seat] is None

    def legal_actions(self, seat: int) -> list[Command]:
        """Return every macro that can begin now, and `go_on`. Return only `go_on` while a macro other than
        `wait` is in progress."""
        if self.has_ended or self._is_busy(seat):
            return [GO_ON]
        return [*possible_macros(self.things, seat), GO_ON]

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return the range of steps of a `wait`; empty if the seat cannot wait now."""
        return {} if self.has_ended or self._is_busy(seat) else {(WAIT,): (1, LONGEST_WAIT)}

    def allows(self, seat: int, command: Command) -> bool:
        """Return whether the macro can begin now. `go_on` is always allowed."""
        return command == GO_ON or not (self.has_ended or self.why_not(seat, command))

    def why_not(self, seat: int, command: Command) -> str:
        """Return the code of the first check that the macro fails; empty if it can begin."""
        return "busy" if self._is_busy(seat) else refusal_code(self.things, seat, command)

    def _is_busy(self, seat: int) -> bool:
        doing = self.doing[seat]
        return doing is not None and doing[0] != WAIT

    def plannable(self, seat: int) -> list[Command]:
        """Return every command that this seat may plan: `wait 1`, and all commands that it can carry out
        in some state of the game."""
        return [*known_macros(self.things.rules, seat), WAIT_ONE]

    def can_plan(self, seat: int, command: Command) -> bool:
        """Return whether the seat may plan this command. It may plan valid waits, and commands that it can
        carry out in some state of the game."""
        if command[:1] == (WAIT,):
            return not refusal_code(self.things, seat, command)
        return is_known_macro(self.things.rules, seat, command)

    def can_request(self, seat: int, command: Command) -> bool:
        """Return whether the teammate may request this command from the seat. Only commands that the seat
        may plan can be requested."""
        return self.can_plan(seat, command)

    def needs_answer(self, data: Mapping[str, Json]) -> bool:
        """Return whether a busy person has to answer a message. Of the stand-in's sentences, only requests
        need it."""
        return CODE_KEY not in data or REQUESTS_KEY in data

    def aims(self, seat: int) -> list[Aim]:
        """Return the aims that others can ask this cook to reach. They are the same in every task
        (`cook_aims`)."""
        return list(seat_aims(seat))

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return a value that `aim_status` compares later. It is how often the cook has already done the
        aim's last macro, or None (see `cook_aims.aim_mark`)."""
        return aim_mark(self.effective_macros(seat), aim)

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if this cook's aim is reached, FAIL if it cannot be reached, else UNKNOWN.

        `since` is what `aim_mark` returned when the aim was given.
        """
        return aim_status(self.things, self.effective_macros(seat), aim, since)

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Begin a command. It takes effect at the end of this step at the earliest. Always return an empty
        collection: events come from `end_step`."""
        if command != GO_ON:
            self.doing[seat] = command
            self.wait_left[seat] = int(command[1]) if command[0] == WAIT else 0
        return ()

    def _act(self, seat: int, command: Command, given: dict[int, Command]) -> Iterable[Event]:
        """Carry out a seat's command for this step, and return its events. Most commands are `go_on`,
        whose event is always the same and is returned at once."""
        if command == GO_ON and seat in SEATS and seat not in given:
            given[seat] = command
            return _GOES_ON[seat]
        return super()._act(seat, command, given)

    def _refusal_code(self, seat: int, command: Command, given: Mapping[int, Command]) -> str:
        """Return the code of the reason why a command is refused. Return an empty text if it is accepted.
        The macro is checked once, not twice."""
        if seat in SEATS and seat not in given and command != GO_ON:
            return self.why_not(seat, command)
        return super()._refusal_code(seat, command, given)

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        """Carry out one low-level action of each cook (turn, move or interact), then run the utensils.
        Return the events."""
        events: list[Event] = []
        targets = [self._target(seat) for seat in SEATS]
        self.low = [self._low_action(seat, targets[seat], events) for seat in SEATS]
        for seat in SEATS:
            target = targets[seat]
            if target is not None and self.low[seat] == INTERACT:
                self._interact(seat, target, events)
        for seat in SEATS:
            action = self.low[seat]
            if action is not None and action in ROWS_AFTER:
                self.faces[seat], self.rows[seat] = action, ROWS_AFTER[action][self.rows[seat]]
        self._run_jobs(events)
        return events

    def _target(self, seat: int) -> Cell | None:
        """Return the cell that the seat's macro in progress needs now. Return None if no macro is in
        progress, if it is a wait, or if the cell is not available any more."""
        doing = self.doing[seat]
        if doing is None or doing[0] == WAIT:
            return None
        verb = doing[0]
        if verb == PICKUP and doing[2] == COUNTER:
            cells = self._counters_with(seat, str(doing[1]))
        elif verb == PLACE:
            cells = self.things.free(self.layout.shared) or self.things.free(self.layout.own[seat])
        else:
            return self.layout.places[SERVING if verb == DELIVER else doing[-1]]
        return nearest(seat, self.rows[seat], self.faces[seat], cells)

    def _counters_with(self, seat: int, thing: str) -> list[Cell]:
        own = self.things.lies_on(thing, self.layout.own[seat])
        return own or self.things.lies_on(thing, self.layout.shared)

    def _low_action(self, seat: int, target: Cell | None, events: list[Event]) -> str | None:
        doing = self.doing[seat]
        if doing is None:
            return STAY
        if doing[0] == WAIT:
            self.wait_left[seat] -= 1
            if self.wait_left[seat] <= 0:
                self.doing[seat] = None
            return STAY
        if target is None:
            self._give_up(seat, events)
            return None
        return approach(seat, self.rows[seat], self.faces[seat], target).action

    def _give_up(self, seat: int, events: list[Event]) -> None:
        """End a seat's macro without effect (event `gone`)."""
        events.append(Event("gone", seat, {"macro": list(self.doing[seat] or ())}))
        self.doing[seat] = None

    def _interact(self, seat: int, target: Cell, events: list[Event]) -> None:
        macro = tuple(self.doing[seat] or ())
        verb = macro[0]
        if verb == FILL and self.things.utensils[macro[1]].ready is None:
            return
        if verb in (PICKUP, PLACE) and not self._is_still_possible(macro, target):
            self._give_up(seat, events)
            return
        self.doing[seat] = None
        self.history[seat].append([self.clock, *macro])
        events.append(Event("done", seat, {"macro": list(macro)}))
        self._take_effect(seat, macro, target, events)

    def _is_still_possible(self, macro: Command, target: Cell) -> bool:
        """Return whether the counter is as it was before the other seat's interact of this step."""
        if macro[0] == PLACE:
            return self.counters[self.layout.counter_index[target]] is None
        if macro[2] != COUNTER:
            return True
        lying = self.counters[self.layout.counter_index[target]]
        return lying is not None and base_food(lying) == macro[1]

    def _take_effect(self, seat: int, macro: Command, target: Cell, events: list[Event]) -> None:
        verb, held = macro[0], self.hold[seat]
        if verb == PICKUP:
            self.hold[seat] = self._taken(macro, target)
        elif verb == PLACE:
            self.counters[self.layout.counter_index[target]], self.hold[seat] = held, None
        elif verb == PUT:
            self.things.utensils[macro[1]].contents.append(base_food(str(held)))
            self.hold[seat] = None
        elif verb in STARTED_BY:
            self._started.append(macro[1])
        elif verb == FILL:
            self.hold[seat] = with_dish(self._emptied(macro[1]))
        else:
            self._deliver(seat, events)

    def _taken(self, macro: Command, target: Cell) -> str:
        _, thing, place = macro
        if place == COUNTER:
            number = self.layout.counter_index[target]
            lying, self.counters[number] = str(self.counters[number]), None
            return lying
        return self._emptied(place) if place in UTENSILS else thing

    def _emptied(self, name: str) -> str:
        """Take the product out of a utensil and return it."""
        utensil = self.things.utensils[name]
        product, utensil.ready = str(utensil.ready), None
        return product

    def _deliver(self, seat: int, events: list[Event]) -> None:
        held, self.hold[seat] = str(self.hold[seat]), None
        order = self.task.name
        self.delivered = held == (with_dish(order) if self.task.needs_dish else order)
        points = POINTS if self.delivered else 0
        events.append(Event("delivered", seat, {"thing": held, "right": self.delivered, "points": points}))

    def _run_jobs(self, events: list[Event]) -> None:
        for name, utensil in self.things.utensils.items():
            if utensil.ticks:
                utensil.ticks += 1
                if utensil.ticks == JOB_STEPS:
                    self._finish(name, utensil, events)
        for name in self._started:
            utensil = self.things.utensils[name]
            if self.things.rules.product(name, utensil.contents):
                utensil.ticks = 1
            else:
                events.append(Event("destroyed", None, {"utensil": name, "contents": utensil.contents}))
                utensil.contents = []
        self._started.clear()

    def _finish(self, name: str, utensil: Utensil, events: list[Event]) -> None:
        """Finish the job of a utensil, which then holds the product and nothing else."""
        made = self.things.rules.product(name, utensil.contents)
        utensil.contents, utensil.ticks, utensil.ready = [], 0, made
        events.append(Event("ready", None, {"utensil": name, "product": made}))

    # Measures

    def effective_macros(self, seat: int) -> list[Command]:
        """Return the commands of a seat that took effect, in order of time."""
        return [tuple(words) for _, *words in self.history[seat]]

    def score(self) -> dict[str, Json]:
        """Return the value of each metric by name. `points` is POINTS if the dish was delivered, else 0."""
        pairs = references(self.task.name)
        chef, assistant = (
            tes(self.effective_macros(seat), [pair.of_seat(seat) for pair in pairs])
            for seat in (CHEF, ASSISTANT)
        )
        return {
            "success": float(self.delivered),
            "progress_completeness": (chef + assistant) / 2,
            "tes_chef": chef,
            "tes_assistant": assistant,
            "steps_used": self.clock,
            "points": POINTS if self.delivered else 0,
        }
