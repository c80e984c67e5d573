"""Decide which agents are asked in each step, and when their decisions take effect.

The rules apply when an organisation (the team's structure) asks its agents at different times.
`kitchen.contract.team_schedules.SCHEDULES` lists the possible schedules. An agent decides immediately, but
its decision takes effect `think_steps` steps later. Until then, its players continue their plans or wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Self

from kitchen.agents.agent_team import DecisionMade
from kitchen.contract.agent import REASON_PLAN_BROKEN, LateDecision
from kitchen.contract.answer_delays_and_reminders import AnswerDelays, BusyMembers, OpenAnswer
from kitchen.contract.assigned_jobs import ACCEPTED, STARTED, Job
from kitchen.contract.automatic_commands import NOT_ASKED, PLAN_STALE
from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.team_schedules import DROP, FREE, IN_ROUNDS, TAKE
from kitchen.contract.world import Command, Event, Json, World


@dataclass(frozen=True, slots=True)
class MemberActivity:
    """Sets of member numbers, grouped by what the members do at the start of a step."""

    wants: Set[int]
    """Members with a reason to be asked."""
    acting: Set[int]
    """Members with a seat whose command is known: a plan, a lasting action, or a delayed decision."""
    working: Set[int]
    """Members with a job that they accepted and did not give to somebody else."""
    called: Set[int]
    """Members with a new job that they have not heard of."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question to an agent that decides while the steps go on. Live play only."""

    due: int
    """The step in which its decision takes effect. 0: in the first step that opens after it has arrived."""
    heard: int
    """The number of the last message that the agent was told; 0 if there was none."""


class AskingSchedule:
    """Decide for one episode who is asked in each step, and hold the decisions that have not taken effect
    yet."""

    def __init__(self, organisation: Organisation) -> None:
        self.organisation = organisation
        self.pending: dict[int, DecisionMade] = {}
        """The decision of each member that has decided and still thinks for the others, by its number."""
        self.questions: dict[int, OpenQuestion] = {}
        """The question to each member that has not decided although its step went on, by its number."""
        self.asked_in: dict[int, int] = {}
        """The step in which each member was last asked."""
        self.late: dict[int, tuple[LateDecision, ...]] = {}
        """The information that each member must get about its last decision."""
        self.unsaid: dict[int, Json] = {}
        """Messages that could not be sent when a decision took effect, by member. Live play only."""
        self._answers = AnswerDelays({})
        self._delayed: set[int] = set()
        self._turn, self._turn_began = organisation.numbers[0], 1

    @classmethod
    def from_json(cls, organisation: Organisation, stored: Mapping[str, Json]) -> Self:
        """Read a schedule that `to_json` wrote."""
        schedule = cls(organisation)
        schedule.pending = {made["member"]: _pending_from_json(made) for made in stored["pending"]}
        questions = stored.get("questions", {}).items()
        schedule.questions = {int(number): OpenQuestion(*question) for number, question in questions}
        schedule.asked_in = {int(number): step for number, step in stored["asked_in"].items()}
        schedule.late = {
            int(number): (LateDecision(step, _commands_from_json(commands), stale=True),)
            for number, (step, commands) in stored["late"].items()
        }
        schedule.unsaid = {int(number): unsaid for number, unsaid in stored["unsaid"].items()}
        answers = stored.get("answers", {}).items()
        schedule._answers = AnswerDelays({int(number): OpenAnswer(**answer) for number, answer in answers})
        schedule._turn, schedule._turn_began = stored["turn"]
        return schedule

    def to_json(self) -> dict[str, Json]:
        """Return the schedule as JSON for storage, including decisions that take effect later."""
        answers = {str(number): asdict(answer) for number, answer in self._answers.open.items()}
        questions = {str(number): [one.due, one.heard] for number, one in self.questions.items()}
        return {
            "pending": [_pending_to_json(made) for _, made in sorted(self.pending.items())],
            "asked_in": {str(number): step for number, step in self.asked_in.items()},
            "late": {
                str(number): [late.step, _commands_to_json(late.commands)]
                for number, (late,) in self.late.items()
            },
            "unsaid": {str(number): unsaid for number, unsaid in self.unsaid.items()},
            "turn": [self._turn, self._turn_began],
            **({"answers": answers} if answers else {}),
            **({"questions": questions} if questions else {}),
        }

    @property
    def thinking(self) -> frozenset[int]:
        """Return the numbers of the members that are thinking, or whose decision takes effect in a later
        step."""
        return frozenset(self.pending) | self.questions.keys()

    def due_in(self, step: int, *, planned: bool) -> int:
        """Return the step in which a decision takes effect that was made in `step`. Return 0 if the decision
        was not `planned`: it then takes effect at once."""
        return step + self.organisation.least_think_steps if planned else 0

    def ask_later(self, member: int, step: int, heard: int) -> OpenQuestion:
        """Record that a member is asked in this step and may decide in a later one. `heard` is the number
        of the last message that the member has received. Return the question."""
        due = 0 if self.organisation.thinks_in_real_time else self.due_in(step, planned=True)
        self.asked_in[member] = step
        self.late.pop(member, None)
        self.questions[member] = OpenQuestion(due, heard)
        return self.questions[member]

    def due_of_answer(self, member: int, step: int) -> int:
        """Return the step in which a member's answer to its open question takes effect, if the answer arrives
        now. `step` is the current step."""
        return self.questions[member].due or step + 1

    def take_answer(self, made: DecisionMade) -> None:
        """Store a member's decision in place of the open question to this member."""
        del self.questions[made.member]
        self.pending[made.member] = made

    def awaits_answer(self, step: int) -> bool:
        """Return whether a decision that takes effect in this step has not arrived yet."""
        return any(question.due == step for question in self.questions.values())

    def remember(self, made: DecisionMade, step: int) -> None:
        """Record that a member was asked in this step. If the member's decision takes effect later, store
        the decision."""
        self.asked_in[made.member] = step
        self.late.pop(made.member, None)
        if made.due > step:
            self.pending[made.member] = made

    def take_due(self, step: int) -> list[DecisionMade]:
        """Remove and return the delayed decisions that take effect in this step. Their members can then be
        asked again."""
        due = [made for _, made in sorted(self.pending.items()) if made.due == step]
        for made in due:
            del self.pending[made.member]
        return due

    def stale_commands(
        self, made: DecisionMade, game: World, settled: Collection[int]
    ) -> Mapping[int, Command]:
        """Return the commands of a delayed decision that cannot be used any more, by seat. They are stored,
        so that the member learns about them when it is next asked.

        `settled` are the seats whose command for this step is fixed. Commands for these seats are never used.
        """
        stale = {
            seat: command
            for seat, command in made.commands.items()
            if seat in settled or not (self.organisation.stale == TAKE or game.allows(seat, command))
        }
        if stale and self.organisation.stale == DROP:
            stale = dict(made.commands)
        if stale:
            self.late[made.member] = (LateDecision(made.due, stale, stale=True),)
        return stale

    def stale_events(self, made: DecisionMade, stale: Mapping[int, Command]) -> list[Event]:
        """Return an event for each seat in `stale`, whose commands from a delayed decision were dropped."""
        asked_in = self.asked_in[made.member]
        return [
            Event(
                REASON_PLAN_BROKEN,
                seat,
                {
                    "why": PLAN_STALE,
                    "left": [list(each) for each in (command, *made.plans.get(seat, ()))],
                    "planned_in": asked_in,
                },
            )
            for seat, command in stale.items()
        ]

    def delay_answers(
        self,
        step: int,
        game: World,
        filled: Mapping[int, tuple[str, Command]],
        messages: Mapping[int, Sequence[TeamMessage]],
        partners: Mapping[int, int],
    ) -> None:
        """Decide which agents answer their new messages later
        (`kitchen.contract.answer_delays_and_reminders`).

        If the organisation delays answers, call this when a step opens, before any member is asked. `filled`
        has the known commands by seat, as (who chose it, command). `messages` has the messages of each agent,
        by member number. `partners` has each member's conversation partner.
        """
        waits = {
            seat
            for seat, (by, command) in filled.items()
            if (game.only_waits(seat) if by in NOT_ASKED else command == game.idle)
        }
        members = self.organisation.members
        busy = BusyMembers(
            acting=_members_with_any(members, filled.keys()),
            thinking=self.thinking,
            waiting={one.number for one in members if waits.issuperset(one.seats)},
        )
        self._delayed = self._answers.delayed(step, busy, messages, partners)

    def is_called_by(self, member: int, messages: Iterable[TeamMessage]) -> bool:
        """Return whether a new message among these is a reason to ask this member now."""
        return member not in self._delayed and any(said.is_new for said in messages)

    def is_interruptible(self, member: Member, begun: Set[int]) -> bool:
        """Return whether new messages are a reason to ask this member although all of its seats are busy.
        `begun` are the seats that begin a delayed decision in this step."""
        if member.number in self.thinking or not begun.isdisjoint(member.seats):
            return False
        return not member.seats or self.organisation.schedule == FREE

    def is_called(self, member: Member, begun: Set[int], has_news: Callable[[], bool]) -> bool:
        """Return whether to ask a member that has no free seat: no seat at all, or only busy ones. `has_news`
        says whether there is a new message or a reminder."""
        is_first = not member.seats and member.number not in self.asked_in
        return self.is_interruptible(member, begun) and (is_first or has_news())

    def activity(
        self, wants: Set[int], filled: Collection[int], jobs: Iterable[Job], heard: Mapping[int, int]
    ) -> MemberActivity:
        """Return a description of the members' activity when a step opens.

        `wants` are the numbers of the members with a reason to be asked. `filled` are the seats whose command
        is known. `jobs` are all open jobs. `heard` has the number of the last message that each member
        received, by member number; members that are left out received none.
        """
        given = list(jobs)
        taken = {job.worker for job in given if job.state in {ACCEPTED, STARTED}}
        return MemberActivity(
            wants=wants,
            acting=_members_with_any(self.organisation.members, filled),
            working=taken - {job.giver for job in given},
            called={job.worker for job in given if job.number > heard.get(job.worker, 0)},
        )

    def members_to_ask(self, step: int, now: MemberActivity) -> set[int]:
        """Return the numbers of the members that are asked in this step. Call it once in each step,
        because it may also pass the turn to the next member."""
        free = set(now.wants - self.thinking - self._delayed)
        if self.organisation.schedule == FREE:
            return free
        if self.organisation.schedule == IN_ROUNDS:
            is_over = not (self.thinking or now.acting or free & now.working)
            return free if is_over else free & (now.working | now.called)
        if not self._keeps_turn(now, free):
            self._pass_turn(step, free)
        return free & {self._turn}

    def _keeps_turn(self, now: MemberActivity, free: Set[int]) -> bool:
        """Return whether the member whose turn it is has not finished yet. It then keeps the turn. This
        concerns teams whose members are asked one after another."""
        if self._turn in self.thinking or self._turn in now.acting:
            return True
        has_decided = self.asked_in.get(self._turn, 0) >= self._turn_began
        return self._turn in free and (self._turn in now.working or not has_decided)

    def _pass_turn(self, step: int, free: Set[int]) -> None:
        """Give the turn to the next member in `free`, in the fixed order of the members. `free` are the
        members with a reason to be asked."""
        numbers = self.organisation.numbers
        place = numbers.index(self._turn) + 1
        for number in (*numbers[place:], *numbers[:place]):
            if number in free:
                self._turn, self._turn_began = number, step
                return


def _members_with_any(members: Iterable[Member], seats: Collection[int]) -> set[int]:
    """Return the numbers of the members that hold at least one of these seats."""
    return {one.number for one in members if not set(one.seats).isdisjoint(seats)}


def _commands_to_json(commands: Mapping[int, Command]) -> Json:
    return {str(seat): list(command) for seat, command in commands.items()}


def _commands_from_json(stored: Mapping[str, Json]) -> dict[int, Command]:
    return {int(seat): tuple(command) for seat, command in stored.items()}


def _pending_to_json(made: DecisionMade) -> Json:
    return {
        "member": made.member,
        "played_by": made.played_by,
        "fallback": made.fallback,
        "due": made.due,
        "commands": _commands_to_json(made.commands),
        "plans": {str(seat): [list(each) for each in plan] for seat, plan in made.plans.items()},
        "says": [asdict(say) for say in made.says],
    }


def _pending_from_json(stored: Mapping[str, Json]) -> DecisionMade:
    plans = {int(seat): tuple(map(tuple, plan)) for seat, plan in stored["plans"].items()}
    says = tuple(MessageDraft(**{**say, "to": tuple(say["to"])}) for say in stored["says"])
    return DecisionMade(
        stored["member"],
        played_by=stored["played_by"],
        fallback=stored["fallback"],
        due=stored["due"],
        commands=_commands_from_json(stored["commands"]),
        plans=plans,
        says=says,
    )
