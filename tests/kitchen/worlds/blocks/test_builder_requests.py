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
from kitchen.worlds.blocks.builder_words import GIVE, HELD, PLACE, REMOVE, RESUME, STOP, Wish, read_wishes
from kitchen.worlds.blocks.planner_messages import PLANNER_CODE, SENTENCES, planner_text
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.blocks.games import game

HUT = """legend = { s = "stone", p = "oak_planks" }
levels = [["ss", "ss"], ["pp", "p."]]"""
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
        argument = [{"stone": 2}] if code in ("holds", "needs") else ["stone"]
        assert "{" not in planner_text([[code, *argument]])
