"""Collect what the agent `blocks_dispatcher` knows about a step: the state, its players, and the people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from kitchen.contract.agent import REASON_TO_ANSWER, Situation
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import ANSWER, SAY, Organisation
from kitchen.contract.world import Command, Json
from kitchen.words.quoted_messages import plain_letters


def agent_name(seat: int) -> str:
    """Return the name of a seat's player in prompts: `agent1` for seat 1."""
    return f"agent{seat}"


@dataclass(frozen=True, slots=True)
class KitchenView:
    """The facts about one step that the dispatcher uses."""

    brief: Mapping[str, Json]
    observation: Mapping[str, Json]
    mine: tuple[int, ...]
    """The seats that the dispatcher commands."""
    asked: tuple[int, ...]
    """Those of them that need an action now."""
    people: tuple[int, ...]
    """Seats of people."""
    commanded: Mapping[int, Command]
    """Known commands of this step."""
    organisation: Organisation | None
    """The organisation, if people and agents may write to each other; else None."""
    member: int
    only_answers: bool
    """True if the dispatcher may only answer messages; its actions are ignored."""
    jobs: tuple[Job, ...] = ()
    """Open jobs that the dispatcher got, oldest first."""

    @classmethod
    def of(cls, situation: Situation) -> Self:
        """Return the facts of this situation, from its first seat, because all seats observe the same."""
        first, talk = situation.seats[0], situation.talk
        team = talk.organisation if talk.organisation and not talk.organisation.is_silent else None
        asked = situation.seats if situation.request.asked is None else situation.request.asked
        return cls(
            situation.briefs[first],
            situation.observations[first],
            tuple(sorted(situation.seats)),
            tuple(sorted(asked)),
            tuple(sorted(set(situation.people) - set(situation.seats))),
            {seat: do for seat, do in situation.commanded.items() if seat not in asked},
            team,
            talk.member,
            team is not None and situation.request.because == REASON_TO_ANSWER,
            tuple(job for job in talk.jobs if job.worker == talk.member) if team else (),
        )

    @property
    def talks(self) -> bool:
        """Return True if the dispatcher may write to somebody."""
        return self.organisation is not None and bool(self.organisation.to(self.member, ANSWER))

    @property
    def addressees(self) -> dict[str, int]:
        """Return the members to whom the dispatcher may write, by name: `agent1`, or the name of a member
        without a player."""
        if self.organisation is None:
            return {}
        members = map(self.organisation.member, self.organisation.to(self.member, SAY))
        return {agent_name(one.seats[0]) if one.seats else one.name: one.number for one in members}

    def addressee(self, name: str) -> int | None:
        """Return the number of the member that a model names, such as `agent 1`; None if there is none."""
        plain = {plain_letters(known): number for known, number in self.addressees.items()}
        return plain.get(plain_letters(name))

    @property
    def is_led(self) -> bool:
        """Return True if some member may give the dispatcher jobs."""
        return self.organisation is not None and bool(self.organisation.commanders_of(self.member))

    @property
    def others(self) -> tuple[int, ...]:
        """Return the seats that neither the dispatcher nor a person commands."""
        every = range(len(self.observation["players"]))
        return tuple(seat for seat in every if seat not in (*self.mine, *self.people))

    def holds(self, seat: int) -> list[str]:
        """Return what a player holds, such as `2 oak_log`."""
        held: Mapping[str, int] = self.observation["players"][seat]["holds"]
        return [f"{amount} {item}" for item, amount in held.items()]
