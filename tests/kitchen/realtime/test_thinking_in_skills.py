"""Who thinks in skills where a clock takes the steps: nobody waits for the model."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from kitchen.contract.agent import Decision as Agreed
from kitchen.contract.decision_notes import Prediction
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Decision, Episode, ModelCall, SeatCommand, Step
from kitchen.play.turn.decision_records import predictions_by_episode
from kitchen.play.turn.last_predictions import judge_by_last_step
from kitchen.realtime import realtime_agents, realtime_episode
from kitchen.realtime.realtime_storage import store_tick_groups
from tests.kitchen.realtime.conftest import taken_by

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.mark.parametrize(
    ("kind", "own", "foresees"), [("proagent", {"level": "aip"}, True), ("skill_dispatcher", {}, False)]
)
def test_a_plan_three_ticks_late_is_carried_out_afterwards(
    monkeypatch: pytest.MonkeyPatch, kind: str, own: dict[str, str], foresees: bool
) -> None:
    asked: list[tuple[Coroutine[Any, Any, Agreed], Future[Agreed]]] = []

    def start(deciding: Coroutine[Any, Any, Agreed]) -> Future[Agreed]:
        asked.append((deciding, Future()))
        return asked[-1][1]

    def answer() -> None:
        for deciding, made in asked:
            if not made.done():
                made.set_result(asyncio.run(deciding))

    monkeypatch.setattr(realtime_agents, "start_in_loop", start)
    monkeypatch.setattr(realtime_episode, "LEAD_IN_SECONDS", 0.0)
    chosen = {"model": "stand-in", **own}
    episode = create_episode(
        world="overcooked",
        settings={"layout": "cramped_room", "clock": "tick", "tick_ms": 100, "ticks": 8},
        seats=2,
        seed=3,
        minds=[MindPlan("stay", (0,)), MindPlan(kind, (1,), chosen)],
    )
    played = taken_by("me", episode)
    for tick in range(8):
        if tick >= 3:
            answer()
        played.tick(0.1 * (tick + 1))
    assert episode.pk in store_tick_groups("me", [played.written()])
    commands = SeatCommand.objects.filter(episode=episode, seat=1).order_by("step")
    words = [command[0] for command in commands.values_list("command", flat=True)]
    assert words[:3] == ["stay"] * 3 and words[3:5] == ["east", "interact"]
    notes = Decision.objects.filter(mind__episode=episode, mind__kind=kind).order_by("step")
    at = [note["seats"]["1"]["at"] for note in notes.values_list("note", flat=True) if note]
    assert at[2] is None and at[3] == {"skill": "pickup(onion)", "since": 4, "asked_in": 1}
    assert ModelCall.objects.filter(decision__step=4).count() == 1
    if not foresees:
        assert not predictions_by_episode([episode.pk])
        return
    (arguments,) = predictions_by_episode([episode.pk])[episode.pk].values()
    assert arguments[0].step == 1 and arguments[0].predicted == ("pickup", "onion")


@pytest.mark.parametrize(
    ("did", "done", "right"), [("took", ("pickup", "onion"), True), ("started", ("start_cooking",), False)]
)
def test_a_prediction_that_comes_true_in_the_last_tick_is_judged(
    did: str, done: tuple[str, ...], right: bool
) -> None:
    episode = create_episode(
        world="overcooked",
        settings={"layout": "cramped_room"},
        seats=2,
        seed=3,
        minds=[MindPlan("stay", (1,))],
    )
    last = {"kind": "performed", "seat": 0, "command": ["interact"], "did": did, "thing": "onion"}
    now = timezone.now()
    Step.objects.create(
        episode=episode,
        number=1,
        commands=[],
        events=[last],
        state_hash="",
        score={},
        opened_at=now,
        taken_at=now,
    )
    foreseen = Prediction(by=1, of=0, step=1, predicted=("pickup", "onion"))
    of_no_step = replace(foreseen, step=2)
    found = {episode.pk: {1: [foreseen, of_no_step]}}
    Episode.objects.filter(pk=episode.pk).update(step=1)
    assert judge_by_last_step(found)[episode.pk][1] == [foreseen, of_no_step]
    Episode.objects.filter(pk=episode.pk).update(status=Episode.Status.ABORTED)
    judged = foreseen.judged(done, 1, right=right)
    assert judge_by_last_step(found)[episode.pk][1] == [judged, of_no_step]
