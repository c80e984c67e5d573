"""Implement the agent `Dispatcher`, whose language model commands several robots.

It writes the prompt, calls the model, and reads and checks the commands in the reply. If the model gives no
answer, a fallback decides: a planner without a language model, or all robots wait. A note for the log
describes each decision.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kitchen.agents.job_answers import JOB_ANSWER_PATTERN, job_answers_in
from kitchen.contract.agent import Agent, Decision, ForecastTrial, Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Call, Message, Reply
from kitchen.contract.organisation import SAY
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Intent, Json
from kitchen.contract.world_errors import SettingsError
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting, why_not_usable
from kitchen.words.quoted_messages import repeats_prompt, shorten
from kitchen.worlds.cuisine.dispatcher.command_check import (
    NOOP,
    CheckedCommands,
    ReplyFault,
    UnclearCommands,
    check_commands,
    spell_command,
)
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand, LevelNames
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.dispatcher.message_and_job_text import (
    GIVE_PATTERN,
    SAY_PATTERN,
    SaidLine,
    addressee_names,
    jobs_given_in,
    line_in_reply,
    member_named,
)
from kitchen.worlds.cuisine.dispatcher.model_exchange import (
    DispatcherMemory,
    Exchange,
    FallbackPlanner,
    ModelSession,
    dispatch_tool,
)
from kitchen.worlds.cuisine.dispatcher.prompt import (
    demonstration_for,
    feedback_sentences,
    fixed_part,
    missing_part,
    prompt_parts,
    prompt_pieces,
    repair_part,
    retry_form,
    state_part,
    unused_parts,
)
from kitchen.worlds.cuisine.dispatcher.reply_extraction import (
    ExtractedCommands,
    RequestedCommands,
    extract_from_reply,
)
from kitchen.worlds.cuisine.dispatcher.settings import (
    SENTENCES,
    SETTINGS,
    DispatcherOptions,
    effort_problem,
    reply_room_problem,
    unsent_settings,
)
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen

NO_WORDS = "(no words)"
"""Text of an empty answer in the memory, because providers refuse empty messages."""
CUT_OFF = ("max_tokens", "length")
"""What the APIs say of a reply that was cut off at the largest number of tokens."""
MAX_PLAN_CHARACTERS = 160
"""Largest number of characters of a plan shown to people: two lines."""
MAX_THOUGHT_CHARACTERS = 4000
"""Largest number of characters of a model's reasoning shown to people, in a fold."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The commands of one decision: `given` are the commands as read from the replies, `verdict` is the
    result of checking them.

    `mended` are the faults of the first reply if the model was asked again.
    """

    verdict: CheckedCommands
    given: tuple[GivenCommand, ...]
    mended: tuple[ReplyFault, ...] = ()


class ModelConversation:
    """The questions to the model and its answers in one decision."""

    def __init__(
        self,
        moment: KitchenMoment,
        options: DispatcherOptions,
        memory: DispatcherMemory,
        session: ModelSession,
    ) -> None:
        self.moment, self.options, self.session = moment, options, session
        self.names = LevelNames.of(moment.brief)
        self.talks = moment.organisation is not None
        tool = dispatch_tool(moment, talks=self.talks)
        self.tool = tool if options.as_tool else None
        self.messages = [Message("system", fixed_part(moment, options), fixed=True), *memory.messages()]
        self.remembered = len(memory.messages())
        self.calls: list[Call] = []
        self.asked: list[Exchange] = []

    async def decide(self, question: str) -> ModelAnswer | None:
        """Ask the model for commands and check them. If the setting `repair` is on, ask again for agents
        without a usable command; with `ask_unclear`, only for those whose commands are unclear.

        Return None if the model gave no answer.
        """
        read = await self.ask(question, self.moment.team.asked)
        if read is None:
            return None
        verdict = self._check(read.given, read.unclear)
        missing = [seat for seat in self.moment.team.asked if seat not in dict(verdict.accepted)]
        if not self.options.repair:
            missing = [seat for seat in missing if self.options.ask_unclear and seat in read.unclear]
        if not missing or self.moment.only_answers:
            return ModelAnswer(verdict, read.given)
        return await self._mend(ModelAnswer(verdict, read.given), missing)

    async def ask(self, question: str, seats: Sequence[int]) -> ExtractedCommands | None:
        """Send the question to the model, and return the commands that its answer gives these seats.

        Return None if the model gave no answer.
        """
        self.messages.append(Message("user", question))
        call = await self.session.ask(self.messages, self.tool)
        self.calls.append(call)
        if call.reply is None:
            return None
        said = reply_as_message(call.reply)
        self.messages.append(Message("assistant", said))
        self.asked.append((question, said))
        return await asyncio.to_thread(self._read, call.reply, seats)

    def _read(self, reply: Reply, seats: Sequence[int]) -> ExtractedCommands:
        """Return the commands in a model's answer. The lines that are addressed to people are not
        searched."""
        text = reply.text
        for pattern in (SAY_PATTERN, JOB_ANSWER_PATTERN, GIVE_PATTERN) if self.talks else ():
            text = pattern.sub("", text)
        requested = RequestedCommands(seats, int(self.moment.observation["step"]) + 1)
        cut = reply.stop in CUT_OFF
        return extract_from_reply(reply.call, text, self.names, requested, cut=cut)

    def _check(self, given: Sequence[GivenCommand], unclear: UnclearCommands) -> CheckedCommands:
        """Return these commands with the faults found in them. They are checked as if they ran after the
        other agents' commands that are already fixed for this step."""
        scene = SimulatedKitchen(self.moment.brief, self.moment.observation)
        scene.run_all(self.moment.commanded)
        return check_commands(scene, self.moment.team, given, unclear)

    @property
    def exchange(self) -> Exchange:
        """Return the conversation as one (question, answer) pair: the first question, and all answers
        joined."""
        return self.asked[0][0], "\n\n".join(said for _, said in self.asked)

    @property
    def plan(self) -> str:
        """Return the first paragraph of the model's plan in its last structured reply, shortened; empty if
        there is none."""
        calls = [call.reply.call for call in self.calls if call.reply and call.reply.call]
        plan = str(calls[-1].get("plan") or "").strip() if calls else ""
        return shorten(" ".join(plan.partition("\n")[0].split()), MAX_PLAN_CHARACTERS)

    @property
    def thought(self) -> str:
        """Return the model's reasoning before its last answer, shortened; empty if the provider does not
        return it."""
        said = [call.reply.reasoning for call in self.calls if call.reply]
        return shorten(said[-1].strip() if said else "", MAX_THOUGHT_CHARACTERS)

    @property
    def line(self) -> SaidLine:
        """Return the message to people in the model's first answer that contains one. Return an empty message
        if no answer does."""
        said = (line_in_reply(call.reply) for call in self.calls if call.reply)
        return next((line for line in said if line.text), SaidLine()) if self.talks else SaidLine()

    @property
    def addressee(self) -> int | None:
        """Return the number of the member to whom the model's message is addressed. Return None if there is
        no message, or if the addressee is unknown."""
        return member_named(self.line.to, addressee_names(self.moment, SAY))

    @property
    def given_jobs(self) -> tuple[MessageDraft, ...]:
        """Return the jobs that the model gives to others, from the first answer that contains any. Texts that
        repeat the prompt are left out."""
        said = (jobs_given_in(call.reply, self.moment) for call in self.calls if call.reply)
        jobs = next((each for each in said if each), ()) if self.talks else ()
        plain = (replace(say, text="") if self._repeats(say.text) else say for say in jobs)
        return tuple(say for say in plain if say.text or say.data)

    @property
    def answers(self) -> tuple[MessageDraft, ...]:
        """Return the model's answers to jobs (tasks given by other members), from the first reply that
        contains any. Texts that repeat the prompt are removed."""
        jobs = [job for job in self.moment.jobs if job.worker == self.moment.member]
        said = (job_answers_in(call.reply, jobs) for call in self.calls if call.reply)
        answers = next((each for each in said if each), ())
        return tuple(replace(say, text="") if self._repeats(say.text) else say for say in answers)

    @property
    def withheld(self) -> bool:
        """Return whether the model's message must not be sent, because it repeats the prompt or is for
        somebody unknown."""
        unknown = bool(self.line.to) and self.addressee is None
        return unknown or self._repeats(self.line.text)

    def _repeats(self, line: str) -> bool:
        return repeats_prompt(line, [message.text for message in self.messages if message.fixed])

    async def _mend(self, first: ModelAnswer, missing: Sequence[int]) -> ModelAnswer:
        """Ask the model for new commands for the agents in `missing`. These run after the valid commands of
        the first answer."""
        form = retry_form(missing, self.options) if first.verdict.unread else []
        problems = [fault.text for fault in first.verdict.faults]
        second = await self.ask(repair_part(problems, missing, form), missing)
        if second is None:
            return first
        others = [each for each in second.given if each[0] in missing]
        verdict = self._check([*first.verdict.accepted, *others], second.unclear)
        return ModelAnswer(verdict, (*first.given, *second.given), first.verdict.faults)


def reply_as_message(reply: Reply) -> str:
    """Return the reply as text, for the history in later prompts. A structured reply is returned as JSON.
    An empty reply gives NO_WORDS."""
    said = reply.text if reply.call is None else json.dumps(reply.call)
    return said.strip() or NO_WORDS


def answer_note(talk: ModelConversation, answer: ModelAnswer, feedback: Sequence[str]) -> Json:
    """Return the note for the log: the commands before and after the check, the faults, and the feedback
    that the model got."""
    return {
        **_setting(talk),
        "feedback": list(feedback),
        "extracted": [spell_command(*each) for each in answer.given],
        "carried_on": [spell_command(*each) for each in answer.verdict.commands],
        "faults": [fault.to_json() for fault in answer.verdict.faults],
        "mended": [fault.to_json() for fault in answer.mended],
        **({"withheld": talk.line.text} if talk.withheld else {}),
    }


def _setting(talk: ModelConversation) -> dict[str, Json]:
    """Return the settings of a model call for the log. They include values that the agent's settings do not
    show: defaults, and the demonstration that was used."""
    shown = demonstration_for(talk.moment, talk.options)
    return {
        "provider": talk.session.provider,
        "model": talk.session.model,
        "stand_in": talk.session.is_stand_in,
        "temperature": talk.session.temperature,
        "effort": talk.options.effort,
        "reply": "tool" if talk.options.as_tool else "text",
        "memory_messages": talk.remembered + 1,
        "demonstration": {"dish": shown.dish, "agents": shown.team.agents} if shown else None,
        **({"asked": len(talk.moment.team.asked)} if talk.moment.team.settled else {}),
    }


UNSENDABLE = ("4xx", "context", "error")
"""Codes of failures after which earlier exchanges are forgotten: they may be what cannot be sent."""

RESERVE_SECONDS = 1.0
"""Seconds of the decision time kept for the fallback; a quarter of the time if it is below four seconds."""

TRIAL_SETTINGS: Mapping[str, Json] = {
    "model": STAND_IN,
    "memory": 1,
    "repair": 0,
    "ask_unclear": False,
    "stand_in_errors": 0.0,
    "stand_in_nonsense": 0.0,
    "stand_in_latency": 0.0,
    "stand_in_failures": 0.0,
}
"""Settings of the trial for a forecast."""


class Dispatcher(Agent):
    """An agent whose language model commands all its seats (MindAgent, arXiv 2309.09971, section 4).

    `Decision.memory` is its only state between steps. `Decision.played_by` is `dispatcher` if a language
    model chose, and `stand-in` if no model is set up. If the model gave no answer, it is `planner` or `noop`,
    and `Decision.fallback` has the ModelError's code.

    Agents that the model left out get no command. The intent is the plan of a structured reply, the same
    for every agent. A reply in free text has no intent.
    """

    kind = "dispatcher"
    reads_words = True
    worlds = ("cuisine",)
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    names_model: ClassVar[str] = "model"

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for an unknown provider or a system text without a needed
        part."""
        super().__init__(chosen)
        self.options = DispatcherOptions.read(self.chosen)
        parse_model_setting(self.options.model)
        if why := missing_part(self.options):
            raise SettingsError(why)

    def cautions(self) -> tuple[str, ...]:
        """Return a warning if the model cannot be used because a key, a name or a price is missing. Otherwise
        return an empty tuple.

        Without a usable model, the fallback would decide in every step.
        """
        provider, model = parse_model_setting(self.options.model)
        fallback = FALLBACK_SENTENCES[self.options.fallback]
        return tuple(f"{why}: {fallback}." for why in why_not_usable(provider, model))

    def remarks(self) -> tuple[str, ...]:
        """Return remarks about settings that the model does not accept, and about parts of the prompt that
        are switched off."""
        return (*unsent_settings(self.options), *unused_parts(self.options))

    def refusal(self) -> str:
        """Return the reason for refusing the settings. Empty if they are accepted. They are refused if the
        model does not accept the amount of thinking, or if the token limit leaves no room for a reply after
        it."""
        return effort_problem(self.options) or reply_room_problem(self.options)

    def model(self) -> str:
        """Return `provider:model`, from the settings or this process's default."""
        return ":".join(parse_model_setting(self.options.model))

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for estimating the cost with a free program that imitates the language
        model."""
        kept = (self.options.memory - 1) // 2
        chosen = {**self.chosen, **TRIAL_SETTINGS}
        remembering = {**chosen, "memory": self.options.memory}
        again = max(self.options.repair, int(self.options.ask_unclear))
        return ForecastTrial(chosen, kept, again, remembering)

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the messages that stay the same for the whole episode. There is only one: the system
        message."""
        return (fixed_part(KitchenMoment.of(situation), self.options),)

    def placeholders(self, situation: Situation) -> Mapping[str, str]:
        """Return the texts for the placeholders of a researcher's own prompt, by name.

        They are the parts of the prompt that are switched on, and smaller texts such as the list of
        agents.
        """
        moment = KitchenMoment.of(situation)
        return {**prompt_parts(moment, self.options), **prompt_pieces(moment, self.options)}

    async def decide(self, situation: Situation) -> Decision:
        """Ask the model for commands within the situation's time limit. If the model gives no answer,
        return the fallback's decision."""
        deadline = (
            time.monotonic() + situation.limits.seconds - min(RESERVE_SECONDS, situation.limits.seconds / 4)
        )
        moment = KitchenMoment.of(situation)
        memory = DispatcherMemory.read(situation.memory).within(self.options.memory)
        adviser = FallbackPlanner(situation, moment, memory)
        options = self.options.as_recorded(situation.limits.answers)
        session = ModelSession(options, situation, adviser, deadline)
        feedback: list[str] = []
        if self.options.feedback:
            feedback = feedback_sentences(moment, memory.feedback, confirms=self.options.confirm)
        # a demonstration may have to be played for the prompt
        talk = await asyncio.to_thread(ModelConversation, moment, options, memory, session)
        answer = await talk.decide(state_part(moment, feedback))
        if answer is None:
            return await asyncio.to_thread(self._fall_back, talk, memory, adviser, feedback)
        return await asyncio.to_thread(self._follow, talk, memory, adviser, answer, feedback)

    def _follow(
        self,
        talk: ModelConversation,
        memory: DispatcherMemory,
        adviser: FallbackPlanner,
        answer: ModelAnswer,
        feedback: list[str],
    ) -> Decision:
        faults = () if talk.moment.only_answers else answer.verdict.faults
        after = memory.after(talk.exchange, faults, adviser.plan)
        return Decision(
            commands=dict(answer.verdict.commands),
            memory=after.within(self.options.memory).to_json(),
            played_by="stand-in" if talk.session.is_stand_in else self.kind,
            note=answer_note(talk, answer, feedback),
            calls=tuple(talk.calls),
            intents=self._intents(talk, adviser),
            says=self._says(talk, adviser),
        )

    def _says(self, talk: ModelConversation, adviser: FallbackPlanner) -> tuple[MessageDraft, ...]:
        """Return the messages to send: the jobs that the model gives, its message to people, and its
        answers to jobs. If the stand-in (a program that imitates the model) plays, the planner's messages
        are used."""
        if talk.session.is_stand_in:
            return adviser.decision.says if talk.talks else ()
        to = () if talk.addressee is None else (talk.addressee,)
        line = (MessageDraft(talk.line.text, to=to),) if talk.line.text and not talk.withheld else ()
        return (*talk.given_jobs, *line, *talk.answers)

    def _intents(self, talk: ModelConversation, adviser: FallbackPlanner) -> Mapping[int, Intent]:
        """Return the text that tells people what the agents are about to do. The model writes one text for
        all its agents. If the stand-in (a program that imitates the model) plays, the planner's advice is
        used."""
        if talk.session.is_stand_in:
            return adviser.decision.intents
        words = {"said": talk.plan, "thought": talk.thought if self.options.tell_thoughts else ""}
        intent = {name: text for name, text in words.items() if text}
        return dict.fromkeys(talk.moment.team.mine, intent) if intent else {}

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return the fallback's decision (the planner's commands, or noop for all robots). `code` is the
        error that prevented a decision."""
        moment = KitchenMoment.of(situation)
        memory = DispatcherMemory.read(situation.memory).within(self.options.memory)
        decision = self._without_answer(moment, memory, FallbackPlanner(situation, moment, memory), code)
        return replace(decision, note={"fallback": {"by": decision.played_by, "code": code}})

    def _fall_back(
        self, talk: ModelConversation, memory: DispatcherMemory, adviser: FallbackPlanner, feedback: list[str]
    ) -> Decision:
        call = talk.calls[-1]
        decision = self._without_answer(talk.moment, memory, adviser, call.error)
        why = {"by": decision.played_by, "code": call.error, "text": call.error_text}
        note = {**_setting(talk), "feedback": list(feedback), "fallback": why}
        return replace(decision, note=note, calls=tuple(talk.calls), fallback=call.error)

    def _without_answer(
        self, moment: KitchenMoment, memory: DispatcherMemory, adviser: FallbackPlanner, code: str
    ) -> Decision:
        """Return the decision for a step without a usable answer of the model. The settings say whether the
        planner chooses the commands or the agents wait."""
        by = self.options.fallback
        waits = dict.fromkeys(moment.team.asked, NOOP)
        commands = adviser.decision.commands if by == "planner" else waits
        fault = ReplyFault("no_answer", f"{FAILURE_SENTENCES[code]}, {SUBSTITUTE_SENTENCES[by]}")
        kept = replace(memory, exchanges=()) if code in UNSENDABLE else memory
        after = kept.after(None, [fault], adviser.plan)
        return Decision(commands=commands, memory=after.to_json(), played_by=by)


FAILURE_SENTENCES: Mapping[str, str] = SENTENCES["no_answer"]
"""Sentences for every ModelError's code; the model reads them in the next step."""

FALLBACK_SENTENCES = {
    "planner": "the planner will command the teammates in every step, as the fallback",
    "noop": "the teammates will wait in every step, as the fallback",
}

SUBSTITUTE_SENTENCES = {
    "planner": "so somebody else commanded your agents.",
    "noop": "so your agents did nothing.",
}
