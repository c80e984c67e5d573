"""Define `blocks_planner`, an agent that plays the worlds of blocks by fixed rules, without a language model.

The agent plans for all its players together. It knows about other agents' players only what messages say. To
make items, one player receives all materials and makes the items, while the others fetch materials. To build,
every player places the nearest missing block. The agent first does what people ask of it in words
(`builder_requests`, and `player_requests` in the kitchen).
"""

# - `crafting`, `cooking`: one player, the maker, receives everything that is needed, and makes the targets.
#   The others fetch raw materials. The maker is the player with the workbench. If nobody has one, it is the
#   player who holds most of what is needed.
# - `construction`, and `gather` with a shelter: every player places the nearest block of the lowest
#   unfinished level. A player with much of a material shares it with a player that has none. A player that
#   does not know the blueprint waits for the words of people. Later it gives its materials away.
# - `gather` with an amount: every player makes a tool, and collects a small amount at a time.
# - `kitchen`: see `kitchen_planner`.

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar, NamedTuple

from kitchen.contract.advisers import Advice, Adviser
from kitchen.contract.agent import REASON_TO_ANSWER, Agent, Decision, Situation, TeamTalk, run_without_waiting
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.begun_rows import BEGUN_KEY, PlacedBlocks, begun_cells, recent_blocks
from kitchen.worlds.blocks.block_aims import nearest_change
from kitchen.worlds.blocks.block_grid import AIR
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.builder_request_steps import blocked_cells, requested_steps, tried_cells
from kitchen.worlds.blocks.builder_requests import BuilderRequests, hear_builder_requests
from kitchen.worlds.blocks.construction_world import BY_BLOCK
from kitchen.worlds.blocks.cooking_tasks import cooking_file
from kitchen.worlds.blocks.dispatcher.player_requests import hear_requests, requested_commands
from kitchen.worlds.blocks.furnace_rules import smelting_rules
from kitchen.worlds.blocks.gathering_macros import HAND
from kitchen.worlds.blocks.item_recipes import TABLE, recipe_book
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.make_plans import ItemSources, plan_items
from kitchen.worlds.blocks.people_messages import people_in_talk
from kitchen.worlds.blocks.planner_team import (
    LISTED_ITEMS_KEY,
    REQUESTS_KEY,
    SENT_KEY,
    Team,
    holdings_message,
    planner_news,
)

TO_THE_MIDDLE: Command = ("goto_at", "0", "0", "0")
AT_A_TIME = 5
"""Blocks that a seat collects before it looks again at what the others have."""
LEAST_SHARE = 10
"""Minimum number of blocks of a gift to a seat that has none."""
ASKS_FOR_ALL = "Give me everything."
"""The message of a simulated person who lacks materials."""
SPENDING_VERBS = ("discard", "craft", "smelt")
"""Verbs of commands that use up what a seat holds."""
RAW_VERBS = ("collect", "attack")
PATIENCE_STEPS = 60
"""Steps without a request after which a builder who does not know the blueprint gives its materials away."""


class TeamGoal(NamedTuple):
    """The items that one seat, the `maker`, must hold to reach the goal."""

    maker: int
    targets: Mapping[str, int]


class BlocksPlanner(Agent):
    """An agent that plans all its seats by fixed rules."""

    kind: ClassVar[str] = "blocks_planner"
    worlds: ClassVar[tuple[str, ...] | None] = (
        *("blocks_construction", "blocks_cooking", "blocks_crafting", "blocks_gather", "blocks_kitchen"),
    )
    instant: ClassVar[bool] = True
    reads_words: ClassVar[bool] = True

    async def decide(self, situation: Situation) -> Decision:
        """Return the next command of each seat that needs one. What people asked for comes first. If the
        items of the agent's seats changed, also return a message that lists them. Builders only say when the
        kinds of items changed."""
        known = situation.memory if isinstance(situation.memory, dict) else {}
        if situation.world == "blocks_kitchen":
            cooks = hear_requests(situation, known.get(REQUESTS_KEY))
            remembered = {REQUESTS_KEY: cooks.to_json()} if cooks.last else None
            return Decision(requested_commands(situation, cooks), memory=remembered, says=cooks.answers)
        heard = hear_builder_requests(situation, known.get(REQUESTS_KEY))
        begun = recent_blocks(situation, known.get(BEGUN_KEY, []))
        if situation.request.because == REASON_TO_ANSWER:
            listed, sent = known.get(LISTED_ITEMS_KEY, known), known.get(SENT_KEY, [])
            return Decision({}, memory=_memory(heard, listed, sent, begun), says=heard.answers)
        requested = requested_steps(situation, heard.open, heard.begun)
        commands = requested.commands
        tried = tried_cells(heard.tried, commands)
        waits = situation.step < heard.heard_at + PATIENCE_STEPS and bool(
            people_in_talk(situation, reads=True)
        )
        team = Team(_without(situation, commands), waits_for_words=waits, begun=begun)
        commands = {**commands_of(team), **commands}
        listed, sent, parts = planner_news(team, commands, known)
        parts += blocked_cells(situation, heard.tried)
        says = (*heard.answers, *((holdings_message(team, parts),) if parts else ()))
        memory = _memory(
            replace(heard, open=requested.left, begun=requested.begun, tried=tried), listed, sent, begun
        )
        return Decision(commands, memory=memory, says=says)


def _memory(heard: BuilderRequests, listed: Json, sent: list[str], begun: PlacedBlocks) -> Json:
    """Return the agent's memory. It consists of the listed items only, as long as there is nothing else."""
    if not (heard.last or heard.heard_at or sent or begun):
        return listed
    memory: dict[str, Json] = {REQUESTS_KEY: heard.to_json(), LISTED_ITEMS_KEY: listed, SENT_KEY: sent}
    return {**memory, BEGUN_KEY: list(begun)} if begun else memory


def _without(situation: Situation, commands: Mapping[int, Command]) -> Situation:
    """Return the situation for the seats that have no command of these yet."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    left = tuple(seat for seat in asked if seat not in commands)
    return replace(situation, request=replace(situation.request, asked=left))


def commands_of(team: Team) -> dict[int, Command]:
    """Return the next command of each of the agent's seats that needs one, by seat."""
    brief = team.situation.briefs[team.seats[0]]
    if "target" in brief or "targets" in brief:
        return _making_commands(team, _goals(team, brief))
    if "item" in brief:
        return {seat: _gather_command(team, seat) for seat in team.asked()}
    return _building_commands(team)


# Targets to hold


def _goals(team: Team, brief: Mapping[str, Json]) -> list[TeamGoal]:
    if "target" in brief:
        return [TeamGoal(_maker(team, brief["target"]), brief["target"])]
    if brief["each_their_own"]:
        return [TeamGoal(seat, {brief["targets"][seat]: 1}) for seat in team.seats]
    targets: Counter[str] = Counter(brief["targets"])
    return [TeamGoal(_maker(team, targets), targets)]


def _maker(team: Team, targets: Mapping[str, int]) -> int:
    """Return the seat that should make the targets: one that holds the workbench, otherwise the one with the
    most needed items."""
    needed = _needed_items(team, targets)

    def worth(seat: int) -> tuple[int, int, int]:
        held = team.held.get(seat, {})
        return int(TABLE in held), sum(amount for item, amount in held.items() if item in needed), -seat

    return max(team.held, key=worth)


def item_sources(team: Team) -> ItemSources:
    """Return where items come from in this world."""
    if "targets" not in team.situation.briefs[team.seats[0]]:
        return ItemSources()
    given = cooking_file()
    return ItemSources(
        {item: block for block, item in given.gives.items()},
        {},
        {meat: animal for animal, meat in given.meat.items() if meat},
        table_stands=True,
        furnace_stands=True,
    )


def _needed_items(team: Team, targets: Mapping[str, int]) -> set[str]:
    """Return all kinds of item that are used to make the targets, including fuel."""
    steps = plan_items(targets, team.pool, item_sources(team)) or []
    needed, book = set(targets), recipe_book()
    for verb, item, *_ in steps:
        needed.add(item)
        if verb == "smelt":
            needed |= set().union(*(items for items, _ in smelting_rules().fuels))
        for row in book.by_item.get(item, ()) if verb == "craft" else ():
            needed |= {TABLE, *row.named}.union(*(book.tags[tag] for tag in row.tagged))
    return needed


def _making_commands(team: Team, goals: Sequence[TeamGoal]) -> dict[int, Command]:
    commands: dict[int, Command] = {}
    maker_of = {goal.maker: goal for goal in goals}
    for seat in team.asked():
        goal = maker_of.get(seat, goals[0])
        steps = plan_items(goal.targets, team.pool, item_sources(team)) if team.knows_how else None
        if steps is None and team.knows_how and team.waits_for_news:
            commands[seat] = GO_ON
            continue
        if steps is None:
            commands[seat] = _gift_to_others(team, seat) or GO_ON
            continue
        taken = {command for command in commands.values() if command[0] in RAW_VERBS}
        command = _gift(team, seat, goal) if seat != goal.maker else making_step(team, seat, steps)
        commands[seat] = command or raw_step(team, seat, steps, taken) or GO_ON
    return commands


def _gift_to_others(team: Team, seat: int) -> Command | None:
    """Return a command that gives all of an item that may be needed to a seat of another agent or of a
    person. Return None if there is none.

    It is for a seat that cannot make the targets itself. A seat that has the workbench and knows the
    recipes waits for gifts.
    """
    others = [other for other in team.all_seats if other not in team.seats]
    if not others or (team.knows_how and any(TABLE in team.held[each] for each in team.seats)):
        return None
    brief, legal = team.situation.briefs[seat], team.situation.legal[seat]
    needs = (step.get("needs", {}) for step in _brief_steps(brief))
    kinds = set().union(*needs) if team.knows_how else team.held[seat].keys() - TOOLS.keys()
    for item in sorted(kinds & team.held[seat].keys()):
        if ("give", str(others[0]), item, "1") in legal:
            return ("give", str(others[0]), item, str(team.held[seat][item]))
    return None


def _brief_steps(brief: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the steps of the plan and the recipes that a seat was given."""
    return [*brief.get("plan", ()), *(step for steps in brief.get("recipes", {}).values() for step in steps)]


def _gift(team: Team, seat: int, goal: TeamGoal) -> Command | None:
    """Return the command with which a seat gives all it holds of one needed item to the seat that makes
    the goal (`goal.maker`). Return None if it holds no needed item or cannot give it now."""
    needed = _needed_items(team, goal.targets)
    item = next((item for item in sorted(team.held[seat]) if item in needed), "")
    can_give = ("give", str(goal.maker), item, "1") in team.situation.legal[seat]
    return ("give", str(goal.maker), item, str(team.held[seat][item])) if item and can_give else None


def making_step(team: Team, seat: int, steps: Sequence[Command]) -> Command | None:
    """Return the first step of the plan (`steps`) that this seat can begin now and that is not about a raw
    material. Its amount is reduced to what the seat can make. Return None if there is no such step."""
    for step in steps:
        if step[0] in RAW_VERBS:
            continue
        head, most = step[:-1], _most(team, seat, step[:-1])
        if most:
            return (*head, str(min(most, int(step[-1]))))
    return None


def _most(team: Team, seat: int, head: Command) -> int:
    """Return the greatest amount with which the macro `head` can begin now, given the items that the seat
    holds. Return 0 if it cannot begin."""
    if (*head, "1") not in team.situation.legal[seat]:
        return 0
    verb, item = head
    held = team.held[seat]
    if verb == "smelt":
        return held.get(item, 0)
    book = recipe_book()
    return max((book.most_times(row, held) for row in book.by_item[item]), default=0)


def raw_step(team: Team, seat: int, steps: Sequence[Command], taken: set[Command]) -> Command | None:
    """Return the command to fetch the first raw material of the plan (`steps`) that no other seat fetches
    (`taken`). If the material is not near, return the command to walk to the middle of the map. Return
    None if the plan needs no other raw material."""
    for step in steps:
        if step[0] not in RAW_VERBS or step in taken:
            continue
        least = (*step[:-1], "1") if step[0] == "collect" else step
        return step if least in team.situation.legal[seat] else TO_THE_MIDDLE
    return None


# Amounts to gather, and blueprints


def _gather_command(team: Team, seat: int) -> Command:
    """Return the next macro with which a seat gets a small amount more of the wanted item, or the tool
    that it needs for this."""
    item = team.situation.briefs[seat]["item"]
    return gather_step(team, seat, item, team.held[seat].get(item, 0) + AT_A_TIME)


def gather_step(team: Team, seat: int, item: str, amount: int) -> Command:
    """Return the next macro with which a seat gets this amount of an item in the gathering world. Return
    `go_on` if the seat already holds the amount or cannot get it."""
    collects: Mapping[str, Json] = team.situation.briefs[seat]["collects"]
    sources = ItemSources(
        {each["gives"]: block for block, each in collects.items()},
        {
            block: tuple(sorted(each["steps"], key=each["steps"].__getitem__, reverse=True))
            for block, each in collects.items()
            if HAND not in each["steps"]
        },
    )
    steps = plan_items({item: amount}, team.held[seat], sources) or [GO_ON]
    return steps[0]


def _building_commands(team: Team) -> dict[int, Command]:
    """Return a command for each seat, by seat: to place or remove the nearest block. No two seats get the
    same cell. A seat that does not know the blueprint gives its materials to another member."""
    doing = (seen["doing"] for seen in team.seen.values())
    taken = {tuple(map(int, words[-3:])) for words in doing if words and words[0] in ("place", "remove")}
    commands: dict[int, Command] = {}
    for seat in team.asked():
        knows = "blueprint" in team.situation.briefs[seat]
        if team.waits_for_words and not knows:
            commands[seat] = GO_ON
            continue
        shared = _shared_material(team, seat) if knows else _gift_to_others(team, seat)
        command = shared or _building_step(team, seat, taken)
        commands[seat] = command
        if command[0] in ("place", "remove"):
            taken.add(tuple(map(int, command[-3:])))
    return commands


def _shared_material(team: Team, seat: int) -> Command | None:
    """Return a command that gives a part of a material to another of the agent's seats that has none of
    it. None if there is nothing to share."""
    materials = {wanted for _, _, wanted, _ in team.seen[seat].get("differences", ())} - {AIR}
    for item in sorted(materials & team.held[seat].keys()):
        poor = next((other for other in team.seats if team.lacks(other, item)), None)
        share = team.held[seat][item] // len(team.seats)
        if poor is not None and share >= LEAST_SHARE:
            team.promised.add((poor, item))
            return ("give", str(poor), item, str(share))
    return None


def _building_step(team: Team, seat: int, taken: Iterable[tuple[int, ...]]) -> Command:
    """Return the command to change the nearest wrong cell of the lowest unfinished level. If the seat can
    change none there, return a command to build another level, or to place a block of it where people
    build block by block. If it can build none, return `go_on`. Rows that people have begun come last."""
    seen, legal = team.seen[seat], team.situation.legal[seat]
    verb = "place" if team.situation.briefs[seat].get(BY_BLOCK) else "build"
    for left_out in ({*taken, *begun_cells(seen, legal, team.begun)}, set(taken)):
        builds = (one for one in legal if one[0] == verb and _cell_of(one) not in left_out)
        if command := nearest_change(seen, left_out) or next(builds, None):
            return command
    return GO_ON


def _cell_of(command: Command) -> tuple[int, ...]:
    return tuple(map(int, command[-3:])) if command[0] == "place" else ()


class PlannerAdviser(Adviser):
    """An adviser that recommends what `BlocksPlanner` would do in a person's seat."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return the planner's command for the situation's only seat; None if the planner would wait."""
        (seat,) = situation.seats
        silent = replace(situation, talk=TeamTalk(messages=situation.talk.messages))
        made = run_without_waiting(BlocksPlanner({}).decide(silent))
        command = made.commands.get(seat, GO_ON)
        return None if command == GO_ON else Advice(command, {})

    def decide(self, situation: Situation) -> Decision:
        """Return the planner's command. A builder who knows the blueprint and lacks materials also asks for
        all that the others hold, once."""
        made = super().decide(situation)
        (seat,) = situation.seats
        seen = situation.observations[seat]
        wanted = {block for _, _, block, _ in seen.get("differences", ())} - {AIR}
        lacking = wanted - seen.get("inventory", {}).keys()
        asked = any(one.sender == situation.talk.member for one in situation.talk.messages)
        if made.commands or asked or not lacking:
            return made
        return replace(made, says=(MessageDraft(ASKS_FOR_ALL),))

    def slip(self, offered: Sequence[Command], chance: Random) -> Command:
        """Return a random command of somebody who errs. Nothing is thrown away or made into something else,
        because one such error can make the goal impossible."""
        return super().slip([one for one in offered if one[0] not in SPENDING_VERBS] or offered, chance)


ADVISER = PlannerAdviser()
