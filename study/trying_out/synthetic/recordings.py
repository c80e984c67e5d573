"""Episodes that were really played, as rows that can be written again under other keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kitchen.contract.organisation import INFORM
from kitchen.contract.talk import Say
from kitchen.contract.world import Json
from kitchen.llm.registry import STAND_IN
from kitchen.play import deciding, selectors
from kitchen.play.calls import prompts_erase_unused, prompts_of
from kitchen.play.claims import decision_claim
from kitchen.play.creating import MindPlan, episode_create
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    Prompt,
    Seat,
    SeatCommand,
    StateChange,
    Step,
)
from kitchen.play.queue import played_aside
from kitchen.play.services import GivenCommand, commands_submit
from kitchen.play.talking import message_send
from kitchen.play.told import to_json
from kitchen.registry.agents import get_agent
from kitchen.registry.worlds import get_kit
from study.design.blueprint import ConditionPlan
from study.design.plan import mind_plans, organisation_planned, people_in, seats_of
from study.design.trying_out import tried_out
from study.trying_out.walk.person import Experience, Person
from study.trying_out.walk.player import Player

Row = dict[str, Any]
LABEL = "recording"
"""Of an episode while it is played; copies have the condition's."""
MOST_STEPS = 10_000
"""An episode that has not ended then will not."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One played episode. Rows are as in the database, with the primary keys that they had."""

    episode: Row
    minds: list[Row]
    seats: list[Row]
    steps: list[Row]
    state_changes: list[Row]
    commands: list[Row]
    decisions: list[Row]
    calls: list[Row]
    messages: list[Row]
    said: list[Row]
    prompts: dict[str, str]
    experience: Experience


def record(
    plan: ConditionPlan,
    *,
    seed: int,
    number: int,
    thinking: float,
    look: Mapping[str, Any],
    steps: int | None,
) -> Recording:
    """Play one episode of a condition to its end, and leave nothing of it in the database. What is killed in
    the middle leaves an episode of which nobody knows (`recordings_left`).

    `look` is what tells `episode_create` what people see. `steps` shortens it, in worlds that can be told so.
    SettingsError if it cannot be played.
    """
    with played_aside():
        player, episode = Player(Person(seed, number), 1), _opened(plan, look, seed=seed, steps=steps)
    try:
        with played_aside():
            _play(episode, player)
        return _read(episode, player.experience(), plan, thinking)
    finally:
        _forget(episode)


@transaction.atomic
def _forget(episode: Episode) -> None:
    prompts = prompts_of([episode.pk])
    episode.delete()
    prompts_erase_unused(prompts)


def recordings_left() -> QuerySet[Episode]:
    """Episodes that were being recorded when that was killed."""
    long_ago = timezone.now() - timedelta(hours=1)
    return Episode.objects.filter(synthetic=True, label=LABEL, audience="", created_at__lt=long_ago)


def _opened(condition: ConditionPlan, look: Mapping[str, Any], *, seed: int, steps: int | None) -> Episode:
    plan = tried_out(condition)
    return episode_create(
        world=plan.world,
        settings=_shortened(plan, steps),
        seats=seats_of(plan),
        seed=seed,
        minds=[_without_model(mind) for mind in mind_plans(plan, people_in(plan)[:1])],
        organisation=organisation_planned(plan, people_in(plan)[:1]),
        label=LABEL,
        synthetic=True,
        **look,
    )


def _play(episode: Episode, player: Player) -> None:
    seat = episode.seats.get(mind=None)
    for _ in range(1, MOST_STEPS):
        state = json.loads(to_json(selectors.state_message(episode.world, selectors.seat_view(seat))))
        player.watch(state)
        if state["phase"] == "over":
            break
        for member, aim in player.jobs(state) if state["phase"] == "lead" else ():
            say = Say("", INFORM, (member,), {"aim": list(aim)})
            message_send(episode_id=episode.pk, seat=seat.number, say=say)
        step = state["step"] + 1
        claim = decision_claim(episode_id=episode.pk, step=step)  # no worker takes it for one that waits
        if state["phase"] == "choose":
            given = GivenCommand(seat.number, tuple(player.choose(state)))
            commands_submit(episode_id=episode.pk, step=step, commands=[given])
        deciding.decide_step(episode_id=episode.pk, step=step, claim=claim)


def _shortened(plan: ConditionPlan, steps: int | None) -> dict[str, Json]:
    named = get_kit(plan.world).steps
    return {**plan.settings, named: steps} if steps and named else dict(plan.settings)


def _without_model(mind: MindPlan) -> MindPlan:
    """The co-player, with the stand-in where a model would be asked and paid."""
    named = get_agent(mind.kind).names_model
    return replace(mind, settings={**mind.settings, named: STAND_IN}) if named else mind


def _read(episode: Episode, experience: Experience, plan: ConditionPlan, thinking: float) -> Recording:
    clock = {"step_seconds": plan.step_seconds, "thinking_seconds": thinking}
    (row,) = _rows(Episode.objects.filter(pk=episode.pk))
    return Recording(
        episode={**row, **clock, "label": plan.label},
        minds=_rows(Mind.objects.filter(episode=episode)),
        seats=_rows(Seat.objects.filter(episode=episode)),
        steps=_rows(Step.objects.filter(episode=episode)),
        state_changes=_rows(StateChange.objects.filter(episode=episode)),
        commands=_rows(SeatCommand.objects.filter(episode=episode)),
        experience=experience,
        **_asked(episode),
    )


def _asked(episode: Episode) -> dict[str, Any]:
    """What co-players decided, and what models were asked for it."""
    calls = ModelCall.objects.filter(decision__mind__episode=episode).order_by("number")
    messages = CallMessage.objects.filter(call__in=calls).order_by("position")
    return {
        "decisions": _rows(Decision.objects.filter(mind__episode=episode)),
        "calls": _rows(calls),
        "messages": _rows(messages),
        "said": _rows(Message.objects.filter(episode=episode)),
        "prompts": dict(Prompt.objects.filter(uses__in=messages).values_list("hash", "text")),
    }


def _rows(queryset: Any) -> list[Row]:
    return list(queryset.values())
