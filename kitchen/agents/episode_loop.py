"""Play an episode without people, step by step, with one agent or with a team of agents.

The rules are those of episodes with people (`kitchen.play`). In each step, every agent that has a choice
receives a situation (what it may know) and decides. If a player already has a command, such as the next one
of a plan, its agent is not asked. Then the world carries out all commands.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain

from kitchen.agents.agent_team import AskedMember, DecisionEffect, DecisionMade, StepMade
from kitchen.agents.step_opening import USUAL_LIMITS, StepOpening
from kitchen.contract.agent import (
    EVERYBODY,
    NO_ONE,
    Agent,
    Decision,
    DecisionLimits,
    Situation,
    add_to_note,
)
from kitchen.contract.automatic_commands import THINKING, replaced_plans, started_plans
from kitchen.contract.dialogue_rounds import ROUND_KEY, DialoguePosition, StepDialogue
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, LoggedStep
from kitchen.contract.language_model import RecordedAnswers, total_cost
from kitchen.contract.line_up import join_decisions
from kitchen.contract.mailbox import (
    UNSAID_KEY,
    Mailbox,
    PostedMessage,
    last_heard_of,
    may_see_message,
    note_of_heard,
)
from kitchen.contract.organisation import Member
from kitchen.contract.talk_cost import charge_talk
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Command, Json, World
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_english

STALE = "stale"
"""`LoggedDecision.dropped` of a decision of which a command was no longer possible when it took effect."""


AskMember = Callable[[Member, Agent, Situation], Awaitable[AskedMember]]
"""A function that asks one member's agent for its decision in a situation."""


def _no_answers(member: int) -> RecordedAnswers | None:
    return None


async def ask_member(member: Member, agent: Agent, situation: Situation) -> AskedMember:
    """Ask a member's agent for its decision. Errors of the agent are not caught."""
    began = time.perf_counter()
    decision = charge_talk(situation, await agent.decide(situation))
    return AskedMember(member, situation, decision, (time.perf_counter() - began) * 1000)


class EpisodeLoop(StepOpening):
    """An episode in progress. It asks the agents, runs the steps and logs them."""

    async def ask(
        self,
        agents: Mapping[int, Agent],
        answers: Callable[[int], RecordedAnswers | None] = _no_answers,
        limits: DecisionLimits = USUAL_LIMITS,
        ask: AskMember = ask_member,
    ) -> list[AskedMember]:
        """Ask every member that must decide. Return their situations and decisions, in the order in which the
        commands run. Errors of agents are not caught.

        `agents` has the agent of each member, by member number. `answers` returns a member's recorded model
        answers, which are used instead of model calls. If it returns None, the models are called. `ask` asks
        one member. It is called for one after another, and in the same order if the step is asked again.
        """
        told = [
            (member, self.situation(member, replace(limits, answers=answers(member.number))))
            for member in self.informed_members
        ]
        if talk := self._exchange(told):
            return await _talk_in_turns(talk, [(member, agents[member.number]) for member, _ in told], ask)
        knows = self.team.knowing == EVERYBODY
        commanded, made = self.settled if knows else {}, list[AskedMember]()
        for member, situation in told:
            agent = agents[member.number]
            is_apart = knows and self._decides_later(agent, situation)
            if knows:
                others = self._known(member, self.settled if is_apart else commanded)
                situation = replace(situation, commanded={**situation.commanded, **others})
            made.append(await ask(member, agent, situation))
            if knows and not is_apart:
                commanded = {**commanded, **self._commands_of(member, made[-1].decision)}
        return made

    def _decides_later(self, agent: Agent, situation: Situation) -> bool:
        """Return whether a live episode would continue before this agent has decided. Such an agent does not
        know the commands that other agents choose in this step, and they do not know its command."""
        organisation = self.schedule.organisation if self.schedule else None
        return bool(organisation and organisation.least_think_steps) and agent.decides_later(situation)

    @property
    def informed_members(self) -> list[Member]:
        """Return the members that get their situation in this step, sorted by number. These are all members
        if the organisation lets busy members answer messages. Otherwise they are the members that are
        asked."""
        organisation = self.team.organisation
        if organisation is None or not organisation.talks_within or not self.asked_members:
            return self.asked_members
        members = self.team.members if organisation.within else self.asked_members
        return sorted(members, key=lambda member: member.number)

    def _exchange(self, told: Sequence[tuple[Member, Situation]]) -> StepDialogue | None:
        """Return the dialogue in which these members write to each other within the step. Return None if the
        organisation allows no such dialogue. If the team allows it, members know the commands that are
        already fixed."""
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
        """Return a member's commands, by seat. Commands for other members' seats, and for seats whose command
        is fixed, are ignored.

        In a team, seats without a command do `idle`, as in a live episode. Otherwise they are left out.
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
        """Return the step that follows from the decisions in `asked`: commands, decisions and messages. The
        episode is not changed."""
        now = {each.member.number: each for each in asked if not self._is_delayed(each.decision)}
        given = {
            each.member.number: self._commands_of(
                each.member, each.decision if each.member.number in now else Decision({})
            )
            for each in asked
        }
        if self.team.organisation is None:
            filled = {seat: each.command for seat, each in self.filled.items()}
            commands = dict(chain(filled.items(), *(each.items() for each in given.values())))
            return StepMade(commands, (self._joint(asked),) if asked else ())
        words = self._words_of([*now.values()])
        decisions = tuple(self._decision(each, words) for each in asked)
        return StepMade(self._running_order(given), decisions, tuple(words.sent))

    def _due(self, decision: Decision) -> int:
        """Return the step in which a decision takes effect. Return 0 if it takes effect at once."""
        number = self.game.clock + 1
        return self.schedule.due_in(number, planned=decision.planned) if self.schedule else 0

    def _is_delayed(self, decision: Decision) -> bool:
        return self._due(decision) > self.game.clock + 1

    def _running_order(self, given: Mapping[int, Mapping[int, Command]]) -> dict[int, Command]:
        """Return all commands of the step in the order in which a live episode runs them
        (`kitchen.play.turn.turn_rules`). `given` holds the commands of each member.

        The members come in the order of their numbers. For each, fixed commands come first, then its own
        commands, then those of seats that could act but did not.
        """
        commands: dict[int, Command] = {}
        for member in sorted(self.team.members, key=lambda member: member.number):
            mine = given.get(member.number, {})
            held = {seat: each.command for seat, each in self.filled.items() if seat in member.seats}
            settled = {seat: command for seat, command in held.items() if seat not in self.may_act}
            left = {seat: command for seat, command in held.items() if seat not in {*settled, *mine}}
            commands |= {**settled, **mine, **left}
        return commands

    def _joint(self, asked: Sequence[AskedMember]) -> DecisionMade:
        """Merge the decisions of agents that cannot send messages into one decision."""
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
        """Return the code of the reason why the agents are asked, in a team without an organisation. It is
        the same for all of them."""
        return self.reason([seat for seat in range(self.game.seats) if seat not in self.filled])

    def _decision(self, asked: AskedMember, words: _Words) -> DecisionMade:
        """Return a member's decision in the form that logs store. The note gains the messages that were heard
        or could not be sent."""
        member = asked.member
        kind, unsaid = self.team.kinds[self.team.members.index(member)], words.unsaid.get(member.number, [])
        situation, made = asked.situation, asked.decision
        note = note_of_heard(made.note, situation.talk.messages[-1].number if situation.talk.messages else 0)
        plans = replaced_plans(situation, made) | started_plans(situation, made)
        note = add_to_note(note, UNSAID_KEY, list(unsaid)) if unsaid else note
        if asked.talk:
            note = note_of_heard(note, *words.heard(member.number, asked.talk))
        decision = replace(made, note=note, plans=plans)
        because = situation.request.because
        record = DecisionMade.of(member.number, decision, kind, because, asked.milliseconds)
        if not self._is_delayed(made):
            return replace(record, due=self._due(made))
        settled = self.settled.keys()
        commands = {
            seat: made.commands[seat]
            for seat in member.seats
            if seat in made.commands and seat not in settled
        }
        return replace(record, due=self._due(made), commands=commands, says=made.says)

    def _words_of(self, asked: Sequence[AskedMember]) -> _Words:
        """Return the messages of these decisions that may be sent. They are in the order of the members. If
        members talk within the step, they are in the order of the dialogue."""
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
        """Run the step in the game. Return the messages that the system sends afterwards, such as reports of
        finished jobs."""
        number = self.game.clock + 1
        chosen = {seat: each for each in step.decisions for seat in self._seats_of(each)}
        logged = tuple(
            self._logged(seat, command, chosen.get(seat)) for seat, command in step.commands.items()
        )
        made = {
            seat: plan
            for each in step.decisions
            if each.due <= number
            for seat, plan in self._plans_of(each, number).items()
        }
        for each in step.decisions:
            self._remember(each, number)
        if self.mailbox:
            for said in step.messages:
                self.mailbox.add(PostedMessage(said, with_decision=True))
        self.events = self.game.step(step.commands)
        self.plans |= made
        self._open()
        due = self._take_due()
        self._steps.append(LoggedStep(number, logged, self.events, self.game.score()))
        sent = [*self._settle_jobs(), *self._settle_due(due)]
        self._see_who_is_asked()
        return tuple(sent)

    def _settle_due(self, due: Sequence[tuple[DecisionMade, DecisionEffect]]) -> list[TeamMessage]:
        """Send and return the messages of delayed decisions that take effect in the coming step. Call this
        before anybody is asked."""
        sent, effects = list[TeamMessage](), list[DecisionEffect]()
        for made, effect in due:
            assert self.mailbox  # noqa: S101 - a schedule belongs to an organisation
            words = _Words(self.game, self.mailbox, self._aim_words, with_decision=False)
            for say in made.says:
                words.say(made.member, say)
            sent += words.sent
            unsaid = tuple(words.unsaid.get(made.member, ()))
            effects.append(replace(effect, unsaid=unsaid))
            self._log_decision(made, made.due, effect.asked_in, STALE if effect.stale else "", unsaid)
        self.effects = tuple(effects)
        return sent

    def _seats_of(self, decision: DecisionMade) -> tuple[int, ...]:
        if self.team.organisation is None:
            return tuple(range(self.game.seats))
        return self.team.organisation.member(decision.member).seats

    def _logged(self, seat: int, command: Command, decision: DecisionMade | None) -> LoggedCommand:
        filled = self.filled.get(seat)
        if filled and filled.command == command:
            return LoggedCommand(seat, command, filled.chosen_by, filled.planned_in)
        if decision and decision.due > self.game.clock + 1:
            return LoggedCommand(seat, command, THINKING)
        return LoggedCommand(seat, command, decision.played_by if decision else "")

    def _remember(self, decision: DecisionMade, number: int) -> None:
        """Store the results of a decision: the memories, the log entry, and the number of the last message
        that the member had received."""
        if self.team.organisation is None and len(self.team.members) > 1:
            numbers = [member.number for member in self.team.members]
            self.memories = dict(zip(numbers, decision.memory, strict=True))
        else:
            self.memories[decision.member] = decision.memory
        if self.team.organisation and not decision.fallback:
            self._heard[decision.member] = last_heard_of(decision.note, number)
        if self.schedule:
            self.schedule.remember(decision, number)
        if decision.due <= number:
            self._log_decision(decision, number, number if decision.due else None)

    def _log_decision(
        self,
        made: DecisionMade,
        step: int,
        asked_in: int | None = None,
        dropped: str = "",
        unsaid: Sequence[Json] = (),
    ) -> None:
        note = add_to_note(made.note, UNSAID_KEY, list(unsaid)) if unsaid else made.note
        self._decisions.append(replace(_logged_decision(made, step, asked_in), note=note, dropped=dropped))

    def _settle_jobs(self) -> tuple[TeamMessage, ...]:
        """Return reports about the jobs that are now done or impossible. They are also added to the messages
        of the episode."""
        if self.mailbox is None:
            return ()
        settled = list(self.mailbox.settled_jobs(self.game))
        return tuple(self.mailbox.post(sent, self.game.clock + 1) for sent in settled)

    def log(self) -> EpisodeLog:
        """Return the log of all steps taken so far. Decisions that will take effect later are at its end."""
        pending = self.schedule.pending.values() if self.schedule else ()
        asked_in = self.schedule.asked_in if self.schedule else {}
        return EpisodeLog(
            world=self.game.kind,
            settings=dict(self.settings),
            seats=self.game.seats,
            seed=self.seed,
            steps=tuple(self._steps),
            messages=tuple(each.message for each in self.mailbox.posted) if self.mailbox else (),
            decisions=(
                *self._decisions,
                *(_logged_decision(made, made.due, asked_in[made.member]) for made in pending),
            ),
            organisation=self.team.organisation,
            goal=self.goal,
        )


def _logged_decision(made: DecisionMade, step: int, asked_in: int | None) -> LoggedDecision:
    return LoggedDecision(
        step,
        made.member,
        made.because,
        made.played_by,
        made.fallback,
        made.milliseconds,
        made.note,
        asked_in=asked_in,
        calls=len(made.calls),
        cost=total_cost(call.cost for call in made.calls),
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
    with_decision: bool = True
    """True if the messages belong to decisions on the open step, so that others receive them in the next
    step."""

    def heard(self, member: int, talk: DialoguePosition) -> tuple[int, tuple[int, ...]]:
        """Return which messages of the dialogue a member has received: the number of the last one, and the
        numbers of earlier ones that it has missed."""
        return self.mailbox.heard_in_talk(self.game, member, talk, self.sent)

    def say(self, sender: int, given: MessageDraft) -> None:
        """Send this message. If it is refused, record the reason."""
        step = self.game.clock + 1
        say, code = self.mailbox.refusal(self.game, step, sender, given)
        if code:
            kept = {**asdict(given), "to": list(given.to), "code": code}
            self.unsaid.setdefault(sender, []).append(kept)
        for outgoing in self.mailbox.outgoing(self.game, sender, say, code, self.aim_words):
            self.sent.append(self.mailbox.post(outgoing, step, with_decision=self.with_decision))


def _round(say: MessageDraft) -> int:
    number = say.data.get(ROUND_KEY, 0)
    return number if isinstance(number, int) else 0


async def _talk_in_turns(
    talk: StepDialogue, agents: Sequence[tuple[Member, Agent]], ask: AskMember
) -> list[AskedMember]:
    """Ask these agents in the order of their dialogue within the step. No agent knows what another one does
    in this step. Busy members to whom nobody wrote are not asked."""
    spent, turns = [0.0] * len(agents), talk.turns()
    try:
        place, told, _ = next(turns)
        while True:
            asked = await ask(*agents[place], told)
            spent[place] += asked.milliseconds
            place, told, _ = turns.send(asked.decision)
    except StopIteration as done:
        decisions: list[Decision] = done.value
    return [
        AskedMember(member, talk.situations[place], decisions[place], spent[place], talk.followed(place))
        for place, (member, _) in enumerate(agents)
        if talk.decisions[place]
    ]
