"""Collect everything that the dispatcher knows about a step before it gives commands.

The dispatcher is a language model that commands several robots. The module also spells commands as the model
must write them in its replies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from kitchen.contract.agent import NO_ONE, REASON_TO_ANSWER, LateDecision, Situation
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim, Command, Event, Json
from kitchen.worlds.cuisine.dispatcher.command_check import CommandedTeam, agent_name, spell_command
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand


@dataclass(frozen=True, slots=True)
class KitchenMoment:
    """All facts about one step that the dispatcher uses before it gives commands."""

    brief: Mapping[str, Json]
    observation: Mapping[str, Json]
    team: CommandedTeam
    commanded: Mapping[int, Command] = field(default_factory=dict)
    """Commands of this step that run before the dispatcher's new ones: first those of others, then those of
    its settled seats."""
    events: tuple[Event, ...] = ()
    """Events of the last step."""
    organisation: Organisation | None = None
    """The organisation, if people and co-players may write to each other; else None."""
    member: int = 0
    messages: tuple[TeamMessage, ...] = ()
    """Messages to and from the dispatcher."""
    jobs: tuple[Job, ...] = ()
    """Open jobs that the dispatcher received or gave."""
    aims: Mapping[int, Sequence[Aim]] = field(default_factory=dict)
    """The aims that each member that it may command can be asked for, by number."""
    late: tuple[LateDecision, ...] = ()
    """Decisions of the dispatcher that came too late."""
    sees_people: bool = True
    """True if the dispatcher learns people's commands of a step before it decides."""
    only_answers: bool = False
    """True if the dispatcher may only answer messages; the rest of its reply is ignored."""

    @classmethod
    def of(cls, situation: Situation) -> Self:
        """Return the facts of this situation as seen from the agent's first seat. All seats observe the
        same."""
        seat = situation.seats[0]
        brief, observation = situation.briefs[seat], situation.observations[seat]
        people = tuple(each for each in situation.people if each not in situation.seats)
        asked = situation.seats if situation.request.asked is None else situation.request.asked
        settled = tuple(sorted(set(situation.seats) - set(asked)))
        agents, mine = len(observation["agents"]), tuple(sorted(situation.seats))
        team = CommandedTeam(agents, mine, tuple(sorted(people)), settled)
        others = {s: c for s, c in situation.commanded.items() if s not in situation.seats}
        ours = {s: c for s, c in situation.commanded.items() if s in settled}
        moment = cls(brief, observation, team, {**others, **ours}, situation.events)
        moment = replace(moment, sees_people=situation.request.knowing != NO_ONE, late=situation.late)
        if situation.talk.organisation is None or situation.talk.organisation.is_silent:
            return moment
        return replace(
            moment,
            organisation=situation.talk.organisation,
            member=situation.talk.member,
            messages=situation.talk.messages,
            jobs=situation.talk.jobs,
            aims=situation.talk.aims,
            only_answers=situation.request.because == REASON_TO_ANSWER,
        )


NO_ARGUMENT = "none"
"""The value for no location or item in the structured reply."""


def command_object(seat: int, command: Command) -> dict[str, str]:
    """Return the command as an object of a structured reply, with the keys `agent`, `verb`, `location` and
    `item`."""
    verb, location, item = (*command, NO_ARGUMENT, NO_ARGUMENT, NO_ARGUMENT)[:3]
    return {"agent": agent_name(seat), "verb": verb, "location": location, "item": item}


def spell_commands(given: Iterable[GivenCommand], *, as_tool: bool) -> str:
    """Return several commands as the model must write them: as JSON if `as_tool`, else one per line."""
    if as_tool:
        return json.dumps({"commands": [command_object(*each) for each in given]})
    return "\n".join(spell_command(*each) for each in given)
