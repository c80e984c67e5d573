"""Collab-Overcooked: a chef who knows the recipe and an assistant prepare one dish. Rules, version 1.

This is the benchmark Collab-Overcooked (Sun et al., ACL 2025; `YusaeMeow/Collab-Overcooked`, released under
the MIT licence): two closed rooms, three shared counters between them, 30 tasks in 6 levels.

The setting `layout` chooses other rooms, which are ours: the floor is the same, but utensils, dispensers and
counters are elsewhere, and there may be fewer shared counters. Everything else stays as it is.

Seats (places of players). Seat 0 is the chef, with pot, oven and serving place. Seat 1 is the assistant, with
ingredients, dishes, chopping board and blender. Both see the whole state. Only the chef knows the recipe
(setting `knowledge`).

Commands are *macros*, which last several steps::

    pickup THING PLACE             from a counter, the cook's own utensil, or (assistant) a dispenser
    put_obj_in_utensil UTENSIL     into the cook's own utensil, unless it runs or holds something finished
    cook pot0, bake oven0          chef: start this utensil
    cut chopping_board0, stir blender0   assistant: start this utensil
    place_obj_on_counter           on a shared counter, or the cook's own if no shared one is free
    fill_dish_with_food UTENSIL    chef, with an empty dish, in tasks of levels 3 to 6: wait until it is ready
    deliver                        chef
    wait N                         1 to 5 steps
    go_on                          continue the macro in progress, or stay for one step (the idle command)

One step, in this order:

1. Macros that begin are checked. A macro that fails its check is refused with a code, and the seat stays.
2. For each seat, one low-level action is chosen: turn, move one cell towards its target, or interact with it.
3. Interactions are carried out, the chef's first; then turns and moves.
4. Utensils run. A job takes 3 steps, counting the one in which it was started. If the contents have no row in
   `data/utensil_rows.toml`, they are destroyed.

A macro ends with its interaction, and the next one begins in the next step at the earliest. A macro that has
no target left, or whose interaction came too late, ends without effect (event `gone`). While a macro is in
progress the seat is not asked for a command; only a `wait` can be ended by another macro.

The first correct delivery ends the episode with success. Without one, the episode is cut off after
floor(gamma x optimum) + 1 steps.

Refusals: unknown_verb, wrong_arguments, wait_too_long, busy, unknown_object, unknown_place, not_raw,
wrong_dispenser, utensil_busy, utensil_ready, utensil_empty, utensil_full, needs_dish, not_there,
not_reachable, hands_full, hands_empty, not_in_utensil, dish_in_utensil, wrong_utensil, no_free_counter,
no_dish_needed, no_dish_in_hand, not_cooking, not_food; unknown_seat and duplicate_seat for malformed turns.

Tasks are TOML files in `data/tasks/` (`order_tasks.py` describes the format). To add a task, add a file.

The version is raised whenever the same seed and commands would no longer give the same states.
"""
