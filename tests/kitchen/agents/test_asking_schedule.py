"""Schedules of agents alone: who is asked when, what thinking costs, and what becomes of late decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.job_follower import Follower
from kitchen.contract.agent import Agent, Decision, Situation, run_without_waiting
from kitchen.contract.answer_delays_and_reminders import FIRST_REMINDER
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.organisation import INFORM, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.worlds.errands import LINE, Errands

SIX = "1,5,1,1,1,1"
THREE = "runner+runner+runner"
LED = "boss:0+follower+follower+follower"


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)


class Runner(Agent):
    """Begins the first open errand that no free seat before it will begin."""

    kind = "runner"

    async def decide(self, situation: Situation) -> Decision:
        """Choose it, and plan nothing if there is none."""
        seat = situation.seats[0]
        seen = situation.observations[seat]
        assert situation.talk.organisation
        is_alone = situation.talk.organisation.schedule == "relay"
        place = 0 if is_alone else seen["free"].index(seat)
        if place >= len(seen["open"]):
            return Decision({}, planned=False)
        return Decision({seat: ("run", str(seen["open"][place]))})


class Boss(Agent):
    """Gives each errand once, to members without a job."""

    kind = "boss"

    async def decide(self, situation: Situation) -> Decision:
        """Give what is left to whoever is free."""
        given, talk = situation.memory or 0, situation.talk
        assert talk.organisation
        busy = {job.worker for job in talk.jobs}
        free = [worker for worker in talk.organisation.commanded_by(talk.member) if worker not in busy]
        numbers = range(given, min(given + len(free), 6))
        if not numbers:
            return Decision({}, memory=given, planned=False)
        jobs = zip(free, numbers, strict=False)
        says = tuple(MessageDraft("", INFORM, (to,), {"aim": ["run", str(n)]}) for to, n in jobs)
        return Decision({}, memory=given + len(numbers), says=says)


Decide = Callable[[Situation], Decision]


class Scripted(Agent):
    """Does what the test wants, and keeps what it is told."""

    kind = "scripted"

    def __init__(self, decide: Decide) -> None:
        super().__init__({})
        self.does, self.told = decide, list[Situation]()

    async def decide(self, situation: Situation) -> Decision:
        self.told.append(situation)
        return self.does(situation)

    def asked_in(self) -> list[tuple[int, str]]:
        """The steps in which it was asked, with the reason."""
        return [(each.step + 1, each.request.because) for each in self.told]


KINDS: Mapping[str, Callable[[], Agent]] = {
    "runner": lambda: Runner({}),
    "boss": lambda: Boss({}),
    "follower": lambda: Follower({}),
}


def play(
    line_up: str,
    kind: str,
    *agents: Agent,
    lengths: str = SIX,
    limit: int = 100,
    schedule: str = "free",
    **settings: Any,
) -> EpisodeLoop:
    """Play an episode to its end. `agents` replace the agents that the line-up names."""
    seats = line_up_seats(line_up)
    members = line_up_members(line_up, seats)
    made = make_organisation(kind, members, seats=seats, settings={"schedule": schedule, **settings})
    game = Errands.create(seats=seats, settings={"lengths": lengths, "limit": limit})
    game.reset(1)
    loop = EpisodeLoop(game, 1, Team.of(line_up, seats, made))
    who = agents or [KINDS[name]() for name in line_up_kinds(line_up)]
    asked = {member.number: agent for member, agent in zip(members, who, strict=True)}
    while not loop.is_over:
        loop.take(loop.step_of(run_without_waiting(loop.ask(asked))))
    return loop


def plannings(loop: EpisodeLoop) -> list[int]:
    """How often each member planned, by its place."""
    planned = Counter(made.member for made in loop.log().decisions if made.asked_in)
    return [planned[member.number] for member in loop.team.members]


def chosen_by(loop: EpisodeLoop) -> dict[int, list[str]]:
    steps = loop.log().steps
    return {seat: [step.commands[seat].chosen_by for step in steps] for seat in range(loop.game.seats)}


@pytest.mark.parametrize(
    ("schedule", "think_steps", "steps"),
    [("relay", 2, 22), ("rounds", 2, 10), ("free", 2, 9), ("relay", 0, 10), ("rounds", 0, 6), ("free", 0, 5)],
)
def test_organisation_schedules_by_hand_six_errands_take_as_long_as_the_schedule_lets_them(
    schedule: str, think_steps: int, steps: int
) -> None:
    loop = play(THREE, "graph", schedule=schedule, think_steps=think_steps)
    assert (loop.game.clock, loop.game.score()) == (steps, {"done": 6})


@pytest.mark.parametrize(
    ("schedule", "idle", "plans"), [("rounds", 8, [2, 2, 2]), ("free", 5, [3, 1, 2]), ("relay", 44, None)]
)
def test_organisation_schedules_by_hand_idle_steps_and_planning_iterations_follow_from_the_log(
    schedule: str, idle: int, plans: list[int] | None
) -> None:
    loop = play(THREE, "graph", schedule=schedule)
    thought = Counter(by for each in chosen_by(loop).values() for by in each)["thinking"]
    assert thought == 2 * 6
    assert 3 * loop.game.clock - thought - 10 == idle
    if plans:
        assert plannings(loop) == plans


def test_organisation_schedules_by_hand_a_leader_who_plans_for_all_gives_jobs_as_they_are_reported() -> None:
    loop = play(LED, "tree")
    assert (loop.game.clock, loop.game.score()) == (9, {"done": 6})
    assert plannings(loop) == [3, 0, 0, 0], "0.75 planning iterations over four members"
    informs = [
        (said.step, said.to, said.data["aim"][1]) for said in loop.log().messages if said.kind == "inform"
    ]
    assert informs == [
        *((3, (0,), "0"), (3, (1,), "1"), (3, (2,), "2")),
        *((6, (0,), "3"), (6, (2,), "4"), (9, (0,), "5")),
    ]


def test_in_a_relay_one_member_acts_and_the_others_wait() -> None:
    loop = play(THREE, "chain", schedule="relay", lengths="1,2,1")
    assert chosen_by(loop) == {
        0: ["thinking", "thinking", "runner", *["waiting"] * 7],
        1: [*["waiting"] * 3, "thinking", "thinking", "runner", "world", *["waiting"] * 3],
        2: [*["waiting"] * 7, "thinking", "thinking", "runner"],
    }


def wants(*commands: Command, at: Sequence[int] = (1,)) -> Scripted:
    """One that gives these commands in the steps `at`, one a step, and else waits without planning."""
    given = dict(zip(at, commands, strict=True))

    def decide(situation: Situation) -> Decision:
        command = given.get(situation.step + 1)
        return Decision({situation.seats[0]: command} if command else {}, planned=bool(command))

    return Scripted(decide)


RUN_0, RUN_1 = ("run", "0"), ("run", "1")


@pytest.mark.parametrize(
    ("stale", "taken", "told"),
    [("recheck", ("run", "1"), {0: RUN_0}), ("drop", ("wait",), {0: RUN_0, 1: RUN_1}), ("take", RUN_1, {})],
)
def test_late_commands_that_are_no_longer_legal_are_dropped_and_told(
    stale: str, taken: Command, told: dict[int, Command]
) -> None:
    late = Scripted(
        lambda situation: Decision(
            {0: RUN_0, 1: RUN_1} if situation.step == 3 else {}, planned=situation.step == 3
        )
    )
    other = wants(RUN_0, at=[3])
    loop = play("scripted:2+scripted", "graph", late, other, lengths="3,2,9", limit=7, stale=stale)
    step = loop.log().steps[5]
    assert {each.seat: each.command for each in step.commands}[1] == taken
    assert {each.seat: each.planned_in for each in step.commands}[1] == (4 if taken == RUN_1 else None)
    first = next(each for each in late.told if each.step == 6 or (each.step == 5 and each.late))
    assert {seat: one for each in first.late for seat, one in each.commands.items()} == told
    assert {each.step for each in first.late} <= {6}
    record = next(each for each in loop.log().decisions if each.member == 0 and each.asked_in)
    assert (record.asked_in, record.step, record.dropped) == (4, 6, "stale" if told else "")


def test_who_thinks_goes_on_with_its_plan_and_is_asked_for_a_message() -> None:
    def decide(situation: Situation) -> Decision:
        return Decision({0: ("wait",)}, plans={0: [("wait",)] * 9}, planned=situation.step == 0)

    busy = Scripted(decide)
    speaker = Scripted(
        lambda situation: Decision(
            {}, says=(MessageDraft("now", to=(0,)),) if situation.step == 4 else (), planned=False
        )
    )
    loop = play("scripted+scripted", "graph", busy, speaker, limit=8)
    assert busy.asked_in() == [(1, "seat"), (6, "message")]
    assert chosen_by(loop)[0] == ["thinking", "thinking", *["scripted"] * 6]


def test_a_leader_is_reminded_of_a_job_with_doubling_patience() -> None:
    lead = Scripted(
        lambda situation: Decision(
            {},
            says=(MessageDraft("", INFORM, (0,), {"aim": ["run", "1"]}),) if situation.step == 0 else (),
            planned=False,
        )
    )
    deaf = Scripted(lambda situation: Decision({}, planned=False))
    play("scripted:0+scripted", "tree", lead, deaf, limit=8 * FIRST_REMINDER)
    assert lead.asked_in() == [(1, "seat"), *((1 + n * FIRST_REMINDER, "overdue") for n in (1, 3, 7))]


def test_a_question_without_an_answer_is_a_reason_to_ask_again_until_it_is_answered() -> None:
    ask = Scripted(
        lambda situation: Decision(
            {}, says=(MessageDraft("who?", "ask", (0,)),) if situation.step == 0 else (), planned=False
        )
    )
    answers = Scripted(
        lambda situation: Decision(
            {}, says=(MessageDraft("I", "answer", (1,)),) if situation.step == 49 else (), planned=False
        )
    )
    play("scripted:0+scripted", "tree", ask, answers, limit=4 * FIRST_REMINDER)
    assert ask.asked_in() == [(1, "seat"), (1 + FIRST_REMINDER, "reminder"), (51, "message")]


def test_a_delayed_message_that_may_not_be_sent_stands_in_the_record() -> None:
    leaf = Scripted(
        lambda situation: Decision(
            {}, says=(MessageDraft("go", INFORM, (0,)),) if situation.step == 0 else (), planned=True
        )
    )
    loop = play("scripted+scripted", "tree", wants(at=()), leaf, limit=5)
    unsaid = [(each.step, each.note["unsaid"]) for each in loop.log().decisions if "unsaid" in each.note]
    assert [(step, [one["code"] for one in codes]) for step, codes in unsaid] == [(3, ["not_allowed"])]


def passer(next_to: int) -> Scripted:
    """One that passes every job on to the same member, and gives the first one if it has none to pass on."""

    def decide(situation: Situation) -> Decision:
        mine = [job for job in situation.talk.jobs if job.worker == situation.talk.member]
        says = [MessageDraft("fetch", INFORM, (next_to,), {"passed_on": job.number}) for job in mine]
        if next_to == 1 and situation.step == 0:
            says = [MessageDraft("fetch", INFORM, (1,))]
        return Decision({}, says=tuple(says), planned=False)

    return Scripted(decide)


@pytest.mark.parametrize(("limit", "cycles", "codes"), [(9, [3], []), (3, [], ["cycle"] * 2)])
def test_organisation_cycle_a_job_that_everybody_passes_on_comes_back_unless_the_limit_forbids_it(
    limit: int, cycles: list[int], codes: list[str]
) -> None:
    agents = passer(1), passer(2), passer(0)
    loop = play("scripted+scripted+scripted", "graph", *agents, limit=4, cycle_limit=limit)
    jobs = jobs_in(loop.log().messages)
    assert [job.cycle for job in jobs if job.cycle] == cycles
    unsaid = [one for each in loop.log().decisions for one in each.note.get("unsaid", ())]
    assert [one["code"] for one in unsaid] == codes
    told = [job.state for situation in agents[0].told for job in situation.talk.jobs if job.giver == 0]
    assert told == ["given"], "then its giver is told that the job was passed on"


@pytest.mark.parametrize("schedule", ["relay", "rounds", "free"])
def test_a_job_is_done_down_a_chain_in_every_schedule(schedule: str) -> None:
    def lead(situation: Situation) -> Decision:
        says = (MessageDraft("", INFORM, (0,), {"aim": ["run", "1"]}),) if situation.step == 0 else ()
        return Decision({}, says=says)

    def delegate(situation: Situation) -> Decision:
        mine = [job for job in situation.talk.jobs if job.worker == 0 and job.state == "given"]
        accepts = [MessageDraft("", "accept", data={"job": job.number}) for job in mine]
        gives = [MessageDraft("", INFORM, (1,), {"aim": list(job.aim)}) for job in mine]
        return Decision({}, says=(*accepts, *gives), planned=bool(mine))

    agents = Scripted(lead), Scripted(delegate), Follower({})
    loop = play("scripted:0+scripted+follower", "chain", *agents, lengths="9,2", limit=20, schedule=schedule)
    assert loop.game.score() == {"done": 1}
    assert ("report", (0,)) in [(said.kind, said.to) for said in loop.log().messages]


def test_a_round_ends_although_a_member_without_a_seat_keeps_its_job() -> None:
    def lead(situation: Situation) -> Decision:
        says = (MessageDraft("watch", INFORM, (1,)),) if situation.step == 0 else ()
        return Decision({}, says=says, planned=False)

    def accept(situation: Situation) -> Decision:
        given = [job for job in situation.talk.jobs if job.state == "given"]
        says = (MessageDraft("", "accept", data={"job": job.number}) for job in given)
        return Decision({}, says=tuple(says), planned=False)

    leader, watcher = Scripted(lead), Scripted(accept)
    play("scripted+scripted:0", "tree", leader, watcher, limit=8, schedule="rounds")
    assert [step for step, _ in watcher.asked_in()] == [1, 2]
    assert [step for step, _ in leader.asked_in()] == list(range(1, 9))


def says_once(text: str, then: Command = ("wait",)) -> Scripted:
    """One that writes to member 0 in step 2, as it gives this command, and else waits."""

    def decide(situation: Situation) -> Decision:
        if situation.step != 1:
            return Decision({}, planned=False)
        return Decision({1: then}, says=(MessageDraft(text, to=(0,)),), planned=False)

    return Scripted(decide)


def waits_by_plan(steps: int) -> Scripted:
    """One whose plan is to wait for so many steps."""
    plan = {0: [("wait",)] * (steps - 1)}
    return Scripted(lambda situation: Decision({0: ("wait",)}, plans=plan, planned=False))


def begins(command: Command) -> Scripted:
    """One that begins an errand in step 1."""
    return Scripted(lambda situation: Decision({} if situation.step else {0: command}, planned=False))


@pytest.mark.parametrize(
    ("listener", "speaker", "asked"),
    [
        (wants(at=()), says_once("Here."), 3),
        (wants(at=()), says_once("Here.", RUN_1), 8),
        (begins(RUN_0), says_once("Here."), 10),
        (begins(RUN_0), says_once("Where?"), 3),
        (begins(RUN_0), says_once("Where?", RUN_1), 10),
        (waits_by_plan(9), says_once("Here.", RUN_1), 3),
    ],
)
def test_an_agent_that_is_written_to_answers_when_the_table_of_delays_says(
    listener: Scripted, speaker: Scripted, asked: int
) -> None:
    play("scripted+scripted", "pairwise", listener, speaker, lengths="9,20,1", limit=14, silence=20)
    assert (asked, "message") in listener.asked_in()
    assert not [step for step, _ in listener.asked_in() if 2 < step < asked]


def test_agents_alone_have_no_clock_so_that_real_thinking_takes_one_step() -> None:
    real, one = (play(THREE, "graph", think_steps=steps) for steps in ("real", 1))
    assert real.log().steps == one.log().steps
