"""Hold what the agent `blocks_planner` knows about its players and the others, and write what it tells them.

It knows its own players from observations, and the others from messages that list what they hold. In its
messages it lists what its players hold. To people it also says what a builder lacks. If they do not know the
blueprint, it says where the next piece belongs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.begun_rows import PlacedBlocks
from kitchen.worlds.blocks.block_grid import AIR
from kitchen.worlds.blocks.blueprint_pieces import missing_pieces
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.construction_world import BY_BLOCK, KNOWN_BY
from kitchen.worlds.blocks.cooking_tasks import cooking_file
from kitchen.worlds.blocks.furnace_rules import smelting_rules
from kitchen.worlds.blocks.item_recipes import Inventory, add_items
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.people_messages import people_in_talk
from kitchen.worlds.blocks.planner_messages import (
    GIVES_UP,
    HOLDS,
    KNOWS_PLAN,
    NEEDS,
    NO_PLAN,
    NOTHING,
    PLEASE_PUT,
    TAKES_ON,
    planner_message,
)

HOLDS_KEY = "blocks_holds"
"""Key of a message's data: what the sender's seats hold, as {seat: inventory}."""
NEWS_STEPS = 2
"""Steps at the start of an episode in which planners wait for what others hold, before they give things."""
PIECE_KEY = "piece:"
"""Prefix of the remembered text of the last piece that the agent asked for."""
REQUESTS_KEY, LISTED_ITEMS_KEY, SENT_KEY = "heard", "told", "said"
"""Keys of the memory: open requests of people, the items that the agent last listed as held, and messages
that it never repeats. Without requests, the memory consists of the listed items only."""


class Team:
    """The agent's knowledge of all seats. It knows its own seats from observations, and the other seats
    from messages."""

    def __init__(
        self, situation: Situation, *, waits_for_words: bool = False, begun: PlacedBlocks = ()
    ) -> None:
        self.situation, self.waits_for_words, self.begun = situation, waits_for_words, begun
        self.seats = situation.seats
        seen = situation.observations
        self.seen = {seat: seen[seat] for seat in self.seats}
        self.held: dict[int, Inventory] = {seat: dict(one["inventory"]) for seat, one in self.seen.items()}
        for message in situation.talk.messages:
            told = message.data.get(HOLDS_KEY, {}) if isinstance(message.data, Mapping) else {}
            for seat, items in told.items():
                if int(seat) not in self.seats:
                    self.held[int(seat)] = dict(items)
        doing = [seen["doing"] for seen in self.seen.values()]
        self.promised = {(int(words[1]), words[2]) for words in doing if words and words[0] == "give"}
        """Gifts under way: (seat, item)."""
        self.all_seats = [each["seat"] for each in self.seen[self.seats[0]]["seats"]]

    @property
    def knows_how(self) -> bool:
        """Return True if one of the agent's seats was given the plan or the recipes. Without plan and
        recipes, the agent makes nothing."""
        briefs = self.situation.briefs
        return any("plan" in briefs[seat] or "recipes" in briefs[seat] for seat in self.seats)

    @property
    def waits_for_news(self) -> bool:
        """Return True in the first steps while another agent may still tell what it holds."""
        talk, step = self.situation.talk, self.situation.step
        team = talk.organisation
        agents = {one.number for one in team.members if not one.is_person} if team else set()
        others = agents.intersection(team.to(talk.member, SAY)) if team else set()
        told = {message.sender for message in talk.messages if HOLDS_KEY in message.data}
        return step < NEWS_STEPS and bool(others - told)

    @property
    def builds(self) -> bool:
        """Return True if the goal is a blueprint, known or not."""
        brief = self.situation.briefs[self.seats[0]]
        return not {"target", "targets", "item"} & brief.keys()

    @property
    def pool(self) -> Inventory:
        """Return the items, with their amounts, that all seats together are known to hold. Items that a
        macro in progress will still bring are included."""
        pool: Inventory = {}
        for items in self.held.values():
            add_items(pool, items)
        for seen in self.seen.values():
            add_items(pool, _coming(seen))
        return pool

    def lacks(self, seat: int, item: str) -> bool:
        """Return whether a seat has none of an item, and no other seat is about to give it one."""
        return item not in self.held[seat] and (seat, item) not in self.promised

    def asked(self) -> Iterator[int]:
        """Yield the agent's seats that need a command in this step."""
        asked = self.situation.request.asked
        return (seat for seat in self.seats if asked is None or seat in asked)


def _coming(seen: Mapping[str, Json]) -> Inventory:
    """Return the items, with their amounts, that a seat's macro in progress will still bring. `seen` is
    the seat's observation."""
    doing = seen["doing"]
    if not doing:
        return {}
    given = cooking_file()
    if doing[0] == "collect" and doing[1] in given.gives:
        item = given.gives[doing[1]]
        return {item: max(0, int(doing[2]) - seen["since"]["gained"].get(item, 0))}
    if doing[0] == "attack" and given.meat.get(doing[1]):
        return {given.meat[doing[1]]: 1}
    if doing[0] == "smelt" and seen["steps_of_doing"]:
        return {smelting_rules().products[doing[1]]: int(doing[2])}
    return {}


def planner_news(
    team: Team, commands: Mapping[int, Command], known: Mapping[str, Json]
) -> tuple[Json, list[str], list[list[Json]]]:
    """Return three things: the items that the agent's seats hold, as its memory stores them; the messages
    that it never repeats and has sent; and the sentences to send now."""
    holds = {str(seat): team.held[seat] for seat in team.seats}
    told: Json = {seat: sorted(items) for seat, items in holds.items()} if team.builds else holds
    said, before = list(known.get(SENT_KEY, ())), known.get(LISTED_ITEMS_KEY, known) or None
    if team.situation.talk.organisation is None:
        return told, said, []
    parts: list[list[Json]] = []
    if before != told:
        items: Counter[str] = Counter()
        for held in holds.values():
            items.update(held)
        if _places_blocks(team):
            items = Counter({item: amount for item, amount in items.items() if item not in TOOLS})
        parts.append([HOLDS, dict(sorted(items.items()))] if items else [NOTHING])
    for key, part in _builder_news(team, commands):
        if key not in said:
            said.append(key)
            parts.append(part)
    if piece := _piece_to_name(team, said, before or {}):
        said = [*(key for key in said if not key.startswith(PIECE_KEY)), PIECE_KEY + json.dumps(piece)]
        parts.append([PLEASE_PUT, *piece])
    return told, said, parts


def _piece_to_name(team: Team, said: Sequence[str], before: Mapping[str, Json]) -> list[Json] | None:
    """Return the next piece for which the builder lacks the material, if people are there who do not know the
    blueprint. Return None as long as the last one (in `said`) is not done, unless the builder used up its
    material. `before` lists the items that each seat held when the builder last told it."""
    seat = _teller(team)
    if seat is None or team.seen[seat]["level"] is None:
        return None
    brief, seen = team.situation.briefs[seat], team.seen[seat]
    held = set().union(*(team.held[each] for each in team.seats))
    pieces = missing_pieces(brief, seen, seen["level"])
    lacking = [one for one in pieces if one.item not in held]
    if not lacking:
        return None
    last = next((json.loads(key.removeprefix(PIECE_KEY)) for key in said if key.startswith(PIECE_KEY)), None)
    if last and last[1] == seen["level"] and not any(last[0] in items for items in before.values()):
        _, _, rows, columns, _ = last
        left = {cell for piece in lacking for cell in piece.cells if piece.item == last[0]}
        if any(rows[0] <= z <= rows[1] and columns[0] <= x <= columns[1] for x, z in left):
            return None
    return lacking[0].to_json()


def _teller(team: Team) -> int | None:
    """Return the agent's first seat that knows the blueprint while a person who is written to does not; None
    otherwise."""
    organisation, briefs = team.situation.talk.organisation, team.situation.briefs
    seat = next((seat for seat in team.seats if "blueprint" in briefs[seat]), None)
    if seat is None or organisation is None or KNOWN_BY not in briefs[seat]:
        return None
    people = people_in_talk(team.situation, reads=False)
    know = set(briefs[seat][KNOWN_BY])
    return seat if any(not know.issuperset(organisation.member(one).seats) for one in people) else None


def _builder_news(team: Team, commands: Mapping[int, Command]) -> Iterator[tuple[str, list[Json]]]:
    """Yield what builders tell people, as (key, part of a message): that they do not know the blueprint, that
    they give up waiting, or what they lack for the lowest unfinished level. Those who tell people the
    blueprint say so, and name pieces instead."""
    if not (team.builds and people_in_talk(team.situation, reads=False)):
        return
    if _teller(team) is not None:
        yield KNOWS_PLAN, [KNOWS_PLAN]
    else:
        yield from _seat_news(team, commands)


def _seat_news(team: Team, commands: Mapping[int, Command]) -> Iterator[tuple[str, list[Json]]]:
    """Yield the news of each seat for people who do not wait to be told the blueprint."""
    for seat in team.seats:
        command = commands.get(seat)
        if "blueprint" not in team.situation.briefs[seat]:
            if team.waits_for_words:
                yield NO_PLAN, [NO_PLAN]
            elif command and command[0] == "give":
                yield GIVES_UP, [GIVES_UP]
        elif command and command[0] == "place" and _places_blocks(team):
            item, level = command[1], int(command[3])
            yield f"{TAKES_ON}:{level}:{item}", [TAKES_ON, level, item]
        elif command == GO_ON and not team.seen[seat]["doing"]:
            level = team.seen[seat]["level"]
            wanted = Counter(one for _, _, one, _ in team.seen[seat]["differences"] if one != AIR)
            lacking = {item: amount for item, amount in sorted(wanted.items()) if item not in team.held[seat]}
            if lacking:
                yield f"{NEEDS}:{level}:{','.join(lacking)}", [NEEDS, lacking]


def _places_blocks(team: Team) -> bool:
    """Return whether the players build block by block."""
    return bool(team.situation.briefs[team.seats[0]].get(BY_BLOCK))


def holdings_message(team: Team, parts: Sequence[Sequence[Json]]) -> MessageDraft:
    holds = {str(seat): team.held[seat] for seat in team.seats}
    return planner_message(parts, data={HOLDS_KEY: holds})
