"""Define `MacroWorld`, which runs macros (commands that last several steps) and furnaces, step by step.

In each step a player either walks or acts. Players take their turns in the order of their numbers. A macro
continues without new commands until it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from kitchen.contract.simple_world import DUPLICATE_SEAT, UNKNOWN_SEAT
from kitchen.contract.world import Command, Event, Json, TurnCommands, ordered_commands
from kitchen.worlds.blocks.block_aims import AimedWorld
from kitchen.worlds.blocks.block_grid import Cell
from kitchen.worlds.blocks.block_scene import BlockScene
from kitchen.worlds.blocks.building_macros import Build, Place, Remove
from kitchen.worlds.blocks.gathering_macros import Attack, Collect
from kitchen.worlds.blocks.item_recipes import add_items
from kitchen.worlds.blocks.macro_rule import NOTHING_THERE, Macro, MacroRule, Offer
from kitchen.worlds.blocks.making_macros import Craft, Smelt
from kitchen.worlds.blocks.passing_macros import Discard, Give, Put, Take
from kitchen.worlds.blocks.walking_macros import GoTo, GoToCell, GoToSeat, Stay

MACROS: Mapping[str, MacroRule] = {
    "goto": GoTo(),
    "goto_at": GoToCell(),
    "goto_seat": GoToSeat(),
    "collect": Collect(),
    "attack": Attack(),
    "craft": Craft(),
    "smelt": Smelt(),
    "give": Give(),
    "put": Put(),
    "take": Take(),
    "build": Build(),
    "place": Place(),
    "remove": Remove(),
    "discard": Discard(),
    "stay": Stay(),
}
"""The rules of each macro, in the order of the menu."""
GO_ON: Command = ("go_on",)
STOP: Command = ("stop",)
UNKNOWN_VERB, BLOCKED, WRONG_ARGUMENTS, BUSY = "unknown_verb", "blocked", "wrong_arguments", "busy"


class MacroWorld(AimedWorld, BlockScene):
    """The base class of the four worlds of blocks with macros. It checks commands, and runs macros and the
    furnace."""

    idle: ClassVar[Command] = GO_ON
    moves: ClassVar[frozenset[str]] = frozenset({"goto", "goto_at", "goto_seat"})
    waits: ClassVar[frozenset[str]] = frozenset(GO_ON)
    queued: ClassVar[frozenset[str]] = frozenset({"place"})
    drawn: ClassVar[str] = "events"
    news: ClassVar[str] = "macros that ended"
    secret: ClassVar[tuple[str, ...]] = ("plan", "recipes", "blueprint")

    @property
    def cut_off(self) -> bool:
        """Return True if the step limit was reached before the goal."""
        return not self.over and self.clock >= self.time_limit

    def public_state(self) -> dict[str, Json]:
        """Return the steps left. What is left of the goal is not public, because it shows what seats hold."""
        return {"steps_left": max(0, self.time_limit - self.clock)}

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether this seat may see the event. It may see its own events, events without a seat,
        messages, and gifts to it. Other seats' events are hidden, because they show what those seats hold."""
        if event.seat in (None, seat) or event.kind == "message":
            return True
        return event.kind == "done" and tuple(event.data["macro"][:2]) == ("give", str(seat))

    # Commands

    def asks(self, seat: int) -> bool:
        """Return whether the seat can choose a command. It cannot while a macro (a command of several
        steps) is in progress."""
        return self.macros[seat] is None

    def only_waits(self, seat: int) -> bool:
        """Return whether the macro in progress is a stay, or follows another seat."""
        macro = self.macros[seat]
        return macro is not None and macro["words"][0] in {"stay", "goto_seat"}

    def legal_actions(self, seat: int) -> list[Command]:
        """Return every macro that could begin now, and `go_on`. While a macro is in progress, return
        `go_on` and `stop`."""
        if self.has_ended:
            return [GO_ON]
        if self.macros[seat]:
            return [GO_ON, STOP]
        return [*(offer.command for offer in self.offers(seat)), GO_ON]

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return (1, greatest amount) for each command in the menu that ends with an amount. Keys are the
        commands without the amount."""
        if self.has_ended or self.macros[seat]:
            return {}
        offers = self.offers(seat)
        return {offer.command[:-1]: (1, offer.most) for offer in offers if offer.most is not None}

    def offers(self, seat: int) -> list[Offer]:
        """Return the commands of the seat's menu, except `go_on`. Cells that seats with lower numbers are
        about to fill are left out."""
        for lower in range(seat):
            if (macro := self.macros[lower]) and (cell := _sought_cell(self, lower, macro)):
                self.sought.add(cell)
        rules = (rule for verb, rule in MACROS.items() if not self.is_blocked(seat, verb))
        found = [offer for rule in rules for offer in rule.offers(self, seat)]
        self.sought.clear()
        return found

    def allows(self, seat: int, command: Command) -> bool:
        """Return whether the command would be accepted now."""
        return command == GO_ON or not (self.has_ended or self.why_not(seat, command))

    def why_not(self, seat: int, command: Command) -> str:
        """Return the code of the first check that the command fails; empty if it is allowed."""
        return self._early_refusal(seat, command) or self._refusal(seat, command)

    def _early_refusal(self, seat: int, command: Command) -> str:
        """Return the code of the first failed check among those that let a macro in progress continue. Empty
        if none fails."""
        verb = command[0] if command else ""
        if verb not in MACROS and verb not in (*GO_ON, *STOP):
            return UNKNOWN_VERB
        if self.is_blocked(seat, verb):
            return BLOCKED
        if verb not in MACROS:
            return "" if command in (GO_ON, STOP) else WRONG_ARGUMENTS
        if not MACROS[verb].is_well_formed(self, command):
            return WRONG_ARGUMENTS
        return BUSY if self.macros[seat] else ""

    def _refusal(self, seat: int, command: Command) -> str:
        if command == STOP:
            return "" if self.macros[seat] else NOTHING_THERE
        return "" if command == GO_ON else MACROS[command[0]].refusal(self, seat, command)

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Begin the macro, continue the present one (`go_on`) or end it (`stop`). A macro that begins or
        continues walks or acts for one step.

        If a macro ended, return the event of its end; else nothing.
        """
        if command == STOP:
            return self._stop(seat)
        if command == GO_ON:
            return self._take_part(seat, begins=False)
        self.macros[seat] = {"words": list(command), "n": 0, "left": None, "smelts": False}
        self.since[seat] = self._as_of_now(seat, command)
        return self._take_part(seat, begins=True)

    def _stop(self, seat: int) -> Iterator[Event]:
        macro, self.macros[seat] = self.macros[seat], None
        if macro:
            yield Event("stopped", seat, {"macro": list(macro["words"])})

    # Steps

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out the commands of all seats in seat order, then run the furnace. Return the events: the
        answers to commands first, then the ends of macros."""
        if self.has_ended:
            return ()
        self.changes, self.kills = [], []
        given: dict[int, list[Command]] = {seat: [] for seat in range(self.seats)}
        answers, news = list[Event](), list[Event]()
        for seat, words in ordered_commands(turn):
            if seat in given:
                given[seat].append(tuple(words))
            else:
                answers.append(_refused(seat, words, UNKNOWN_SEAT))
        for seat, commands in given.items():
            self._run_seat(seat, commands, answers, news)
        news += self._run_furnace()
        self.sought.clear()
        self.clock += 1
        return (*answers, *news)

    def _run_seat(self, seat: int, commands: list[Command], answers: list[Event], news: list[Event]) -> None:
        """Carry out the first allowed command of a seat, and refuse the others.

        Without commands, or after early refusals only, the macro in progress continues.
        """
        chosen: Command | None = GO_ON
        for number, command in enumerate(commands):
            if early := self._early_refusal(seat, command):
                answers.append(_refused(seat, command, early))
            elif code := self._refusal(seat, command):
                answers.append(_refused(seat, command, code))
                chosen = None
            else:
                answers.append(Event("performed", seat, {"command": list(command)}))
                answers += [_refused(seat, each, DUPLICATE_SEAT) for each in commands[number + 1 :]]
                chosen = command
                break
        if chosen:
            news += self.carry_out(seat, chosen)

    def _take_part(self, seat: int, *, begins: bool) -> Iterator[Event]:
        """Let the seat's macro in progress walk or act for one step. If the macro ends, yield the event of
        its end."""
        macro = self.macros[seat]
        if macro is None:
            return
        words = tuple(macro["words"])
        rule = MACROS[words[0]]
        if not begins and rule.is_rechecked(macro) and (code := rule.refusal(self, seat, words)):
            self.macros[seat] = None
            if not rule.is_done_by(code, macro):
                yield Event("failed", seat, {"macro": list(words), "reasons": [code]})
                return
        elif rule.take_part(self, seat, macro):
            self.macros[seat] = None
        if self.macros[seat] is None:
            yield _done(seat, macro)

    def _run_furnace(self) -> Iterator[Event]:
        """Let the furnace run for one step. When it has finished, the seat that started it gets the
        product. Yield the events."""
        job = self.furnace["job"]
        if not job:
            return
        job["left"] -= 1
        if job["left"]:
            return
        seat = job["seat"]
        self.furnace = {"fuel": self.furnace["fuel"], "job": None}
        add_items(self.inventories[seat], {job["product"]: job["n"]})
        macro = self.macros[seat]
        if macro and macro["smelts"]:
            self.macros[seat] = None
            yield _done(seat, macro)


def _sought_cell(world: MacroWorld, seat: int, macro: Macro) -> Cell | None:
    return MACROS[macro["words"][0]].sought_cell(world, seat, macro)


def _refused(seat: int, command: Command, code: str) -> Event:
    return Event("refused", seat, {"command": list(command), "reasons": [code]})


def _done(seat: int, macro: Mapping[str, Json]) -> Event:
    words = list(macro["words"])
    return Event("done", seat, {"macro": words, **({"n": macro["n"]} if MACROS[words[0]].counts else {})})
