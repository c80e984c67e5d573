"""Prepare one step of an episode without people.

The module finds the players that already have a command, and the agents that must be asked. For each of these
agents, it builds the situation, which is everything that the agent may know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from kitchen.agents.agent_team import DecisionEffect, DecisionMade, Team
from kitchen.agents.asking_schedule import AskingSchedule
from kitchen.contract.agent import (
    EVERYBODY,
    REASON_PLAN_BROKEN,
    REASON_SEAT,
    REASON_TO_ANSWER,
    DecisionLimits,
    DecisionRequest,
    Situation,
    TeamTalk,
)
from kitchen.contract.answer_delays_and_reminders import reminder_reason
from kitchen.contract.automatic_commands import (
    PLAN_STALE,
    THINKING,
    WAITING,
    AutomaticCommand,
    Plan,
    drop_plans_at_end,
    open_turn,
    plans_for_agent,
)
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.episode_log import LoggedDecision, LoggedStep, is_goal_reached
from kitchen.contract.mailbox import LastHeard, Mailbox, reason_with_news, with_aims_of_others
from kitchen.contract.organisation import Member
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event, Json, World

USUAL_LIMITS = DecisionLimits()


class StepOpening:
    """An episode without people at the start of a step. It begins at the present state of the game."""

    def __init__(
        self,
        game: World,
        seed: int,
        team: Team,
        settings: Mapping[str, Json] = MappingProxyType({}),
        goal: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Begin an episode with this team. `settings` are the world's settings, for the log. `goal` has the
        metrics' values at which the episode ends."""
        self.game, self.seed, self.team, self.settings = game, seed, team, settings
        self.goal = goal
        self._seats = {seat for member in team.members for seat in member.seats}
        self.memories: dict[int, Json] = {}
        """The memory of each member, by its number."""
        self.events: tuple[Event, ...] = ()
        """Events of the last step."""
        self.plans: dict[int, Plan] = {}
        self.mailbox = Mailbox(team.organisation) if team.organisation else None
        organisation = team.organisation
        self.schedule = AskingSchedule(organisation) if organisation and organisation.is_timed else None
        """The schedule of who is asked when; None if all are asked for each step."""
        self.effects: tuple[DecisionEffect, ...] = ()
        """The results of the delayed decisions that take effect in the coming step."""
        self._heard: dict[int, LastHeard] = {}
        self._steps: list[LoggedStep] = []
        self._decisions: list[LoggedDecision] = []
        self.filled: dict[int, AutomaticCommand] = {}
        """The coming step's commands of seats that are not asked, by seat."""
        self._begun: set[int] = set()
        """Seats with a command of a delayed decision in the coming step."""
        self.may_act: set[int] = set()
        """The `filled` seats that may be commanded all the same, during a lasting action."""
        self.asked_members: list[Member] = []
        """The members that must decide on the coming step, in order."""
        self._open()
        self._see_who_is_asked()

    @property
    def is_over(self) -> bool:
        """Return True if the episode has ended."""
        return self.game.has_ended or is_goal_reached(self.goal, self.game.score())

    @property
    def settled(self) -> dict[int, Command]:
        """Return the commands for the coming step that are already fixed, by seat."""
        return {seat: each.command for seat, each in self.filled.items() if seat not in self.may_act}

    @property
    def memory(self) -> Json:
        """Return the memory of the only member, or a list with the memory of each member. None before the
        first decision."""
        numbers = [member.number for member in self.team.members]
        if len(numbers) == 1 or not self.memories:
            return self.memories.get(numbers[0])
        return [self.memories[number] for number in numbers]

    def _see_who_is_asked(self) -> None:
        members = () if self.is_over else self.team.members
        if self.schedule and self.schedule.organisation.delays_answers and members:
            self._delay_answers(self.schedule)
        for member in members:
            free = self.may_act & set(member.seats)
            if free and self._may_interrupt(member) and self._has_news(member):
                self.may_act -= free
                self.filled = {seat: each for seat, each in self.filled.items() if seat not in free}
        self.asked_members = [member for member in members if self._is_asked(member)]
        if self.schedule and members:
            self._ask_by_schedule(self.schedule)

    def _delay_answers(self, schedule: AskingSchedule) -> None:
        assert self.mailbox  # noqa: S101 - a schedule belongs to an organisation
        step = self.game.clock + 1
        filled = {seat: (each.chosen_by, each.command) for seat, each in self.filled.items()}
        messages = {member.number: self._talk(member).messages for member in self.team.members}
        schedule.delay_answers(step, self.game, filled, messages, self.mailbox.partners(step))

    def _is_asked(self, member: Member) -> bool:
        if any(seat not in self.filled for seat in member.seats):
            return True
        if self.schedule:
            return self.schedule.is_called(
                member, self._begun, lambda: self._has_news(member) or self._reminder(member) != ""
            )
        return not member.seats and (len(self.filled) < self.game.seats or self._has_news(member))

    def _may_interrupt(self, member: Member) -> bool:
        """Return whether this member can be asked although all of its seats are busy."""
        return self.schedule is None or self.schedule.is_interruptible(member, self._begun)

    def _reminder(self, member: Member) -> str:
        if self.schedule is None:
            return ""
        talk, asked_in = self._talk(member), self.schedule.asked_in.get(member.number, 0)
        return reminder_reason(member.number, self.game.clock + 1, asked_in, talk.jobs, talk.messages)

    def _ask_by_schedule(self, schedule: AskingSchedule) -> None:
        """Ask only the members that the schedule selects for this step. Seats of the others do nothing."""
        assert self.mailbox  # noqa: S101 - a schedule belongs to an organisation
        wants = {member.number for member in self.asked_members}
        heard = {number: last.number for number, last in self._heard.items()}
        now = schedule.activity(wants, self.filled, self.mailbox.open_jobs, heard)
        asked = schedule.members_to_ask(self.game.clock + 1, now)
        self.asked_members = [member for member in self.team.members if member.number in asked]
        for member in self.team.members:
            why = THINKING if member.number in schedule.thinking else WAITING
            for seat in member.seats if member.number not in asked else ():
                self.filled.setdefault(seat, AutomaticCommand(seat, self.game.idle, why))

    def _has_news(self, member: Member) -> bool:
        messages = self._talk(member).messages
        if self.schedule:
            return self.schedule.is_called_by(member.number, messages)
        return any(said.is_new for said in messages)

    def situation(self, member: Member, limits: DecisionLimits = USUAL_LIMITS) -> Situation:
        """Return the situation of this member. Commands that others choose for the coming step are not
        included."""
        game, seats, talk = self.game, member.seats, self._talk(member)
        asked = tuple(seat for seat in seats if seat not in self.filled)
        seen = talk.organisation.seats_seen(member.number) if talk.organisation else seats
        return Situation(
            world=game.kind,
            step=game.clock,
            seats=seats,
            briefs={seat: game.brief(seat) for seat in seats},
            observations={seat: game.observe(seat) for seat in seen},
            legal={seat: game.legal_actions(seat) for seat in seats},
            commanded={seat: command for seat, command in self.settled.items() if seat in seats},
            events=tuple(event for event in self.events if self._sees(member, event)),
            memory=self.memories.get(member.number),
            late=self.schedule.late.get(member.number, ()) if self.schedule else (),
            seed=self._seed(member),
            plans=plans_for_agent(game, seats, self.plans, game.clock + 1),
            request=DecisionRequest(
                because=self._because(member, asked, talk.messages),
                asked=asked if len(asked) < len(seats) else None,
                may_act=tuple(seat for seat in seats if seat in self.may_act),
                knowing=EVERYBODY if len(self.team.members) == 1 else self.team.knowing,
            ),
            talk=talk,
            limits=limits,
        )

    def _because(self, member: Member, asked: Collection[int], messages: Sequence[TeamMessage]) -> str:
        """Return the code of the reason why a member is asked: to answer a message, a dropped plan, news, or
        a reminder. If there is none of these, it is simply the seats' turn to choose."""
        if member not in self.asked_members:
            return REASON_TO_ANSWER
        reason = reason_with_news(self.reason(asked), messages)
        return (self._reminder(member) or reason) if reason == REASON_SEAT else reason

    def _sees(self, member: Member, event: Event) -> bool:
        return any(self.game.visible(seat, event) for seat in member.seats)

    def _known(self, member: Member, commanded: Mapping[int, Command]) -> dict[int, Command]:
        """Return those of the commands in `commanded` that at least one of the member's seats may know."""
        return {
            seat: command
            for seat, command in commanded.items()
            if seat in member.seats
            or self._sees(member, Event("commanded", seat, {"command": list(command)}))
        }

    def _seed(self, member: Member) -> int:
        drawn = derived_seed(self.seed, self.game.clock)
        return drawn if len(self.team.members) == 1 else derived_seed(drawn, member.number)

    def reason(self, asked: Collection[int]) -> str:
        """Return the code of the reason why these seats are asked, apart from messages: a dropped plan of one
        of them, or simply their turn to choose."""
        broken = {
            event.seat
            for event in self.events
            if event.kind == REASON_PLAN_BROKEN and event.data["why"] != PLAN_STALE
        }
        return REASON_PLAN_BROKEN if broken & set(asked) else REASON_SEAT

    def _talk(self, member: Member) -> TeamTalk:
        if self.mailbox is None:
            return TeamTalk()
        since = self._heard.get(member.number, LastHeard())
        messages, jobs = self.mailbox.messages_for(self.game, member.number, self.game.clock + 1, since)
        talk = TeamTalk(self.team.organisation, member.number, messages, jobs)
        return with_aims_of_others(talk, self.game)

    def _plans_of(self, made: DecisionMade, step: int) -> dict[int, Plan]:
        """Return the plans that a decision has for the steps after this one, by seat."""
        return {
            seat: Plan(tuple(then), made.played_by, made.fallback, step).in_place_of(self.plans.get(seat))
            for seat, then in made.plans.items()
            if then or seat in self.plans
        }

    def _take_due(self) -> list[tuple[DecisionMade, DecisionEffect]]:
        """Apply the delayed decisions that take effect in the coming step. Return each of them with its
        effect. Commands and plans that are no longer possible are dropped."""
        self._begun = set()
        if self.schedule is None or self.is_over:
            return []
        number, done = self.game.clock + 1, []
        for made in self.schedule.take_due(number):
            asked_in = self.schedule.asked_in[made.member]
            stale = self.schedule.stale_commands(made, self.game, self.settled)
            self.events = (*self.events, *self.schedule.stale_events(made, stale))
            for seat, command in made.commands.items():
                if seat not in stale:
                    by, why = made.played_by, made.fallback
                    self.filled[seat] = AutomaticCommand(seat, command, by, why, planned_in=asked_in)
                    self._begun.add(seat)
                    self.may_act.discard(seat)
            kept = {seat: plan for seat, plan in self._plans_of(made, number).items() if seat not in stale}
            self.plans |= kept
            done.append((made, DecisionEffect(made.member, asked_in, stale)))
        return done

    def _open(self) -> None:
        """Open the next step: fill in the commands of seats that are not asked."""
        if self.is_over:
            opened = drop_plans_at_end(self.plans)
        else:
            seats = range(self.game.seats)
            opened = open_turn(self.game, seats, self.plans, passes_by=self.game.passes_by)
        self.events, self.plans = (*self.events, *opened.broken), opened.plans
        self.filled = {each.seat: each for each in opened.filled}
        self.may_act = set(opened.may_act)
