"""Overcooked: two cooks on a grid, who fill pots with onions and carry soups away. Rules, version 1.

The game of Overcooked-AI (Carroll et al. 2019, `HumanCompatibleAI/overcooked_ai`), as ProAgent plays it
(arXiv 2308.11339, `PKU-Alignment/ProAgent`); both are released under the MIT licence.

Seats and ticks. Two equal seats; both act at once, in 400 ticks. Everybody sees everything.

Commands::

    north south east west   turns, and moves if the cell ahead is free: always
    interact                with the cell ahead
    stay                    always; what a seat does that has no command

One tick, in this order:

1. Interacts, seat 0's first, each with the cell that the seat faces before anybody moves. So seat 1 already
   meets what seat 0 has just done.
2. Turning and moving. If both want to be in one cell, or to change places, both stay where they are.
3. Pots. A pot with three ingredients starts by itself (`cooking` is `auto`) and every started pot cooks on. A
   soup that was started in step k can be taken in step k + its time.

Interact. A hand holds nothing or one thing, a counter too. A dispenser gives to empty hands. A pot that is
not started takes up to three ingredients; with `cooking` as `interact` it is started with empty hands. A dish
takes a soup that is ready. At the serving place a soup is gone, and is worth something if it was ordered.
Nothing burns, and nothing is thrown away.

Refusals. An interact that changes nothing is refused, and stops nobody else's: nothing_there, place_taken,
hands_full, hands_empty, pot_cooking, pot_full, not_ready, wrong_item, not_a_soup; and where it makes no sense
at all unknown_seat, unknown_command, duplicate_seat.

Score. Points of the soups that were served. Nothing can fail, so there is no rate of success.

Layouts are TOML files in `data/layouts/` (`layout.py` says what stands there); one is added by adding a file.
A layout with tomatoes is played with `cooking` as `interact` only.

The version is raised whenever the same seed and commands would no longer give the same states.
"""
