"""The planner does what people ask of it in words: place, remove, give, say what it holds, stop, go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import CODE_KEY, MessageDraft, TeamMessage
from kitchen.worlds.blocks.block_planner import ADVISER, PATIENCE_STEPS, BlocksPlanner
from kitchen.worlds.blocks.builder_words import (
    GIVE,
    HELD,
    NEEDED,
    PLACE,
    PLAN,
    REMOVE,
    RESUME,
    STOP,
    UNCLEAR,
    Wish,
    read_wishes,
)
from kitchen.worlds.blocks.planner_messages import PLANNER_CODE, SENTENCES, planner_text
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.blocks.games import game

HUT = """legend = { s = "stone", p = "oak_planks" }
levels = [["ss", "ss"], ["pp", "p."]]"""
ROOM = """legend = { s = "stone", p = "oak_planks" }
levels = [["sss", "sss", "sss"], ["ppp", "p.p", "p.p"], ["sss", "...", "..."]]"""
ALL: tuple[int, ...] = ()


class Talk:
    """A game that the planner plays in seat 1 beside a person in seat 0."""

    def __init__(self, family: str = "construction", *inventories: dict[str, int], **settings: Any) -> None:
        self.world = game(family, *inventories, **settings)
        members = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))
        self.team = make_organisation("graph", members, seats=2)
        self.messages: list[TeamMessage] = []
        self.memory: Any = None
        self.says: list[MessageDraft] = []

    def say(self, text: str, kind: str = "say") -> None:
        said = TeamMessage(len(self.messages) + 1, self.world.clock + 1, 0, (1,), kind, text, is_new=True)
        self.messages.append(said)

    def decide(self) -> Decision:
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
            self.world.step({1: command})
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
    ("text", "wishes"),
    [
        ("Stone on level 1, row 2, columns 1 to 3", [Wish(PLACE, "stone", places=((0,), (0, 1, 2), (1,)))]),
        ("put planks at column 1 and 3, row 2", [Wish(PLACE, "oak_planks", places=(ALL, (0, 2), (1,)))]),
        (
            "Level 2: planks in row 1; column 1, row 2.",
            [
                Wish(PLACE, "oak_planks", places=((1,), ALL, (0,))),
                Wish(PLACE, "oak_planks", places=((1,), (0,), (1,))),
            ],
        ),
        ("Please remove the block on level 1, column 2, row 1", [Wish(REMOVE, places=((0,), (1,), (0,)))]),
        ("Give me 12 planks", [Wish(GIVE, "oak_planks", 12)]),
        ("player 3, give player 1 everything", [Wish(GIVE, players=(2, 0))]),
        ("I need lime dye", [Wish(GIVE, "lime_dye")]),
        ("What do you have? Stop!", [Wish(HELD), Wish(STOP)]),
        ("player 2: go on", [Wish(RESUME, players=(1,))]),
        ("don't put stone on level 1", []),
        ("Don\u2019t give me stone", []),
        ("This is fun", []),
        ("I need 5 stone, please", [Wish(GIVE, "stone", 5)]),
        ("Can you give me 20 stone?", [Wish(GIVE, "stone", 20)]),
        ("Give me what you have", [Wish(GIVE)]),
        ("Do you have stone?", [Wish(HELD)]),
        ("How many planks do you have?", [Wish(HELD)]),
        ("\u00bfCuántos tablones tienes?", [Wish(HELD)]),
        ("你有多少木板？", [Wish(HELD)]),  # noqa: RUF001
        ("How are you?", []),
        (
            "Pon piedra en el nivel 1, fila 2, columnas 1 a 3",
            [Wish(PLACE, "stone", places=((0,), (0, 1, 2), (1,)))],
        ),
        ("Quita el bloque del nivel 1, columna 2, fila 1", [Wish(REMOVE, places=((0,), (1,), (0,)))]),
        ("Dame 5 tablones. ¿Qué tienes?", [Wish(GIVE, "oak_planks", 5), Wish(HELD)]),
        ("Dame todo lo que tienes; espera", [Wish(GIVE), Wish(STOP)]),
        ("把木板放在第2层第1行第1到3列", [Wish(PLACE, "oak_planks", places=((1,), (0, 1, 2), (0,)))]),
        ("移除第 1 层第 2 列第 1 行的方块", [Wish(REMOVE, places=((0,), (1,), (0,)))]),
        ("给我5个木板。你有什么？", [Wish(GIVE, "oak_planks", 5), Wish(HELD)]),  # noqa: RUF001
        ("把全部东西给我；停；继续", [Wish(GIVE), Wish(STOP), Wish(RESUME)]),  # noqa: RUF001
    ],
)
def test_it_reads_requests_in_three_languages(text: str, wishes: list[Wish]) -> None:
    assert list(read_wishes(text, ["lime_dye"])) == wishes


@pytest.mark.parametrize(
    ("text", "do", "thing", "level"),
    [
        ("What is the plan?", PLAN, "", ALL),
        ("What do you need?", NEEDED, "", ALL),
        ("Where should the stone go?", PLAN, "stone", ALL),
        ("Tell me what goes on level 1", PLAN, "", (0,)),
        ("what should I do now", PLAN, "", ALL),
        ("¿Cuál es el plano?", PLAN, "", ALL),
        ("que necesitas", NEEDED, "", ALL),
        ("What should I give you?", NEEDED, "", ALL),
        ("我该给你什么？", NEEDED, "", ALL),  # noqa: RUF001
        ("¿Dónde va la piedra?", PLAN, "stone", ALL),
        ("Dime qué va en el nivel 1", PLAN, "", (0,)),
        ("图纸是什么？", PLAN, "", ALL),  # noqa: RUF001
        ("你需要什么？", NEEDED, "", ALL),  # noqa: RUF001
        ("石头放在哪里？", PLAN, "stone", ALL),  # noqa: RUF001
        ("告诉我第1层放什么", PLAN, "", (0,)),
    ],
)
def test_it_reads_questions_about_the_plan(text: str, do: str, thing: str, level: tuple[int, ...]) -> None:
    assert list(read_wishes(text, [])) == [Wish(do, thing, places=(level, (), ()))]


@pytest.mark.parametrize(
    "text",
    [
        "Could you put planks on level 2, row 1?",
        "Planks on level 2, row 1, columns 1 to 5?",
        "put cheese on level 2, row 1",
        "planks along the edge of level 2",
        "planks on level 2 except column 3",
        "planks on level 2, row 1, column 1 and row 5, column 5",
        "I put stone on level 1",
        "put planks and stone on level 2, row 1",
        "¿Puedes poner tablones en el nivel 2?",
        "pon queso en el nivel 2, fila 1",
        "tablones en el borde del nivel 2",
        "把木板放在第2层第1行好吗？",  # noqa: RUF001
        "把木板放在第3层的边上",
        "把奶酪放在第2层第1行",
    ],
)
def test_questions_and_what_is_understood_in_part_are_no_requests_to_build(text: str) -> None:
    assert list(read_wishes(text, ["oak_planks"])) == [Wish(UNCLEAR)]


@pytest.mark.parametrize(
    "text",
    [
        "planks on level 2, row 2, column 1 and column 5",
        "tablones en el nivel 2, fila 2, columna 1 y columna 5",
        "把木板放在第2层第2行第1列和第5列",
    ],
)
def test_two_columns_are_both_read(text: str) -> None:
    assert list(read_wishes(text, [])) == [Wish(PLACE, "oak_planks", places=((1,), (0, 4), (1,)))]


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


def test_what_it_understands_in_part_it_asks_back_with_an_example_that_it_understands() -> None:
    talk = unknowing()
    talk.say("planks along the edge of level 2")
    talk.say("3 planks on level 2, row 1")
    assert talk.play(2) == []
    first, second = talk.says[:2]
    assert first.text == second.text and "I build nothing. I can place: oak planks." in first.text
    example = first.text.rpartition("example: ")[2]
    assert [wish.do for wish in read_wishes(example, [])] == [PLACE]


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


def test_without_words_it_gives_its_materials_away_in_the_end() -> None:
    talk = unknowing()
    commands = talk.play(PATIENCE_STEPS + 4)
    assert commands == [("give", "0", "oak_planks", "3")]
    assert any("because I do not know what to do with it" in say.text for say in talk.says)


def test_words_it_does_not_understand_are_answered_with_what_it_understands() -> None:
    talk = unknowing()
    talk.say("How are you?")
    talk.say("build it", "inform")
    talk.play()
    helped, declined = talk.says[:2]
    assert (helped.kind, declined.kind) == ("answer", "decline") and "level 1, row 2" in helped.text
    assert declined.data["job"] == 2
    crafting = Talk("crafting", {"stick": 1}, {"stick": 2})
    crafting.say("hello")
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
    assert list(read_wishes(said.text, ())) == [Wish(GIVE)]
    before = TeamMessage(1, 1, 1, (0,), said.kind, said.text)
    assert not ADVISER.decide(changed(stuck, messages=(before,))).says


def test_a_simulated_person_throws_nothing_away_by_mistake() -> None:
    offered = [("discard", "stone", "1"), ("stay", "1")]
    assert {ADVISER.slip(offered, Random(seed)) for seed in range(20)} == {("stay", "1")}
    assert ADVISER.slip(offered[:1], Random(1)) == offered[0]


def test_every_sentence_can_be_written() -> None:
    for code in set(SENTENCES) - {"gives_all", "lacks_all"}:
        argument: list[Any] = [{"stone": 2}] if code in ("holds", "needs") else ["stone"]
        if code in ("please_put", "belongs"):
            argument = ["stone", 0, [0, 1], [2, 2], 2]
        assert "{" not in planner_text([[code, *argument]])
