"""Read an episode's stored log as plain data, and compute metrics from it.

`store_log_metrics` adds the world's metrics to the score when an episode ends. `conduct_by_seat` counts each
person's refused commands, idle steps, thinking time and work. It leaves out outages, and steps in which the
person had no choice or had been replaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from django.db.models import F

from kitchen.contract.automatic_commands import BY_WORLD
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, LoggedStep
from kitchen.contract.language_model import total_cost
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, World
from kitchen.play.models import Decision, Episode, Message, Mind, ModelCall, Seat, Step
from kitchen.play.turn.conversation import member_message
from kitchen.play.turn.decision_records import OVER
from kitchen.play.turn.scheduled_steps import DUE_KEY
from kitchen.play.turn.state_store import event_from_json
from kitchen.play.turn.step_timer import CLOCK, PERSON, TIMEOUT
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import metrics_from_log, with_log_metrics
from kitchen.registry.world_registry import get_kit, get_world


def store_log_metrics(episode: Episode) -> None:
    """Compute the metrics that the world derives from the log, and add them to the score of an ended episode.

    Does nothing if the world has no such metrics. Call this in the transaction that ends the episode.
    """
    if has_log_metrics(episode.world):
        log = read_log(episode) if _is_about(episode) else _empty_log(episode)
        episode.score = with_log_metrics(episode.score, log)
        Episode.objects.filter(pk=episode.pk).update(score=episode.score)


def _is_about(episode: Episode) -> bool:
    """Return whether the metrics from the log are about this episode (`LogMetrics.of_agents`)."""
    metrics = get_kit(episode.world).log_metrics
    kinds = metrics().of_agents if metrics else ()
    return not kinds or Mind.objects.filter(episode=episode, kind__in=kinds).exists()


def _empty_log(episode: Episode) -> EpisodeLog:
    return EpisodeLog(episode.world, episode.settings, seats=0, seed=episode.seed)


def has_log_metrics(world: str) -> bool:
    """Return whether the world computes metrics from the log. False for an unknown world."""
    try:
        return bool(metrics_from_log(world))
    except UnknownNameError:
        return False


def read_log(episode: Episode) -> EpisodeLog:
    """Return the stored log of an episode."""
    return read_logs([episode])[episode.pk]


Spent = tuple[int, float | None]
"""Number of model calls, and their cost in US dollars; None if a price is unknown."""


def read_logs(episodes: Iterable[Episode], *, with_calls: bool = False) -> dict[int, EpisodeLog]:
    """Return the stored logs of these episodes by id. The number of queries does not depend on the number of
    episodes. The log of a running episode ends at its last step. With `with_calls`, the model calls of
    decisions are counted."""
    found = {episode.pk: episode for episode in episodes}
    seats = _by_episode(Seat.objects.filter(episode__in=found).order_by("number"))
    steps = _by_episode(Step.objects.filter(episode__in=found).order_by("number"))
    messages = _by_episode(Message.objects.filter(episode__in=found).order_by("number"))
    decided = Decision.objects.filter(mind__episode__in=found).defer("memory").order_by("step", "pk")
    decisions = _by_episode(decided.annotate(episode_id=F("mind__episode_id")))
    calls = ModelCall.objects.filter(decision__mind__episode__in=found).order_by() if with_calls else None
    spent = spent_by_decision(calls.values_list("decision_id", "cost")) if calls is not None else {}
    return {
        pk: log_from_rows(
            episode,
            seats=seats[pk],
            steps=(row for row in steps[pk] if row.number <= episode.step),
            messages=messages[pk],
            decisions=decisions[pk],
            spent=spent,
        )
        for pk, episode in found.items()
    }


def spent_by_decision(calls: Iterable[tuple[int, Decimal | None]]) -> dict[int, Spent]:
    """Return the number and the total cost of calls for each decision, by decision id. Each call is given as
    (decision id, cost)."""
    costs: dict[int, list[float | None]] = defaultdict(list)
    for decision, cost in calls:
        costs[decision].append(None if cost is None else float(cost))
    return {decision: (len(each), total_cost(each)) for decision, each in costs.items()}


def _by_episode(rows: Iterable[Any]) -> dict[int, list[Any]]:
    by_episode: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_episode[row.episode_id].append(row)
    return by_episode


def log_from_rows(
    episode: Episode,
    *,
    seats: Sequence[Seat],
    steps: Iterable[Step],
    messages: Iterable[Message],
    decisions: Iterable[Decision],
    spent: Mapping[int, Spent] = MappingProxyType({}),
) -> EpisodeLog:
    """Build the log of one episode from its database rows. Each kind of rows must be in order. `spent` has
    the model calls by decision id.

    Decisions that came after the episode's end are left out, so that the episode's metrics stay the same.
    """
    taken = list(steps)
    organisation = episode.team
    members = _members_of_minds(seats, organisation)
    return EpisodeLog(
        world=episode.world,
        settings=episode.settings,
        seats=sum(seat.acts for seat in seats),
        seed=episode.seed,
        steps=tuple(_step(row, taken[0].opened_at) for row in taken),
        messages=tuple(map(member_message, messages)),
        decisions=tuple(
            _decision(row, members[row.mind_id], *spent.get(row.pk, (0, 0.0)))
            for row in decisions
            if row.dropped != OVER
        ),
        organisation=organisation,
        goal=episode.until or episode.goal or {},
    )


def _members_of_minds(seats: Sequence[Seat], organisation: Organisation | None) -> dict[int, int]:
    """Return the member number of each agent, by the agent's id."""
    first = {seat.mind_id: seat.number for seat in reversed(seats) if seat.mind_id is not None}
    return {
        mind: organisation.holder(number).number if organisation else number for mind, number in first.items()
    }


def _step(row: Step, began: datetime) -> LoggedStep:
    commands = tuple(map(_command, row.commands))
    seconds = (row.taken_at - began).total_seconds()
    return LoggedStep(row.number, commands, tuple(map(event_from_json, row.events)), row.score, seconds)


def _command(entry: Json) -> LoggedCommand:
    command = tuple(entry["command"])
    return LoggedCommand(entry["seat"], command, entry["chosen_by"], entry.get("planned_in"))


def _decision(row: Decision, member: int, calls: int, cost: float | None) -> LoggedDecision:
    due = row.note.get(DUE_KEY) if isinstance(row.note, dict) else None
    return LoggedDecision(
        step=due or row.step,
        member=member,
        because=row.because,
        played_by=row.played_by,
        fallback=row.fallback,
        milliseconds=row.milliseconds,
        note=row.note,
        dropped=row.dropped,
        asked_in=row.step if due else None,
        calls=calls,
        cost=cost,
    )


QUEUE_SECONDS = 1.0
"""Seconds after its step opened within which the page sends a command of several that were chosen at once."""
OWN_CODES = frozenset((PERSON, TIMEOUT, CLOCK))
"""`chosen_by` codes of a seat's own steps."""
EPISODES_PER_READ = 200
"""Number of episodes whose steps one query reads."""
ROWS = 500
"""Number of steps held in memory at once."""


@dataclass(slots=True)
class SeatConduct:
    """Counts of one person's behaviour in one seat of an episode, and the work of all seats."""

    steps: int = 0
    commands: int = 0
    """Commands that the person gave, also in a plan."""
    refused: int = 0
    """Number of these commands that were refused."""
    idle: int = 0
    """Steps in which the person waited, was refused, or gave no command."""
    turns: int = 0
    """Steps in which the person was asked and gave a command, except real-time steps, and commands that the
    page may have sent."""
    seconds: float = 0.0
    """Total seconds from the opening of these steps to the command."""
    work: int = 0
    """The person's commands that were carried out and were neither idle nor a movement."""
    all_work: int = 0
    """Number of such commands of all seats in the episode, also of agents."""

    @property
    def refused_share(self) -> float | None:
        """Return the share of the person's commands that were refused, from 0 to 1. None if there were no
        commands."""
        return self.refused / self.commands if self.commands else None

    @property
    def idle_share(self) -> float | None:
        """Return the share of the person's steps that were idle, from 0 to 1. None if there were no steps."""
        return self.idle / self.steps if self.steps else None

    @property
    def thinking_seconds(self) -> float | None:
        """Return the mean seconds that the person took to choose a command. None if no choice was timed."""
        return self.seconds / self.turns if self.turns else None

    @property
    def work_share(self) -> float | None:
        """Return the share of the person's work in the work of all seats, from 0 to 1. None if nobody worked,
        or if the person never played this seat."""
        return self.work / self.all_work if self.all_work and self.steps else None


Seated = tuple[int, int]
"""Episode id and seat number."""


def conduct_by_seat(episodes: Collection[int]) -> dict[Seated, SeatConduct]:
    """Return counts of what people did, by (episode id, seat number), for every seat that a person played in
    these episodes. Episodes of unregistered worlds are left out."""
    found: dict[Seated, SeatConduct] = {}
    wanted = sorted(episodes)
    for first in range(0, len(wanted), EPISODES_PER_READ):
        for episode, steps in groupby(_steps(wanted[first : first + EPISODES_PER_READ]), itemgetter(0)):
            found |= {(episode, seat): conduct for seat, conduct in _of_episode(steps).items()}
    return found


def _steps(episodes: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield (episode id, world, tick_ms, commands, events, opening time) for each step. `tick_ms` is None in
    a turn-based world."""
    fields = ("episode_id", "episode__world", "episode__tick_ms", "commands", "events", "opened_at")
    return (
        Step.objects.filter(episode__in=episodes)
        .order_by("episode_id", "number")
        .values_list(*fields)
        .iterator(chunk_size=ROWS)
    )


def _of_episode(steps: Iterable[tuple[Any, ...]]) -> Mapping[int, SeatConduct]:
    by_seat: dict[int, SeatConduct] = {}
    all_work = 0
    before: dict[int, Mapping[str, Any]] = {}
    chosen: dict[int, Mapping[str, Any]] = {}
    for _, name, tick_ms, commands, events, opened_at in steps:
        world = _world(name)
        if world is None:
            return {}
        refused = {each["seat"] for each in events if each["kind"] == "refused"}
        for given in commands:
            seat = given["seat"]
            kind = _kind(world, given, seat in refused)
            all_work += kind == "work"
            if given["chosen_by"] in OWN_CODES:
                is_timed = not (
                    tick_ms
                    or _may_be_sent_by_page(world, given, before.get(seat))
                    or _is_queued(world, given, chosen.get(seat), opened_at)
                )
                _count(by_seat.setdefault(seat, SeatConduct()), given, kind, opened_at if is_timed else None)
        before |= {each["seat"]: each for each in commands if not _goes_on(world, each, before)}
        chosen |= {each["seat"]: each for each in commands if each["chosen_by"] != BY_WORLD}
    for conduct in by_seat.values():
        conduct.all_work = all_work
    return by_seat


def _world(name: str) -> type[World] | None:
    try:
        return get_world(name)
    except UnknownNameError:
        return None


def _kind(world: type[World], given: Mapping[str, Any], refused: bool) -> str:
    """Return the code of what a command was: `refused`, `idle`, `moved` or `work`."""
    if refused:
        return "refused"
    command = tuple(given["command"])
    if world.is_wait(command):
        return "idle"
    return "moved" if world.kind_of(command) in world.moves else "work"


def _goes_on(world: type[World], given: Mapping[str, Any], before: Mapping[int, Mapping[str, Any]]) -> bool:
    """Return whether the seat had no choice in this step because its last action, `before`, was going on."""
    last = before.get(given["seat"])
    return given["chosen_by"] == BY_WORLD and last is not None and not _is_page_wait(world, last)


def _is_page_wait(world: type[World], given: Mapping[str, Any]) -> bool:
    """Return whether the page can send this kind of command by itself (`World.waits`)."""
    return world.kind_of(tuple(given["command"])) in world.waits


def _may_be_sent_by_page(
    world: type[World], given: Mapping[str, Any], before: Mapping[str, Any] | None
) -> bool:
    """Return whether this wait repeats the same wait of the step before, or is the first choice after an
    action. `before` is that wait or action of the same seat. The page may have sent such a wait by itself.
    The log does not tell, so it is never timed."""
    if before is None or before["chosen_by"] != PERSON or not _is_page_wait(world, given):
        return False
    return before["command"] == given["command"] or not _is_page_wait(world, before)


def _is_queued(
    world: type[World], given: Mapping[str, Any], before: Mapping[str, Any] | None, opened_at: datetime
) -> bool:
    """Return whether the page may have sent this command by itself, from several that were chosen at once
    (`World.queued`). It then follows another of its kind, `before`, and came at once. The log does not mark
    it."""
    kind = world.kind_of(tuple(given["command"]))
    if kind not in world.queued or before is None or before["chosen_by"] != PERSON:
        return False
    return world.kind_of(tuple(before["command"])) == kind and _seconds(given, opened_at) < QUEUE_SECONDS


def _seconds(given: Mapping[str, Any], opened_at: datetime) -> float:
    """Return the seconds from the opening of the step to the command; at least 0."""
    return max(0.0, (datetime.fromisoformat(given["received_at"]) - opened_at).total_seconds())


def _count(conduct: SeatConduct, given: Mapping[str, Any], kind: str, opened_at: datetime | None) -> None:
    """Count one command in the measures of a person. `opened_at` is the time at which the turn opened. It
    is None if the choice is not timed: in a real-time episode, and for a command that the page may have
    sent."""
    conduct.steps += 1
    conduct.idle += kind in ("idle", "refused")
    if given["chosen_by"] != PERSON:
        return
    conduct.commands += 1
    conduct.refused += kind == "refused"
    conduct.work += kind == "work"
    if opened_at is not None and given.get("planned_in") is None:
        conduct.turns += 1
        conduct.seconds += _seconds(given, opened_at)
