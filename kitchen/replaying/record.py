"""All that is stored of an episode, read at once: its rows, and nothing that opens a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import QuerySet

from kitchen.contract.episode_log import EpisodeLog
from kitchen.play.episode_log import log_of_rows
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
    Step,
)

AT_ONCE = 10
"""Episodes that are read together."""


@dataclass(slots=True)
class CallRecord:
    """A call of a model, and the texts that it was sent, by role."""

    row: ModelCall
    sent: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Record:
    """One episode with its rows, each in the order in which it came. Steps are those that are taken."""

    episode: Episode
    seats: list[Seat] = field(default_factory=list)
    minds: list[Mind] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    commands: list[SeatCommand] = field(default_factory=list)
    """Those of the step that was open at the end, too."""
    decisions: list[Decision] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    @property
    def log(self) -> EpisodeLog:
        """The same in plain Python."""
        return log_of_rows(
            self.episode,
            seats=self.seats,
            steps=self.steps,
            messages=self.messages,
            decisions=self.decisions,
        )

    @cached_property
    def calls_of(self) -> dict[int, list[CallRecord]]:
        """The calls of each decision, by its id."""
        found: dict[int, list[CallRecord]] = defaultdict(list)
        for call in self.calls:
            found[call.row.decision_id].append(call)
        return found

    @cached_property
    def mind_of(self) -> dict[int, Mind]:
        """Each mind by its id."""
        return {mind.pk: mind for mind in self.minds}


def records_of(episodes: QuerySet[Episode]) -> Iterator[Record]:
    """Each of these episodes, in the order of their ids; those that are erased meanwhile are left out."""
    ids = list(episodes.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(ids), AT_ONCE):
        yield from _records(ids[begin : begin + AT_ONCE])


def _records(ids: Sequence[int]) -> Iterable[Record]:
    records = {each.pk: Record(each) for each in Episode.objects.filter(pk__in=ids).order_by("pk")}
    _read_players(records)
    _read_log(records)
    _read_calls(records)
    return records.values()


def _read_players(records: dict[int, Record]) -> None:
    for seat in Seat.objects.filter(episode__in=records).order_by("number"):
        records[seat.episode_id].seats.append(seat)
    for mind in Mind.objects.filter(episode__in=records).order_by("number"):
        records[mind.episode_id].minds.append(mind)


def _read_log(records: dict[int, Record]) -> None:
    """Rows that somebody wrote after the episode was read are left out."""
    for step in Step.objects.filter(episode__in=records).order_by("number"):
        if step.number <= records[step.episode_id].episode.step:
            records[step.episode_id].steps.append(step)
    for given in SeatCommand.objects.filter(episode__in=records).order_by("pk"):
        if given.step <= records[given.episode_id].episode.step + 1:
            records[given.episode_id].commands.append(given)
    for said in Message.objects.filter(episode__in=records).order_by("number"):
        if said.number <= records[said.episode_id].episode.messages:
            records[said.episode_id].messages.append(said)


def _read_calls(records: dict[int, Record]) -> None:
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
