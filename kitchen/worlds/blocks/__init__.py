"""Define five worlds in which seats (players) build, craft or gather with blocks. Rules, version 1.

Sources: MindAgent (arXiv 2309.09971, section 7) for `kitchen`; MINDcraft and its benchmark MineCollab for
`crafting`, `cooking` and `construction`; S-Agents (arXiv 2402.04578) for `gather`. Recipes are those of
minecraft-data 1.21.1. This is not an official product of any game's publisher.

Space and time. A cell is (x, y, z), and y points up. Distances are in cells. A step is one second. Several
seats may be in one cell, and seats walk through blocks. In one step, a seat either walks up to four cells
(one axis at a time), or acts. It acts if its goal is within reach when its turn in the step begins. The
reach is 4.5 for blocks and stations (workbench, furnace, smoker, chest), and 3 for seats and animals. Seats
act in the order of their numbers. Stations are *near* within a distance of 32, everything else within 64.

The commands of all worlds except `kitchen` are *macros*. A macro continues from step to step until it ends::

    goto KIND, goto_at X Y Z, goto_seat K
    collect KIND N            take the nearest block, until N are taken
    attack ANIMAL             put its meat into the inventory
    craft ITEM TIMES          use the first row of `data/recipes.toml` whose items are held and table is near
    smelt ITEM N              10 steps an item; the seat waits at the furnace
    give K ITEM N, put ITEM N, take ITEM N, discard ITEM N
    place ITEM X Y Z, remove X Y Z, build LEVEL
    stay N                    1 to 30 steps
    stop                      end the macro in progress; a furnace continues to run
    go_on                     continue, or stay for one step (the idle command)

Events: a macro ends with `done`, `failed` (a check failed in a later step) or `stopped`.

Refusals, in this order: unknown_verb, blocked, wrong_arguments, busy; then those of the macro: none_near,
out_of_area, unknown_seat, unknown_item, not_smeltable, missing, no_table, no_furnace, in_use, no_fuel,
no_chest, occupied, nothing_there.

A seat knows its own inventory, not those of others. It sees where every seat is, and what is near.

- `crafting` (`crafting_world.py`): make one item, for which each seat holds a part. Seats may lack the plan.
- `cooking` (`cooking_world.py`): one seat must hold all targets. Seats may lack the recipes.
- `construction` (`construction_world.py`): build a blueprint. The score is
  100 x matches / (matches + mismatches).
- `gather` (`gather_world.py`): gather an amount of wood, stone or iron, or build a shelter.
- `kitchen` (`kitchen_world.py`): seven actions of one step each. Animals and the log reappear after each
  step. Orders wait int(1.5 x interval) steps. A dish in the chest completes an order.

In the first four, an episode ends when its goal is reached or its step limit is over. Maps, tasks and
blueprints are files in `data/`.

The version is raised whenever the same seed and commands would no longer give the same states.
"""
