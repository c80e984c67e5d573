"""The planner does what people ask of it in words: place, remove, give, say what it holds, stop, go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import REASON_TO_ANSWER, Decision
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import CODE_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Event
from kitchen.worlds.blocks.block_planner import ADVISER, PATIENCE_STEPS, BlocksPlanner
from kitchen.worlds.blocks.parsed_requests import GIVE, PLACE, ParsedRequest
from kitchen.worlds.blocks.planner_messages import PLANNER_CODE, SENTENCES, planner_text
from kitchen.worlds.blocks.request_parser import parse_requests
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.blocks.games import game

HUT = """legend = { s = "stone", p = "oak_planks" }
levels = [["ss", "ss"], ["pp", "p."]]"""
ROOM = """legend = { s = "stone", p = "oak_planks" }
levels = [["sss", "sss", "sss"], ["ppp", "p.p", "p.p"], ["sss", "...", "..."]]"""


class Talk:
    """A game that the planner plays in seat 1 beside a person in seat 0."""

    def __init__(self, family: str = "construction", *inventories: dict[str, int], **settings: Any) -> None:
        self.world = game(family, *inventories, **settings)
        members = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
        self.team = make_organisation("graph", members, seats=2)
        self.messages: list[TeamMessage] = []
        self.memory: Any = None
        self.says: list[MessageDraft] = []
        self.events: tuple[Event, ...] = ()

    def say(self, text: str, kind: str = "say") -> None:
        said = TeamMessage(len(self.messages) + 1, self.world.clock + 1, 0, (1,), kind, text, is_new=True)
        self.messages.append(said)

    def decide(self, **facts: Any) -> Decision:
        busy = self.world.macros[1] is not None
        seen = make_situation(self.world, (1,), people=(0,), commanded={0: ("go_on",)}, seed=1)
        seen = changed(
            seen,
            organisation=self.team,
            member=1,
            messages=tuple(self.messages),
            memory=self.memory,
            asked=() if busy else (1,),
            may_act=(1,) if busy else (),
            events=self.events,
            **facts,
        )
        made = asyncio.run(BlocksPlanner({}).decide(seen))
        self.memory = made.memory
        self.says += made.says
        return made

    def play(self, steps: int = 1) -> list[tuple[str, ...]]:
        """Take steps in which only the planner acts. Return its commands, without `go_on`."""
        found = []
        for _ in range(steps):
            command = self.decide().commands.get(1, ("go_on",))
            found += [command] if command != ("go_on",) else []
            self.events = self.world.step({1: command})
        return found

    def stones(self) -> set[tuple[int, ...]]:
        """The cells in which something stands."""
        x, y, z = self.world.brief(0)["size"]
        cells = ((a, b, c) for a in range(x) for b in range(y) for c in range(z))
        return {cell for cell in cells if self.world.grid.block(cell) != "air"}


def unknowing(**more: Any) -> Talk:
    """The planner holds all planks and does not know the blueprint."""
    chosen = {"own_blueprint": HUT, "inventories": "by_material", "blueprint_blocked": "others"}
    return Talk(**{**chosen, **more})


@pytest.mark.parametrize(
    "text",
    [
        "planks in the corners of level 2",
        "tablones en las cuatro esquinas del nivel 2",
        "把木板放在第2层的角上",
    ],
)
def test_corners_are_the_four_cells_at_the_ends_of_the_site(text: str) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say(text)
    talk.play(14)
    assert talk.stones() == {(x, 1, z) for x in (0, 2) for z in (0, 2)}


@pytest.mark.parametrize("text", ["put gold on level 2, row 1", "pon oro en el nivel 2", "把金块放在第2层"])
def test_a_material_that_it_has_not_is_not_replaced_by_another(text: str) -> None:
    talk = unknowing()
    talk.say(text)
    assert talk.play(2) == [] and talk.says[0].text == "I do not have this: gold ingot."


@pytest.mark.parametrize("text", ["give me some planks", "give me 5 or 6 planks", "给我5或6块木板"])
def test_a_gift_without_a_clear_amount_is_asked_back(text: str) -> None:
    talk = unknowing()
    talk.say(text)
    assert talk.play(2) == []
    assert [one.text for one in talk.says[:1]] == [
        "How many do you want? Write, for example: “give me 5 oak planks”."
    ]


def test_what_it_understands_in_part_it_asks_back_with_an_example_that_it_understands() -> None:
    talk = unknowing()
    talk.say("planks along an edge of level 2")
    talk.say("3 planks on level 2, row 1")
    assert talk.play(2) == []
    first, second = talk.says[:2]
    assert first.text == second.text and "I build nothing. I can place: oak planks." in first.text
    example = first.text.rpartition("example: ")[2]
    assert [one.do for one in parse_requests(example, [])] == [PLACE]


def test_a_gift_is_not_stuck_behind_blocks_to_place() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("planks on level 2")
    assert talk.play(2)[0][0] == "place"
    talk.say("Give me 2 planks")
    assert next(one for one in talk.play(3))[:3] == ("give", "0", "oak_planks")


def telling(**more: Any) -> Talk:
    """The planner alone knows the blueprint, and holds all planks; the person holds all stone."""
    chosen = {"own_blueprint": ROOM, "inventories": "by_material", "blueprint_blocked": "first"}
    return Talk(**{**chosen, **more})


def said_by(talk: Talk) -> str:
    return " ".join(say.text for say in talk.says)


def test_who_alone_knows_the_plan_says_where_the_next_piece_belongs_once_each() -> None:
    talk = telling()
    talk.play(6)
    first = "Please put stone on level 1, rows 1 to 3, columns 1 to 3, or give me 9 stone."
    assert talk.says[0].text.endswith(f"I know the plan. I tell you what I need. {first}")
    for x, z in [(x, z) for x in range(3) for z in range(3)][:-1]:
        talk.world.put_block((x, 0, z), "stone")
    talk.play(2)
    assert said_by(talk).count("Please") == 1, "it waits until the piece is done"
    talk.world.put_block((2, 0, 2), "stone")
    talk.play(20)
    second = "Please put stone on level 3, row 1, columns 1 to 3, or give me 3 stone."
    assert said_by(talk).count("Please") == 2 and second in said_by(talk)
    for z in range(3):
        talk.world.put_block((z, 2, 0), "stone")
    talk.play(10)
    assert talk.world.over


def test_a_small_gift_is_used_and_the_rest_asked_for() -> None:
    talk = telling()
    talk.play(2)
    talk.world.inventories[1]["stone"] = 3
    talk.play(12)
    asked = [say.text for say in talk.says if "Please" in say.text]
    assert len(asked) == 2 and "row" in asked[1] and talk.world.comparison.left[0] == 6


def test_it_answers_questions_about_the_plan_and_builds_nothing_because_of_them() -> None:
    talk = telling()
    put = "Please put stone on level 1, rows 1 to 3, columns 1 to 3, or give me 9 stone."
    for text, answer in {
        "What do you need?": put,
        "What is the plan?": put,
        "Where should the stone go?": put,
        "Tell me what goes on level 2": "Level 2, row 1, columns 1 to 3: oak planks. "
        "Level 2, rows 2 to 3, column 1: oak planks. Level 2, rows 2 to 3, column 3: oak planks.",
        "What goes on level 9?": "That is outside the building site.",
    }.items():
        talk.say(text)
        talk.decide()
        assert [say.text for say in talk.says if say.kind == "answer"][-1] == answer
    alone = unknowing()
    alone.say("What is the plan?")
    assert alone.play(2) == [] and "I do not know the plan." in alone.says[0].text


def test_who_knows_the_plan_too_is_not_told_it() -> None:
    talk = Talk(own_blueprint=ROOM, inventories="by_material")
    talk.play(20)
    assert "Please" not in said_by(talk) and "I need 9 stone." in said_by(talk)


def test_who_alone_knows_the_plan_tells_the_planner_what_to_put_where() -> None:
    talk = unknowing()
    assert talk.play(2) == [], "it waits for words"
    assert talk.says[-1].text.startswith("I have 1 diamond pickaxe, 128 dirt, 3 oak planks. I do not know")
    talk.say("Planks on level 2, row 1, all of it. Planks on level 2, column 1, row 2.")
    talk.play(8)
    assert talk.stones() == {(0, 1, 0), (1, 1, 0), (0, 1, 1)}
    assert [say.text for say in talk.says[1:2]] == [
        "I put oak planks into 2 cells. I put oak planks into 1 cell."
    ]
    assert "oak_planks" not in talk.world.inventories[1]


def test_it_places_what_it_holds_only_where_the_site_is() -> None:
    talk = unknowing()
    talk.say("Stone on level 1. Planks on level 9. Planks on level 2, column 7.")
    assert talk.play(2) == []
    assert talk.says[0].text == (
        "I do not have this: stone. That is outside the building site. That is outside the building site."
    )


def test_a_wrong_block_is_removed_on_request() -> None:
    talk = unknowing()
    talk.say("planks at level 1, column 2, row 1")
    talk.play(3)
    assert talk.stones() == {(1, 0, 0)}
    talk.say("remove it: level 1, column 2, row 1")
    assert talk.play(3) == [("remove", "1", "0", "0")] and not talk.stones()


def test_it_gives_what_it_is_asked_for_and_builds_on() -> None:
    talk = Talk(own_blueprint=HUT, inventories="by_material")
    talk.say("Give me 2 planks")
    assert talk.play()[0] == ("give", "0", "oak_planks", "2")
    assert talk.says[0].text == "I give you this: 2 oak planks." and talk.says[0].to == (0,)
    assert talk.play(6)[-1] == ("build", "1"), "then it does what it would do anyway"
    talk.say("give me all you have")
    talk.play(2)
    assert "I have nothing to give." in [say.text for say in talk.says]


def test_a_builder_says_what_it_lacks_once() -> None:
    talk = Talk(own_blueprint=HUT, inventories="by_material")
    talk.play(20)
    needs = [say.text for say in talk.says if "I need" in say.text]
    assert needs == ["I have 1 diamond pickaxe, 128 dirt. I need 4 stone."]


def test_it_stops_at_once_and_goes_on_when_told() -> None:
    talk = Talk(own_blueprint=HUT, inventories="by_material")
    assert talk.play()[0][0] in ("build", "place") and talk.world.macros[1]
    talk.say("Stop!")
    assert talk.play(3) == [("stop",)] and talk.world.macros[1] is None
    talk.say("Go on, please")
    assert talk.play()[0][0] in ("build", "place")
    assert [say.text for say in talk.says if say.kind == "answer"] == ["I wait.", "I go on."]


@pytest.mark.parametrize("words", ["Give me 2 planks", "Planks on level 2, row 1", "Stop!"])
def test_a_decision_that_only_answers_leaves_the_request_to_do(words: str) -> None:
    alone, talk = unknowing(), unknowing()
    for each in (alone, talk):
        each.say(words)
    assert talk.decide(because=REASON_TO_ANSWER).commands == {} and len(talk.says) == 1
    assert talk.play(8) == alone.play(8) and [one.kind for one in talk.says].count("answer") == 1


def test_a_stop_that_was_only_answered_ends_the_macro_in_progress() -> None:
    talk = Talk(own_blueprint=HUT, inventories="by_material")
    talk.play()
    talk.say("Stop!")
    talk.decide(because=REASON_TO_ANSWER)
    assert talk.play(3) == [("stop",)]


def test_it_begins_to_wait_when_it_takes_over_a_seat_and_reads_only_messages_from_then_on() -> None:
    talk = unknowing()
    talk.say("Give me everything")
    talk.say("Planks on level 2")
    talk.world.clock = 2 * PATIENCE_STEPS
    talk.decide(taken_over=2)
    assert talk.play(PATIENCE_STEPS - 2) == [] and not [one for one in talk.says if one.kind == "answer"]
    assert talk.play(4)[0][:3] == ("give", "0", "oak_planks")


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("player 3, put planks on level 2", []),
        ("player 3 is great", []),
        ("I put stone on level 1", ["All right."]),
        ("I have no stone", ["All right."]),
        ("ok", ["All right."]),
        ("vale, te lo doy todo", ["All right."]),
        ("This is fun", ["I did not understand that. Write “help” to see what I understand."]),
        (
            "I mean the one you placed last",
            ["I did not understand that. Write “help” to see what I understand."],
        ),
    ],
)
def test_words_that_ask_for_nothing_get_a_short_answer_unless_they_are_for_others(
    text: str, answers: list[str]
) -> None:
    talk = unknowing()
    talk.say(text)
    assert talk.play(2) == [] and [one.text for one in talk.says if one.kind == "answer"] == answers


@pytest.mark.parametrize(("text", "answer"), [("Hi there!", "Hello!"), ("thanks", "You are welcome.")])
def test_greetings_and_thanks_get_a_short_answer(text: str, answer: str) -> None:
    talk = unknowing()
    talk.say(text)
    talk.play()
    assert talk.says[0].text == answer


def test_the_one_addressed_gives_to_the_one_named() -> None:
    talk = Talk("construction", {}, {"oak_planks": 3}, {"oak_planks": 4}, seats=3, own_blueprint=HUT)
    talk.say("player 3, give player 1 everything")
    assert talk.decide().commands.get(1, ("",))[0] != "give" and not talk.says[0].to, "it plays player 2"
    talk.say("player 2, give player 3 two planks")
    assert talk.decide().commands[1] == ("give", "2", "oak_planks", "2")


def test_wood_is_what_it_holds_and_several_kinds_are_asked_back() -> None:
    for held, command, answer in (
        ({"oak_planks": 3}, ("give", "0", "oak_planks", "2"), "I give you this: 2 oak planks."),
        ({"oak_log": 3}, ("give", "0", "oak_log", "2"), "I give you this: 2 oak log."),
        ({"oak_log": 3, "oak_planks": 3}, None, "Which of these do you mean: oak log, oak planks?"),
        ({"stone": 3}, None, "I do not have this: wood."),
    ):
        talk = Talk("construction", {}, held, own_blueprint=HUT, blueprint_blocked="others")
        talk.say("Give me 2 wood")
        assert (talk.decide().commands.get(1), talk.says[0].text) == (command or ("go_on",), answer)


def test_it_says_how_many_cells_it_can_fill_and_which_have_a_block() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.world.inventories[1]["oak_planks"] = 4
    talk.say("Planks on level 2, row 1. Planks on level 2, row 2.")
    talk.decide()
    assert talk.says[0].text == (
        "I put oak planks into 3 cells. I put oak planks into 1 cell. For the rest I lack 2 oak planks."
    )
    knowing = Talk(own_blueprint=ROOM, inventories="by_material")
    knowing.world.put_block((0, 0, 0), "stone")
    knowing.say("Planks on level 1, row 1")
    knowing.decide()
    assert knowing.says[0].text == (
        "1 cell has a block already. 2 cells have something else in the plan, so I leave them."
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Build level 2 please", "I put oak planks into 7 cells."),
        ("Construye el nivel 2", "I put oak planks into 7 cells."),
        ("请建第2层", "I put oak planks into 7 cells."),
        ("Build level 1", "I do not have this: stone."),
        ("Build level 3, row 2", "Nothing is missing there."),
        ("Planks on level 2, row 2", "I put oak planks into 2 cells. 1 cell has something else in the plan"),
    ],
)
def test_who_knows_the_plan_builds_what_the_plan_has(text: str, answer: str) -> None:
    talk = Talk(own_blueprint=ROOM, inventories="by_material")
    talk.say(text)
    command = talk.decide().commands.get(1)
    assert talk.says[0].text.startswith(answer)
    if "I put" in answer:
        assert command and command[:2] == ("place", "oak_planks") and command[3] == "1"


def test_it_reports_a_cell_that_turns_out_to_have_a_block() -> None:
    talk = unknowing()
    talk.world.put_block((0, 1, 0), "stone")
    talk.say("Planks on level 2, row 1")
    talk.play(5)
    assert talk.stones() == {(0, 1, 0), (1, 1, 0)}
    reports = [one.text for one in talk.says if "already" in one.text]
    assert reports == ["There is a block already: level 2, row 1, column 1."]


def test_without_words_it_gives_its_materials_away_in_the_end() -> None:
    talk = unknowing()
    commands = talk.play(PATIENCE_STEPS + 4)
    assert commands == [("give", "0", "oak_planks", "3")]
    assert any("because I do not know what to do with it" in say.text for say in talk.says)


def test_words_it_does_not_understand_are_answered_with_what_it_understands() -> None:
    talk = unknowing()
    talk.say("What can you do?")
    talk.say("build it", "inform")
    talk.play()
    helped, declined = talk.says[:2]
    assert (helped.kind, declined.kind) == ("answer", "decline") and "level 1, row 2" in helped.text
    assert declined.data["job"] == 2
    crafting = Talk("crafting", {"stick": 1}, {"stick": 2})
    crafting.say("help")
    crafting.play()
    assert "level" not in crafting.says[0].text and "give me everything" in crafting.says[0].text


def test_messages_are_translated_by_their_parts() -> None:
    talk = unknowing()
    talk.say("What do you have?")
    talk.play()
    for say in talk.says:
        assert say.data[CODE_KEY] == PLANNER_CODE and planner_text(say.data["parts"]) == say.text


def test_requests_of_other_agents_are_not_obeyed() -> None:
    talk = unknowing()
    members: Sequence[Member] = (Member(0, (0,), is_person=False), Member(1, (1,), is_person=False))
    talk.team = make_organisation("graph", members, seats=2)
    talk.say("Planks on level 2, row 1")
    assert talk.play()[0][:3] == ("give", "0", "oak_planks"), "nobody can tell it the plan: it gives at once"


def test_a_simulated_person_who_lacks_materials_asks_for_them_once_in_words_that_are_understood() -> None:
    world = game("construction", own_blueprint=HUT, inventories="by_material", blueprint_blocked="first")
    seen = changed(make_situation(world, (1,), seed=1), member=1)
    assert not ADVISER.decide(seen).says, "it can build"
    world.inventories[1] = {}
    stuck = changed(make_situation(world, (1,), seed=1), member=1)
    (said,) = ADVISER.decide(stuck).says
    assert list(parse_requests(said.text, ())) == [ParsedRequest(GIVE)]
    before = TeamMessage(1, 1, 1, (0,), said.kind, said.text)
    assert not ADVISER.decide(changed(stuck, messages=(before,))).says


def test_a_simulated_person_uses_nothing_up_by_mistake() -> None:
    offered = [("discard", "stone", "1"), ("craft", "stick", "1"), ("stay", "1")]
    assert {ADVISER.slip(offered, Random(seed)) for seed in range(20)} == {("stay", "1")}
    assert ADVISER.slip(offered[:1], Random(1)) == offered[0]


def test_every_sentence_can_be_written() -> None:
    for code in set(SENTENCES) - {"gives_all", "lacks_all"}:
        argument: list[Any] = [{"stone": 2}] if code in ("holds", "needs", "short_of") else ["stone"]
        if code in ("please_put", "belongs"):
            argument = ["stone", 0, [0, 1], [2, 2], 2]
        if code == "occupied_cell":
            argument = [0, 1, 2]
        if code == "takes_on":
            argument = [1, "stone"]
        assert "{" not in planner_text([[code, *argument]])


@pytest.mark.parametrize("words", ["Never mind", "forget it", "olvídalo", "算了"])
def test_a_request_is_taken_back_and_what_is_placed_stays(words: str) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, row 1")
    talk.play(1)
    stands = talk.stones()
    talk.say(words)
    commands = talk.play(8)
    assert len(stands) == 1 and talk.stones() == stands and commands in ([], [("stop",)])
    assert talk.says[-1].text == "I drop that request. 1 block that I placed stays."
    talk.say(words)
    talk.play()
    assert talk.says[-1].text.startswith("Nothing of that is left to do, so I change nothing.")


def test_only_the_named_cells_are_taken_back_and_never_mind_ends_a_stop() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, rows 1 and 2")
    talk.say("Cancel row 2 on level 2")
    talk.play(12)
    assert talk.stones() == {(0, 1, 0), (1, 1, 0), (2, 1, 0)}
    talk.say("Planks on level 2, row 3")
    talk.say("Stop!")
    talk.say("never mind")
    talk.play(12)
    assert talk.says[-1].text == "I go on." and len(talk.stones()) == 6


@pytest.mark.parametrize(
    ("text", "correction", "cells"),
    [
        ("Planks on level 3, row 1", "I meant level 2", {(x, 1, 0) for x in range(3)}),
        ("Planks on level 2, column 1", "no, I said column 3", {(2, 1, z) for z in range(3)}),
        ("Planks on level 3, row 1", "No, put planks on level 2, row 3", {(x, 1, 2) for x in range(3)}),
        ("Tablones en el nivel 3, fila 1", "perdón, nivel 2", {(x, 1, 0) for x in range(3)}),
        ("把木板放在第3层第1行", "我是说第2层", {(x, 1, 0) for x in range(3)}),
    ],
)
def test_a_correction_replaces_what_is_not_done_yet(
    text: str, correction: str, cells: set[tuple[int, ...]]
) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say(text)
    talk.say(correction)
    talk.play(14)
    assert talk.stones() == cells
    assert "I drop that request. I put oak planks into 3 cells." in said_by(talk)


def test_a_correction_that_says_nothing_new_is_asked_back() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, row 1. Planks on level 2, row 2.")
    talk.say("not that one")
    talk.say("Give me 2 planks")
    talk.play(3)
    talk.say("I meant 3")
    assert talk.play(4) == [] and not talk.stones()
    answers = [one.text for one in talk.says if one.kind == "answer"]
    assert answers[1] == "I drop that request. Please write the whole request again."
    assert answers[3] == "What I have done stays. Please write the whole request again."


def test_the_answer_to_which_of_several_things_is_understood() -> None:
    held = {"oak_log": 3, "oak_planks": 3}
    talk = Talk("construction", {}, held, own_blueprint=HUT, blueprint_blocked="others")
    talk.say("Give me 2 wood")
    talk.play()
    talk.say("the planks")
    assert talk.play() == [("give", "0", "oak_planks", "2")]


def test_what_is_to_be_done_before_a_stop_in_the_same_message_is_done() -> None:
    talk = unknowing()
    talk.say("Planks on level 2, row 1, and then wait")
    talk.play(8)
    assert talk.stones() == {(0, 1, 0), (1, 1, 0)}


@pytest.mark.parametrize("text", ["planks on the outer ring of level 2", "第2层四周放木板"])
def test_the_edge_is_all_cells_around(text: str) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.world.inventories[1]["oak_planks"] = 9
    talk.say(text)
    talk.play(30)
    assert talk.stones() == {(x, 1, z) for x in range(3) for z in range(3)} - {(1, 1, 1)}


def test_without_a_level_it_asks_back() -> None:
    talk = unknowing()
    talk.say("Planks on row 1")
    assert talk.play(3) == [] and "I build nothing" in talk.says[0].text


def test_a_builder_who_does_not_see_the_site_tells_no_number_of_blocks_to_remove() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Remove level 2")
    talk.play()
    assert talk.says[0].text == "I remove the blocks that are there."


@pytest.mark.parametrize("began", range(1, 6))
@pytest.mark.parametrize(
    ("stop", "resume"),
    [
        ("stop", "go on"),
        ("wait a moment please", "ok you can go on now"),
        ("espera un momento", "sigue"),
        ("停", "没事, 接着放吧"),
    ],
)
def test_it_goes_on_with_the_wall_where_it_was_stopped(stop: str, resume: str, began: int) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, row 1. Planks on level 2, row 3.")
    talk.play(began)
    talk.say(stop)
    talk.play(1)
    stands = talk.stones()
    assert talk.play(3) == [] and talk.stones() == stands
    talk.say(resume)
    talk.play(30)
    assert talk.stones() == {(x, 1, z) for x in range(3) for z in (0, 2)}
    answers = [one.text for one in talk.says if one.kind == "answer"]
    assert answers[1:] == ["I wait.", "I go on."]


@pytest.mark.parametrize("words", ["go on", "sigue", "继续"])
def test_without_a_request_it_says_that_there_is_nothing_to_go_on_with(words: str) -> None:
    talk = unknowing()
    talk.say(words)
    assert talk.play(2) == [] and talk.says[0].text.startswith("I have no request to go on with.")


def test_a_new_request_after_a_stop_is_done_alone_until_it_shall_go_on() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, row 1")
    talk.play(1)
    talk.say("Stop")
    talk.say("Planks on level 3, row 3, column 1")
    talk.play(14)
    assert (0, 2, 2) in talk.stones() and len(talk.stones()) < 3
    talk.say("Go on")
    talk.play(14)
    assert talk.stones() == {(0, 2, 2), *((x, 1, 0) for x in range(3))}


def test_a_gift_goes_on_after_a_stop() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Give me 2 planks")
    talk.play(1)
    talk.say("Stop")
    talk.play(3)
    talk.say("Go on")
    talk.play(12)
    assert talk.world.inventories[0].get("oak_planks") == 2


@pytest.mark.parametrize("lost", range(12))
def test_nothing_of_a_request_gets_lost_if_a_decision_has_no_effect(lost: int) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, rows 1 and 3")
    for step in range(30):
        if step == lost:
            talk.say("are you a robot?")
            talk.decide()
        talk.play(1)
    assert talk.stones() == {(x, 1, z) for x in range(3) for z in (0, 2)}
    assert not [one.text for one in talk.says if "already" in one.text]


@pytest.mark.parametrize("steps", [1, 2, 3, 20])
@pytest.mark.parametrize("words", ["undo that", "take that away again", "deshaz eso", "撤销"])
def test_what_was_placed_for_the_last_request_is_removed_on_request(words: str, steps: int) -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, column 1")
    talk.play(12)
    stands = talk.stones()
    talk.say("Planks on level 2, row 1")
    talk.play(steps)
    talk.say(words)
    talk.play(20)
    assert talk.stones() == stands and len(stands) == 3


def test_what_was_removed_is_put_back_on_request() -> None:
    talk = unknowing(own_blueprint=ROOM)
    talk.say("Planks on level 2, row 1")
    talk.play(12)
    talk.say("remove the blocks on level 2, row 1, columns 2 and 3")
    talk.play(12)
    assert talk.stones() == {(0, 1, 0)}
    talk.say("sorry, my mistake, put it back")
    talk.play(12)
    assert talk.stones() == {(x, 1, 0) for x in range(3)}


def test_what_cannot_be_undone_is_said() -> None:
    knowing = Talk(own_blueprint=ROOM, inventories="by_material")
    knowing.say("Planks on level 2, row 1")
    knowing.play(9)
    for talk in (knowing, unknowing()):
        talk.say("undo that")
        talk.play()
        assert "I cannot undo that." in [one.text for one in talk.says]


def test_it_says_what_it_still_has_to_do() -> None:
    talk = unknowing(own_blueprint=ROOM)
    for text, answer in {
        "Planks on level 2, row 1": "I put oak planks into 3 cells.",
        "what are u doing now?": "I put oak planks into 3 cells.",
        "stop": "I wait.",
        "what did I ask you to do?": "I wait.",
        "¿cuántos tablones te quedan?": "I have 1 diamond pickaxe, 128 dirt, 7 oak planks.",
        "你还剩多少木板": "I have 1 diamond pickaxe, 128 dirt, 7 oak planks.",
    }.items():
        talk.say(text)
        talk.decide(because=REASON_TO_ANSWER)
        assert [one.text for one in talk.says if one.kind == "answer"][-1] == answer
    alone = unknowing()
    alone.say("what are you doing?")
    alone.play()
    assert alone.says[0].text == "Nothing that you asked for is left to do."


def test_what_it_understands_is_listed_twice_in_a_row_at_most_and_with_what_it_holds() -> None:
    talk = unknowing()
    for text in ("can you dance?", "can you sing?", "can you jump?", "help"):
        talk.say(text)
        talk.play()
    answers = [one.text for one in talk.says if one.kind == "answer"]
    assert [one.startswith("I understand: put oak planks on") for one in answers] == [True, True, False, True]
    assert "stone" not in answers[0] and "help" in answers[2]


@pytest.mark.parametrize(
    ("text", "stone", "answer"),
    [
        (
            "do you need me?",
            0,
            "Please put stone on level 1, rows 1 to 3, columns 1 to 3, or give me 9 stone.",
        ),
        ("do you need me?", 4, "I need 5 stone."),
        ("你需要我做什么吗", 4, "I need 5 stone."),
        ("¿me necesitas?", 9, "Please put stone on level 3, row 1, columns 1 to 3, or give me 3 stone."),
        ("What do you need?", 12, "I need nothing now."),
        ("Shall I give you my 25 stone or put them myself?", 4, "I need 5 stone."),
        ("¿te doy mis 25 piedras o las pongo yo?", 4, "I need 5 stone."),
        ("门在哪里?", 0, "The plan does not have this: door."),
        ("Where does the door go?", 0, "The plan does not have this: door."),
    ],
)
def test_who_knows_the_plan_says_what_is_lacking_in_all(text: str, stone: int, answer: str) -> None:
    talk = telling()
    talk.world.inventories[1]["stone"] = stone
    talk.say(text)
    talk.decide(because=REASON_TO_ANSWER)
    assert [one.text for one in talk.says if one.kind == "answer"] == [answer]


@pytest.mark.parametrize(
    "text",
    ["don't build level 2 yet", "don't place any more planks", "no pongas más tablones", "先别建第2层"],
)
def test_who_knows_the_plan_waits_rather_than_build_what_it_shall_leave_out(text: str) -> None:
    talk = telling()
    talk.say(text)
    talk.play(12)
    assert not talk.stones()
    assert "I cannot leave out parts of the plan." in said_by(talk)
    talk.say("go on")
    talk.play(12)
    assert talk.stones()


def test_it_asks_back_which_of_several_requests_is_meant() -> None:
    talk = unknowing()
    talk.say("stone on level 1, row 1")
    talk.say("forget the first one")
    talk.play(1)
    assert "Which request do you mean?" in said_by(talk)
