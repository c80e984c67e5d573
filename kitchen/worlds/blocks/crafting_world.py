"""Define the world `blocks_crafting`, in which players craft one item from the things that they hold.

The docstring of `kitchen.worlds.blocks` has the rules.
"""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks.block_grid import BlockMap, Bounds
from kitchen.worlds.blocks.crafting_tasks import CraftingTask, crafting_tasks, parse_task
from kitchen.worlds.blocks.goal_worlds import TargetWorld
from kitchen.worlds.blocks.item_recipes import Inventory, add_items

USUAL_NUMBER = "02"
PRACTICE_SEATS = 2
"""Seats of the task that one seat practises by default."""
FLOOR = BlockMap.of({}, Bounds((-64, 0, -64), (64, 0, 64)))


def _task_label(task: CraftingTask) -> str:
    (target,) = task.target
    note = "" if task.crafts else " (cannot be made)"
    return f"{task.seats} seats, {task.number}: {target.replace('_', ' ')}{note}"


class Crafting(TargetWorld):
    """A world in which every seat holds a part of the items that the target needs."""

    kind: ClassVar[str] = "blocks_crafting"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "task",
            "choice",
            "Task",
            "",
            help="One seat alone holds all that the seats of the task hold.",
            choices=(
                ("", "Number 02 of those for so many seats"),
                *((name, _task_label(task)) for name, task in crafting_tasks().items()),
            ),
        ),
        Setting(
            "own_task",
            "text",
            "A task of your own",
            "",
            help="If it is not empty, it is used instead. Write it as one object of the file of tasks.",
            lines=10,
            maximum=10_000,
        ),
        Setting(
            "solvable_only",
            "bool",
            "Only tasks that can be made",
            False,
            help="Refuses the three tasks whose items cannot be made from what the seats hold, and such "
            "tasks of your own.",
            fresh=True,
            later=True,
        ),
        Setting(
            "limit",
            "int",
            "Steps after which the episode is cut off (0: the task's)",
            0,
            minimum=0,
            maximum=5000,
        ),
    )

    def set_up(self) -> list[Inventory]:
        """Read the task, and return what each seat holds at the start. A seat that plays alone holds
        everything."""
        self.start = FLOOR
        self.task = self._task()
        self.targets = self.task.target
        self.time_limit = int(self.chosen["limit"]) or self.task.timeout
        if self.seats > 1:
            return [dict(items) for items in self.task.inventories]
        pool: Inventory = {}
        for items in self.task.inventories:
            add_items(pool, items)
        return [pool]

    def _task(self) -> CraftingTask:
        if text := self.chosen["own_task"]:
            task = parse_task(text, "own_task")
        elif name := self.chosen["task"]:
            task = crafting_tasks()[name]
        else:
            seats = max(self.seats, PRACTICE_SEATS)
            task = next(
                each
                for each in crafting_tasks().values()
                if (each.seats, each.number) == (seats, USUAL_NUMBER)
            )
        if self.chosen["solvable_only"] and not task.can_be_made():
            lack = " without a workbench, for which nothing is left" if task.plan() else ""
            key = "own_task" if self.chosen["own_task"] else "task"
            raise SettingsError(
                f"{key}: {task.id} cannot be made{lack}, and only tasks that can be made are allowed"
            )
        if self.seats not in (1, task.seats):
            raise SettingsError(f"task: {task.id} is for {task.seats} seats, not {self.seats}")
        return task

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the items to craft and the step limit. A seat that may know the recipe plan, or plays
        alone, also gets `plan`."""
        known: dict[str, Json] = {"target": dict(self.targets), "limit": self.time_limit}
        if self.seats == 1 or seat not in self.task.plan_blocked:
            known["plan"] = self.task.plan()
        return known
