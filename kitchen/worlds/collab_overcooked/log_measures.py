"""Compute the collaboration metrics of a Collab-Overcooked episode from its log.

Some metrics score conversations (`collaboration_events`). Others are counts for each cook: messages, failed
checks, format errors, successful corrections, tokens, and rounds of conversations. Agents record how many
format errors, corrections and tokens each decision took (`PROCESS_KEY`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.agent import REASON_PLAN_BROKEN
from kitchen.contract.assigned_jobs import BY_PLATFORM
from kitchen.contract.automatic_commands import PLAN_ILLEGAL
from kitchen.contract.dialogue_rounds import DIALOGUE_KEY
from kitchen.contract.episode_log import (
    FAILED_CHECKS,
    EpisodeLog,
    EventColumn,
    FailedCheck,
    LogMetrics,
    ScoredEvent,
)
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.team_messages import message_content
from kitchen.contract.world import Event, Json, Metric
from kitchen.worlds.collab_overcooked.collaboration_events import (
    EVENT_COLUMNS,
    collaboration_events,
    seats_of_log,
)
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS
from kitchen.worlds.collab_overcooked.world import CollabOvercooked

PROCESS_KEY = "process"
"""Key of a decision's note: {"format_errors": count, "failed_checks": [codes], "helped": count}, and
`TOKENS_KEY`."""
TOKENS_KEY = "tokens"
"""Tokens of all model calls of a turn, sent and received; absent if there are none."""
NO_EVENT = "blank without a conversation that counts"

_COUNTS = {
    "messages": ("Messages of the {seat}", "Messages that the {seat} sent"),
    "rounds": (
        "Rounds opened by the {seat}",
        "Messages of the {seat} in conversations that it opened, which are their rounds",
    ),
    "failed_checks": (
        f"{FAILED_CHECKS} of the {{seat}}",
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
                of_seat=(" ".join(label.split()[:-3]), seat),  # without "of the {seat}"
            )


def _mean_gain(column: str, label: str, things: str) -> Metric:
    return Metric(
        f"{column}_mean",
        "number",
        label,
        meaning=f"Mean ITES of the {things} of the scored conversations: how much they raise the TES of the "
        "other seat",
        undefined=NO_EVENT,
        low=-1.0,
        high=1.0,
        mean_of=column,
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
        _mean_gain("ites_request", "ITES of the requests", "requests"),
        _mean_gain("ites_response", "ITES of the responses", "answering plans"),
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

    lists_failed_checks: ClassVar[bool] = True

    def failed_checks(self, log: EpisodeLog) -> list[FailedCheck]:
        """Return the failed checks by step."""
        return sorted([*_refused(log), *_dropped_plans(log), *_corrected(log)], key=lambda one: one.step)

    def events(self, log: EpisodeLog) -> list[ScoredEvent]:
        """Return the scored conversations of the episode."""
        return [event.scored() for event in collaboration_events(log)]

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric by name. The initiating and responding capabilities (IC, RC) are
        None if there is no scored conversation. RC leaves out conversations in which the other cook had no
        turn."""
        events = collaboration_events(log)
        answered = [event for event in events if event.had_turn]
        requests = sum(event.request_right for event in events)
        responses = sum(event.response_right for event in answered)
        return {
            "initiating_capability": requests / len(events) if events else None,
            "responding_capability": responses / len(answered) if answered else None,
            "ites_request_mean": fmean(event.request_gain for event in events) if events else None,
            "ites_response_mean": fmean(event.response_gain for event in answered) if answered else None,
            "requests_right": requests,
            "requests_wrong": len(events) - requests,
            "responses_right": responses,
            "responses_wrong": len(answered) - responses,
            "rounds": sum(_rounds(log).values()),
            **self._by_seat(log),
        }

    def _by_seat(self, log: EpisodeLog) -> dict[str, int]:
        seats, found = seats_of_log(log), Counter[tuple[str, int]]()
        written = [one for one in log.messages if one.kind in TALK_KINDS and not one.data.get(BY_PLATFORM)]
        senders = (one.sender for one in written if one.sender is not None)
        found.update(("messages", seats[sender]) for sender in senders if sender in seats)
        found.update({("rounds", seats[one]): count for one, count in _rounds(log).items() if one in seats})
        found.update(("failed_checks", one.seat) for one in (*_refused(log), *_corrected(log)))
        events = (event for step in log.steps for event in step.events if event.seat in SEATS)
        found.update(("failed_checks", event.seat or 0) for event in events if _is_illegal_plan(event))
        for decision in log.decisions:
            if (seat := seats.get(decision.member)) is not None:
                for of_seat, process in processes_in(decision.note, seat):
                    found["format_errors", of_seat] += process.get("format_errors", 0)
                    found["corrections_helped", of_seat] += process.get("helped", 0)
                    found["tokens", of_seat] += process.get(TOKENS_KEY, 0)
        return {f"{name}_{SEAT_NAMES[seat]}": found[name, seat] for name in _COUNTS for seat in SEATS}


class SpokenMessage(NamedTuple):
    """One message of a conversation. `conversation` identifies the episode and the step in which it was
    held."""

    conversation: tuple[Any, ...]
    sender: int
    kind: str
    content: Json
    """The result of `message_content`, by which repetitions are found."""


def rounds_spoken(talk: Iterable[SpokenMessage]) -> Iterator[SpokenMessage]:
    """Yield the messages that count as rounds: those of the member that spoke first in their conversation. A
    message that ends a conversation is not counted: `END`, or a message that repeats an earlier one."""
    opener: dict[tuple[Any, ...], int] = {}
    said: list[tuple[tuple[Any, ...], Json]] = []
    for message in talk:
        first = opener.setdefault(message.conversation, message.sender)
        if message.kind == END or first != message.sender:
            continue
        content = (message.conversation, message.content)
        if content not in said:
            yield message
        said.append(content)


def _rounds(log: EpisodeLog) -> Counter[int]:
    """Return the number of rounds that each member spoke, by member."""
    talk = (
        SpokenMessage((one.step,), one.sender, one.kind, message_content(one.text, one.data))
        for one in log.messages
        if one.kind in TALK_KINDS and one.sender is not None
    )
    return Counter(message.sender for message in rounds_spoken(talk))


def _refused(log: EpisodeLog) -> Iterator[FailedCheck]:
    for step in log.steps:
        for event in step.events:
            if event.kind == "refused" and event.seat in SEATS:
                yield FailedCheck(step.number, event.seat, event.data["reasons"][0], "command")


def _dropped_plans(log: EpisodeLog) -> Iterator[FailedCheck]:
    """Yield the failed checks that ended plans. The log does not contain their codes, so the episode is
    played again to find them."""
    if not any(map(_is_illegal_plan, (event for step in log.steps for event in step.events))):
        return
    world = CollabOvercooked.create(seats=log.seats, settings=log.settings)
    world.reset(log.seed)
    for step in log.steps:
        world.step({each.seat: each.command for each in step.commands})
        for event in filter(_is_illegal_plan, step.events):  # checked in the state after the step
            if event.seat in SEATS:
                code = world.why_not(event.seat, tuple(event.data["left"][0]))
                yield FailedCheck(step.number, event.seat, code, "plan")


def _is_illegal_plan(event: Event) -> bool:
    return event.kind == REASON_PLAN_BROKEN and event.data["why"] == PLAN_ILLEGAL


def _corrected(log: EpisodeLog) -> Iterator[FailedCheck]:
    seats = seats_of_log(log)
    for decision in log.decisions:
        if (seat := seats.get(decision.member)) is not None:
            for of_seat, process in processes_in(decision.note, seat):
                codes = process.get("failed_checks", ())
                yield from (FailedCheck(decision.step, of_seat, code, "reply") for code in codes)


def processes_in(of_decision: Json, seat: int) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """Yield (seat, counts) for each seat that a decision's note is about.

    The counts are those under `PROCESS_KEY`: format errors, failed checks, helpful corrections and tokens. An
    agent with both seats stores a note for each seat, under the seat's number. The note of an agent with one
    seat is about `seat`.
    """
    note = of_decision if isinstance(of_decision, dict) else {}
    for turn in (*note.get(DIALOGUE_KEY, ()), note):
        if isinstance(turn, dict):
            by_seat = {each: turn[str(each)] for each in SEATS if str(each) in turn} or {seat: turn}
            for each, of_seat in by_seat.items():
                if isinstance(of_seat, dict) and isinstance(of_seat.get(PROCESS_KEY), dict):
                    yield each, of_seat[PROCESS_KEY]


LOG_MEASURES = CollaborationMetrics()
