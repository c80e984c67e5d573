"""Read all stored rows of an episode, and label its players, agents and commands for staff.

A player's label has the name that players see, and the player's number. Secret keys of players are not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import QuerySet

from kitchen.contract.episode_log import EpisodeLog, FailedCheck, ScoredEvent
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json
from kitchen.play.episode.log_metrics import log_from_rows, spent_by_decision
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    Message,
    Mind,
    ModelCall,
    ProbeAnswer,
    Prompt,
    Seat,
    SeatCommand,
    SliderRating,
    Step,
)
from kitchen.registry.world_metrics import failed_checks, scored_events
from kitchen.words.english_text import and_list

EPISODES_PER_READ = 10
"""Number of episodes read together."""


@dataclass(slots=True)
class CallRecord:
    """A call of a language model, and the texts that were sent to it, as (role, text) pairs."""

    row: ModelCall
    sent: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class EpisodeRecord:
    """One episode with all its stored rows, each kind in chronological order."""

    episode: Episode
    seats: list[Seat] = field(default_factory=list)
    minds: list[Mind] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    commands: list[SeatCommand] = field(default_factory=list)
    """Includes the commands of the step that was open at the end."""
    decisions: list[Decision] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    probe_answers: list[ProbeAnswer] = field(default_factory=list)
    ratings: list[SliderRating] = field(default_factory=list)
    """The values of the slider beside the game."""

    @property
    def log(self) -> EpisodeLog:
        """Return the episode's log as plain Python data."""
        return log_from_rows(
            self.episode,
            seats=self.seats,
            steps=self.steps,
            messages=self.messages,
            decisions=self.decisions,
            spent=spent_by_decision((call.row.decision_id, call.row.cost) for call in self.calls),
        )

    @cached_property
    def scored_events(self) -> tuple[ScoredEvent, ...]:
        """Return the events in the log from which the world computes metrics."""
        return scored_events(self.log)

    @cached_property
    def failed_checks(self) -> tuple[FailedCheck, ...]:
        """Return the checks of the world that failed; empty if the world does not list failed checks."""
        return failed_checks(self.log)

    @cached_property
    def calls_of(self) -> dict[int, list[CallRecord]]:
        """Return the model calls of each decision, by the decision's id."""
        found: dict[int, list[CallRecord]] = defaultdict(list)
        for call in self.calls:
            found[call.row.decision_id].append(call)
        return found

    @cached_property
    def mind_of(self) -> dict[int, Mind]:
        """Return the episode's agents, by their id."""
        return {mind.pk: mind for mind in self.minds}


def read_episode_records(episodes: QuerySet[Episode]) -> Iterator[EpisodeRecord]:
    """Yield each of these episodes with all its rows, ordered by id. Episodes that are erased during this
    are left out."""
    ids = list(episodes.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), EPISODES_PER_READ):
        yield from _records(ids[begin : begin + EPISODES_PER_READ])


def _records(ids: Sequence[int]) -> Iterable[EpisodeRecord]:
    records = {each.pk: EpisodeRecord(each) for each in Episode.objects.filter(pk__in=ids).order_by("pk")}
    for seat in Seat.objects.filter(episode__in=records).order_by("number"):
        records[seat.episode_id].seats.append(seat)
    for mind in Mind.objects.filter(episode__in=records).order_by("number"):
        records[mind.episode_id].minds.append(mind)
    _read_log(records)
    _read_calls(records)
    return records.values()


def _read_log(records: dict[int, EpisodeRecord]) -> None:
    """Read the logs of these episodes from the database. Leave out rows that were written after the
    episode was read."""
    for step in Step.objects.filter(episode__in=records).order_by("number"):
        if step.number <= records[step.episode_id].episode.step:
            records[step.episode_id].steps.append(step)
    for given in SeatCommand.objects.filter(episode__in=records).order_by("pk"):
        if given.step <= records[given.episode_id].episode.step + 1:
            records[given.episode_id].commands.append(given)
    for message in Message.objects.filter(episode__in=records).order_by("number"):
        if message.number <= records[message.episode_id].episode.messages:
            records[message.episode_id].messages.append(message)
    _read_probes(records)


def _read_probes(records: dict[int, EpisodeRecord]) -> None:
    asking = [pk for pk, record in records.items() if record.episode.probes or record.episode.rating_slider]
    for answer in ProbeAnswer.objects.filter(episode__in=asking).order_by("step", "seat", "pk"):
        records[answer.episode_id].probe_answers.append(answer)
    for rating in SliderRating.objects.filter(episode__in=asking).order_by("pk"):
        records[rating.episode_id].ratings.append(rating)


def _read_calls(records: dict[int, EpisodeRecord]) -> None:
    owner = {mind.pk: record for record in records.values() for mind in record.minds}
    for row in Decision.objects.filter(mind__in=owner).order_by("step", "pk"):
        owner[row.mind_id].decisions.append(row)
    whose = {row.pk: record for record in records.values() for row in record.decisions}
    calls: dict[int, CallRecord] = {}
    for call in ModelCall.objects.filter(decision__mind__in=owner).order_by("decision", "number"):
        if call.decision_id in whose:
            calls[call.pk] = CallRecord(call)
            whose[call.decision_id].calls.append(calls[call.pk])
    sent = CallMessage.objects.filter(call__decision__mind__in=owner)
    texts = {row.hash: row.text for row in Prompt.objects.filter(pk__in=sent.values("prompt"))}
    for call_id, role, key in sent.order_by("position").values_list("call", "role", "prompt"):
        if call_id in calls and key in texts:
            calls[call_id].sent.append((role, texts[key]))


def seat_label(record: EpisodeRecord, number: int) -> str:
    """Return the seat's name on the players' pages with its number, such as `Player 1 (seat 0)`."""
    name = next((seat.name for seat in record.seats if seat.number == number), "A player")
    return f"{name} (seat {number})"


def mind_label(record: EpisodeRecord, mind: Mind) -> str:
    """Return the labels of the seats that this agent commands. If it commands none, return a label with the
    agent's number."""
    seats = [seat.number for seat in record.seats if seat.mind_id == mind.pk and seat.acts]
    return _joined(record, seats) or f"Co-player {mind.number}"


def member_label(record: EpisodeRecord, number: int | None) -> str:
    """Return the name of the member with this number. A member without a name has the labels of its seats.
    None stands for the system."""
    if number is None:
        return "The house"
    stored = record.episode.organisation
    members = Organisation.from_json(stored).members if stored else ()
    member = next((one for one in members if one.number == number), None)
    return (member and (member.name or _joined(record, member.seats))) or f"Member {number}"


def _joined(record: EpisodeRecord, seats: Iterable[int]) -> str:
    return ", ".join(seat_label(record, seat) for seat in seats)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One seat's command in a step, as text for staff."""

    seat: int
    text: str
    chosen_by: str
    fallback: str
    reasons: str
    """Codes of a refusal. Empty if the command was carried out."""


def command_lines(step: Step) -> tuple[CommandLine, ...]:
    """Return all commands of a step as texts, in the order in which they ran."""
    refused = [event for event in step.events if event["kind"] == "refused"]
    return tuple(_command_line(entry, refused) for entry in step.commands)


def other_events(step: Step) -> tuple[str, ...]:
    """Return the events of a step as texts. Events that report a seat's command as done or refused are
    left out."""
    return tuple(_event_text(event) for event in step.events if event["kind"] not in {"refused", "performed"})


def _event_text(event: Mapping[str, Json]) -> str:
    """Return an event as text, with its seat if it has one, such as `seat 1: done macro place stone, n 3`. A
    value with the name of the event has no name: `seat 1: reward 0.5`."""
    data = {name: value for name, value in event.items() if name not in {"kind", "seat"}}
    named = ("" if name == event["kind"] else f"{name} " for name in data)
    details = ", ".join(name + _value_text(value) for name, value in zip(named, data.values(), strict=True))
    seat = event.get("seat")
    start = "" if seat is None else f"seat {seat}: "
    return f"{start}{event['kind'].replace('_', ' ')} {details}".rstrip()


def _value_text(value: Json) -> str:
    """Return a value of an event in words: `1 2 and 3 4` for a list of lists, `none` if there is nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, dict):
        return and_list([f"{name} {_value_text(each)}" for name, each in value.items()])
    if isinstance(value, float):
        return str(round(value, 3)).removesuffix(".0")
    if not isinstance(value, list):
        return str(value)
    parts = [_value_text(each) for each in value]
    is_nested = any(isinstance(each, list | dict) for each in value)
    return and_list(parts) if is_nested else " ".join(parts)


def _command_line(entry: Mapping[str, Json], refused: list[Mapping[str, Json]]) -> CommandLine:
    same = (
        event
        for event in refused
        if event["seat"] == entry["seat"] and list(event.get("command", [])) == list(entry["command"])
    )
    reasons = next((event.get("reasons") or ["refused"] for event in same), [])
    return CommandLine(
        seat=entry["seat"],
        text=" ".join(str(part) for part in entry["command"]),
        chosen_by=entry["chosen_by"],
        fallback=entry["fallback"],
        reasons=", ".join(str(reason) for reason in reasons),
    )
