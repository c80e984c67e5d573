"""Blocks: five games of building, making and gathering with blocks. Rules, version 1.

Sources: MindAgent (arXiv 2309.09971, section 7) for `kitchen`; MINDcraft and its benchmark MineCollab for
`crafting`, `cooking` and `construction`; S-Agents (arXiv 2402.04578) for `gather`. Recipes are those of
minecraft-data 1.21.1. This is not an official product of any game.

Space. A cell is (x, y, z), y up. A step is one second. Seats do not hinder one another, and blocks do not
hinder walking. In one step a seat walks up to four unit moves, or acts: never both. A seat acts if its goal
is within reach at the beginning of its part of the step (blocks and stations 4.5, seats and animals 3).
Seats take their parts in seat order. Stations are near within 32, everything else within 64.

Commands of all families but `kitchen` are *macros*, which go on until they end::

    goto KIND, goto_at X Y Z, goto_seat K
    collect KIND N            take the nearest block, again and again
    attack ANIMAL             its meat comes into the inventory
    craft ITEM TIMES          the first row of `data/recipes.toml` that can be paid and has its table
    smelt ITEM N              10 steps an item; the seat stands at the furnace
    give K ITEM N, put ITEM N, take ITEM N, discard ITEM N
    place ITEM X Y Z, remove X Y Z, build LEVEL
    stay N                    1 to 30 steps
    stop                      end the macro in progress; a furnace goes on
    go_on                     continue, or stay for one step (the idle command)

Events: `done`, `failed` (a check failed at a later part) and `stopped` say how a macro ended.

Refusals, in this order: unknown_verb, blocked, wrong_arguments, busy; then those of the macro: none_near,
out_of_area, unknown_seat, unknown_item, not_smeltable, missing, no_table, no_furnace, in_use, no_fuel,
no_chest, occupied, nothing_there.

A seat knows its own inventory, not those of others. It sees where everybody is and what is near.

- `crafting` (`crafting_world.py`): one item, whose parts the seats hold. The plan can be hidden from seats.
- `cooking` (`cooking_world.py`): one seat must hold all targets. Recipes can be hidden.
- `construction` (`construction_world.py`): a blueprint; the score is 100 x matches / (matches + mismatches).
- `gather` (`gather_world.py`): an amount of wood, stone or iron, or a shelter.
- `kitchen` (`kitchen_world.py`): seven actions of one step each; animals and log are back after each step;
  orders wait int(1.5 x interval) steps, and are completed by a dish in the chest.

The first four end with their goal, or are cut off at the limit. Maps, tasks and blueprints are files in
`data/`.
The version is raised whenever the same seed and commands would no longer give the same states.
"""
