"""Play episodes, record them as database rows, and write many copies with new keys and times."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kitchen.contract.organisation import INFORM
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Json
from kitchen.infra.database_writes import insert_in_batches
from kitchen.llm.provider_registry import STAND_IN
from kitchen.play.coplayers import agent_decisions
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.change_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.live import seat_view
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
    new_key,
)
from kitchen.play.turn.decision_records import erase_unused_prompts, prompt_hashes_of
from kitchen.play.turn.play_task_queue import playing_offline
from kitchen.play.turn.step_store import first_chain_hash, next_chain_hash
from kitchen.play.turn.submission import SubmittedCommand
from kitchen.play.turn.turn_claims import claim_decision
from kitchen.play.turn.websocket_messages import message_to_json
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.world_registry import get_kit
from study.design.blueprint import ConditionPlan, solo_condition
from study.design.condition_plan import mind_plans, people_in, planned_organisation, seats_of
from study.pilot.bots.simulated_person import Experience, Person, Player

Row = dict[str, Any]
LABEL = "recording"
"""Label of an episode while it is played; copies have the condition's label."""
MOST_STEPS = 10_000
"""Limit of steps; an episode that has not ended by then will not end."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One played episode as database rows, with their original primary keys."""

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


def record_episode(
    plan: ConditionPlan,
    *,
    seed: int,
    number: int,
    thinking: float,
    look: Mapping[str, Any],
    steps: int | None,
) -> Recording:
    """Play one episode of a condition to its end, and delete it from the database. Return the recording.

    `look` holds the arguments of `create_episode` that decide what people see. `steps` shortens the episode,
    in worlds that allow it. Raises SettingsError if the condition cannot be played. A process that is killed
    meanwhile leaves an episode (`leftover_recordings`).
    """
    with playing_offline():
        player, episode = Player(Person(seed, number), 1), _opened(plan, look, seed=seed, steps=steps)
    try:
        with playing_offline():
            _play(episode, player)
        return _read(episode, player.experience(), plan, thinking)
    finally:
        _forget(episode)


@transaction.atomic
def _forget(episode: Episode) -> None:
    prompts = prompt_hashes_of([episode.pk])
    episode.delete()
    erase_unused_prompts(prompts)


def leftover_recordings() -> QuerySet[Episode]:
    """Return the episodes of recordings that were killed more than an hour ago."""
    long_ago = timezone.now() - timedelta(hours=1)
    return Episode.objects.filter(synthetic=True, label=LABEL, audience="", created_at__lt=long_ago)


def _opened(condition: ConditionPlan, look: Mapping[str, Any], *, seed: int, steps: int | None) -> Episode:
    plan = solo_condition(condition)
    return create_episode(
        world=plan.world,
        settings=_shortened(plan, steps),
        seats=seats_of(plan),
        seed=seed,
        minds=[_without_model(mind) for mind in mind_plans(plan, people_in(plan)[:1])],
        organisation=planned_organisation(plan, people_in(plan)[:1]),
        label=LABEL,
        synthetic=True,
        **look,
    )


def _play(episode: Episode, player: Player) -> None:
    seat = episode.seats.get(mind=None)
    for _ in range(1, MOST_STEPS):
        state = json.loads(
            message_to_json(seat_view.state_message(episode.world, seat_view.current_seat_view(seat)))
        )
        player.watch(state)
        if state["phase"] == "over":
            break
        for member, aim in player.jobs(state) if state["phase"] == "lead" else ():
            say = MessageDraft("", INFORM, (member,), {"aim": list(aim)})
            send_message(episode_id=episode.pk, seat=seat.number, say=say)
        step = state["step"] + 1
        claim = claim_decision(
            episode_id=episode.pk, step=step
        )  # claim the decision, so that no worker takes it
        if state["phase"] == "choose":
            given = SubmittedCommand(seat.number, tuple(player.choose(state)))
            submit_commands(episode_id=episode.pk, step=step, commands=[given])
        agent_decisions.decide_step(episode_id=episode.pk, step=step, claim=claim)


def _shortened(plan: ConditionPlan, steps: int | None) -> dict[str, Json]:
    named = get_kit(plan.world).steps
    return {**plan.settings, named: steps} if steps and named else dict(plan.settings)


def _without_model(mind: MindPlan) -> MindPlan:
    """Return the co-player with the stand-in in place of a paid language model."""
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
    """Return the rows of co-players' decisions, model calls, messages and prompts."""
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


QUICKEST = 0.4
"""Shortest time in seconds for a step."""


@dataclass(slots=True)
class Copy:
    """A copy to write: the recording, its start, and the person's pace (mean seconds per step)."""

    recording: Recording
    began: datetime
    pace: float
    rng: Random
    episode: Episode | None = None
    ends: list[datetime] | None = None
    """The time at which each step ended."""


def make_copies(copies: Sequence[Copy], *, audience: str, budget_id: int | None) -> None:
    """Write all copies in batches, and set the `episode` of each.

    An interrupted run leaves episodes without a participant; `erase_left_episodes`
    (`study.pilot.synthetic.synthetic_participants`) erases them.
    """
    for copy in copies:
        copy.ends = _ends(copy)
        copy.episode = _episode(copy, audience, budget_id)
    insert_in_batches(Episode, [_made(copy) for copy in copies])
    _write_seats(copies)
    _write_steps(copies)


def copy_erase(copy: Copy) -> None:
    """Erase a copy that no participant received."""
    _made(copy).delete()


def _ends(copy: Copy) -> list[datetime]:
    """Return the time at which each step ended, at this person's pace."""
    now, ends = copy.began, []
    for _ in copy.recording.steps:
        now += timedelta(seconds=max(QUICKEST, copy.rng.lognormvariate(0, 0.5) * copy.pace))
        ends.append(now)
    return ends


def _episode(copy: Copy, audience: str, budget_id: int | None) -> Episode:
    last = copy.ends[-1] if copy.ends else copy.began
    fresh: Row = {
        "key": uuid.uuid4(),
        "audience": audience,
        "budget_id": budget_id,
        "created_at": copy.began,
        "turn_opened_at": last,
        "ended_at": last,
    }
    return Episode(**{**copy.recording.episode, "id": None, **fresh})


def _write_seats(copies: Sequence[Copy]) -> None:
    """Write minds, seats and decisions."""
    minds: dict[tuple[int, int], Mind] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.minds:
            minds[at, row["id"]] = Mind(**{**row, "id": None, "episode_id": _pk(copy)})
    insert_in_batches(Mind, minds.values())
    insert_in_batches(
        Seat,
        (
            _seat(row, copy, minds.get((at, row["mind_id"])))
            for at, copy in enumerate(copies)
            for row in copy.recording.seats
        ),
    )
    _write_decisions(copies, minds)


def _seat(row: Row, copy: Copy, mind: Mind | None) -> Seat:
    return Seat(**{**row, "id": None, "key": new_key(), "episode_id": _pk(copy), "mind_id": mind and mind.pk})


def _write_decisions(copies: Sequence[Copy], minds: dict[tuple[int, int], Mind]) -> None:
    decisions: dict[tuple[int, int], Decision] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.decisions:
            fresh = {"mind_id": minds[at, row["mind_id"]].pk, "decided_at": _end(copy, row["step"])}
            decisions[at, row["id"]] = Decision(**{**row, "id": None, **fresh})
    insert_in_batches(Decision, decisions.values())
    _write_said(copies, decisions)
    calls: dict[tuple[int, int], ModelCall] = {}
    for at, copy in enumerate(copies):
        for row in copy.recording.calls:
            calls[at, row["id"]] = ModelCall(
                **{**row, "id": None, "decision_id": decisions[at, row["decision_id"]].pk}
            )
    insert_in_batches(ModelCall, calls.values())
    insert_in_batches(
        CallMessage,
        (
            CallMessage(**{**row, "id": None, "call_id": calls[at, row["call_id"]].pk})
            for at, copy in enumerate(copies)
            for row in copy.recording.messages
        ),
    )


def _write_said(copies: Sequence[Copy], decisions: dict[tuple[int, int], Decision]) -> None:
    """Write the messages of co-players; nobody else sends messages in recordings."""
    insert_in_batches(
        Message,
        (
            Message(
                **{
                    **row,
                    "id": None,
                    "episode_id": _pk(copy),
                    "decision_id": decisions[at, row["decision_id"]].pk,
                    "sent_at": _end(copy, row["step"]),
                }
            )
            for at, copy in enumerate(copies)
            for row in copy.recording.said
        ),
    )


def write_prompts(recordings: Sequence[Recording]) -> None:
    """Write the recorded prompts, once for all copies."""
    texts = {hashed: text for one in recordings for hashed, text in one.prompts.items()}
    Prompt.objects.bulk_create(
        [Prompt(hash=hashed, text=texts[hashed]) for hashed in sorted(texts)], ignore_conflicts=True
    )


def _write_steps(copies: Sequence[Copy]) -> None:
    insert_in_batches(
        SeatCommand,
        (
            SeatCommand(
                **{**row, "id": None, "episode_id": _pk(copy), "received_at": _end(copy, row["step"])}
            )
            for copy in copies
            for row in copy.recording.commands
        ),
    )
    insert_in_batches(Step, (step for copy in copies for step in _steps(copy)))
    for copy in copies:  # a full state may be a megabyte: one transaction per copy
        changes = copy.recording.state_changes
        insert_in_batches(
            StateChange, (StateChange(**{**row, "id": None, "episode_id": _pk(copy)}) for row in changes)
        )


def _steps(copy: Copy) -> Iterator[Step]:
    """Yield the steps of a copy with a new hash chain, because their times are new."""
    chain = first_chain_hash(_made(copy))
    for row in copy.recording.steps:
        fresh = _step(copy, row)
        chain = next_chain_hash(chain, fresh)
        yield Step(**fresh, chain=chain)


def _step(copy: Copy, row: Row) -> Row:
    opened = copy.began if row["number"] == 1 else _end(copy, row["number"] - 1)
    taken = _end(copy, row["number"])
    received = taken.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    commands = [{**given, "received_at": received} for given in row["commands"]]
    fresh = {"episode_id": _pk(copy), "opened_at": opened, "taken_at": taken, "commands": commands}
    kept = {name: value for name, value in row.items() if name not in {"id", "chain"}}
    return {**kept, **fresh}


def _end(copy: Copy, step: int) -> datetime:
    assert copy.ends is not None  # noqa: S101 - make_copies begins with it
    return copy.ends[min(step, len(copy.ends)) - 1]


def _pk(copy: Copy) -> Any:
    return _made(copy).pk


def _made(copy: Copy) -> Episode:
    assert copy.episode is not None  # noqa: S101 - make_copies begins with it
    return copy.episode
