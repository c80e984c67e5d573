"""Agents alone as members of an organisation: what each is told, what is said, and the rules of live play."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from django.db.models import Min

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import EVERYBODY, NO_ONE, Agent, Decision, Situation, run_without_waiting
from kitchen.contract.line_up import line_up_kinds, line_up_members
from kitchen.contract.mailbox import ASKED_IN_KEY, UNSAID_KEY
from kitchen.contract.organisation import Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Message, Step
from kitchen.play.turn.scheduled_steps import DUE_KEY
from kitchen.registry import agent_registry
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import WORLDS_VARIABLE, get_world
from tests.nightly import nightly
from tests.worlds.beacon.world import Beacon
from tests.worlds.tunnel.kit import LINE
from tests.worlds.tunnel.world import DIG, REST, STOP
from tests.worlds.vault.agent import Keeper
from tests.worlds.vault.world import Vault

SETTINGS = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}
Lines = Mapping[int, Sequence[Sequence[MessageDraft]]]
"""By member: what it says in each decision, in order."""


class Scripted(Agent):
    """Says what the test wants in its n-th decision, and keeps what it is told."""

    kind = "scripted"
    leads = True
    LINES: ClassVar[Lines] = {}
    TOLD: ClassVar[list[Situation]] = []
    DOES: ClassVar[Any] = staticmethod(
        lambda situation: Decision(dict.fromkeys(situation.seats, ("goto", "pot0")))
    )

    async def decide(self, situation: Situation) -> Decision:
        Scripted.TOLD.append(situation)
        count, lines = situation.memory or 0, Scripted.LINES.get(situation.talk.member, ())
        says = tuple(lines[count]) if count < len(lines) else ()
        made: Decision = Scripted.DOES(situation)
        return replace(made, memory=count + 1, says=says)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "scripted", f"{__name__}:Scripted")
    monkeypatch.setattr(Scripted, "TOLD", [])
    monkeypatch.setattr(Scripted, "LINES", {})
    monkeypatch.setattr(Scripted, "DOES", Scripted.DOES)


def loop_of(
    line_up: str,
    kind: str = "",
    *,
    seats: int = 3,
    knowing: str = NO_ONE,
    world: str = "cuisine",
    **more: Any,
) -> Loop:
    organisation = None
    if kind:
        organisation = replace(
            make_organisation(
                kind, line_up_members(line_up, seats), seats=seats, settings=more.pop("settings", {})
            ),
            **more,
        )
    game = get_world(world).create(seats=seats, settings=SETTINGS if world == "cuisine" else {})
    game.reset(7)
    return Loop(game, 7, Team.of(line_up, seats, organisation, knowing))


class Loop(EpisodeLoop):
    """One whose agents are made once."""

    def go(self, steps: int = 1) -> list[tuple[int | None, tuple[int, ...], str]]:
        """Take so many steps; what was said in them."""
        before = len(self.mailbox.posted) if self.mailbox else 0
        made = {
            member.number: make_agent(kind, {})
            for member, kind in zip(self.team.members, self.team.kinds, strict=True)
        }
        for _ in range(steps):
            self.take(self.step_of(run_without_waiting(self.ask(made))))
        posted = self.mailbox.posted[before:] if self.mailbox else []
        return [
            (each.message.sender, each.message.to, each.message.text or each.message.kind) for each in posted
        ]


def told_to(member: int) -> list[list[str]]:
    """What was new to this member, each time that it was asked."""
    mine = (situation for situation in Scripted.TOLD if situation.talk.member == member)
    return [[said.text for said in situation.talk.messages if said.is_new] for situation in mine]


def say(text: str, *to: int, kind: str = "say", **data: Any) -> MessageDraft:
    return MessageDraft(text, kind, to, data)


def test_each_member_has_its_own_seats_memory_and_chance() -> None:
    loop = loop_of("scripted:2+scripted", "graph")
    loop.go(2)
    assert [situation.seats for situation in Scripted.TOLD] == [(0, 1), (2,)] * 2
    assert [situation.memory for situation in Scripted.TOLD] == [None, None, 1, 1]
    assert len({situation.seed for situation in Scripted.TOLD}) == 4
    assert [situation.observations.keys() for situation in Scripted.TOLD[:2]] == [{0, 1}, {2}]


def test_what_is_said_reaches_its_addressees_in_the_next_step_and_nobody_else() -> None:
    Scripted.LINES = {0: [[say("only for you", 1)], [say("for all")]]}
    loop = loop_of("scripted+scripted+scripted", "graph")
    loop.go(3)
    assert told_to(1) == [[], ["only for you"], ["for all"]]
    assert told_to(2) == [[], [], ["for all"]]
    assert told_to(0) == [[], [], []]
    assert [situation.request.because for situation in Scripted.TOLD if situation.talk.member == 1] == [
        "seat",
        "message",
        "message",
    ]


def test_what_a_member_may_not_say_stands_in_the_note_of_its_decision() -> None:
    leaf_commands_root = say("chop", 0, kind="inform")
    Scripted.LINES = {1: [[leaf_commands_root, *(say(str(number)) for number in range(3))]]}
    loop = loop_of("scripted+scripted+scripted", "tree", settings={"messages_a_step": 2})
    assert [text for _, _, text in loop.go()] == ["0", "1"]
    note = next(made.note for made in loop.log().decisions if made.member == 1)
    assert [(one["text"], one["code"]) for one in note["unsaid"]] == [
        ("chop", "not_allowed"),
        ("2", "too_many"),
    ]
    assert note["heard"] == 0


def test_a_blocked_word_is_told_to_nobody_and_the_log_has_it() -> None:
    Scripted.LINES = {0: [[say("rice, idiot")]]}
    loop = loop_of("scripted+scripted+scripted", "graph", blocked=("idiot",))
    loop.go(2)
    assert told_to(1)[1] == ["rice, ***"]
    assert "written" not in Scripted.TOLD[-1].talk.messages[0].data
    (said,) = loop.log().messages
    assert (said.text, said.data["written"]) == ("rice, ***", "rice, idiot")


def test_who_talks_with_one_is_busy_for_others() -> None:
    Scripted.LINES = {0: [[say("hello", 1)]], 2: [[], [say("and I?", 0)]]}
    loop = loop_of("scripted+scripted+scripted", "pairwise")
    assert loop.go(2) == [
        (0, (1,), "hello"),
        (None, (2,), "Member 0 is talking with somebody else, and got nothing of that."),
    ]
    loop.go()
    assert told_to(0) == [[], [], []]


def test_two_talk_within_the_step_and_what_each_decided_last_is_followed() -> None:
    lines = {0: ["rice?", "salmon?"], 1: ["yes", "no"]}
    Scripted.LINES = {member: [[say(text)] for text in texts] for member, texts in lines.items()}
    Scripted.DOES = staticmethod(
        lambda situation: Decision({situation.seats[0]: ("goto", f"pot{situation.memory or 0}")})
    )
    loop = loop_of("scripted+scripted", "pair", seats=2, settings={"rounds": 2})
    assert [text for _, _, text in loop.go()] == ["rice?", "yes", "salmon?", "no"]
    assert [situation.talk.member for situation in Scripted.TOLD] == [0, 1, 0, 1]
    assert told_to(1) == [["rice?"], ["rice?", "salmon?"]]
    log = loop.log()
    assert [said.data["round"] for said in log.messages] == [1, 1, 2, 2]
    assert [each.command for each in log.steps[0].commands] == [("goto", "pot1")] * 2
    assert [made.note["talk"] for made in log.decisions] == [[None], [None]]
    loop.go()
    assert Scripted.TOLD[4].memory == 2 and told_to(0)[2] == ["no"]


def test_a_job_is_given_accepted_and_done_when_its_aim_holds() -> None:
    Scripted.LINES = {0: [[say("", 1, kind="inform", aim=["fetch", "rice"])]]}
    loop = loop_of("scripted+follower", "tree", seats=2)
    said = loop.go(12)
    assert [text for _, _, text in said] == ["Fetch rice", "accept", "report", "report"]
    reports = [each for each in loop.log().messages if each.kind == "report"]
    assert [(each.sender, each.data["status"], each.data.get("house")) for each in reports] == [
        (1, "started", None),
        (1, "done", True),
    ]
    assert loop.game.observe(1)["agents"][1]["holds"] == "rice"
    leader = [situation for situation in Scripted.TOLD if situation.request.because == "job"]
    assert [job.state for situation in leader for job in situation.talk.jobs] == ["accepted"]


@pytest.mark.parametrize(
    ("world", "aim", "words"),
    [
        ("overcooked", ["put_onion_in_pot"], "Put an onion into a pot"),
        ("collab_overcooked", ["bring", "potato_slices"], "Put potato slices on a shared counter"),
    ],
)
def test_a_follower_does_a_job_in_every_world(world: str, aim: list[str], words: str) -> None:
    Scripted.LINES = {0: [[say("", 1, kind="inform", aim=aim)]]}
    Scripted.DOES = staticmethod(lambda situation: Decision({}))
    loop = loop_of("scripted+follower", "tree", seats=2, world=world)
    assert [text for _, _, text in loop.go(24)] == [words, "accept", "report", "report"]
    last = loop.log().messages[-1]
    assert (last.sender, last.data["status"], last.data["house"]) == (1, "done", True)


def test_a_member_knows_the_commands_of_those_before_it_where_the_team_lets_it() -> None:
    for knowing, known in ((NO_ONE, {}), (EVERYBODY, {0: ("goto", "pot0")})):
        Scripted.TOLD.clear()
        loop_of("scripted+scripted:2", "graph", knowing=knowing).go()
        assert [situation.commanded for situation in Scripted.TOLD] == [{}, known]
        assert {situation.request.knowing for situation in Scripted.TOLD} == {knowing}


def test_what_the_world_hides_from_a_seat_is_told_to_no_member_in_it() -> None:
    steered: list[list[str]] = []

    class Sailor(Agent):
        kind = "sailor"

        async def decide(self, situation: Situation) -> Decision:
            steered.append([event.kind for event in situation.events if event.seat == 1])
            return Decision({seat: situation.legal[seat][0] for seat in situation.seats})

    team = Team.of("sailor+sailor", 2, knowing=EVERYBODY)
    loop = EpisodeLoop(Beacon.create(seats=2, settings={}), 1, team)
    for _ in range(2):
        loop.take(loop.step_of(run_without_waiting(loop.ask({0: Sailor({}), 1: Sailor({})}))))
    assert steered == [[], [], [], ["performed"]]


def test_a_member_without_a_seat_is_asked_with_the_others_and_sees_what_its_kind_lets_it() -> None:
    Scripted.LINES = {2: [[say("chop", kind="inform")]]}
    loop = loop_of("scripted:0+scripted+scripted", "tree", seats=2, settings={"sees": "team"})
    assert loop.go() == [(2, (0, 1), "chop")]
    leader = Scripted.TOLD[0]
    assert (leader.talk.member, leader.seats, leader.legal) == (2, (), {})
    assert leader.observations.keys() == {0, 1}


def test_a_member_without_a_seat_is_asked_for_what_is_new_though_nobody_else_is() -> None:
    async def plans(self: Scripted, situation: Situation) -> Decision:
        if not situation.seats:
            return await Scripted.decide(self, situation)
        then = [("goto", "pot0")] * 4
        return Decision({0: ("goto", "pot0")}, plans={0: then}, says=(say("planned"),))

    class Planner(Scripted):
        kind = "planner"
        decide = plans

    loop = loop_of("scripted:0+scripted", "tree", seats=1)
    for _ in range(3):
        loop.take(loop.step_of(run_without_waiting(loop.ask({0: Planner({}), 1: Planner({})}))))
    assert told_to(1) == [[], ["planned"]]  # asked in the first step, then for the message alone
    assert [each.planned_in for step in loop.log().steps for each in step.commands] == [None, 1, 1]


def test_a_busy_member_answers_within_the_step_and_goes_on_with_its_plan() -> None:
    Scripted.LINES = {0: [[], [say("where are you?", 2)]], 2: [[], [say("at the pot", 0)]]}

    class Walker(Scripted):
        kind = "walker"

        async def decide(self, situation: Situation) -> Decision:
            made = await Scripted.decide(self, situation)
            return replace(made, plans={2: [("goto", "pot1"), ("goto", "pot0")]})

    loop = loop_of("scripted+scripted+walker", "graph", settings={"within": True})
    made = {0: Scripted({}), 1: Scripted({}), 2: Walker({})}
    for _ in range(2):
        loop.take(loop.step_of(run_without_waiting(loop.ask(made))))
    second = loop.log().steps[1]
    assert [(said.step, said.text) for said in loop.log().messages] == [
        (2, "where are you?"),
        (2, "at the pot"),
    ]
    assert [one.request.because for one in Scripted.TOLD if one.talk.member == 2] == ["seat", "answer"]
    assert [(one.command, one.planned_in) for one in second.commands if one.seat == 2] == [
        (("goto", "pot1"), 1)
    ]
    assert loop.settled == {2: ("goto", "pot0")}


class Mute(Agent):
    """Does nothing."""

    kind = "mute"

    async def decide(self, situation: Situation) -> Decision:
        """Wait."""
        return Decision({})


class Boss(Mute):
    """Tells the first member to stop in the third step."""

    kind = "boss"

    async def decide(self, situation: Situation) -> Decision:
        """Say it once."""
        is_time = situation.step == 2 and not any(said.text == "stop" for said in situation.talk.messages)
        return Decision({}, says=(MessageDraft("stop", to=(0,)),) if is_time else ())


def vault(*, within: bool, cranks: bool = False) -> tuple[Vault, EpisodeLoop]:
    """Three members before the vault; the first can crank at once where that is said."""
    line_up = "keeper+keeper+keeper"
    made = make_organisation("graph", line_up_members(line_up, 3), seats=3, settings={"within": within})
    game = Vault.create(seats=3, settings={"limit": 20})
    game.dialled[0] = game.codes[1] if cranks else 0
    return game, EpisodeLoop(game, 1, Team.of(line_up, 3, made))


@pytest.mark.parametrize(("within", "step", "because"), [(True, 3, "answer"), (False, 4, "message")])
def test_a_member_in_the_middle_of_something_is_asked_for_what_is_new_and_may_stop(
    within: bool, step: int, because: str
) -> None:
    game, loop = vault(within=within, cranks=True)
    keepers = {0: Keeper({}), 1: Mute({}), 2: Boss({})}
    asked = []
    for _ in range(step):
        asked.append([member.number for member in loop.asked_members])
        loop.take(loop.step_of(run_without_waiting(loop.ask(keepers))))
    log = loop.log()
    first = [next(each for each in taken.commands if each.seat == 0) for taken in log.steps]
    assert [each.command for each in first] == [("crank",), *[("wait",)] * (step - 2), ("stop",)]
    assert [each.chosen_by for each in first] == ["keeper", *["world"] * (step - 2), "keeper"]
    assert game.cranked[0] == 0
    assert [one.because for one in log.decisions if one.member == 0][-1] == because
    assert asked[1] == [1, 2] and asked[-1] == ([1, 2] if within else [0, 1, 2])


def test_keepers_who_talk_open_the_vault() -> None:
    game, loop = vault(within=True)
    keepers = {0: Keeper({}), 1: Keeper({}), 2: Keeper({})}
    while not loop.is_over:
        loop.take(loop.step_of(run_without_waiting(loop.ask(keepers))))
    assert game.score() == {"bolts": 3}
    assert {said.step for said in loop.log().messages} == {1}


def test_a_line_up_that_does_not_fit_is_refused_in_words() -> None:
    for line_up, why in (("a+b", "2 of 3 seats"), ("a:x+b", "number of seats"), ("a:2", "2 of 3 seats")):
        with pytest.raises(SettingsError, match=why):
            Team.of(line_up, 3)


def organisation_of(kind: str, line_up: str, seats: int, **settings: Any) -> Organisation:
    return make_organisation(kind, line_up_members(line_up, seats), seats=seats, settings=settings)


def walk_with_plans(situation: Situation) -> Decision:
    """Go to the pot, and every third step plan more of that."""
    plan = [("goto", "pot1"), ("goto", "pot0")] if situation.step % 3 == 1 else []
    plans = dict.fromkeys(situation.seats, plan) if plan else {}
    return Decision(dict.fromkeys(situation.seats, ("goto", "pot0")), plans=plans)


def dig_with_plans(situation: Situation) -> Decision:
    """Command the last seat first: dig, rest with a plan, or nothing; some seats that dig are stopped."""
    commands, plans = dict[int, Command](), dict[int, Sequence[Command]]()
    for seat in reversed(situation.seats):
        turn = (situation.step + seat) % 3
        if seat in situation.request.may_act:
            commands |= {seat: STOP} if turn == 1 else {}
            plans |= {seat: []} if turn == 1 else {}
        elif situation.request.asked is None or seat in situation.request.asked:
            commands |= {0: {seat: DIG}, 1: {seat: REST}}.get(turn, {})
            plans |= {seat: [REST, DIG, REST]} if turn == 1 else {}
    return Decision(commands, plans=plans)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("world", "line_up", "kind", "knowing", "settings"),
    [
        ("cuisine", "scripted+follower+scripted", "tree", EVERYBODY, {"sees": "team"}),
        ("cuisine", "scripted+follower+scripted", "graph", NO_ONE, {"messages_a_step": 1}),
        ("cuisine", "scripted+follower+scripted", "pairwise", NO_ONE, {"silence": 2}),
        ("cuisine", "scripted+follower+scripted", "graph", EVERYBODY, {"within": True, "rounds": 2}),
        ("tunnel", "scripted:2+scripted", "graph", NO_ONE, {}),
        ("tunnel", "scripted+scripted+scripted", "graph", EVERYBODY, {}),
        ("cuisine", "scripted+follower+scripted", "graph", EVERYBODY, {"schedule": "rounds"}),
        ("cuisine", "scripted:0+follower+scripted+scripted", "tree", NO_ONE, {"schedule": "free"}),
        ("tunnel", "scripted+scripted+scripted", "graph", NO_ONE, {"schedule": "relay", "stale": "drop"}),
        ("tunnel", "scripted+scripted+scripted", "chain", NO_ONE, {"schedule": "free", "think_steps": 0}),
        *nightly(
            ("tunnel", "scripted:2+scripted", "graph", EVERYBODY, {"within": True, "rounds": 2}),
            ("cuisine", "scripted+follower+scripted", "tree", NO_ONE, {"schedule": "free"}),
            ("tunnel", "scripted:2+scripted", "graph", NO_ONE, {"schedule": "free", "think_steps": 1}),
        ),
    ],
)
def test_a_team_says_and_is_told_the_same_alone_and_in_live_play(
    monkeypatch: pytest.MonkeyPatch,
    world: str,
    line_up: str,
    kind: str,
    knowing: str,
    settings: dict[str, Any],
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setattr(Scripted, "DOES", {"cuisine": walk_with_plans, "tunnel": dig_with_plans}[world])
    Scripted.LINES = {
        0: [
            [say("", 1, kind="inform", aim=["fetch", "tuna"]), say("hello", 2)],
            [say("again", 1), say("and again", 2)],
            [],
            [say("bye", 2, kind="end")],
        ],
        2: [[say("who?", 1)], [say("you", 0)], [say("later", 1)]],
        3: [[say("", 0, kind="inform", aim=["fetch", "tuna"])], [say("faster", 0), say("you too", 2)]],
    }
    made, steps = organisation_of(kind, line_up, 3, **settings), 24 if "schedule" in settings else 8
    of_world = SETTINGS if world == "cuisine" else {"steps": steps}
    minds = [MindPlan(*each) for each in zip(line_up_kinds(line_up), seats_of(made), strict=True)]
    episode = create_episode(
        world=world,
        settings=of_world,
        seats=3,
        seed=7,
        minds=minds,
        organisation=made,
        knowing=knowing,
    )
    for step in range(1, steps + 1):
        for party in range(len(minds)) if knowing == NO_ONE else (None,):
            decide_step(episode_id=episode.pk, step=step, mind=party)
        run_due_step(episode_id=episode.pk, step=step)
    in_live, Scripted.TOLD = list(Scripted.TOLD), []
    episode.refresh_from_db()
    loop = Loop(*start(world, of_world), Team.of(line_up, 3, made, knowing))
    loop.go(episode.step)
    rows = Message.objects.filter(episode=episode).order_by("number")
    live = [
        (row.number, row.step, row.sender, tuple(row.to), row.kind, row.text, without(row.data, ASKED_IN_KEY))
        for row in rows
    ]
    assert live == [
        (said.number, said.step, said.sender, said.to, said.kind, said.text, said.data)
        for said in loop.log().messages
    ]
    assert len(live) > 2
    for mine, theirs in zip(map(known, Scripted.TOLD), map(known, in_live), strict=True):
        assert {name: mine[name] for name in mine if mine[name] != theirs[name]} == {}
    rows_of_minds = DecisionRow.objects.filter(mind__episode=episode).annotate(
        member=Min("mind__seats__number")
    )
    decisions = rows_of_minds.order_by("step", "member" if "schedule" in settings else "mind")
    thought = sorted(loop.log().decisions, key=lambda one: (one.asked_in or one.step, one.member))
    of_time = (DUE_KEY, UNSAID_KEY) if "schedule" in settings else ()
    assert [(row.step, row.because, without(row.note, *of_time)) for row in decisions] == [
        (one.asked_in or one.step, one.because, without(one.note, *of_time)) for one in thought
    ]
    ran = Step.objects.filter(episode=episode).order_by("number").values_list("commands", flat=True)
    assert [
        [(one["seat"], tuple(one["command"]), one["chosen_by"], one.get("planned_in")) for one in commands]
        for commands in ran
    ] == [
        [(one.seat, one.command, one.chosen_by, one.planned_in) for one in taken.commands]
        for taken in loop.log().steps
    ]
    assert episode.state_hash == loop.game.state_hash()


def without(data: Json, *keys: str) -> Json:
    """A note or a message's data without these keys, or None if nothing is left."""
    return {key: data[key] for key in data if key not in keys} if isinstance(data, dict) else data


def seats_of(organisation: Organisation) -> list[tuple[int, ...]]:
    return [member.seats for member in organisation.members]


def start(world: str, settings: Mapping[str, Any]) -> tuple[Any, int]:
    game = get_world(world).create(seats=3, settings=settings)
    game.reset(7)
    return game, 7


def known(situation: Situation) -> dict[str, Any]:
    """What is told to both, as it is stored: not chance, and nothing of time and money."""
    fields = {name: getattr(situation, name) for name in Situation.__dataclass_fields__}
    for name in ("seed", "limits"):
        del fields[name]
    events = [json.loads(json.dumps(event.to_json())) for event in situation.events]
    return {**fields, "request": replace(situation.request, asked=None), "events": events}
