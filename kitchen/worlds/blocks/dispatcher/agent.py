"""Implement `blocks_dispatcher`, an agent whose language model commands several players.

The agent plays the world `blocks_kitchen`. Every reply is read and checked. If the model gives no answer, a
planner without a model takes over, or the players wait.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from kitchen.agents.job_answers import job_answers_in
from kitchen.agents.skill_agents.base_agent import NOOP_FALLBACK, RESERVE_SECONDS
from kitchen.agents.skill_agents.decision_model import ModelSession, StandInFactory
from kitchen.agents.skill_agents.settings import BY_RULE
from kitchen.agents.skill_agents.skill_text import NO_WORDS
from kitchen.contract.agent import Agent, Decision, ForecastTrial, Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message, Reply
from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.llm.provider_registry import (
    STAND_IN,
    parse_model_setting,
    unlisted_model_remarks,
    why_not_usable,
)
from kitchen.llm.providers.stand_in_model import StandInAdvice, WrittenCommand
from kitchen.words.quoted_messages import repeats_prompt
from kitchen.worlds.blocks.dispatcher.action_reply import (
    NOOP,
    ActionFault,
    ActionReply,
    CheckedActions,
    action_object,
    check_actions,
    dispatch_tool,
    read_action_reply,
    spell_action,
)
from kitchen.worlds.blocks.dispatcher.kitchen_view import KitchenView
from kitchen.worlds.blocks.dispatcher.player_requests import HeardRequests, hear_requests, requested_commands
from kitchen.worlds.blocks.dispatcher.prompt import (
    SAME_TWICE,
    feedback_lines,
    fixed_part,
    repair_part,
    state_part,
)
from kitchen.worlds.blocks.dispatcher.settings import SETTINGS, TRIAL_SETTINGS, BlocksDispatcherOptions
from kitchen.worlds.blocks.kitchen_world import GO_ON

MAX_REPLY_CHARACTERS = 4000
"""Largest number of characters of a remembered reply."""
MAX_FAULTS = 20
STATE_GROWTH = 200
"""Maximum number of tokens by which the state grows later in an episode: orders, and what players hold."""
PLANNER = "blocks_planner"
"""`Decision.played_by` where the planner replaced the model."""
FALLBACK_SENTENCES = {
    True: "the planner will command the teammates in every step, as the fallback",
    False: "the teammates will wait in every step, as the fallback",
}


@dataclass(frozen=True, slots=True)
class DispatcherMemory:
    """The dispatcher's memory: earlier exchanges, oldest first, feedback for the next prompt, and the last
    actions."""

    exchanges: tuple[tuple[str, str], ...] = ()
    feedback: tuple[str, ...] = ()
    refused: Mapping[int, Command] = field(default_factory=dict)
    """Actions of the last step that could not be carried out."""
    joint: tuple[str, ...] = ()
    """All actions of the last step, as text."""
    requests: Json = None
    """What people asked for, as the stand-in and the planner understand it."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` stored. Return an empty memory for any other value."""
        if not isinstance(stored, dict) or "joint" not in stored:
            return cls()
        return cls(
            tuple((asked, said) for asked, said in stored["exchanges"]),
            tuple(stored["feedback"]),
            {seat: tuple(command) for seat, command in stored["refused"]},
            tuple(stored["joint"]),
            stored["requests"],
        )

    def to_json(self) -> Json:
        """Return the memory as JSON, for `Decision.memory`."""
        return {
            "exchanges": [list(each) for each in self.exchanges],
            "feedback": list(self.feedback),
            "refused": [[seat, list(command)] for seat, command in self.refused.items()],
            "joint": list(self.joint),
            "requests": self.requests,
        }

    def messages(self, most: int) -> list[Message]:
        """Return the last `most` exchanges as messages for the model."""
        pairs = self.exchanges[-most:] if most else ()
        return [
            message
            for asked, said in pairs
            for message in (Message("user", asked), Message("assistant", said))
        ]


@dataclass(slots=True)
class Dispatch:
    """What the model answered in one decision."""

    question: str
    said: list[str] = field(default_factory=list)
    """Its replies as text; empty if it gave no answer."""
    reply: ActionReply = field(default_factory=ActionReply)
    checked: CheckedActions | None = None
    """The actions that count; None if the model gave no answer."""
    first_faults: tuple[ActionFault, ...] = ()
    """The faults of its first reply, if it was asked again."""
    job_answers: tuple[MessageDraft, ...] = ()
    """Its answers to jobs, from the first reply that has some."""


class BlocksDispatcher(Agent):
    """An agent whose language model gives each of its players one action in every step (MindAgent, arXiv
    2309.09971, section 7).

    `Decision.memory` is its only state between steps. `Decision.played_by` is `blocks_dispatcher` if a model
    chose, `stand-in` if none is set up, else the fallback.
    """

    kind: ClassVar[str] = "blocks_dispatcher"
    reads_words: ClassVar[bool] = True
    worlds: ClassVar[tuple[str, ...] | None] = ("blocks_kitchen",)
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    names_model: ClassVar[str] = "model"

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.options = BlocksDispatcherOptions(**self.chosen)
        parse_model_setting(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Return a warning for each reason why the model cannot be used, such as a missing key."""
        fallback = FALLBACK_SENTENCES[self.options.fallback == BY_RULE]
        provider, model = parse_model_setting(self.options.model)
        whys = (f"{why}: {fallback}." for why in why_not_usable(provider, model))
        return (*whys, *unlisted_model_remarks(provider, model))

    def model(self) -> str:
        """Return `provider:model`, from the settings or this process's default."""
        return ":".join(parse_model_setting(self.options.model))

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for a cost forecast with the stand-in (a program that imitates a language
        model). They include the limits of its memory and of second tries."""
        chosen = {**self.chosen, **TRIAL_SETTINGS}
        options = self.options
        return ForecastTrial(
            chosen, options.memory, options.repair, {**chosen, "memory": options.memory}, STATE_GROWTH
        )

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system message, the part of the prompt that never changes in an episode."""
        return (fixed_part(KitchenView.of(situation), self.options),)

    async def decide(self, situation: Situation) -> Decision:
        """Ask the model for actions within the situation's time limit. If it gives no answer, return the
        fallback's decision."""
        reserve = min(RESERVE_SECONDS, situation.limits.seconds / 4)
        session = ModelSession(self.options, situation, time.monotonic() + situation.limits.seconds - reserve)
        view, memory = KitchenView.of(situation), DispatcherMemory.read(situation.memory)
        heard = hear_requests(situation, memory.requests)
        feedback = feedback_lines(view, situation, memory.feedback) if self.options.feedback else []
        made = Dispatch(state_part(view, situation, feedback))
        await self._ask(made, view, memory, session, self._stand_in(situation, heard, memory, session))
        if made.checked is None:
            call = session.calls[-1]
            decision = self._without_answer(situation, heard, memory, call.error)
            why = {"by": decision.played_by, "code": call.error, "text": call.error_text}
            note = {**self._about(session, feedback), "fallback": why}
            return replace(decision, note=note, calls=tuple(session.calls), fallback=call.error)
        return self._followed(situation, view, memory, heard, session, made, made.checked, feedback)

    async def _ask(
        self,
        made: Dispatch,
        view: KitchenView,
        memory: DispatcherMemory,
        session: ModelSession,
        stand_in: StandInFactory,
    ) -> None:
        """Ask the model until each agent has an action that can be carried out. After the first reply, ask
        at most `repair` times more."""
        messages = [Message("system", fixed_part(view, self.options), fixed=True)]
        messages += [*memory.messages(self.options.memory), Message("user", made.question)]
        tool = dispatch_tool(view, addressed=self.options.addressed) if self.options.as_tool else None
        for number in range(1 + self.options.repair):
            call = await session.ask(messages, stand_in, tool)
            if call.reply is None:
                return
            said, read = _as_text(call.reply), read_action_reply(call.reply)
            made.said.append(said)
            made.job_answers = made.job_answers or job_answers_in(call.reply, view.jobs)
            kept = made.checked.accepted if made.checked else {}
            fresh = [each for each in read.given if each[0] not in kept]
            if not number:
                made.reply = read
            made.checked = check_actions(view, [*kept.items(), *fresh])
            missing = [seat for seat in view.asked if seat not in made.checked.accepted]
            if not missing or view.only_answers or number == self.options.repair:
                return
            made.first_faults = made.first_faults or made.checked.faults
            again = repair_part(made.checked.faults, missing)
            messages += [Message("assistant", said), Message("user", again)]

    def _stand_in(
        self, situation: Situation, heard: HeardRequests, memory: DispatcherMemory, session: ModelSession
    ) -> StandInFactory:
        """Return the stand-in (a program that imitates a language model). It replies with the planner's
        actions and with actions that people requested."""
        right = {seat: NOOP if do == GO_ON else do for seat, do in self._by_rule(situation, heard).items()}
        advice = StandInAdvice(
            right,
            refused=memory.refused,
            others={seat: [do for do in situation.legal[seat] if do != right[seat]] for seat in right},
        )
        return session.stand_in(min(situation.seats), advice, as_call=_as_call)

    def _by_rule(self, situation: Situation, heard: HeardRequests) -> dict[int, Command]:
        return requested_commands(situation, heard, only_on_request=self.options.only_on_request)

    def _followed(
        self,
        situation: Situation,
        view: KitchenView,
        memory: DispatcherMemory,
        heard: HeardRequests,
        session: ModelSession,
        made: Dispatch,
        checked: CheckedActions,
        feedback: Sequence[str],
    ) -> Decision:
        faults = () if view.only_answers else checked.faults[:MAX_FAULTS]
        joint = tuple(spell_action(seat, checked.commands[seat]) for seat in sorted(checked.commands))
        same = [SAME_TWICE] if joint and joint == memory.joint and not view.only_answers else []
        exchange = (made.question, "\n\n".join(made.said)[:MAX_REPLY_CHARACTERS])
        after = DispatcherMemory(
            (*memory.exchanges, exchange)[-self.options.memory :] if self.options.memory else (),
            (*(fault.text for fault in faults), *same),
            {fault.seat: fault.command for fault in faults if fault.command and fault.seat is not None},
            memory.joint if view.only_answers else joint,
            heard.to_json(),
        )
        fixed = self.fixed_messages(situation)
        to = view.addressee(made.reply.to) if made.reply.to and self.options.addressed else None
        withheld = repeats_prompt(made.reply.say, fixed) or (bool(made.reply.to) and to is None)
        note = {
            **self._about(session, feedback),
            "plan": made.reply.plan,
            "extracted": [spell_action(*each) for each in made.reply.given],
            "carried_on": list(joint),
            "faults": [fault.to_json() for fault in faults],
            "mended": [fault.to_json() for fault in made.first_faults],
            **({"asked": len(view.asked)} if len(view.asked) < len(view.mine) else {}),
            **({"withheld": made.reply.say} if withheld else {}),
        }
        told = (replace(say, text="") if repeats_prompt(say.text, fixed) else say for say in made.job_answers)
        says = bool(made.reply.say) and view.talks and not withheld
        line = (MessageDraft(made.reply.say, SAY, () if to is None else (to,)),) if says else ()
        return Decision(
            {} if view.only_answers else dict(checked.commands),
            memory=after.to_json(),
            played_by=STAND_IN if session.is_stand_in else self.kind,
            note=note,
            calls=tuple(session.calls),
            says=heard.answers if session.is_stand_in else (*line, *told),
        )

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return the decision without a model: the planner's actions, or all players wait. `code` is the
        error that prevented a decision."""
        memory = DispatcherMemory.read(situation.memory)
        heard = hear_requests(situation, memory.requests)
        decision = self._without_answer(situation, heard, memory, code)
        return replace(decision, note={"fallback": {"by": decision.played_by, "code": code}})

    def _without_answer(
        self, situation: Situation, heard: HeardRequests, memory: DispatcherMemory, code: str
    ) -> Decision:
        by_rule = self.options.fallback == BY_RULE
        asked = KitchenView.of(situation).asked
        commands = self._by_rule(situation, heard) if by_rule else dict.fromkeys(asked, GO_ON)
        who = "the planner commanded your agents" if by_rule else "your agents did nothing"
        after = DispatcherMemory(
            memory.exchanges, (f"No answer of yours came in time; {who}.",), {}, memory.joint, heard.to_json()
        )
        return Decision(commands, after.to_json(), PLANNER if by_rule else NOOP_FALLBACK)

    def _about(self, session: ModelSession, feedback: Sequence[str]) -> dict[str, Json]:
        """Return the settings of the model request, and the feedback that the model received. They are
        stored in the log."""
        return {
            "provider": session.provider,
            "model": session.model,
            "stand_in": session.is_stand_in,
            "temperature": session.temperature,
            "reply": self.options.reply,
            "feedback": list(feedback),
        }


def _as_text(reply: Reply) -> str:
    said = reply.text if reply.call is None else json.dumps(reply.call)
    return said.strip()[:MAX_REPLY_CHARACTERS] or NO_WORDS


def _as_call(commands: Sequence[WrittenCommand], reasoning: str) -> dict[str, Json]:
    """Return these actions as a structured list, in the schema of `dispatch_tool`."""
    return {"plan": reasoning, "say": "", "actions": [action_object(*each) for each in commands]}
