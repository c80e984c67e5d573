"""Define the world `blocks_construction`, in which players build a blueprint.

The docstring of `kitchen.worlds.blocks` has the rules.
"""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Event, Json, Metric
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks.block_grid import BlockMap
from kitchen.worlds.blocks.blueprint_generator import NAME_PATTERN
from kitchen.worlds.blocks.blueprints import (
    DIRT,
    TOOLS,
    Blueprint,
    blueprint,
    blueprint_files,
    parse_blueprint,
)
from kitchen.worlds.blocks.goal_worlds import (
    FILLED,
    GIVES,
    ITEMS_GIVEN,
    MATCHES,
    MISMATCHES,
    SCORE,
    BuildingWorld,
)
from kitchen.worlds.blocks.item_recipes import Inventory, add_items

SITE_MARGIN = 16
"""Cells around the blueprint's box where seats may go."""
USUAL_BLUEPRINT = "materials_0_rooms_0_window_0_carpet_0_variant_0"
LEAST_STEPS, STEPS_BY_ROOMS = 600, 300
EVEN, BY_MATERIAL = "even", "by_material"
KNOWN_BY = "known_by"
"""Key of the brief: the seats that know the blueprint, where some do not."""
BY_BLOCK = "by_block"
"""Setting, and key of the brief: people build block by block."""
NOBODY, FIRST_SEAT, OTHER_SEATS = "nobody", "first", "others"


class Construction(BuildingWorld):
    """A world in which the seats share the materials of a blueprint and build it together."""

    kind: ClassVar[str] = "blocks_construction"
    figures: ClassVar[tuple[Metric, ...]] = (SCORE, FILLED, MATCHES, MISMATCHES, GIVES, ITEMS_GIVEN)
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "blueprint",
            "text",
            "Blueprint",
            USUAL_BLUEPRINT,
            help=f"{', '.join(name for name in blueprint_files() if name != 'shelter')}, or a name of the "
            "generator: materials_M_rooms_R_window_W_carpet_C_variant_V with M, R, W and C from 0 to 2.",
            minimum=1,
            maximum=80,
        ),
        Setting(
            "own_blueprint",
            "text",
            "A blueprint of your own",
            "",
            help="If it is not empty, it is used instead. Write it in the form of a blueprint's file.",
            lines=10,
            maximum=40_000,
        ),
        Setting(
            "inventories",
            "choice",
            "How the materials are dealt out",
            EVEN,
            choices=((EVEN, "Evenly"), (BY_MATERIAL, "Each material to one seat")),
        ),
        Setting("build", "bool", "Seats can build a level with one command", True),
        Setting(
            BY_BLOCK,
            "bool",
            "People build block by block",
            False,
            help="The page then offers people no command for a whole level, and offers each builder the "
            "nearest blocks that it can place, on any level. `blocks_planner` builds in the same way. Other "
            "programs can still build a level with one command. All seats see who placed or removed a block, "
            "and so what the others hold.",
            later=True,
        ),
        Setting(
            "blueprint_blocked",
            "choice",
            "Who does not know the blueprint",
            NOBODY,
            help="Seats that do not know it cannot build a level with one command.",
            choices=(
                (NOBODY, "Nobody"),
                (FIRST_SEAT, "The first seat"),
                (OTHER_SEATS, "All but the first seat"),
            ),
        ),
        Setting(
            "limit",
            "int",
            "Steps after which the episode is cut off (0: the blueprint's)",
            0,
            help="600; for a generated blueprint with R = 1 or 2, 900 or 1200.",
            minimum=0,
            maximum=5000,
        ),
    )

    def set_up(self) -> list[Inventory]:
        """Read the blueprint, and divide its materials among the seats. Return what each seat holds at the
        start."""
        plan = self.blueprint = self._blueprint()
        self.start = BlockMap.of({}, plan.box.widened(SITE_MARGIN))
        self.placeable = frozenset({DIRT, *plan.materials})
        generated = NAME_PATTERN.fullmatch(plan.name)
        usual = LEAST_STEPS + (STEPS_BY_ROOMS * int(generated[2]) if generated else 0)
        self.time_limit = int(self.chosen["limit"]) or usual
        held: list[Inventory] = [{} for _ in range(self.seats)]
        for number, (material, amount) in enumerate(plan.materials.items()):
            for seat in range(self.seats):
                share = amount // self.seats + (seat < amount % self.seats)
                if self.chosen["inventories"] == BY_MATERIAL:
                    share = amount if seat == number % self.seats else 0
                if share:
                    add_items(held[seat], {material: share})
        for items in held:
            add_items(items, TOOLS)
        return held

    def _blueprint(self) -> Blueprint:
        if text := self.chosen["own_blueprint"]:
            return parse_blueprint(text, "own_blueprint")
        name = self.chosen["blueprint"]
        try:
            return blueprint(name)
        except LookupError:
            known = ", ".join(blueprint_files())
            raise SettingsError(
                f"blueprint: {name!r} is neither one of {known} nor of the generator"
            ) from None

    @property
    def over(self) -> bool:
        """Return True if the blueprint is complete and its box holds no other block."""
        return self.comparison is not None and self.comparison.is_complete

    def knows_blueprint(self, seat: int) -> bool:
        """Return whether the settings let this seat see the blueprint."""
        blocked = self.chosen["blueprint_blocked"]
        return bool(blocked == NOBODY or (seat == 0) == (blocked == OTHER_SEATS))

    def is_blocked(self, seat: int, verb: str) -> bool:
        """Return whether this seat may not use this verb. `build` needs the setting `build`, and a seat
        that knows the blueprint."""
        return verb == "build" and not (self.chosen["build"] and self.knows_blueprint(seat))

    def level_offered(self, seat: int) -> int | None:
        """Return the level of which the menu offers blocks to this seat: the lowest unfinished one. With the
        setting `by_block`, it is the lowest one to which this seat can add a block."""
        lowest = super().level_offered(seat)
        if lowest is None or not self.chosen[BY_BLOCK]:
            return lowest
        levels = range(lowest, len(self.blueprint.levels) if self.blueprint else lowest)
        return next((level for level in levels if _is_free(self, seat, level)), lowest)

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether this seat may see the event. With the setting `by_block`, everybody sees who placed
        or removed a block."""
        changes = event.kind == "done" and event.data["macro"][0] in ("place", "remove")
        return (changes and bool(self.chosen[BY_BLOCK])) or super().visible(seat, event)

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the size of the box and the step limit. A seat that knows the blueprint also gets it, as
        `blueprint`. If some seats do not know it, `known_by` lists those that do. `by_block` is there if
        people build block by block."""
        (_, (far_x, far_y, far_z)) = self.box
        known: dict[str, Json] = {
            "size": [far_x + 1, far_y + 1, far_z + 1],
            "limit": self.time_limit,
            "build": bool(self.chosen["build"]),
        }
        if self.chosen[BY_BLOCK]:
            known[BY_BLOCK] = True
        if self.blueprint and self.knows_blueprint(seat):
            known["blueprint"] = self.blueprint.drawing()
        if self.chosen["blueprint_blocked"] != NOBODY:
            known[KNOWN_BY] = [each for each in range(self.seats) if self.knows_blueprint(each)]
        return known


def _is_free(world: Construction, seat: int, level: int) -> bool:
    """Return whether the seat can add a block to this level that no other seat is about to place."""
    return any(cell not in world.sought for cell in world.missing_blocks(seat, level))
