"""Translate commands, events and refusal codes of the worlds of blocks into texts for participants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kitchen.words.gettext_without_django import gettext_noop

COMMANDS: Mapping[str, str] = {
    "goto": gettext_noop("Go to: {}"),
    "goto_at": gettext_noop("Go to the cell {}, {}, {}"),
    "goto_seat": gettext_noop("Go to {}"),
    "collect": gettext_noop("Collect: {}"),
    "attack": gettext_noop("Hunt: {}"),
    "craft": gettext_noop("Make: {}"),
    "smelt": gettext_noop("Cook in the furnace: {}"),
    "give": gettext_noop("Give {1} to {0}"),
    "put": gettext_noop("Put into the chest: {}"),
    "take": gettext_noop("Take out of the chest: {}"),
    "build": gettext_noop("Build level {}"),
    "place": gettext_noop("Place {0} on level {2}, column {1}, row {3}"),
    "remove": gettext_noop("Remove the block on level {1}, column {0}, row {2}"),
    "discard": gettext_noop("Throw away: {}"),
    "stay": gettext_noop("Stay for some steps"),
    "stop": gettext_noop("Stop what you are doing"),
    "go_on": gettext_noop("Carry on, or stay for one step"),
    "noop": gettext_noop("Do nothing"),
    "mineBlock": gettext_noop("Cut: {}"),
    "killMob": gettext_noop("Hunt: {}"),
    "putFuelFurnace": gettext_noop("Put fuel into the furnace: {}"),
    "putItemFurnace": gettext_noop("Put food into the furnace: {}"),
    "takeOutFurnace": gettext_noop("Take everything out of the furnace"),
    "putInChest": gettext_noop("Put all of it into the chest: {}"),
}
"""Words for commands, by verb, without their amount."""
IN_CELLS: Mapping[str, str] = {
    "place": gettext_noop("Place {0}: {place}"),
    "remove": gettext_noop("Take away the block: {place}"),
}
"""Words for commands about a cell of the building, where its size is known."""
LOST = gettext_noop("used {items}")
LOST_BY: Mapping[str, str] = {
    **dict.fromkeys(("place", "build"), gettext_noop("you placed {items}")),
    "give": gettext_noop("you gave {items}"),
    "put": gettext_noop("you put in {items}"),
    "discard": gettext_noop("you threw away {items}"),
}
"""What became of items that a builder does not hold any more, by the verb of its last command."""
VERBS: Mapping[str, str] = {
    "goto": gettext_noop("go to"),
    "goto_seat": gettext_noop("go to a player"),
    "collect": gettext_noop("collect"),
    "attack": gettext_noop("hunt"),
    "craft": gettext_noop("make"),
    "smelt": gettext_noop("cook in the furnace"),
    "give": gettext_noop("give"),
    "put": gettext_noop("put into the chest"),
    "take": gettext_noop("take out of the chest"),
    "build": gettext_noop("build a level"),
    "place": gettext_noop("place a block"),
    "remove": gettext_noop("remove a block"),
    "discard": gettext_noop("throw away"),
    "stay": gettext_noop("stay"),
    "mineBlock": gettext_noop("fell"),
    "killMob": gettext_noop("hunt"),
    "putFuelFurnace": gettext_noop("put fuel into the furnace"),
    "putItemFurnace": gettext_noop("put food into the furnace"),
    "putInChest": gettext_noop("put into the chest"),
}
"""Words for the groups of the menu."""
KEYS: Mapping[str, str] = {
    "goto": "G",
    "goto_seat": "W",
    "collect": "C",
    "attack": "H",
    "craft": "M",
    "smelt": "F",
    "give": "V",
    "put": "P",
    "take": "T",
    "build": "B",
    "place": "L",
    "remove": "R",
    "discard": "D",
    "stay": "S",
    "stop": "X",
    "go_on": "O",
    "mineBlock": "M",
    "killMob": "H",
    "putFuelFurnace": "F",
    "putItemFurnace": "P",
    "takeOutFurnace": "T",
    "putInChest": "C",
}
"""Keys of the menu, by verb. In each world, all verbs have different keys."""
REASONS: Mapping[str, str] = {
    "unknown_verb": gettext_noop("there is no such action"),
    "blocked": gettext_noop("you cannot do this in this game"),
    "wrong_arguments": gettext_noop("this action needs other details"),
    "busy": gettext_noop("another action is still in progress"),
    "none_near": gettext_noop("there is none near you"),
    "out_of_area": gettext_noop("that is outside the area"),
    "unknown_seat": gettext_noop("there is no such other player"),
    "unknown_item": gettext_noop("this cannot be used for that"),
    "missing": gettext_noop("something for it is missing"),
    "no_table": gettext_noop("there is no workbench near you"),
    "no_chest": gettext_noop("there is no chest near you"),
    "occupied": gettext_noop("there is a block already"),
    "nothing_there": gettext_noop("there is nothing"),
    "not_smeltable": gettext_noop("the furnace makes nothing of it"),
    "no_furnace": gettext_noop("there is no furnace near you"),
    "in_use": gettext_noop("the furnace is in use"),
    "no_fuel": gettext_noop("there is not enough fuel"),
    "unknown_place": gettext_noop("there is no such place"),
    "unknown_target": gettext_noop("there is no such thing to take"),
    "not_fuel": gettext_noop("this does not burn"),
    "not_near": gettext_noop("it is too far away"),
    "no_item": gettext_noop("you do not hold it"),
    "furnace_taken": gettext_noop("something else is in the furnace"),
    "empty": gettext_noop("nothing is ready in the furnace"),
    "duplicate_seat": gettext_noop("there was another command already"),
}
"""Why a command was refused or a macro failed, by code."""
EVENTS: Mapping[str, str] = {
    "done": gettext_noop("{player}: {command}: done"),
    "failed": gettext_noop("{player}: {command}: not possible any more: {reason}"),
    "stopped": gettext_noop("{player}: {command}: stopped"),
    "ordered": gettext_noop("A new order: {dish}"),
    "completed": gettext_noop("An order is completed: {dish}"),
    "missed": gettext_noop("An order ran out of time: {dish}"),
}
"""Events in words; `missed` is the event `failed` of an order."""
ANSWER_CODE, ANSWER_PARTS = "request_answer", "parts"
"""The code of an answer (`CODE_KEY`), and the key of its parts: lists of request, seats and thing."""
REQUEST_ANSWERS: Mapping[str, str] = {
    "get": gettext_noop("Player {player} gets this: {thing}."),
    "leave": gettext_noop("We leave this to you: {thing}."),
    "avoid": gettext_noop("Player {player} does not get this: {thing}."),
    "stop": gettext_noop("Player {player} waits."),
    "go_on": gettext_noop("Player {player} goes on."),
    "deliver": gettext_noop("We cook and deliver by ourselves, as soon as we can."),
    "too_far": gettext_noop(
        "Player {player} cannot get this now: {thing}. It is not near, and no action leads to it."
    ),
    "have": gettext_noop("Player {player} has this: {thing}."),
    "have_none": gettext_noop("Nobody has this now: {thing}."),
    "one_each": gettext_noop("A player gets one at a time. Ask again for more."),
    "help": gettext_noop("I understand: player 2, get wood; cook chicken; I get the wood; stop; go on."),
}
"""What the stand-in of the kitchen's dispatcher answers, by request."""
ANSWERS_OF_SEVERAL: Mapping[str, str] = {
    "get": gettext_noop("Players {player} get this: {thing}."),
    "avoid": gettext_noop("Players {player} do not get this: {thing}."),
    "too_far": gettext_noop(
        "Players {player} cannot get this now: {thing}. It is not near, and no action leads to it."
    ),
    "stop": gettext_noop("Players {player} wait."),
    "go_on": gettext_noop("Players {player} go on."),
}
"""The answers that differ if several players are meant."""


def request_answer(do: str, seats: Collection[int]) -> str:
    """Return the English text of the answer to a request, with places for `player` and `thing`."""
    return (ANSWERS_OF_SEVERAL if len(seats) > 1 and do in ANSWERS_OF_SEVERAL else REQUEST_ANSWERS)[do]


def numbered(seats: Iterable[int]) -> str:
    """Return seats as the numbers of players, from 1: `2, 3`."""
    return ", ".join(str(seat + 1) for seat in seats)


AIMS: Mapping[str, str] = {
    "obtain": gettext_noop("Get {}"),
    "give": gettext_noop("Give {0} all of this: {1}"),
    "give_all": gettext_noop("Give {} all that you hold"),
    "store": gettext_noop("Put all of this into the chest: {}"),
    "build": gettext_noop("Complete level {}"),
    "deliver": gettext_noop("Make it and put it into the chest: {}"),
    "ready": gettext_noop("Have it ready in the furnace: {}"),
    "fuel": gettext_noop("Put fuel into the furnace"),
}
"""Words for aims, by verb."""
AIM_GROUPS: Mapping[str, str] = {
    "obtain": gettext_noop("Get things"),
    "give": gettext_noop("Give things"),
    "give_all": gettext_noop("Give everything"),
    "store": gettext_noop("Fill the chest"),
    "build": gettext_noop("Build"),
    "deliver": gettext_noop("Deliver"),
    "ready": gettext_noop("Use the furnace"),
    "fuel": gettext_noop("Use the furnace"),
}
"""Headings of the list of aims, by verb."""
