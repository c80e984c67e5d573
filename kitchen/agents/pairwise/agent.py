"""Implement the agent `pairwise`, which talks with one partner at a time.

Each call of its language model writes a message to one partner, and chooses at most one command. The agent is
asked for a command when its player is idle. It is asked for an answer when somebody has written to it. After
three answers in a row without a command, it calls no model until a new message arrives. An agent with several
players sends its messages as the first one. The setting `busy_answers = model` adds a short model call, which
decides whether a message interrupts a command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kitchen.agents.pairwise import prompt
from kitchen.agents.pairwise.own_commands import OwnCommands, own_commands
from kitchen.agents.pairwise.partner_talk import Conversation, ConversationMemory
from kitchen.agents.pairwise.settings import BY_MODEL, SETTINGS, PairwiseOptions
from kitchen.agents.pairwise.spoken_reply import REPLY_TOOL, SpokenReply, read_spoken_reply
from kitchen.agents.pairwise.stand_in_talk import ruled_summary, ruled_turn
from kitchen.agents.skill_agents.base_agent import NOOP_FALLBACK, SCENE_GROWTH, SkilledAgent
from kitchen.agents.skill_agents.decision_model import ModelSession, StandInFactory
from kitchen.agents.skill_agents.settings import BY_RULE, INSTANT_SETTINGS
from kitchen.contract.agent import (
    REASON_REMINDER,
    REASON_TO_ANSWER,
    Decision,
    ForecastTrial,
    Situation,
    TeamTalk,
)
from kitchen.contract.answer_delays_and_reminders import asks_for_answer
from kitchen.contract.decision_notes import NO_COMMAND
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message, UnreadableReplyError
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.llm.provider_registry import STAND_IN
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice, WrittenCommand

CommandWriter = Callable[[Sequence[WrittenCommand]], str]
"""Returns the stand-in's answer with these commands."""

SUMMARY_TOKENS = 170
"""Maximum number of tokens of a summary in the prompt."""
IMPOSSIBLE = "impossible"
"""Code of the fault of a command that cannot begin now."""
MENU_GROWTH = 400
"""Maximum number of tokens by which the list of commands grows later in an episode."""


class PairwiseAgent(SkilledAgent):
    """An agent whose language model talks and acts for one seat."""

    kind: ClassVar[str] = "pairwise"
    skilled: ClassVar[bool] = False
    reads_words: ClassVar[bool] = True
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    options_class = PairwiseOptions
    options: PairwiseOptions

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for estimating the cost with a program that imitates the language model. In the
        worst case, every step has four calls. These are the decision, a second try, a summary, and the
        question whether to answer."""
        chosen = {**self.chosen, **INSTANT_SETTINGS, "memory": self.options.memory}
        growth = SCENE_GROWTH + MENU_GROWTH + SUMMARY_TOKENS
        repairs = 3 if self.options.busy_answers == BY_MODEL else 2
        return ForecastTrial(chosen, repairs=repairs, remembering=chosen, extra_tokens=growth)

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system messages of the prompt, one for each seat."""
        return tuple(
            self.fixed_part(own_commands(situation, seat, self.options, None), talk_of_seat(situation, seat))
            for seat in situation.seats
        )

    def fixed_part(self, commands: OwnCommands, talk: TeamTalk) -> str:
        """Return the part of the prompt that is the same at every step."""
        return prompt.fixed_part(commands, talk.organisation, structured=self.options.structured)

    def will_plan(self, situation: Situation) -> bool:
        """Return whether the model will certainly be asked now, for at least one seat."""
        memory = situation.memory if isinstance(situation.memory, dict) else {}
        turns = [SeatTurn(self, situation, seat, memory.get(str(seat)), None) for seat in situation.seats]
        return any(turn.will_ask() for turn in turns)

    async def decided(
        self, situation: Situation, deadline: float | None, late: Decision | None = None
    ) -> Decision:
        """Return the decision for all seats. The model may be asked until `deadline`; None means that the
        model is not asked.

        `late` is a decision for an earlier step. Its commands begin now if they are still possible.
        """
        session = None if deadline is None else ModelSession(self.options, situation, deadline)
        memory = situation.memory if isinstance(situation.memory, dict) else {}
        turns = [SeatTurn(self, situation, seat, memory.get(str(seat)), session) for seat in situation.seats]
        for turn in turns:
            await turn.take(late)
        read = [turn.tries for turn in turns if turn.tries]
        faults = [fault for tries in read for fault in tries[-1]]
        mended = [fault for tries in read if len(tries) > 1 for fault in tries[0]]
        reading = {"faults": faults, "mended": mended, "asked": len(read)} if read else {}
        calls = tuple(session.calls) if session else ()
        commanded = {turn.commands.seat: turn.commands.command() for turn in turns if turn.can_act}
        return Decision(
            {seat: command for seat, command in commanded.items() if command},
            memory={str(turn.commands.seat): turn.to_json() for turn in turns},
            played_by=self.weakest_source([turn.by for turn in turns if turn.by]),
            note={"seats": {str(turn.commands.seat): turn.note() for turn in turns}, **reading},
            calls=calls,
            fallback=next((turn.error for turn in turns if turn.error), ""),
            says=tuple(say for turn in turns for say in turn.says),
            planned=any(turn.is_asked for turn in turns),
        )


def talk_of_seat(situation: Situation, seat: int) -> TeamTalk:
    """Return the messages of a seat, and the members to whom it may write. Only the first seat of an agent
    sends and receives messages."""
    return situation.talk if seat == situation.seats[0] else TeamTalk()


@dataclass(slots=True)
class SeatTurn:
    """One seat of the agent in one step."""

    agent: PairwiseAgent
    situation: Situation
    seat: int
    stored: Json
    session: ModelSession | None
    commands: OwnCommands = field(init=False)
    conversation: Conversation = field(init=False)
    says: tuple[MessageDraft, ...] = ()
    by: str = ""
    begun: str = ""
    """The command that the model chose now, as text."""
    error: str = ""
    is_asked: bool = False
    """True if the model is asked for words and a command."""
    busy_answer: str = ""
    """What the model decided about messages during a command: `respond` or `ignore`; empty if it was not
    asked, or if its reply was not usable."""
    tries: list[list[Json]] = field(default_factory=list)
    """The faults of each reply."""

    def __post_init__(self) -> None:
        before = self.stored or {"commands": None, "talk": None}
        self.commands = own_commands(self.situation, self.seat, self.agent.options, before["commands"])
        situation = self.situation
        talk = talk_of_seat(situation, self.seat)
        members = talk.organisation.members if talk.organisation else ()
        names = {one.number: one.name or self.commands.named(one.number) for one in members}
        memory = ConversationMemory.from_json(before["talk"])
        self.conversation = Conversation(talk, situation.step + 1, names, memory)

    @property
    def can_act(self) -> bool:
        """Return whether the agent may give the seat a command now."""
        return self.agent.may_ask(self.situation, self.seat)

    def to_json(self) -> dict[str, Json]:
        """Return as JSON what the agent must remember for this seat."""
        return {"commands": self.commands.memory, "talk": self.conversation.memory.to_json()}

    def note(self) -> dict[str, Json]:
        """Return the note for the log about this seat's decision."""
        memory = self.conversation.memory
        return {
            "began": self.begun,
            "doing": self.commands.doing,
            "silent": memory.silent,
            "summarised": memory.summarised,
            **({"busy_answer": self.busy_answer} if self.busy_answer else {}),
        }

    async def take(self, late: Decision | None) -> None:
        """Ask the model for a command if there is a reason to ask. Otherwise continue the command in
        progress. `late` is a decision for an earlier step, whose command begins now."""
        if late is not None:
            self._adopt(late)
        if self.session is not None and await self._has_reason(self.session):
            await self._ask(self.session)
        self.by = self.by or self.commands.by

    def _adopt(self, late: Decision) -> None:
        begun = self.commands.read(late.note["seats"][str(self.seat)]["began"])
        if begun is None or not self.can_act or self.commands.doing:
            return
        if not self.commands.why_not(begun):
            self.commands.begin(begun, late.played_by)

    def will_ask(self) -> bool:
        """Return whether the model will certainly be called in this step. This is not certain if the model
        must first decide whether a message interrupts the command in progress."""
        if self._is_interrupted_at_work:
            return self.agent.options.busy_answers != BY_MODEL and self._is_asked_for_answer
        return self._has_other_reason

    async def _has_reason(self, session: ModelSession) -> bool:
        if self._is_interrupted_at_work:
            return await self._interrupts(session)
        return self._has_other_reason

    @property
    def _is_interrupted_at_work(self) -> bool:
        return bool(self.conversation.unread and self.commands.doing) and self.can_act

    @property
    def _is_asked_for_answer(self) -> bool:
        return any(map(asks_for_answer, self.conversation.unread))

    @property
    def _has_other_reason(self) -> bool:
        if self.conversation.unread:
            return True
        if self.situation.request.because in {REASON_REMINDER, REASON_TO_ANSWER}:
            return bool(self.conversation.addressees)
        return self.can_act and not self.commands.doing and not self.conversation.has_stopped

    async def _interrupts(self, session: ModelSession) -> bool:
        """Return whether to answer unread messages now, although a command is in progress.

        By the settings, a rule or the model decides. The model is asked once for each new message. If its
        reply cannot be used, the rule decides.
        """
        by_rule = self._is_asked_for_answer
        if self.agent.options.busy_answers != BY_MODEL:
            return by_rule
        if self.conversation.is_put_off:
            return False
        usual = prompt.RESPOND if by_rule else prompt.IGNORE
        told = self.agent.fixed_part(self.commands, self.conversation.talk)
        request = prompt.busy_request(self.conversation, self.commands.doing)
        messages = [Message("system", told, fixed=True), Message("user", request)]
        call = await session.ask(messages, self._stand_in(session, lambda _: usual))
        answers = prompt.read_busy_reply(call.reply.text) if call.reply else None
        if answers is not None:
            self.busy_answer = prompt.RESPOND if answers else prompt.IGNORE
        if not (by_rule if answers is None else answers):
            self.conversation.put_off()
            return False
        return True

    async def _ask(self, session: ModelSession) -> None:
        self.is_asked = True
        told = self.agent.fixed_part(self.commands, self.conversation.talk)
        fixed = Message("system", told, fixed=True)
        await self._summarise(session, fixed)
        reply, command = await self._reply(session, fixed)
        if reply is None:
            self._fall_back()
            return
        source = STAND_IN if session.is_stand_in else self.agent.kind
        could_act = self.can_act and not self.commands.doing
        if command is not None:
            self.begun = self.commands.spell(command)
            self.commands.begin(command, source)
        self.conversation.mark_read(has_command=command is not None, could_act=could_act)
        self.by = source
        if reply.speaks and self.conversation.addressees:
            self.says = (MessageDraft(reply.say, reply.kind, self.conversation.member_named(reply.to)),)

    async def _summarise(self, session: ModelSession, fixed: Message) -> None:
        """Let the model summarise the oldest messages if there are too many. If the call fails, the next step
        tries again."""
        said = self.conversation.to_summarise(self.agent.options.memory)
        if not said:
            return
        request = prompt.summary_request(self.conversation, said)
        stand_in = self._stand_in(session, lambda commands: ruled_summary(self.conversation, said))
        call = await session.ask([fixed, Message("user", request)], stand_in)
        if call.reply and call.reply.text.strip():
            self.conversation.add_summary(call.reply.text, said)

    async def _reply(
        self, session: ModelSession, fixed: Message
    ) -> tuple[SpokenReply | None, Command | None]:
        """Return the model's reply and its command. If the reply cannot be used, ask the model once to
        repair it.

        If the command of the repaired reply cannot begin, the command is None, but the reply's message is
        still sent. If the reply cannot be read, both are None.
        """
        told = prompt.step_part(
            self.commands, self.conversation, self.situation.step + 1, may_begin=self.can_act
        )
        messages = [fixed, Message("user", told)]
        stand_in = self._stand_in(session, self._written)
        reply: SpokenReply | None = None
        tool = REPLY_TOOL if self.agent.options.structured else None
        for _ in range(2):
            call = await session.ask(messages, stand_in, tool)
            if call.reply is None:
                self.error = "" if reply else call.error
                return reply, None
            found = read_spoken_reply(call.reply)
            reply = found or reply
            command, code, why = self._judge(found)
            self.tries.append([self._fault(code, command, why)] if code else [])
            if not code:
                return reply, command
            answer = call.reply.text or str(dict(call.reply.call or {}))
            messages += [Message("assistant", answer), Message("user", prompt.REPAIR.format(why=why))]
        self.error = "" if reply else UnreadableReplyError.code
        return reply, None

    def _judge(self, reply: SpokenReply | None) -> tuple[Command | None, str, str]:
        """Return three things about a model's reply: its command, and why the reply cannot be used, as a
        code and as a sentence. Both texts are empty if the reply can be used."""
        if reply is None:
            return None, NO_COMMAND, prompt.UNREADABLE
        if not (reply.command and self.can_act):
            return None, "", ""
        command = self.commands.read(reply.command)
        if command is None:
            return None, NO_COMMAND, prompt.UNKNOWN.format(command=reply.command)
        why = self.commands.why_not(command)
        return command, IMPOSSIBLE if why else "", why

    def _fault(self, code: str, command: Command | None, text: str) -> Json:
        return {"code": code, "seat": self.seat, "command": list(command or ()), "text": text}

    def _stand_in(self, session: ModelSession, write: CommandWriter) -> StandInFactory:
        """Return the stand-in (a program that imitates a language model). It replies with the command that
        rules choose, or with a wrong one. `write` converts the command to a reply."""

        def made(number: int) -> StandIn:
            turn = ruled_turn(self.conversation, self.commands)
            right = {self.seat: turn.command} if turn.command and self.can_act else {}
            others = {self.seat: [one for one in self.commands.possible() if one != turn.command]}
            advice = StandInAdvice(right, others=others)
            return session.stand_in(self.seat, advice, lambda commands, rng: write(commands))(number)

        return made

    def _written(self, commands: Sequence[WrittenCommand]) -> str:
        words = ruled_turn(self.conversation, self.commands).words
        spelled = self.commands.spell(commands[0][1]) if commands else ""
        return replace(words, command=spelled).written()

    def _fall_back(self) -> None:
        """Begin the command that fixed rules choose, or wait. This replaces a missing answer of the model."""
        if not self.can_act or self.commands.doing:
            return
        command = self.commands.rule() if self.agent.options.fallback == BY_RULE else None
        self.by = STAND_IN if command else NOOP_FALLBACK
        if command is not None:
            self.commands.begin(command, STAND_IN)
