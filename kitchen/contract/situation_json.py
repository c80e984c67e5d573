"""Convert an agent's situation (all that it may know in a step) to JSON and back.

Some agents decide while the game continues. Their situations are stored, so that any process can ask them
later. The limits of time and money are not stored, because they depend on the process that asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kitchen.contract.agent import DecisionRequest, LateDecision, Situation, TeamTalk
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event, Json

_PLAIN = ("world", "step", "memory", "seed")


def situation_to_json(situation: Situation) -> dict[str, Json]:
    """Return the situation as JSON, without its organisation and its limits."""
    request, talk = situation.request, situation.talk
    return {
        **{name: getattr(situation, name) for name in _PLAIN},
        "seats": list(situation.seats),
        "people": list(situation.people),
        "briefs": _by_number(situation.briefs),
        "observations": _by_number(situation.observations),
        "legal": _commands_by_number(situation.legal),
        "plans": _commands_by_number(situation.plans),
        "commanded": {str(seat): list(command) for seat, command in situation.commanded.items()},
        "events": [[event.kind, event.seat, dict(event.data)] for event in situation.events],
        "late": [_late_to_json(late) for late in situation.late],
        "request": {**asdict(request), "asked": None if request.asked is None else list(request.asked)},
        "talk": {
            "member": talk.member,
            "messages": [asdict(said) for said in talk.messages],
            "jobs": [asdict(job) for job in talk.jobs],
            "taken_over": talk.taken_over,
            "aims": _commands_by_number(talk.aims),
            "public_brief": dict(talk.public_brief),
            "public_state": dict(talk.public_state),
        },
    }


def situation_from_json(stored: Mapping[str, Json], organisation: Organisation | None) -> Situation:
    """Return the situation that `situation_to_json` wrote, with default limits. `organisation` is the
    organisation of the episode."""
    request, talk = stored["request"], stored["talk"]
    asked = request["asked"]
    return Situation(
        **{name: stored[name] for name in _PLAIN},
        seats=tuple(stored["seats"]),
        people=tuple(stored["people"]),
        briefs=_from_numbers(stored["briefs"]),
        observations=_from_numbers(stored["observations"]),
        legal=_commands_from_numbers(stored["legal"]),
        plans=_sequences_from_numbers(stored["plans"]),
        commanded={int(seat): tuple(command) for seat, command in stored["commanded"].items()},
        events=tuple(Event(kind, seat, data) for kind, seat, data in stored["events"]),
        late=tuple(_late_from_json(late) for late in stored["late"]),
        request=DecisionRequest(
            **{
                **request,
                "asked": None if asked is None else tuple(asked),
                "may_act": tuple(request["may_act"]),
            }
        ),
        talk=TeamTalk(
            organisation,
            talk["member"],
            tuple(TeamMessage(**{**said, "to": tuple(said["to"])}) for said in talk["messages"]),
            tuple(_job_from_json(job) for job in talk["jobs"]),
            talk["taken_over"],
            _sequences_from_numbers(talk["aims"]),
            talk["public_brief"],
            talk.get("public_state", {}),  # an earlier version did not store it
        ),
    )


def _by_number(values: Mapping[int, Mapping[str, Json]]) -> dict[str, Json]:
    return {str(number): dict(value) for number, value in values.items()}


def _from_numbers(stored: Mapping[str, Json]) -> dict[int, Any]:
    return {int(number): value for number, value in stored.items()}


def _commands_by_number(values: Mapping[int, Sequence[Command]]) -> dict[str, Json]:
    return {str(number): [list(command) for command in several] for number, several in values.items()}


def _commands_from_numbers(stored: Mapping[str, Json]) -> dict[int, list[Command]]:
    return {int(number): [tuple(command) for command in several] for number, several in stored.items()}


def _sequences_from_numbers(stored: Mapping[str, Json]) -> dict[int, tuple[Command, ...]]:
    return {number: tuple(several) for number, several in _commands_from_numbers(stored).items()}


def _late_to_json(late: LateDecision) -> Json:
    return [late.step, {str(seat): list(command) for seat, command in late.commands.items()}, late.stale]


def _late_from_json(stored: Sequence[Json]) -> LateDecision:
    step, commands, stale = stored
    return LateDecision(step, {int(seat): tuple(command) for seat, command in commands.items()}, stale)


def _job_from_json(stored: Mapping[str, Json]) -> Job:
    return Job(**{**stored, "aim": tuple(stored["aim"]), "held": tuple(stored["held"])})
