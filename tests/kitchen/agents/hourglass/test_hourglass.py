"""Hourglass agents: leaders, workers and members in between, each switch, and replies of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kitchen.agents.call_forecast import sample_calls
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.hourglass import task_modules
from kitchen.agents.hourglass.team_tasks import HourglassMemory, Task, Worker
from kitchen.contract.agent import REASON_TO_ANSWER
from kitchen.contract.assigned_jobs import PASSED_ON, Job, job_changes
from kitchen.contract.language_model import CallTimeoutError
from kitchen.contract.team_messages import TeamMessage
from kitchen.registry.agent_registry import make_agent
from tests.kitchen.agents.hourglass.leading import (
    CUISINE,
    MODEL,
    RICE,
    SALMON,
    TUNA,
    decide,
    game_of,
    organised,
    play,
    says,
    script,
    told,
)
from tests.kitchen.changed_facts import changed

THREE = "hourglass+hourglass+hourglass"
LED = "hourglass:0+hourglass+hourglass"


def completed(loop: EpisodeLoop) -> int:
    return int(loop.game.score()["completed"])


def fates(loop: EpisodeLoop) -> Counter[str]:
    """How often a job came into each state."""
    return Counter(job.state for _, job in job_changes(loop.log().messages))


def test_teams_of_the_stand_in_serve_more_than_random_ones() -> None:
    idle = completed(play("random+random+random", "each"))
    made = {kind: play(THREE, kind) for kind in ("tree", "chain", "graph")}
    served = {kind: completed(loop) for kind, loop in made.items()}
    assert (idle, served) == (0, {"tree": 3, "chain": 4, "graph": 3})
    for loop in made.values():
        assert fates(loop)["done"] >= 1 and {one.played_by for one in loop.log().decisions} == {"stand-in"}
    apart = play("hourglass:0+follower+follower", "tree", sees="all")
    assert completed(apart) >= 1 and {one.sender for one in apart.log().messages if one.kind == "inform"} == {
        2
    }


@pytest.mark.parametrize("schedule", ["relay", "rounds", "free"])
def test_teams_of_the_stand_in_work_in_every_schedule(schedule: str) -> None:
    loop = play(THREE, "tree", schedule=schedule, think_steps=2)
    assert completed(loop) >= 1
    planned = [one for one in loop.log().decisions if "iteration" in dict(one.note or {})]
    assert planned and all(one.step - (one.asked_in or 0) == 2 for one in planned)


def test_a_chain_passes_jobs_on_that_its_members_cannot_begin() -> None:
    loop = play(THREE, "chain", game={**CUISINE, "alpha": 0.5, "beta": 8.0}, steps=12)
    passed = [job for _, job in job_changes(loop.log().messages) if job.state == PASSED_ON]
    assert {(job.giver, job.worker) for job in passed} == {(0, 1)}
    given = [one for one in loop.log().messages if one.kind == "inform" and one.sender == 1]
    assert given and all(one.data[PASSED_ON] in {job.number for job in passed} for one in given)
    assert {one.data["aim"][0] for one in given} <= {"make", "serve"}


@pytest.mark.parametrize(
    ("world", "settings"),
    [("overcooked", {"layout": "forced_coordination"}), ("collab_overcooked", {"task": "boiled_egg"})],
)
@pytest.mark.parametrize("line_up", ["hourglass+hourglass", "hourglass:0+follower+hourglass"])
def test_a_leader_commands_in_every_world_that_names_aims(
    world: str, settings: Mapping[str, Any], line_up: str
) -> None:
    loop = play(line_up, "tree", world=world, game=settings, sees="all", steps=40)
    assert fates(loop)["done"] >= 1
    if line_up == "hourglass+hourglass" and world == "collab_overcooked":
        assert loop.game.score()["success"] == 1.0


# Replies of models

PLAN: dict[str, Any] = {
    "inventory": "nobody holds anything",
    "objective": "serve",
    "analysis": "two orders",
    "plan": [
        {"stage": 1, "worker": "Robot 1", "task": "serve salmon", "aim": "serve salmonSushi"},
        {"stage": 1, "worker": "Robot 2", "task": "watch the pot", "aim": "none"},
        {"stage": 2, "worker": "Robot 1", "task": "fetch rice", "aim": "fetch rice"},
    ],
    "now": 1,
    "asked_by": "nobody",
}
LINES = """**Inventory:** nobody holds anything
Objective: serve
Analysis: two orders
## Stage 1
- Robot 1: serve salmonSushi
- robot 2: watch the pot
Stage 2
- Robot 1: fetch rice
Now: 1
Asked by: nobody"""


@pytest.mark.parametrize(("answer", "reply"), [(PLAN, "tool"), (LINES, "text")])
def test_a_root_without_a_seat_informs_the_workers_of_the_present_stage(
    monkeypatch: pytest.MonkeyPatch, answer: Any, reply: str
) -> None:
    model = script(monkeypatch, answer)
    decision: Any = decide(told(LED, "tree", 2, settings={"sees": "all"}), reply=reply)
    first, second = says(decision)
    assert first[:3] == ("inform", (0,), list(SALMON)) and second == ("inform", (1,), None, "watch the pot")
    assert decision.commands == {} and decision.planned and decision.played_by == "hourglass"
    assert decision.note["iteration"] == 1 and len(decision.note["plan"]) == 3
    (request,) = model.requests
    assert request.temperature == 0.0 and (request.tool is not None) is (reply == "tool")
    assert request.messages[0].fixed and "You lead and do no work" in request.messages[0].text
    assert "Without a task: Robot 1, Robot 2." in model.said() and "agent0" in model.said()
    if request.tool:
        task: Any = request.tool.schema["properties"]["plan"]["items"]
        assert task["required"] == list(task["properties"]) and task["additionalProperties"] is False
        assert task["properties"]["worker"]["enum"] == ["Robot 1", "Robot 2"]
        assert {"serve salmonSushi", "none"} <= set(task["properties"]["aim"]["enum"])


def test_a_root_that_sees_nothing_knows_the_game_and_what_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, PLAN)
    report = TeamMessage(1, 1, 0, (2,), "say", "I hold rice.\n# Rules", is_new=True)
    public = {"steps_left": 60, "orders": [{"dish": "salmonSushi", "life": 9}]}
    assert decide(told(LED, "tree", 2, messages=(report,), public_state=public)).says
    system, question = model.requests[0].messages[0].text, model.said()
    assert '"level":"level_3"' in system and "You see nothing of the game" in question
    assert '"orders":[{"dish":"salmonSushi","life":9}],"steps_left":60' in question
    assert '- new, step 1, Robot 1 to Lead: "I hold rice.\\n# Rules"' in question.replace(
        "hourglass 2", "Lead"
    )


@pytest.mark.parametrize("reply", ["tool", "text"])
def test_an_unreadable_reply_is_asked_for_again_and_then_the_fallback_plans(
    monkeypatch: pytest.MonkeyPatch, reply: str
) -> None:
    situation = told(LED, "tree", 2, settings={"sees": "all"})
    model = script(monkeypatch, "I will think about it.", PLAN)
    mended: Any = decide(situation, reply=reply)
    assert len(mended.says) == 2 and len(model.requests) == 2 and "the plan is missing" in model.said()
    assert (mended.note["faults"], len(mended.note["mended"]), mended.fallback) == ([], 1, "")
    script(monkeypatch, {**PLAN, "plan": [{"stage": 1, "worker": "Robot 9", "task": "x", "aim": "none"}]})
    failed: Any = decide(situation, reply=reply)
    assert (failed.fallback, failed.played_by, len(failed.note["faults"])) == ("unreadable", "stand-in", 1)
    assert (
        len(failed.calls) == 2
        and failed.says
        and "whom you may give tasks" in failed.note["faults"][0]["text"]
    )
    nobody: Any = decide(situation, reply=reply, fallback="none", again=0)
    assert (nobody.says, nobody.played_by, len(nobody.calls)) == ((), "noop", 1)
    script(monkeypatch, CallTimeoutError("late"))
    assert decide(situation).fallback == "timeout"


def test_the_fallback_of_a_failed_decision_goes_on_by_rule() -> None:
    situation = told(LED, "tree", 2, settings={"sees": "all"})
    decision = make_agent("hourglass", {"model": MODEL}).fall_back(situation, "timeout")
    assert {one.kind for one in decision.says} == {"inform"} and decision.calls == ()


def test_the_progress_monitor_of_a_model_judges_tasks_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, PLAN)
    before: Any = decide(told(LED, "tree", 2)).memory
    given = [
        Job(n, 2, n - 1, task["text"], 1, aim=tuple(task["aim"])) for n, task in enumerate(before["tasks"], 1)
    ]
    word = TeamMessage(3, 2, 1, (2,), "say", "That was all.", is_new=True)
    now: Any = {"memory": before, "jobs": tuple(given), "messages": (word,), "step": 2}
    situation = told(LED, "tree", 2, **now)
    for answer, reply in ((STATUSES, "tool"), ("Task 1: unknown\nTask 2: fail", "text")):
        model = script(monkeypatch, answer, {**PLAN, "plan": PLAN["plan"][1:2]} if reply == "tool" else LINES)
        decision: Any = decide(situation, monitor="model", rest_model="anthropic:claude-other", reply=reply)
        assert [one.model for one in model.requests] == ["claude-other", "claude-haiku-4-5"]
        assert "Task 2, Robot 2: watch the pot (unknown)" in model.said(0)
        assert [task["status"] for task in decision.memory["tasks"]] == ["unknown", "unknown"]
        assert decision.memory["tasks"][1]["step"] == 3  # it was given again after the failure
    assert decide(situation).calls == ()  # the rule finds nothing in these words


STATUSES: dict[str, Any] = {
    "tasks": [{"task": 1, "status": "unknown"}, {"task": 2, "status": "fail"}, {"task": 9, "status": "fail"}]
}


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ({"inform": [{"to": "Robot 2", "aim": "fetch rice", "words": "quick"}]}, "tool"),
        ("Inform robot 2: fetch rice", "text"),
    ],
)
def test_the_action_planner_of_a_leader_words_the_jobs(
    monkeypatch: pytest.MonkeyPatch, answer: Any, reply: str
) -> None:
    model = script(monkeypatch, PLAN if reply == "tool" else LINES, answer)
    decision = decide(told(LED, "tree", 2), actions="model", reply=reply)
    assert [said[:3] for said in says(decision)] == [
        ("inform", (0,), list(SALMON)),
        ("inform", (1,), list(RICE)),
    ]
    assert "Your only action is to inform" in model.said()


@pytest.mark.parametrize(("as_text", "reply"), [(False, "tool"), (True, "text")])
def test_the_action_planner_of_a_worker_gives_commands_that_begin_now(
    monkeypatch: pytest.MonkeyPatch, as_text: bool, reply: str
) -> None:
    def actions(*commands: str) -> Any:
        return "Actions:\n- " + "\n- ".join(commands) if as_text else {"actions": list(commands)}

    job = Job(1, 0, 1, "Fetch rice", 1, state="accepted", aim=RICE)
    model = script(monkeypatch, actions("get storage0 rice"), actions("goto storage0", "get storage0 rice"))
    situation = told(THREE, "tree", 1, jobs=(job,))
    decision = decide(situation, planner="rule", actions="model", reply=reply)
    assert decision.commands == {1: ("goto", "storage0")} and decision.plans == {
        1: [("get", "storage0", "rice")]
    }
    assert "is not possible now" in model.said() and says(decision) == [("report", (0,), "started", "")]


# Workers


def test_a_worker_that_plans_by_a_model_does_jobs_in_words_and_reports_their_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = Job(1, 0, 1, "make <|im_start|> some rice ready", 1)
    plan = {**PLAN, "plan": [{"stage": 1, "worker": "Robot 2", "task": "get it", "aim": "fetch rice"}]}
    model = script(monkeypatch, plan)
    situation = told(THREE, "tree", 1, jobs=(job,))
    decision: Any = decide(situation)
    assert says(decision) == [("accept", (0,), None, "")] and decision.commands == {1: ("goto", "storage0")}
    assert (
        'Job 1 from Robot 1: "make \\u2039|im_start|> some rice ready"' in model.said()
        and "nobody to command" in model.said()
    )
    seen = {1: {**situation.observations[1]}}
    seen[1]["agents"] = [dict(one, holds="rice") for one in seen[1]["agents"]]
    later = told(THREE, "tree", 1, jobs=(job,), memory=decision.memory, observations=seen, step=4)
    assert says(decide(later))[-1] == ("report", (0,), "done", f"Succeeded: {job.text}")
    script(monkeypatch, {**PLAN, "plan": [], "now": 0})
    assert says(decide(situation))[-1] == ("report", (0,), "failed", "I found no way to do it.")


def test_a_member_in_between_reports_a_job_in_words_when_its_workers_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = Job(1, 0, 1, "see to the rice", 1)
    plan = {**PLAN, "plan": [{"stage": 1, "worker": "Robot 3", "task": "fetch", "aim": "fetch rice"}]}
    model = script(monkeypatch, plan)
    first: Any = decide(told(THREE, "chain", 1, jobs=(job,)))
    assert [said[:3] for said in says(first)] == [("accept", (0,), None), ("inform", (2,), list(RICE))]
    done = (
        TeamMessage(2, 1, 1, (2,), "inform", "fetch", {"aim": list(RICE)}),
        TeamMessage(3, 2, 2, (1,), "report", "", {"job": 2, "status": "done"}, is_new=True),
    )
    later = told(THREE, "chain", 1, jobs=(job,), messages=done, memory=first.memory, step=2)
    assert says(decide(later))[-1] == ("report", (0,), "done", "Succeeded: see to the rice")
    assert len(model.requests) == 1


def test_a_model_that_cannot_be_read_is_not_asked_in_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, "no plan")
    chosen: Any = {"fallback": "none", "again": 0}
    job = Job(1, 0, 1, "Fetch rice", 1, aim=RICE)
    first: Any = decide(told(THREE, "tree", 1, jobs=(job,)), **chosen)
    calls = [
        len(decide(told(THREE, "tree", 1, jobs=(job,), memory=first.memory, step=step), **chosen).calls)
        for step in (1, 2, 3)
    ]
    assert calls == [0, 0, 1]


def test_a_model_whose_tasks_all_fail_is_asked_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, PLAN)
    memory: Any = None
    planned, vain = list[int](), list[int]()
    for step in range(60):
        decision: Any = decide(told(LED, "tree", 2, settings={"sees": "all"}, memory=memory, step=step))
        planned += [step] if decision.planned else []
        vain += [decision.note["plans_in_vain"]] if "plans_in_vain" in decision.note else []
        failed = [{**task, "status": "fail"} for task in decision.memory["tasks"]]
        memory = {**decision.memory, "tasks": failed}
    assert planned == [0, 1, 2, 5, 11, 23, 47] and set(vain) == {3, 4, 5, 6, 7}


def test_a_worker_by_rule_reads_aims_in_plain_words_and_declines_other_words() -> None:
    rule = {"planner": "rule"}
    odd, plain = Job(1, 0, 1, "hurry up", 1), Job(1, 0, 1, "Please FETCH RICE now", 1)
    assert says(decide(told(THREE, "tree", 1, jobs=(odd,)), **rule)) == [("decline", (0,), "words", "")]
    accepted = decide(told(THREE, "tree", 1, jobs=(plain,)), **rule)
    assert says(accepted) == [("accept", (0,), None, "")] and accepted.commands == {1: ("goto", "storage0")}
    said = TeamMessage(1, 1, 0, (1,), "say", "fetch rice", is_new=True)
    assert decide(told(THREE, "tree", 1, messages=(said,)), **rule).commands == {1: ("goto", "storage0")}
    assert decide(told(THREE, "tree", 1), **rule).commands == {}


def test_only_rules_call_no_model() -> None:
    agent = make_agent("hourglass", {"planner": "rule"})
    assert (agent.model(), agent.rehearsal(), agent.fixed_messages(told(LED, "tree", 2))) == ("", None, ())
    decision = decide(told(LED, "tree", 2, settings={"sees": "all"}, waited=4), planner="rule")
    assert decision.calls == () and len(decision.says) == 2 and decision.played_by == "hourglass"


def test_a_leader_with_a_seat_works_unless_it_only_leads() -> None:
    both, leads = (
        decide(told(THREE, "tree", waited=4), planner="rule", works=works) for works in (True, False)
    )
    assert both.commands.keys() == {0} and [said[1] for said in says(both)] == [(1,), (2,)]
    assert leads.commands == {} and [said[1] for said in says(leads)] == [(1,), (2,)]


def test_a_leader_waits_for_the_whole_stage_unless_it_need_not() -> None:
    def planned(status: str, **chosen: Any) -> Any:
        given = TeamMessage(1, 5, 2, (0,), "inform", "", {"aim": list(aims[0])})
        report = TeamMessage(3, 7, 0, (2,), "report", "", {"job": 1, "status": status}, is_new=True)
        now: Any = {"memory": first, "jobs": (Job(2, 2, 1, "", 5, aim=aims[1]),), "messages": (given, report)}
        situation = told(LED, "tree", 2, settings={"sees": "all"}, waited=7, **now)
        return decide(situation, **{"model": "stand-in", **chosen})

    led = told(LED, "tree", 2, settings={"sees": "all"}, waited=4)
    first: Any = decide(led, planner="rule").memory
    aims = [tuple(task["aim"]) for task in first["tasks"]]
    waits, goes_on, replans = planned("done"), planned("done", whole_stage=False), planned("failed")
    assert says(waits) == [] and not waits.planned
    assert [said[1] for said in says(goes_on)] == [(0,)] and goes_on.planned
    assert [said[1] for said in says(replans)] == [(0,)] and replans.planned
    assert planned("done", planner="rule").planned, "the rule plans no stages"


def test_a_worker_that_failed_is_asked_after_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_modules, "_suggestion", lambda view, memory, one, taken: None if taken else RICE)
    monkeypatch.setattr(task_modules, "aim_words", lambda view, aim: "")
    memory = HourglassMemory([Task("Robot 1", "", RICE, status="fail")])
    workers = [Worker(f"Robot {number}", number, number, is_own=False, aims=(RICE,)) for number in (1, 2)]
    view: Any = SimpleNamespace(workers=workers)
    assert [one.worker for one in task_modules._useful_tasks(view, memory, workers)] == ["Robot 2"]


def test_a_failed_task_in_words_keeps_no_aim_from_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    left_out: list[Any] = []
    monkeypatch.setattr(task_modules, "_suggestion", lambda view, memory, one, taken: left_out.extend(taken))
    workers = [Worker(f"Robot {number}", number, number, is_own=False, aims=(RICE,)) for number in (1, 2)]
    memory = HourglassMemory([Task("Robot 1", "Sing a song.", (), status="fail")])
    view: Any = SimpleNamespace(workers=workers)
    assert task_modules._useful_tasks(view, memory, workers) == [] and left_out == []


def test_a_job_that_takes_too_long_is_withdrawn_and_given_up_and_the_late_report_changes_nothing() -> None:
    loop = play("hourglass+hourglass", "tree", chosen={"patience": 3, "works": False}, steps=6)
    log = loop.log()
    assert fates(loop)["withdrawn"] == 1 and fates(loop)["failed"] == 0
    unsaid = [dict(one.note or {}).get("unsaid", []) for one in log.decisions]
    (late,) = [one for each in unsaid for one in each]
    assert (late["code"], late["data"]["status"], late["kind"]) == ("no_such_job", "failed", "report")
    assert [one.kind for one in log.messages if one.sender == 0].count("inform") >= 2


def test_jobs_beyond_the_messages_of_a_step_are_given_later() -> None:
    led = told(LED, "tree", 2, settings={"sees": "all", "messages_a_step": 1}, waited=4)
    first: Any = decide(led, planner="rule")
    assert [said[1] for said in says(first)] == [(0,)]
    given = Job(1, 2, 0, "", 5, aim=tuple(first.memory["tasks"][0]["aim"]))
    second = decide(changed(led, memory=first.memory, step=5, jobs=(given,)), planner="rule")
    assert [said[1] for said in says(second)] == [(1,)] and not second.planned


def test_a_job_that_may_not_be_passed_on_is_done_by_its_worker() -> None:
    """The platform did not send it: it would have come back to a member that had it."""
    job, other = (
        Job(number, 0, 1, "Serve", 1, state="accepted", aim=aim, since=0)
        for number, aim in ((4, SALMON), (5, TUNA))
    )
    first: Any = decide(told(THREE, "graph", 1, jobs=(job, other)), planner="rule")
    assert ("inform", (2,), list(TUNA), "Serve tuna sushi") in says(first)
    later: Any = decide(
        told(THREE, "graph", 1, jobs=(job, other), memory=first.memory, step=2), planner="rule"
    )
    assert later.memory["kept"] == [5] and not any(one.kind == "inform" for one in later.says)
    alone: Any = decide(told(THREE, "graph", 1, jobs=(other,), memory=later.memory, step=3), planner="rule")
    assert alone.memory["jobs"] == [5] and alone.commands


def test_it_decides_nothing_when_it_is_only_asked_to_answer() -> None:
    decision = decide(told(LED, "tree", 2, because=REASON_TO_ANSWER, memory={"kept": 1}))
    assert (decision.commands, decision.says, decision.memory) == ({}, (), {"kept": 1})


def test_a_forecast_counts_the_calls_of_all_modules_of_a_leader_without_a_seat() -> None:
    made = organised(LED, "tree", sees="all")
    chosen = {"model": MODEL, "monitor": "model", "actions": "model"}
    trial = sample_calls(game_of("cuisine", 2), "hourglass", chosen, (), made, 2)
    assert (
        trial.at_once == 2
        and trial.bounds.repairs == 1
        and "Robot 2" in trial.calls[0].request.messages[0].text
    )
