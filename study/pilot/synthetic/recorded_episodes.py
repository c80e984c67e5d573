"""Play a few episodes (games), record their database rows, and write many copies with new keys and times.

The copies belong to synthetic participants, which test exports and analyses.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from django.db.models import Model, QuerySet
from django.utils import timezone

from kitchen.agents.human_like.play_habits import PlayHabits
from kitchen.contract.organisation import END, INFORM
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Json
from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.database_writes import insert_in_batches
from kitchen.llm.provider_registry import STAND_IN
from kitchen.play.coplayers import agent_decisions
from kitchen.play.coplayers.answer_messages import decide_answer, minds_to_speak, send_message
from kitchen.play.episode.advance_episode import submit_commands
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
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_claims import claim_decision
from kitchen.play.turn.websocket_messages import message_to_json
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.world_registry import get_kit
from study.design.blueprint import Blueprint, ConditionPlan, solo_condition
from study.design.condition_seats import people_in
from study.participation.round_planning import episode_settings
from study.pilot.bots.simulated_person import Experience, Person, Player

Row = dict[str, Any]
LABEL = "recording"
"""Label of an episode while it is played; copies have the condition's label."""
MOST_STEPS = 10_000
"""Limit of steps; an episode that has not ended by then will not end."""


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """A database table whose rows are copied: how to find the rows of an episode, and which values a copy
    replaces."""

    model: type[Model]
    path: str = "episode"
    owner: str = ""
    """Field of the row to which this one belongs, if that is not the episode."""
    owner_model: type[Model] | None = None
    time: str = ""
    """Field with a time, which becomes the end of the copy's step."""


TABLES = (
    RecordedTable(Mind),
    RecordedTable(Seat, owner="mind_id", owner_model=Mind),
    RecordedTable(Decision, "mind__episode", "mind_id", Mind, "decided_at"),
    RecordedTable(Message, owner="decision_id", owner_model=Decision, time="sent_at"),
    RecordedTable(ModelCall, "decision__mind__episode", "decision_id", Decision),
    RecordedTable(CallMessage, "call__decision__mind__episode", "call_id", ModelCall),
    RecordedTable(SeatCommand, time="received_at"),
)
"""Tables that are copied, owners first. Steps and state changes are copied separately."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The database rows of one played episode, with their original primary keys."""

    episode: Row
    rows: Mapping[type[Model], list[Row]]
    steps: list[Row]
    state_changes: list[Row]
    prompts: dict[str, str]
    experience: Experience


def record_episode(
    design: Blueprint,
    condition: ConditionPlan,
    *,
    seed: int,
    number: int,
    steps: int | None,
    people: Sequence[PlayHabits] = (),
) -> Recording:
    """Play one episode of a condition to its end, return its database rows, and delete the episode.

    `seed` and `number` determine the synthetic participant who plays. There are no time limits, and no paid
    language models are called. `steps` shortens the episode, if the world has such a setting. With `people`,
    the participant has the habits of one of them.

    Raises SettingsError if the condition cannot be played. If the process is killed, the episode stays in
    the database (see `leftover_recordings`).
    """
    plan, player = solo_condition(condition), Player(Person(seed, number, people), 1)
    planned = episode_settings(design, plan, people_in(plan)[:1])
    played = {
        "settings": shortened_settings(plan, steps),
        "minds": [without_paid_model(mind) for mind in planned["minds"]],
        "label": LABEL,
    }
    with playing_offline():
        episode = create_episode(**(planned | NO_CLOCKS | played), seed=seed, synthetic=True)
    try:
        with playing_offline():
            play_offline(episode, player)
        changed = {name: planned[name] for name in ("label", *NO_CLOCKS) if planned[name] is not None}
        return _read(episode, player.experience(), changed)
    finally:
        _forget(episode)


NO_CLOCKS: dict[str, float | None] = {"step_seconds": None, "thinking_seconds": 0, "decision_seconds": None}
"""Times of an episode while it is recorded; copies have those of the condition."""


def _forget(episode: Episode) -> None:
    with erasure_allowed():
        prompts = prompt_hashes_of([episode.pk])
        episode.delete()
        erase_unused_prompts(prompts)


def leftover_recordings() -> QuerySet[Episode]:
    """Return a query of episodes from recordings that were killed more than an hour ago."""
    long_ago = timezone.now() - timedelta(hours=1)
    return Episode.objects.filter(synthetic=True, label=LABEL, audience="", created_at__lt=long_ago)


LEADING = ("lead", "choose")
"""The phases in which a person who leads others gives jobs."""
ENDS = ("over", "probe")
"""The phases in which the player stops."""


def play_offline(
    episode: Episode, player: Player, *, seat: Seat | None = None, steps: int = MOST_STEPS
) -> None:
    """Play an episode to its end, up to a number of steps, or until a probe asks the player. The player has
    the given seat, or the only one of a person. Call it within `playing_offline`."""
    seat = seat or episode.seats.get(mind=None)
    for _ in range(1, MOST_STEPS):
        _let_agents_speak(episode)
        state = json.loads(
            message_to_json(seat_view.state_message(episode.world, seat_view.current_seat_view(seat)))
        )
        player.watch(state)
        if state["phase"] in ENDS or state["step"] >= steps:
            break
        for member, aim in player.jobs(state) if state["phase"] in LEADING else ():
            say = MessageDraft("", INFORM, (member,), {"aim": list(aim)})
            send_message(episode_id=episode.pk, seat=seat.number, say=say)
        if state["phase"] == "answer" or (state["phase"] == "lead" and seat.number in state["waiting_for"]):
            send_message(episode_id=episode.pk, seat=seat.number, say=MessageDraft("", END))
        if state["phase"] == "answer":
            continue
        step = state["step"] + 1
        claim = claim_decision(episode_id=episode.pk, step=step)  # so that no worker takes it
        if state["phase"] == "choose":
            given = SubmittedCommand(seat.number, tuple(player.choose(state)))
            for draft in player.messages(state):
                send_message(episode_id=episode.pk, seat=seat.number, say=draft)
                _let_agents_speak(episode)
            submit_commands(episode_id=episode.pk, step=step, commands=[given])
        agent_decisions.decide_step(episode_id=episode.pk, step=step, claim=claim)


def _let_agents_speak(episode: Episode) -> None:
    """Let the agent write a message if it is its turn to speak: the first one of a conversation, or an answer
    to the person."""
    step = Episode.objects.values_list("step", flat=True).get(pk=episode.pk) + 1
    for number in minds_to_speak(episode.pk, step):
        decide_answer(episode_id=episode.pk, step=step, mind=number)


def shortened_settings(plan: ConditionPlan, steps: int | None) -> dict[str, Json]:
    """Return the settings of a condition's world with so many steps, if the world has such a setting."""
    named = get_kit(plan.world).steps
    return {**plan.settings, named: steps} if steps and named else dict(plan.settings)


def without_paid_model(mind: MindPlan) -> MindPlan:
    """Return the co-player with its language model replaced by the stand-in (an imitation) if the model
    costs money."""
    named = get_agent(mind.kind).names_model
    return replace(mind, settings={**mind.settings, named: STAND_IN}) if named else mind


def _read(episode: Episode, experience: Experience, changed: Row) -> Recording:
    sent = CallMessage.objects.filter(call__decision__mind__episode=episode)
    return Recording(
        episode={**Episode.objects.values().get(pk=episode.pk), **changed},
        rows={
            one.model: list(one.model._default_manager.filter(**{one.path: episode}).order_by("pk").values())
            for one in TABLES
        },
        steps=list(Step.objects.filter(episode=episode).values()),
        state_changes=list(StateChange.objects.filter(episode=episode).values()),
        prompts=dict(Prompt.objects.filter(uses__in=sent).values_list("hash", "text")),
        experience=experience,
    )


QUICKEST = 0.4
"""Shortest time in seconds for a step."""


@dataclass(slots=True)
class Copy:
    """A copy of a recorded episode that will be stored. `began` is its start, and `pace` the person's mean
    seconds per step."""

    recording: Recording
    began: datetime
    pace: float
    rng: Random
    episode: Episode = field(init=False)
    """The episode, once it is written."""
    ends: list[datetime] = field(init=False)
    """The time at which each step ended, at this person's pace."""

    def __post_init__(self) -> None:
        seconds = (max(QUICKEST, self.rng.lognormvariate(0, 0.5) * self.pace) for _ in self.recording.steps)
        self.ends = [self.began + timedelta(seconds=passed) for passed in accumulate(seconds)]

    def end(self, step: int) -> datetime:
        """Return the time at which this step ends in the copy. Steps after the last one have the time of the
        last one."""
        return self.ends[min(step, len(self.ends)) - 1]


def make_copies(copies: Sequence[Copy], *, audience: str, budget_id: int | None) -> None:
    """Write all copies into the database in batches, and set the `episode` of each.

    `audience` is the group of live pages that show the episodes, `budget_id` the study's budget, if any. If
    the run is interrupted, episodes without a participant remain; `erase_left_episodes` erases them.
    """
    for copy in copies:
        copy.episode = _episode(copy, audience, budget_id)
    insert_in_batches(Episode, [copy.episode for copy in copies])
    made: dict[type[Model], dict[tuple[int, Any], Model]] = {}
    for table in TABLES:
        owners = made.get(table.owner_model, {}) if table.owner_model else {}
        made[table.model] = {
            (at, row["id"]): _copied(table, row, copy, owners.get((at, row[table.owner])) if owners else None)
            for at, copy in enumerate(copies)
            for row in copy.recording.rows[table.model]
        }
        insert_in_batches(table.model, made[table.model].values())
    _write_steps(copies)


def _copied(table: RecordedTable, row: Row, copy: Copy, owner: Model | None) -> Model:
    fresh: Row = {"id": None}
    if "episode_id" in row:
        fresh["episode_id"] = copy.episode.pk
    if table.owner:
        fresh[table.owner] = owner and owner.pk
    if table.time:
        fresh[table.time] = copy.end(row["step"])
    if table.model is Seat:
        fresh["key"] = new_key()
    return table.model(**{**row, **fresh})


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


def write_prompts(recordings: Sequence[Recording]) -> None:
    """Write the texts of the recordings' prompts into the database. All copies of the recorded episodes share
    these rows."""
    texts = {hashed: text for one in recordings for hashed, text in one.prompts.items()}
    Prompt.objects.bulk_create(
        [Prompt(hash=hashed, text=texts[hashed]) for hashed in sorted(texts)], ignore_conflicts=True
    )


def _write_steps(copies: Sequence[Copy]) -> None:
    insert_in_batches(Step, (step for copy in copies for step in _steps(copy)))
    for copy in copies:  # a full state may be a megabyte: one transaction per copy
        changes = ({**row, "id": None, "episode_id": copy.episode.pk} for row in copy.recording.state_changes)
        insert_in_batches(StateChange, (StateChange(**row) for row in changes))


def _steps(copy: Copy) -> Iterator[Step]:
    """Yield the stored steps of a copied episode. Their times are new, so each step gets a new hash in the
    chain."""
    chain = first_chain_hash(copy.episode)
    for row in copy.recording.steps:
        fresh = _step(copy, row)
        chain = next_chain_hash(chain, fresh)
        yield Step(**fresh, chain=chain)


def _step(copy: Copy, row: Row) -> Row:
    opened = copy.began if row["number"] == 1 else copy.end(row["number"] - 1)
    taken = copy.end(row["number"])
    received = taken.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    commands = [{**given, "received_at": received} for given in row["commands"]]
    fresh = {"episode_id": copy.episode.pk, "opened_at": opened, "taken_at": taken, "commands": commands}
    return {name: value for name, value in row.items() if name not in {"id", "chain"}} | fresh
