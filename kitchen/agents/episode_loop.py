"""Play an episode of agents alone, step by step, for one agent, several agents or an organised team.

The rules are those of live play (`kitchen.play`). A step opens with the commands of seats that are not asked.
Each member with something to choose then gets its situation: own seats, memory, chance, messages and jobs.
Finally the step is taken. A member without a seat is asked whenever a seat is asked or it receives a message.
Plain Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from kitchen.agents.agent_team import AskedMember, DecisionMade, StepMade, Team
from kitchen.contract.agent import (
    EVERYBODY,
    NO_ONE,
    REASON_PLAN_BROKEN,
    REASON_SEAT,
    REASON_TO_ANSWER,
    Agent,
    Decision,
    DecisionLimits,
    DecisionRequest,
    Situation,
    TeamTalk,
    add_to_note,
)
from kitchen.contract.automatic_commands import (
    AutomaticCommand,
    Plan,
    drop_plans_at_end,
    open_turn,
    plans_for_agent,
    replaced_plans,
    started_plans,
)
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.dialogue_rounds import ROUND_KEY, DialoguePosition, StepDialogue
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, LoggedStep
from kitchen.contract.language_model import RecordedAnswers
from kitchen.contract.line_up import join_decisions
from kitchen.contract.mailbox import (
    UNSAID_KEY,
    LastHeard,
    Mailbox,
    PostedMessage,
    last_heard_of,
    may_see_message,
    note_of_heard,
    reason_with_news,
)
from kitchen.contract.organisation import Member
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Command, Event, Json, World
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_english

USUAL_LIMITS = DecisionLimits()


def _no_answers(member: int) -> RecordedAnswers | None:
    return None


class EpisodeLoop:
    """An episode in progress. It begins at the present state of the game."""

    def __init__(
        self, game: World, seed: int, team: Team, settings: Mapping[str, Json] = MappingProxyType({})
    ) -> None:
        """Begin the episode. `settings` are those of the world, for the log."""
        self.game, self.seed, self.team, self.settings = game, seed, team, settings
        self._seats = {seat for member in team.members for seat in member.seats}
        self.memories: dict[int, Json] = {}
        """The memory of each member, by its number."""
        self.events: tuple[Event, ...] = ()
        """Events of the last step."""
        self.plans: dict[int, Plan] = {}
        self.mailbox = Mailbox(team.organisation) if team.organisation else None
        self._heard: dict[int, LastHeard] = {}
        self._steps: list[LoggedStep] = []
        self._decisions: list[LoggedDecision] = []
        self.filled: dict[int, AutomaticCommand] = {}
        """The coming step's commands of seats that are not asked, by seat."""
        self.may_act: set[int] = set()
        """Those of the `filled` seats that may be commanded nevertheless, during a lasting action."""
        self.asked_members: list[Member] = []
        """The members that must decide on the coming step, in order."""
        self._open()
        self._see_who_is_asked()

    @property
    def is_over(self) -> bool:
        """Return whether no step is left."""
        return self.game.has_ended

    @property
    def settled(self) -> dict[int, Command]:
        """Return the coming step's commands that nobody can change, by seat."""
        return {seat: each.command for seat, each in self.filled.items() if seat not in self.may_act}

    @property
    def memory(self) -> Json:
        """Return the memories of all members without an organisation, as one value; None before the first
        decision."""
        numbers = [member.number for member in self.team.members]
        if len(numbers) == 1 or not self.memories:
            return self.memories.get(numbers[0])
        return [self.memories[number] for number in numbers]

    def _see_who_is_asked(self) -> None:
        members = () if self.is_over else self.team.members
        for member in members:
            free = self.may_act & set(member.seats)
            if free and self._has_news(member):
                self.may_act -= free
                self.filled = {seat: each for seat, each in self.filled.items() if seat not in free}
        self.asked_members = [member for member in members if self._is_asked(member)]

    def _is_asked(self, member: Member) -> bool:
        if member.seats:
            return any(seat not in self.filled for seat in member.seats)
        return len(self.filled) < self.game.seats or self._has_news(member)

    def _has_news(self, member: Member) -> bool:
        return any(said.is_new for said in self._talk(member).messages)

    def situation(self, member: Member, limits: DecisionLimits = USUAL_LIMITS) -> Situation:
        """Return this member's situation, without others' commands of the coming step."""
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
        """Return why a member is asked: its plan broke, a job has news, or there is a new message."""
        if member not in self.asked_members:
            return REASON_TO_ANSWER
        return reason_with_news(self.reason(asked), messages)

    def _sees(self, member: Member, event: Event) -> bool:
        return any(self.game.visible(seat, event) for seat in member.seats)

    def _known(self, member: Member, commanded: Mapping[int, Command]) -> dict[int, Command]:
        """Return those of these commands that one of the member's seats may know."""
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
        """Return why these seats are asked, regardless of messages."""
        broken = {event.seat for event in self.events if event.kind == REASON_PLAN_BROKEN}
        return REASON_PLAN_BROKEN if broken & set(asked) else REASON_SEAT

    def _talk(self, member: Member) -> TeamTalk:
        if self.mailbox is None:
            return TeamTalk()
        since = self._heard.get(member.number, LastHeard())
        messages, jobs = self.mailbox.messages_for(self.game, member.number, self.game.clock + 1, since)
        return TeamTalk(self.team.organisation, member.number, messages, jobs)

    async def ask(
        self,
        agents: Mapping[int, Agent],
        answers: Callable[[int], RecordedAnswers | None] = _no_answers,
        limits: DecisionLimits = USUAL_LIMITS,
    ) -> list[AskedMember]:
        """Ask every member that must decide; return their decisions, in the order of commands.

        `agents` has the agent of each member by its number. `answers` returns the recorded model answers for
        a member, which replace calls of a model. Errors of agents are not caught.
        """
        told = [
            (member, self.situation(member, replace(limits, answers=answers(member.number))))
            for member in self.informed_members
        ]
        if talk := self._exchange(told):
            return await _talk_in_turns(talk, [(member, agents[member.number]) for member, _ in told])
        knows = self.team.knowing == EVERYBODY
        commanded, made = self.settled if knows else {}, list[AskedMember]()
        for member, situation in told:
            if knows:
                known = {**situation.commanded, **self._known(member, commanded)}
                situation = replace(situation, commanded=known)
            made.append(await _ask(member, agents[member.number], situation))
            if knows:
                commanded = {**commanded, **self._commands_of(member, made[-1].decision)}
        return made

    @property
    def informed_members(self) -> list[Member]:
        """Return the members that must decide. Where the organisation lets busy members answer, include all
        others. Sorted by number."""
        organisation = self.team.organisation
        if organisation is None or not organisation.talks_within or not self.asked_members:
            return self.asked_members
        members = self.team.members if organisation.within else self.asked_members
        return sorted(members, key=lambda member: member.number)

    def _exchange(self, told: Sequence[tuple[Member, Situation]]) -> StepDialogue | None:
        """Return the dialogue of these members; None where they do not talk within the step. Where the
        organisation lets all talk within the step, the members know others' settled commands, if the team
        allows it."""
        mailbox, game = self.mailbox, self.game
        if mailbox is None:
            return None

        def hears(member: int, said: TeamMessage) -> bool:
            return may_see_message(game, mailbox.organisation, said, member)

        situations = [situation for _, situation in told]
        if mailbox.organisation.within and self.team.knowing == EVERYBODY:
            settled = self.settled
            situations = [
                replace(situation, commanded={**self._known(member, settled), **situation.commanded})
                for member, situation in told
            ]
        return StepDialogue.of(situations, hears, sent=len(mailbox.posted))

    def _commands_of(self, member: Member, decision: Decision) -> dict[int, Command]:
        """Return a member's commands. It cannot command settled seats or seats of another member.

        In a team, seats that it leaves out are idle, as in live play. Logs without a team leave them out.
        """
        settled = self.settled
        others = self._seats - set(member.seats)
        given = {
            seat: command
            for seat, command in decision.commands.items()
            if seat not in settled and seat not in others
        }
        if self.team.organisation is None and self.team.knowing == NO_ONE:
            return given
        left = [seat for seat in sorted(member.seats) if seat not in self.filled and seat not in given]
        return {**given, **dict.fromkeys(left, self.game.idle)}

    def step_of(self, asked: Sequence[AskedMember]) -> StepMade:
        """Return the step that follows from these decisions. It changes nothing."""
        given = {each.member.number: self._commands_of(each.member, each.decision) for each in asked}
        if self.team.organisation is None:
            filled = {seat: each.command for seat, each in self.filled.items()}
            commands = dict(chain(filled.items(), *(each.items() for each in given.values())))
            return StepMade(commands, (self._joint(asked),) if asked else ())
        words = self._words_of(asked)
        decisions = tuple(self._decision(each, words) for each in asked)
        return StepMade(self._running_order(given), decisions, tuple(words.sent))

    def _running_order(self, given: Mapping[int, Mapping[int, Command]]) -> dict[int, Command]:
        """Return all commands of the step in the order of live play (`kitchen.play.turn.turn_rules`). `given`
        holds the commands of each member. The order is member by member: first its settled seats, then the
        seats that it commands, then its other seats that may act."""
        commands: dict[int, Command] = {}
        for member in sorted(self.team.members, key=lambda member: member.number):
            mine = given.get(member.number, {})
            held = {seat: each.command for seat, each in self.filled.items() if seat in member.seats}
            settled = {seat: command for seat, command in held.items() if seat not in self.may_act}
            left = {seat: command for seat, command in held.items() if seat not in {*settled, *mine}}
            commands |= {**settled, **mine, **left}
        return commands

    def _joint(self, asked: Sequence[AskedMember]) -> DecisionMade:
        """Return the decisions of members without an organisation as one."""
        if len(self.team.members) == 1:
            joint = asked[0].decision
        else:
            places = {member.number: place for place, member in enumerate(self.team.members)}
            made = {places[each.member.number]: each.decision for each in asked}
            joint = join_decisions(self.team.kinds, made, [self.memories.get(number) for number in places])
        spent = sum(each.milliseconds for each in asked)
        return DecisionMade.of(
            self.team.members[0].number, joint, self.team.kinds[0], self.joint_reason, spent
        )

    @property
    def joint_reason(self) -> str:
        """Return why members without an organisation are asked, as one reason."""
        return self.reason([seat for seat in range(self.game.seats) if seat not in self.filled])

    def _decision(self, asked: AskedMember, words: _Words) -> DecisionMade:
        """Return a member's decision as logs keep it. For a busy member that only answers, only plans of
        seats that may act are kept."""
        member = asked.member
        kind, unsaid = self.team.kinds[self.team.members.index(member)], words.unsaid.get(member.number, [])
        situation, made = asked.situation, asked.decision
        note = note_of_heard(made.note, situation.talk.messages[-1].number if situation.talk.messages else 0)
        plans = replaced_plans(situation, made) | started_plans(situation, made)
        note = add_to_note(note, UNSAID_KEY, list(unsaid)) if unsaid else note
        if asked.talk:
            note = note_of_heard(note, *words.heard(member.number, asked.talk))
        decision = replace(made, note=note, plans=plans)
        return DecisionMade.of(member.number, decision, kind, situation.request.because, asked.milliseconds)

    def _words_of(self, asked: Sequence[AskedMember]) -> _Words:
        """Return the messages of these decisions that may be sent. The order is member by member, and round
        by round where members talk within the step."""
        assert self.mailbox  # noqa: S101 - asked in an organisation only
        words = _Words(self.game, self.mailbox.copy(), self._aim_words)
        says = [(each.member.number, say) for each in asked for say in each.decision.says]
        for member, say in sorted(says, key=lambda one: _round(one[1])):
            words.say(member, say)
        return words

    def _aim_words(self, aim: Aim) -> str:
        with in_english():
            return get_page(self.game.kind).aimed(self.game.public_brief(), aim)

    def take(self, step: StepMade) -> tuple[TeamMessage, ...]:
        """Take the step, and return the messages that the mailbox itself sends after it, such as reports of
        jobs."""
        number = self.game.clock + 1
        chosen = {seat: each for each in step.decisions for seat in self._seats_of(each)}
        logged = tuple(
            self._logged(seat, command, chosen.get(seat)) for seat, command in step.commands.items()
        )
        made = {
            seat: Plan(tuple(then), each.played_by, each.fallback, number).in_place_of(self.plans.get(seat))
            for each in step.decisions
            for seat, then in each.plans.items()
            if then or seat in self.plans
        }
        for each in step.decisions:
            self._remember(each, number)
        if self.mailbox:
            for said in step.messages:
                self.mailbox.add(PostedMessage(said, with_decision=True))
        self.events = self.game.step(step.commands)
        self.plans |= made
        self._open()
        self._steps.append(LoggedStep(number, logged, self.events, self.game.score()))
        reports = self._settle_jobs()
        self._see_who_is_asked()
        return reports

    def _seats_of(self, decision: DecisionMade) -> tuple[int, ...]:
        if self.team.organisation is None:
            return tuple(range(self.game.seats))
        return self.team.organisation.member(decision.member).seats

    def _logged(self, seat: int, command: Command, decision: DecisionMade | None) -> LoggedCommand:
        filled = self.filled.get(seat)
        if filled and filled.command == command:
            return LoggedCommand(seat, command, filled.chosen_by, filled.planned_in)
        return LoggedCommand(seat, command, decision.played_by if decision else "")

    def _remember(self, decision: DecisionMade, number: int) -> None:
        """Store the results of a decision: memories, the last message that its member had heard, and its log
        entry."""
        if self.team.organisation is None and len(self.team.members) > 1:
            numbers = [member.number for member in self.team.members]
            self.memories = dict(zip(numbers, decision.memory, strict=True))
        else:
            self.memories[decision.member] = decision.memory
        if self.team.organisation and not decision.fallback:
            self._heard[decision.member] = last_heard_of(decision.note, number)
        self._decisions.append(
            LoggedDecision(
                number,
                decision.member,
                decision.because,
                decision.played_by,
                decision.fallback,
                decision.milliseconds,
                decision.note,
            )
        )

    def _settle_jobs(self) -> tuple[TeamMessage, ...]:
        """Report jobs that are done or have become impossible; return the reports."""
        if self.mailbox is None:
            return ()
        settled = list(self.mailbox.settled_jobs(self.game))
        return tuple(self.mailbox.post(sent, self.game.clock + 1) for sent in settled)

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

    def log(self) -> EpisodeLog:
        """Return the log of the episode so far."""
        return EpisodeLog(
            world=self.game.kind,
            settings=dict(self.settings),
            seats=self.game.seats,
            seed=self.seed,
            steps=tuple(self._steps),
            messages=tuple(each.message for each in self.mailbox.posted) if self.mailbox else (),
            decisions=tuple(self._decisions),
            organisation=self.team.organisation,
        )


@dataclass(slots=True)
class _Words:
    """The messages of one step, while they are being sent."""

    game: World
    mailbox: Mailbox
    aim_words: Callable[[Aim], str]
    sent: list[TeamMessage] = field(default_factory=list)
    unsaid: dict[int, list[Json]] = field(default_factory=dict)
    """Messages that a member may not send, with the code, by member."""

    def heard(self, member: int, talk: DialoguePosition) -> tuple[int, tuple[int, ...]]:
        """Return the last message that this member knew in the dialogue, and the numbers of those that it
        missed."""
        return self.mailbox.heard_in_talk(self.game, member, talk, self.sent)

    def say(self, sender: int, given: MessageDraft) -> None:
        """Send this message, or record why it may not be sent."""
        step = self.game.clock + 1
        say, code = self.mailbox.refusal(self.game, step, sender, given)
        if code:
            kept = {**asdict(given), "to": list(given.to), "code": code}
            self.unsaid.setdefault(sender, []).append(kept)
        for outgoing in self.mailbox.outgoing(self.game, sender, say, code, self.aim_words):
            self.sent.append(self.mailbox.post(outgoing, step, with_decision=True))


def _round(say: MessageDraft) -> int:
    number = say.data.get(ROUND_KEY, 0)
    return number if isinstance(number, int) else 0


async def _ask(member: Member, agent: Agent, situation: Situation) -> AskedMember:
    began = time.perf_counter()
    decision = await agent.decide(situation)
    return AskedMember(member, situation, decision, (time.perf_counter() - began) * 1000)


async def _talk_in_turns(talk: StepDialogue, agents: Sequence[tuple[Member, Agent]]) -> list[AskedMember]:
    """Ask these agents in the order of their dialogue within the step. None knows what another does in this
    step. Busy members to whom nobody wrote are not asked."""
    spent, turns = [0.0] * len(agents), talk.turns()
    try:
        place, told, _ = next(turns)
        while True:
            asked = await _ask(*agents[place], told)
            spent[place] += asked.milliseconds
            place, told, _ = turns.send(asked.decision)
    except StopIteration as done:
        decisions: list[Decision] = done.value
    return [
        AskedMember(member, talk.situations[place], decisions[place], spent[place], talk.followed(place))
        for place, (member, _) in enumerate(agents)
        if talk.decisions[place]
    ]
