"""Situations come back from JSON as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kitchen.agents.job_follower import Follower
from kitchen.contract.agent import Decision, LateDecision, Situation
from kitchen.contract.organisation import INFORM
from kitchen.contract.situation_json import situation_from_json, situation_to_json
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Event
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.kitchen.agents.test_asking_schedule import Scripted, play
from tests.worlds.errands import LINE


def lead(situation: Situation) -> Decision:
    says = (MessageDraft("", INFORM, (0,), {"aim": ["run", "1"]}),) if situation.step == 0 else ()
    return Decision({}, says=says, memory={"step": situation.step}, planned=False)


def test_a_situation_with_jobs_and_messages_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    leader, member = Scripted(lead), Scripted(lambda situation: Decision({0: ("wait",)}))
    play("scripted:0+scripted+follower", "tree", leader, member, Follower({}), limit=4)
    told = [*leader.told, *member.told]
    assert any(situation.talk.jobs for situation in told) and any(one.talk.aims for one in told)
    for situation in told:
        stored = json.loads(json.dumps(situation_to_json(situation)))
        assert situation_from_json(stored, situation.talk.organisation) == situation


def test_plans_late_decisions_and_events_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    member = Scripted(lambda situation: Decision({}))
    play("scripted+follower", "graph", member, Follower({}), limit=2)
    full = replace(
        member.told[0],
        plans={0: (("run", "1"), ("wait",))},
        late=(LateDecision(3, {0: ("run", "0")}, stale=True),),
        events=(Event("performed", 1, {"command": ["wait"]}), Event("order", None, {})),
        commanded={1: ("wait",)},
        request=replace(member.told[0].request, asked=None, may_act=(0,)),
    )
    stored = json.loads(json.dumps(situation_to_json(full)))
    assert situation_from_json(stored, full.talk.organisation) == full
