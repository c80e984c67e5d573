"""Overcooked: two cooks on a grid fill pots with onions and deliver soups. Rules, version 1.

This is the game of Overcooked-AI (Carroll et al. 2019, `HumanCompatibleAI/overcooked_ai`), as ProAgent plays
it (arXiv 2308.11339, `PKU-Alignment/ProAgent`). Both are released under the MIT licence.

Seats and ticks. There are two equal seats (places of players). A tick is a step. In each tick, both seats act
at once, for 400 ticks by default. Both observe the whole state.

Commands::

    north south east west   turn, and move if the cell ahead is free; always legal
    interact                act on the cell ahead
    stay                    always legal; the command of a seat that gives none

One tick, in this order:

1. Interact commands, seat 0's first. Each acts on the cell that its seat faces before anybody moves. So seat
   1 already acts on the result of seat 0's command.
2. Turning and moving. If both want to enter the same cell, or to swap cells, both stay where they are.
3. Pots. A pot with three ingredients starts by itself (`cooking` is `auto`), and every started pot continues
   to cook. A soup that was started in step k can be taken in step k + its time.

Interact. A hand holds nothing or one thing, and so does a counter. A dispenser gives its thing to empty
hands. A pot that is not started takes up to three ingredients. With `cooking` set to `interact`, a seat with
empty hands starts the pot. A seat that holds a dish takes a soup that is ready. A soup that is put on the
serving place disappears, and scores points if it was ordered. Nothing burns, and nothing can be thrown away.

Refusals. An interact command that changes nothing is refused; the other seat's command is not affected.
Codes: nothing_there, place_taken, hands_full, hands_empty, pot_cooking, pot_full, not_ready, wrong_item,
not_a_soup. Malformed commands have the codes unknown_seat, unknown_command, duplicate_seat.

Score. The score is the points of all served soups. No order can fail, so there is no success rate.

Layouts are TOML files in `data/layouts/` (`layout.py` describes the format). To add a layout, add a file. A
layout with tomatoes can only be played with `cooking` set to `interact`.

The version is raised whenever the same seed and commands would no longer give the same states.
"""
