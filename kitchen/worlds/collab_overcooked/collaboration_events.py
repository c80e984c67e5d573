"""Find the conversations of an episode that the collaboration metrics score, and judge each of them.

Each such conversation is called an event. By default, these are the conversations that the chef opened. The
setting `score_openers` adds those that the assistant opened. The request is right if it makes the assistant's
work more efficient. The response is right if the assistant's plan does so. ITES (`collaboration_scores`)
measures this gain, which must be above 0.

IC is the share of events with a right request. RC is the share with a right response, among the events in
which the other cook had a turn. Source: Collab-Overcooked (ACL 2025), section 4, and the released code.
"""

# Each conversation that the chef opens is one event (the setting `score_openers` can add the assistant's).
# The other cook is the responder. h are the macros that the responder completed before the step.
#
# - The request is right if ITES(R, h) > 0. R are the macros that the opener requested in this conversation,
#   as data of messages (`REQUESTS_KEY`). Macros that the responder could never carry out are left out.
# - The response is right if ITES(P, h) > 0. P is the first plan of the responder in this conversation that
#   has more than waits. A message contains the plan of its sender (`PLAN_KEY`). If no message has one, P are
#   the commands that the responder gave in this step, including those planned for later steps.
# - The responder had no turn if it was in the middle of a macro or of a plan, and neither wrote, planned nor
#   decided in this step. Then the event says nothing about its responses, and RC leaves it out.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.episode_log import EpisodeLog, EventColumn, LoggedStep, ScoredEvent
from kitchen.contract.organisation import TALK_KINDS
from kitchen.contract.team_messages import CODE_KEY, PLAN_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.chef_requests import COURTESIES
from kitchen.worlds.collab_overcooked.collaboration_scores import helps, ites, tes
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import GO_ON, WAIT, is_known_macro, spelled
from kitchen.worlds.collab_overcooked.reference_trajectories import ReferencePair, references
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS
from kitchen.worlds.collab_overcooked.settings import SCORED_OPENERS, SETTINGS

CODE_WORDS = ("both right", "only the request right", "only the response right", "neither right")
"""The code of an event, from 0, in words."""
NO_TURN_WORDS = ("the request wrong, no turn to answer", "the request right, no turn to answer")
"""The result of an event whose responder had no turn, by whether the request was right."""
EVENT_COLUMNS = (
    EventColumn("opener", "integer", "Seat that opened the conversation", "0 (chef), 1 (assistant)"),
    EventColumn(
        "history",
        "text",
        "Macros of the other seat that took effect in earlier steps, with semicolons between (h)",
    ),
    EventColumn(
        "requests", "text", "Macros that the opener requested of the other seat, likewise (R); blank if none"
    ),
    EventColumn(
        "response",
        "text",
        "Macros that the other seat planned in its first answer with any, likewise (P); blank if none",
    ),
    EventColumn("tes_before", "number", "Trajectory efficiency score of the history, TES(h)"),
    EventColumn("ites_request", "number", "TES(h followed by R) - TES(h); 0 without a request"),
    EventColumn(
        "ites_response",
        "number",
        "TES(h followed by P) - TES(h); 0 without a plan; blank if the other seat had no turn",
    ),
    EventColumn("request_right", "boolean", "1 if ites_request is above 0; its share is IC"),
    EventColumn(
        "response_right",
        "boolean",
        "1 if ites_response is above 0; its share is RC; blank if the other seat had no turn",
    ),
    EventColumn(
        "code",
        "integer",
        "Both signs as one code; blank if the other seat had no turn",
        "; ".join(f"{code} ({words})" for code, words in enumerate(CODE_WORDS)),
    ),
)


@dataclass(frozen=True, slots=True)
class CollaborationEvent:
    """One conversation that the metrics score, with the macros and scores by which it was judged."""

    step: int
    """The step of the conversation, from 1."""
    messages: tuple[int, ...]
    """Numbers of its messages."""
    opener: int
    history: tuple[Command, ...]
    """What the responder had completed before this step (h)."""
    requests: tuple[Command, ...]
    response: tuple[Command, ...]
    tes_before: float
    """TES(h)"""
    request_gain: float
    """ITES(R, h)"""
    response_gain: float
    """ITES(P, h)"""
    request_right: bool
    response_right: bool
    had_turn: bool = True
    """False if the responder was busy and was not asked, so that its response is not scored."""

    @property
    def code(self) -> int:
        """Return the result as a number from 0 (both request and response right) to 3 (neither right). It
        is an index of `CODE_WORDS`."""
        return 2 * (not self.request_right) + (not self.response_right)

    def scored(self) -> ScoredEvent:
        """Return the event in the general form in which exports and replays show scored events."""
        words = CODE_WORDS[self.code] if self.had_turn else NO_TURN_WORDS[self.request_right]
        return ScoredEvent(self.step, words, self.messages, self._values(), tuple(self._explanation()))

    def _values(self) -> dict[str, Json]:
        """Return the value of each of `EVENT_COLUMNS`."""
        return {
            "opener": self.opener,
            "history": spelled(self.history),
            "requests": spelled(self.requests),
            "response": spelled(self.response),
            "tes_before": round(self.tes_before, 6),
            "ites_request": round(self.request_gain, 6),
            "ites_response": round(self.response_gain, 6) if self.had_turn else None,
            "request_right": self.request_right,
            "response_right": self.response_right if self.had_turn else None,
            "code": self.code if self.had_turn else None,
        }

    def _explanation(self) -> Iterator[str]:
        asker, worker = SEAT_NAMES[self.opener], SEAT_NAMES[1 - self.opener]
        for who, did, macros, gain, is_right in (
            (asker, "requested", self.requests, self.request_gain, self.request_right),
            (worker, "planned", self.response, self.response_gain, self.response_right),
        ):
            if who == worker and not self.had_turn:
                yield f"The {who} was busy and had no turn to answer: no response is scored."
                return
            yield f"The {who} {did}: {spelled(macros) or 'nothing'}."
            after = self.tes_before + gain
            scores = f"TES of the {worker} {self.tes_before:.3f} \N{RIGHTWARDS ARROW} {after:.3f}"
            if is_right:
                yield f"Right: it brings the {worker} further along a reference trajectory ({scores})."
            elif macros:
                yield f"Wrong: it is repeated, premature or not needed ({scores})."
            else:
                yield "Wrong: without a macro, nothing counts as right."


def collaboration_events(log: EpisodeLog) -> list[CollaborationEvent]:
    """Return the conversations of an episode that the metrics score, in order of time. The setting
    `score_openers` says which cook must have opened a conversation for it to be scored."""
    chosen = clean_settings(SETTINGS, log.settings)
    openers = SCORED_OPENERS[chosen["score_openers"]]
    known = references(chosen["task"])
    talks = ((step, list(said)) for step, said in groupby(_talk(log), key=lambda one: one.step))
    seats = {member.number: member.seats for member in log.organisation.members} if log.organisation else {}
    opened = ((step, said, seats.get(said[0].sender or 0, ())) for step, said in talks)
    return [
        _event(log, step, held[0], said, known) for step, said, held in opened if held and held[0] in openers
    ]


def _talk(log: EpisodeLog) -> Iterator[TeamMessage]:
    """Yield what the cooks said to one another. The stand-in's fixed praise is left out: it asks for nothing
    and opens no conversation."""
    said = (one for one in log.messages if one.kind in TALK_KINDS and one.sender is not None)
    return (one for one in said if one.data.get(CODE_KEY) not in COURTESIES)


def _event(
    log: EpisodeLog, step: int, opener: int, said: Sequence[TeamMessage], pairs: Sequence[ReferencePair]
) -> CollaborationEvent:
    responder = 1 - opener
    history = tuple(effective_macros(log.steps, responder, before=step))
    requests = tuple(_requests(said, opener, responder))
    response = tuple(macro for macro in _response(log, step, said, responder) if macro[0] != WAIT)
    known = [pair.of_seat(responder) for pair in pairs]
    return CollaborationEvent(
        step,
        tuple(message.number for message in said),
        opener,
        history,
        requests,
        response,
        tes(history, known),
        ites(requests, history, known) if requests else 0.0,
        ites(response, history, known) if response else 0.0,
        helps(requests, history, known),
        helps(response, history, known),
        _had_turn(log, step, said, responder),
    )


def _had_turn(log: EpisodeLog, step: int, said: Iterable[TeamMessage], responder: int) -> bool:
    """Return whether the seat `responder` could answer in this step.

    It could not if its command came from the world or from an earlier plan, and its member neither wrote
    nor decided nor planned.
    """
    seats = seats_of_log(log)
    if any(one.sender is not None and seats.get(one.sender) == responder for one in said):
        return True
    if any(one.step == step and seats.get(one.member) == responder for one in log.decisions):
        return True
    given = [one for taken in log.steps if taken.number == step for one in taken.commands]
    automatic = [
        one.chosen_by in NOT_ASKED or one.planned_in is not None for one in given if one.seat == responder
    ]
    return not all(automatic) or not automatic or bool(_commanded(log.steps, step, responder))


def effective_macros(steps: Iterable[LoggedStep], seat: int, *, before: int) -> Iterator[Command]:
    """Yield the macros (commands that last several steps) of this seat that took effect before step number
    `before`."""
    for logged in steps:
        if logged.number >= before:
            return
        for event in logged.events:
            if event.kind == "done" and event.seat == seat:
                yield tuple(event.data["macro"])


def _requests(said: Iterable[TeamMessage], opener: int, responder: int) -> Iterator[Command]:
    for message in said:
        if message.sender == opener:
            macros = commands_in(message.data, REQUESTS_KEY)
            yield from (one for one in macros if is_known_macro(food_rules(), responder, one))


def _response(log: EpisodeLog, step: int, said: Sequence[TeamMessage], responder: int) -> list[Command]:
    for message in said:
        if message.sender == responder:
            plan = commands_in(message.data, PLAN_KEY)
            if any(macro[0] != WAIT for macro in plan):
                return plan
    return _commanded(log.steps, step, responder)


def _commanded(steps: Iterable[LoggedStep], step: int, seat: int) -> list[Command]:
    """Return the commands that a seat gave in this step, both for this step and for later steps."""
    found: list[Command] = []
    for logged in steps:
        for each in logged.commands:
            own = each.seat == seat and each.chosen_by not in NOT_ASKED and each.command != GO_ON
            if own and (logged.number if each.planned_in is None else each.planned_in) == step:
                found.append(each.command)
        for event in logged.events:
            if event.kind == "plan_broken" and event.seat == seat and event.data["planned_in"] == step:
                found += map(tuple, event.data["left"])
    return found


def seats_of_log(log: EpisodeLog) -> Mapping[int, int]:
    """Return the seat of each member, by the member's number. Members without a seat are left out."""
    if log.organisation is None:
        return {seat: seat for seat in SEATS}
    return {one.number: one.seats[0] for one in log.organisation.members if one.seats}
