"""Robots do what plain sentences ask, leave the speaker's part alone, and answer if they are addressed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision, run_without_waiting
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.registry.agent_registry import make_agent
from kitchen.words.gettext_without_django import gettext, in_language
from kitchen.worlds.cuisine.display_text import KitchenWords
from kitchen.worlds.cuisine.page import PAGE
from kitchen.worlds.cuisine.planner.instruction_answers import (
    EXAMPLES,
    answer_message,
    example_text,
    guide_examples,
)
from kitchen.worlds.cuisine.planner.instruction_parser import parse_message
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen

MEMBERS = tuple(Member(seat, (seat,), is_person=seat == 0) for seat in range(3))
TEAM = make_organisation("each", MEMBERS, seats=3, settings={"talk": True})
ONE_PLANNER = make_organisation(
    "central",
    (Member(0, (0,), is_person=True), Member(1, (1, 2), is_person=False)),
    seats=3,
    settings={"talk": True},
)


class Play:
    """A kitchen in which a person waits and writes, and planners act."""

    def __init__(self, team: Organisation = ONE_PLANNER, seed: int = 3) -> None:
        self.world, self.team = kitchen(level="level_3", seats=3, seed=seed), team
        self.memories: dict[int, Any] = {}
        self.messages: tuple[TeamMessage, ...] = ()
        self.said: dict[int, list[str]] = {1: [], 2: []}
        self.done: dict[int, list[str]] = {1: [], 2: []}

    def say(self, text: str) -> None:
        to = tuple(one.number for one in self.team.members if not one.is_person)
        self.messages += (TeamMessage(len(self.messages) + 1, self.world.clock + 1, 0, to, "say", text),)

    def decide(self, member: int) -> Decision:
        seats = self.team.member(member).seats
        situation = make_situation(
            self.world, seats, commanded={0: ("noop",)}, people=(0,), memory=self.memories.get(member), seed=1
        )
        facts = {"organisation": self.team, "member": member, "messages": self.messages}
        return run_without_waiting(make_agent("planner", {}).decide(changed(situation, **facts)))

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            commands: dict[int, tuple[str, ...]] = {0: ("noop",)}
            for member in (one.number for one in self.team.members if not one.is_person):
                decision = self.decide(member)
                self.memories[member] = json.loads(json.dumps(decision.memory))
                self.said[member] += [one.text for one in decision.says]
                commands |= decision.commands
            for seat in self.done:
                self.done[seat].append(" ".join(commands.get(seat, ("noop",))))
            self.world.step(list(commands.items()))


def fish_of(play: Play) -> str:
    """The fish of the other order than the most urgent one, which the planner would not take first."""
    return next(one for one in ("tuna", "salmon") if one not in play.world.observe(0)["orders"][0]["dish"])


def test_the_named_robot_does_its_part_and_the_speakers_part_is_left() -> None:
    play = Play()
    play.say("Robot 2: please chop the salmon, I will cook the rice")
    play.step(6)
    assert play.said[1] == ["Understood: Robot 2 chops salmon. You cook rice."]
    assert play.done[1][:5] == [
        "goto storage0",
        "get storage0 salmon",
        play.done[1][2],
        play.done[1][2].replace("goto", "put"),
        play.done[1][2].replace("goto", "activate"),
    ]
    assert play.done[1][2].startswith("goto chopboard")
    play.step(8)
    assert not [one for seat in (1, 2) for one in play.done[seat] if "rice" in one or "pot" in one]


@pytest.mark.parametrize(
    "text", ["chop the {fish}", "¿puedes cortar el {fish}?", "请切{fish}", "ROBOT 3 CHOP THE {fish}"]
)
def test_an_order_is_served_by_the_next_commands(text: str) -> None:
    play = Play()
    fish = fish_of(play)
    names = {"tuna": ("atún", "金枪鱼"), "salmon": ("salmón", "三文鱼")}[fish]
    name = names[0] if "¿" in text else names[1] if "切" in text else fish
    play.say(text.format(fish=name))
    play.step(6)
    seat = next(seat for seat in (2, 1) if f"get storage0 {fish}" in play.done[seat])
    assert any(one.startswith("activate chopboard") for one in play.done[seat])
    assert play.memories[1]["heeded"]["wishes"] == []


def test_a_task_waits_for_what_the_speaker_makes_and_does_something_else_meanwhile() -> None:
    play = Play()
    play.say("robot 2: make the salmon sushi, I will cook the rice")
    play.step(14)
    assert play.said[1] == ["Understood: Robot 2 makes salmon sushi. You cook rice."]
    done = [*play.done[1], *play.done[2]]
    assert not [one for one in done if "rice" in one or "pot" in one]
    assert [one for one in play.done[1] if one.startswith("activate chopboard")]


def test_a_later_ban_also_holds_for_a_task() -> None:
    play = Play()
    play.say("robot 2: make the salmon sushi")
    play.say("don't cook rice")
    play.step(14)
    assert play.said[1][0].endswith("do not make cooked rice. This holds until you write “Go on”.")
    assert not [one for seat in (1, 2) for one in play.done[seat] if "rice" in one or "pot" in one]


@pytest.mark.parametrize("fish", ["salmon", "tuna"])
def test_what_one_robot_shall_not_do_another_one_does(fish: str) -> None:
    play = Play()
    play.say(f"robot 3, don't chop the {fish}")
    play.step(24)
    assert play.said[1] == [
        f"Understood: Robot 3 does not make {fish} sashimi. This holds until you write “Go on”."
    ]
    assert not [one for one in play.done[2] if one == f"get storage0 {fish}"]
    assert set(play.done[2]) != {"noop"}
    assert [one for one in play.done[1] if one.startswith("activate chopboard")]


@pytest.mark.parametrize(("text", "stops"), [("stop chopping", True), ("I chop", True), ("I cook", False)])
def test_a_tool_that_somebody_takes_ends_the_task_there(text: str, stops: bool) -> None:
    play = Play()
    play.say("robot 2 chop the salmon")
    play.step(2)
    play.say(text)
    play.step(6)
    chops = [one for one in play.done[1] if "chopboard" in one]
    assert bool(chops) is not stops


def test_the_speakers_part_is_theirs_until_it_is_there() -> None:
    play = Play()
    play.say("I cook the rice")
    play.step()
    assert len(play.memories[1]["heeded"]["wishes"]) == 1
    for words in ("goto storage0", "get storage0 rice", "goto pot0", "put pot0", "activate pot0"):
        play.world.step([(0, tuple(words.split()))])
    play.step()
    assert len(play.memories[1]["heeded"]["wishes"]) == 1  # it still cooks
    play.step(12)
    assert play.memories[1]["heeded"]["wishes"] == []


COOK_RICE = ("goto storage0", "get storage0 rice", "goto pot0", "put pot0", "activate pot0")


def test_a_task_with_a_condition_begins_when_it_is_met() -> None:
    play = Play()
    play.say("I cook the rice")
    play.say("when the rice is ready, robot 2, empty the pot")
    for words in COOK_RICE:
        play.step()
        play.world.step([(0, tuple(words.split()))])
    assert play.said[1] == [
        "Understood: You cook rice. Understood: When cooked rice is ready: Robot 2 empties the pot."
    ]
    assert play.memories[1]["heeded"]["wishes"][-1]["when"] == ["ready", "cookedRice"]
    assert not [one for one in play.done[1] if "pot" in one]
    play.step(12)
    assert "get pot0 cookedRice" in play.done[1]
    assert [one["do"] for one in play.memories[1]["heeded"]["wishes"]] == []


def test_a_condition_that_is_met_already_is_none() -> None:
    play = Play()
    play.say("robot 2, if a pot is free, cook rice")
    play.step(2)
    assert play.said[1] == ["Understood: Robot 2 cooks rice."]
    assert play.done[1] == ["goto storage0", "get storage0 rice"]


@pytest.mark.parametrize("words", ["don't chop", "robot 2, don't chop"])
def test_go_on_to_one_robot_lifts_what_it_leaves_alone_and_nothing_of_the_others(words: str) -> None:
    play = Play()
    play.say(words)
    play.step()
    play.say("robot 2, go on")
    play.step(24)
    chops = [sum("activate chopboard" in one for one in play.done[seat]) for seat in (1, 2)]
    assert chops[0] and (bool(chops[1]) is words.startswith("robot 2"))


def test_a_robot_that_is_not_there_is_named() -> None:
    play = Play(TEAM)
    play.say("robot 7: chop the salmon")
    play.step()
    assert play.said == {1: ["There is no Robot 7 here."], 2: []}


def test_serve_makes_what_is_missing_and_serves_it() -> None:
    play = Play()
    dish = play.world.observe(0)["orders"][0]["dish"]
    play.say(f"robot 2 serve the {dish.removesuffix('Sushi')} sushi")
    play.step(26)
    assert dish in play.world.observe(0)["delivered"]


def test_who_serves_alone_finds_the_dish_where_it_was_made() -> None:
    play = Play()
    play.say("I'll serve")
    play.step(30)
    assert play.said[1] == ["Understood: You serve the dishes. This holds until you write “Go on”."]
    assert play.world.observe(0)["delivered"] == []
    made = [place["items"] for place in play.world.observe(0)["locations"].values()]
    assert any(items in (["salmonSushi"], ["tunaSushi"]) for items in made)


def test_only_the_addressed_robot_answers() -> None:
    play = Play(TEAM)
    play.say("Robot 3, what are you doing?")
    play.step()
    assert not play.said[1] and len(play.said[2]) == 1 and play.said[2][0].startswith("Robot 3: Next: ")
    play.say("Robot 3, wibble wobble")
    play.say("Robot 2: cook rice, I will chop the salmon")
    play.step()
    assert [one[:12] for one in play.said[2][1:]] == ["I did not un"]
    assert play.said[1] == ["Understood: Robot 2 cooks rice. You chop salmon."]
    play.say("thanks")
    play.step()
    assert play.said[1][1:] == ["All right."] and len(play.said[2]) == 2


def test_a_question_is_answered_with_what_the_robots_do() -> None:
    play = Play()
    play.say("Should I cook the rice?")
    play.step()
    (answer,) = play.said[1]
    assert answer.startswith("I cannot answer that. I can tell you what I do now. Robot 2: ")
    assert "Robot 3: " in answer


def test_what_is_there_already_is_not_made_again() -> None:
    play = Play()
    for words in ("goto storage0", "get storage0 rice", "goto pot0", "put pot0", "activate pot0"):
        play.world.step([(0, tuple(words.split()))])
    play.say("cook rice")
    play.step()
    assert play.said[1] == ["There is cooked rice already."]


@pytest.mark.parametrize("language", ["en", "es", "zh-hans"])
@pytest.mark.parametrize("level", ["level_3", "level_9"])
def test_every_example_is_understood_in_its_language(language: str, level: str) -> None:
    brief = kitchen(level=level, seats=3).brief(0)
    kinds = set()
    with in_language(language):
        for example in guide_examples(brief):
            text = example_text(KitchenWords(brief["names"]), *example)
            parsed = parse_message(TeamMessage(1, 1, 0, (1,), "say", text), brief, brief["dishes"], (0,))
            assert parsed.wishes or parsed.points[0].kind == "doing", text
            kinds |= {one.do for one in parsed.wishes} | {one.kind for one in parsed.points}
            assert gettext(EXAMPLES[str(example[0])])
    assert {"make", "first", "stop", "go_on", "doing"} <= kinds


def test_answers_are_shown_in_the_readers_language() -> None:
    world = CuisineWorld.create(seats=3, settings={"level": "level_3"})
    world.reset(0)
    parts = [["understood", ["chop", 1, "salmon"], ["you_cook", "rice"]], ["stop", [1, 2], ""]]
    draft = answer_message(parts, world.brief(0))
    assert draft.text == "Understood: Robot 2 chops salmon. You cook rice. Robot 2 and Robot 3 wait."
    message = TeamMessage(1, 1, 1, (0,), "answer", draft.text, draft.data)
    with in_language("es"):
        assert PAGE.translated_message(message).startswith(
            "Entendido: Robot 2 corta salmón. Tú cocinas arroz."
        )
    with in_language("zh-hans"):
        assert "机器人2切三文鱼。" in PAGE.translated_message(message)
