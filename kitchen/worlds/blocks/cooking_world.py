"""Define the world `blocks_cooking`, in which players make dishes on a farm.

The docstring of `kitchen.worlds.blocks` has the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks.block_maps import Herd, draw_herd, place_map
from kitchen.worlds.blocks.cooking_tasks import (
    OwnCookingTask,
    cooking_file,
    deal,
    parse_own_cooking_task,
    read_targets,
    recipe_steps,
)
from kitchen.worlds.blocks.crafting_tasks import inventory_count_problem
from kitchen.worlds.blocks.goal_worlds import TargetWorld
from kitchen.worlds.blocks.item_recipes import Inventory

NOBODY, FIRST_SEAT, SECOND_SEAT, BOTH = "nobody", "0", "1", "both"
BLOCKED_SEATS: Mapping[str, tuple[int, ...]] = {NOBODY: (), FIRST_SEAT: (0,), SECOND_SEAT: (1,), BOTH: (0, 1)}
RELEASED_FUEL = 512


class Cooking(TargetWorld):
    """A world with fields, animals, one workbench and one furnace, in which the seats make dishes."""

    kind: ClassVar[str] = "blocks_cooking"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "targets",
            "text",
            "Targets",
            "bread+golden_apple",
            help=f"One to four items joined by +, of {', '.join(cooking_file().items)}.",
            minimum=1,
            maximum=120,
        ),
        Setting(
            "own_task",
            "text",
            "A task of your own",
            "",
            help="If it is not empty, its dishes, inventories and limit are used instead. Write it as JSON "
            "with the keys targets, inventories and limit.",
            lines=10,
            maximum=10_000,
            later=True,
        ),
        Setting(
            "limit",
            "int",
            "Steps after which the episode is cut off (0: the task's)",
            0,
            help="500, and 300 in Hell's Kitchen; long tasks have 1500.",
            minimum=0,
            maximum=5000,
        ),
        Setting(
            "furnace_fuel",
            "int",
            "Smeltings that the furnace has fuel for at the start",
            RELEASED_FUEL,
            help="With 0, the coal of the seats matters.",
            minimum=0,
            maximum=RELEASED_FUEL,
        ),
        Setting(
            "recipe_blocked",
            "choice",
            "Who does not know the recipes",
            NOBODY,
            choices=(
                (NOBODY, "Nobody"),
                (FIRST_SEAT, "The first seat"),
                (SECOND_SEAT, "The second seat"),
                (BOTH, "The first two seats"),
            ),
        ),
        Setting(
            "hells_kitchen",
            "bool",
            "Hell's Kitchen",
            False,
            help="Two seats, two targets: each seat makes one, and only the other knows its recipe.",
        ),
        Setting("no_help", "bool", "Giving is not possible", False),
    )

    def set_up(self) -> list[Inventory]:
        """Read the target dishes, and divide their ingredients among the seats. Return what each seat
        holds at the start. Raises SettingsError if the targets cannot be played."""
        given, place = cooking_file(), place_map("farm")
        self.start = place.start
        own = self._own_task()
        self.names = own.targets if own else read_targets(self.chosen["targets"])
        self.targets = Counter(self.names)
        self.is_parted = bool(self.chosen["hells_kitchen"])
        if self.is_parted and (self.seats, len(self.names)) != (2, 2):
            raise SettingsError("hells_kitchen: needs two seats and two targets")
        usual = given.hells_kitchen_limit if self.is_parted else own.limit if own else given.limit
        self.time_limit = int(self.chosen["limit"]) or usual
        self.collects = {block: (item, {"hand": 1}) for block, item in given.gives.items()}
        self.meat = given.meat
        if own:
            return [dict(items) for items in own.inventories]
        return deal(self.names, self.seats, with_fuel=self.chosen["furnace_fuel"] > 0)

    def _own_task(self) -> OwnCookingTask | None:
        """Return the researcher's own task; None if there is none. Raises SettingsError if it is wrong."""
        if not (text := self.chosen["own_task"]):
            return None
        task = parse_own_cooking_task(text, "own_task")
        if len(task.inventories) != self.seats:
            raise SettingsError(f"own_task: {inventory_count_problem(len(task.inventories), self.seats)}")
        return task

    def begin(self) -> None:
        """Set the start state, and put the fuel of the setting `furnace_fuel` into the furnace."""
        super().begin()
        self.furnace = {"fuel": self.chosen["furnace_fuel"], "job": None}

    @property
    def herd(self) -> Herd:
        """Return the animals at the start, which depend on the seed."""
        return draw_herd("farm", self.seed)

    @property
    def over(self) -> bool:
        """Return True if one seat holds all targets. With the setting `hells_kitchen`, each seat must hold
        its own target."""
        if self.is_parted:
            return all(self.holds(seat, {name: 1}) for seat, name in enumerate(self.names))
        return super().over

    def is_blocked(self, seat: int, verb: str) -> bool:
        """Return True for `give` if the setting `no_help` forbids gifts, else False."""
        return verb == "give" and bool(self.chosen["no_help"])

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the targets and the step limit. A seat that may know recipes also gets them, as
        `recipes`."""
        known: dict[str, Json] = {
            "targets": list(self.names),
            "limit": self.time_limit,
            "each_their_own": self.is_parted,
            "no_help": bool(self.chosen["no_help"]),
        }
        if seat in BLOCKED_SEATS[self.chosen["recipe_blocked"]]:
            return known
        names = [self.names[1 - seat]] if self.is_parted else self.names
        return {**known, "recipes": {name: recipe_steps(name) for name in names}}
