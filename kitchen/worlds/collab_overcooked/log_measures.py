"""Compute the collaboration metrics of an episode from its log.

They are IC (share of conversations with a right request), RC (share with a right response), and counts. The
counts by seat are messages, failed checks, format errors, helpful corrections and tokens. The rounds of all
conversations are counted, too. Agents note all but messages and rounds in their decisions (`PROCESS_KEY`).
Commands that the world refused are counted as failed checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar

from kitchen.contract.automatic_commands import PLAN_ILLEGAL
from kitchen.contract.dialogue_rounds import DIALOGUE_KEY
from kitchen.contract.episode_log import EpisodeLog, EventColumn, LoggedDecision, LogMetrics, ScoredEvent
from kitchen.contract.organisation import TALK_KINDS
from kitchen.contract.world import Event, Json, Metric
from kitchen.worlds.collab_overcooked.collaboration_events import (
    EVENT_COLUMNS,
    collaboration_events,
    seats_of_log,
)
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS

PROCESS_KEY = "process"
"""Key of a decision's note: {"format_errors": count, "failed_checks": [codes], "helped": count}, and
`TOKENS_KEY`."""
TOKENS_KEY = "tokens"
"""Tokens of all model calls of a turn, sent and received; absent if there are none."""
NO_EVENT = "blank without a conversation that counts"

_COUNTS = {
    "messages": ("Messages of the {seat}", "Messages that the {seat} sent"),
    "failed_checks": (
        "Failed checks of the {seat}",
        "Macros of the {seat} that failed a check, in a plan or as a command",
    ),
    "format_errors": ("Format errors of the {seat}", "Replies of the {seat} that could not be read"),
    "corrections_helped": (
        "Helpful corrections of the {seat}",
        "Corrections of the {seat} after which its macro passed",
    ),
    "tokens": ("Tokens of the {seat}", "Tokens of the model calls of the {seat}, sent and received"),
}


def _count_metrics() -> Iterator[Metric]:
    for name, (label, meaning) in _COUNTS.items():
        for seat in SEAT_NAMES:
            yield Metric(
                f"{name}_{seat}",
                "count",
                label.format(seat=seat),
                meaning=meaning.format(seat=seat),
                better="neither",
            )


class CollaborationMetrics(LogMetrics):
    """Metrics of how well each cook asked for help and responded to requests."""

    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "initiating_capability",
            "share",
            "Initiating capability",
            meaning="Share of the scored conversations in which the requests were right (IC). By default, "
            "the chef's are scored",
            undefined=NO_EVENT,
            of=("requests_right", "requests_wrong"),
        ),
        Metric(
            "responding_capability",
            "share",
            "Responding capability",
            meaning="Share of the scored conversations in which the answering plan was right (RC). By "
            "default, the chef's are scored",
            undefined=NO_EVENT,
            of=("responses_right", "responses_wrong"),
        ),
        Metric("requests_right", "count", "Conversations with right requests"),
        Metric("requests_wrong", "count", "Conversations with wrong requests", better="lower"),
        Metric("responses_right", "count", "Conversations with a right response"),
        Metric("responses_wrong", "count", "Conversations with a wrong response", better="lower"),
        Metric(
            "rounds",
            "count",
            "Rounds",
            meaning="Messages of those who opened a conversation, which are its rounds",
            better="neither",
        ),
        *_count_metrics(),
    )

    event_columns: ClassVar[tuple[EventColumn, ...]] = EVENT_COLUMNS

    def events(self, log: EpisodeLog) -> list[ScoredEvent]:
        """Return the scored conversations of the episode."""
        return [event.scored() for event in collaboration_events(log)]

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric by name. IC and RC are None if there is no scored conversation."""
        events = collaboration_events(log)
        requests = sum(event.request_right for event in events)
        responses = sum(event.response_right for event in events)
        return {
            "initiating_capability": requests / len(events) if events else None,
            "responding_capability": responses / len(events) if events else None,
            "requests_right": requests,
            "requests_wrong": len(events) - requests,
            "responses_right": responses,
            "responses_wrong": len(events) - responses,
            "rounds": _rounds(log),
            **_by_seat(log),
        }


def _rounds(log: EpisodeLog) -> int:
    """Return how many messages the first speakers of the steps sent."""
    opener: dict[int, int | None] = {}
    talk = [one for one in log.messages if one.kind in TALK_KINDS and one.sender is not None]
    for message in talk:
        opener.setdefault(message.step, message.sender)
    return sum(opener[message.step] == message.sender for message in talk)


def _by_seat(log: EpisodeLog) -> dict[str, int]:
    seats, found = seats_of_log(log), Counter[tuple[str, int]]()
    senders = (one.sender for one in log.messages if one.kind in TALK_KINDS and one.sender is not None)
    found.update(("messages", seats[sender]) for sender in senders if sender in seats)
    for step in log.steps:
        for event in step.events:
            if event.seat in SEATS and _is_failed_check(event):
                found["failed_checks", event.seat] += 1
    for decision in log.decisions:
        if (seat := seats.get(decision.member)) is not None:
            for process in processes_of(decision):
                found["failed_checks", seat] += len(process.get("failed_checks", ()))
                found["format_errors", seat] += process.get("format_errors", 0)
                found["corrections_helped", seat] += process.get("helped", 0)
                found["tokens", seat] += process.get(TOKENS_KEY, 0)
    return {f"{name}_{SEAT_NAMES[seat]}": found[name, seat] for name in _COUNTS for seat in SEATS}


def _is_failed_check(event: Event) -> bool:
    """Return whether a macro of a seat was refused, as a command or as the next one of a plan."""
    is_broken_plan = event.kind == "plan_broken" and event.data["why"] == PLAN_ILLEGAL
    return event.kind == "refused" or is_broken_plan


def processes_of(decision: LoggedDecision) -> Iterator[Mapping[str, Json]]:
    """Yield what an agent noted about each of its turns in this step: its format errors, failed checks,
    helpful corrections and tokens."""
    note = decision.note if isinstance(decision.note, dict) else {}
    for each in (*note.get(DIALOGUE_KEY, ()), note):
        if isinstance(each, dict) and isinstance(each.get(PROCESS_KEY), dict):
            yield each[PROCESS_KEY]


LOG_MEASURES = CollaborationMetrics()
