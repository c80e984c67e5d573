"""Put commands, events, messages and aims of the worlds of blocks into words for the person at a page."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from kitchen.contract.page import Panel
from kitchen.contract.page_view import PlayerView, SeatView
from kitchen.contract.team_messages import CODE_KEY, TeamMessage
from kitchen.contract.world import Aim, Command, Event, Json
from kitchen.pages.default_page import PLATFORM_EVENTS, CommandChoice, CommandGroup, DefaultPage, SpokenStep
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_lazy
from kitchen.worlds.blocks.cell_words import cell_words
from kitchen.worlds.blocks.construction_world import BY_BLOCK
from kitchen.worlds.blocks.cooking_tasks import JOIN
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.macro_world import GO_ON
from kitchen.worlds.blocks.map_panels import OWN_VERBS
from kitchen.worlds.blocks.page_tables import counted_items
from kitchen.worlds.blocks.page_words import (
    AIM_GROUPS,
    AIMS,
    ANSWER_CODE,
    ANSWER_PARTS,
    COMMANDS,
    EVENTS,
    IN_CELLS,
    KEYS,
    REASONS,
    VERBS,
    numbered,
    request_answer,
)
from kitchen.worlds.blocks.planner_messages import PARTS_KEY, PLANNER_CODE, planner_text

AMOUNT_VERBS = ("collect", "craft", "smelt", "give", "put", "take", "discard", "stay")
"""Verbs whose last word is an amount."""


class WordedPage(DefaultPage):
    """A page of a world of blocks, as far as it names what is done there."""

    names = VERBS
    reasons = REASONS
    keys = KEYS
    verbs = ("collect", "attack", "build", "place", "craft", "smelt", "give")
    asked_verbs = ("remove",)
    body = gettext_lazy("player")

    def word(self, code: str) -> str:
        """Return the participant's word for a verb, an item, a block or an animal."""
        return gettext(VERBS[code]) if code in VERBS else item_words(code)

    def phrase(self, command: Command) -> str:
        """Return a command as text for participants, with its amount if that is not 1."""
        if not command:
            return ""
        verb, *words = command
        amount = words.pop() if verb in AMOUNT_VERBS and words and words[-1].isdecimal() else ""
        if verb not in COMMANDS:
            return sentence_case(" ".join(map(self.word, command)))
        text = gettext(COMMANDS[verb])
        try:
            phrase = text.format(*self._arguments(verb, words))
        except (IndexError, ValueError):
            return sentence_case(" ".join(map(self.word, command)))
        return phrase if amount in ("", "1") else f"{phrase}: {amount}"

    def worded(self, view: SeatView, command: Command) -> str:
        """Return a command as text for the participant of this view. A cell of the building is named by where
        it is, such as `bottom, back left corner`."""
        if len(command) < 4 or command[0] not in IN_CELLS or "size" not in view.brief:
            return self.phrase(command)
        *item, x, y, z = command[1:]
        place = cell_words((int(x), int(y), int(z)), view.brief["size"])
        return gettext(IN_CELLS[command[0]]).format(*map(item_words, item), place=place)

    def command_groups(
        self, view: SeatView, without: Container[Command] = ()
    ) -> tuple[tuple[CommandGroup, ...], tuple[Panel, ...]]:
        """Return the commands of the menu by verb. Where people build block by block, there is none for a
        whole level."""
        if not view.brief.get(BY_BLOCK):
            return super().command_groups(view, without)
        levels = {command for command in view.choice.legal if command[0] == "build"}
        levels.update(command for command in view.choice.legal if command in without)
        return super().command_groups(view, levels)

    def _choice(self, command: Command, view: SeatView, note: str) -> Panel:
        """Return the panel of a command of the menu. The idle command is named for what it does now."""
        panel = super()._choice(command, view, note)
        if command != GO_ON or not isinstance(panel.shows, CommandChoice):
            return panel
        text = gettext("Carry on") if view.observation.get("doing") else gettext("Wait one step")
        return panel._replace(shows=panel.shows._replace(text=text))

    def _arguments(self, verb: str, words: Sequence[str]) -> list[str]:
        if verb == "build":
            return [str(int(words[0]) + 1)]
        if verb in ("place", "remove"):
            *item, x, y, z = words
            return [*map(item_words, item), str(int(x) + 1), str(int(y) + 1), str(int(z) + 1)]
        is_seat = verb in ("give", "goto_seat")
        first = [self.named(int(word) + 1) for word in words[:1]] if is_seat else map(item_words, words[:1])
        return [*first, *map(item_words, words[1:])]

    def event_sentence(self, event: Event, view: SeatView) -> str:
        """Return a sentence about how a macro ended or what happened to an order. Empty for all other
        events."""
        if event.kind in PLATFORM_EVENTS:
            return ""
        if "dish" in event.data:
            kind = "missed" if event.kind == "failed" else event.kind
            return gettext(EVENTS[kind]).format(dish=item_words(event.data["dish"]))
        player = "" if event.seat is None else self._name_in_news(view.players[event.seat])
        is_block = (
            event.kind == "done" and bool(view.brief.get(BY_BLOCK)) and event.data["macro"][0] in IN_CELLS
        )
        if is_block and event.seat == view.seat and _is_done_at_once(event, view):
            return ""  # the own command says so
        if is_block and event.seat != view.seat:
            return gettext("{player}: {action}").format(player=player, action=self._done_words(event, view))
        reasons = ", ".join(map(self.reason, event.data.get("reasons", ())))
        words = {"player": player, "command": self._done_words(event, view), "reason": reasons}
        return gettext(EVENTS[event.kind]).format(**words)

    def _name_in_news(self, player: PlayerView) -> str:
        return gettext("You") if player.is_you else player.name

    def translated_message(self, message: TeamMessage) -> str:
        """Return a sentence of the planner, or the stand-in's answer to a request, in the reader's language.
        Empty for other messages."""
        if message.data.get(CODE_KEY) == PLANNER_CODE:
            return planner_text(message.data[PARTS_KEY])
        if message.data.get(CODE_KEY) != ANSWER_CODE:
            return ""
        return " ".join(
            gettext(request_answer(do, seats)).format(player=numbered(seats), thing=item_words(thing))
            for do, seats, thing in message.data[ANSWER_PARTS]
        )

    def _done_words(self, event: Event, view: SeatView) -> str:
        macro, count = tuple(event.data["macro"]), event.data.get("n")
        return self.worded(view, macro if count is None or macro[0] == "build" else (*macro[:-1], str(count)))

    def useful_amount(self, command: Command, view: SeatView, most: int) -> int:
        """Return the amount that the page suggests for a command, at most `most`. For `collect`, it is the
        number of blocks of this kind in sight. A greater amount may get more, because more blocks can come
        in sight on the way."""
        if command[0] != "collect":
            return most
        in_sight: dict[str, int] = {each["kind"]: each["count"] for each in view.observation["near"]}
        return min(most, in_sight[command[1]])

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return an aim as an instruction, such as `Get 3 wheat`."""
        verb, *words = aim
        if verb == "obtain":
            words = [counted_items(dict.fromkeys(words[0].split(JOIN), int(words[1])))]
        elif verb == "build":
            words = [str(int(words[0]) + 1)]
        elif verb in ("give", "give_all"):
            words = [self.named(int(words[0]) + 1), *map(item_words, words[1:])]
        else:
            words = list(map(item_words, words))
        return gettext(AIMS[verb]).format(*words)

    def aim_group(self, aim: Aim) -> str:
        """Return the heading under which the aim is listed."""
        return gettext(AIM_GROUPS[aim[0]])

    def spoken(self, view: SeatView) -> Panel:
        """Return the panel with the text for screen readers. It begins with the reader's own action, unless
        another sentence says how this action ended."""
        panel = super().spoken(view)
        own = [each for step in view.history[:1] for each in step.events if each.seat == view.seat]
        done = [tuple(each.data["command"]) for each in own if each.kind == "performed"]
        if (
            not view.acts
            or not done
            or done[0][0] in OWN_VERBS
            or any(each.kind == "done" and self.event_sentence(each, view) for each in own)
        ):
            return panel
        text = gettext("You: {action}").format(action=self.worded(view, done[0]))
        return panel._replace(shows=SpokenStep(". ".join(filter(None, (text, panel.shows[0])))))


def _is_done_at_once(event: Event, view: SeatView) -> bool:
    """Return whether the macro that ended with this event was commanded in the same step."""
    events = next((step.events for step in view.history if event in step.events), ())
    own = (each for each in events if each.kind == "performed" and each.seat == event.seat)
    return any(each.data["command"] == event.data["macro"] for each in own)
