"""Implement the agent `collab`, whose language model plays the chef or the assistant of Collab-Overcooked.

The model writes a plan, and may talk with the other cook first. If the plan's first action fails a check, the
model gets one chance to correct it. If the corrected action fails too, the cook waits. After a successful
correction, another call can write down a lesson for later (setting `reflection`).
"""

# The benchmark's protocol: in a conversation, the seat that opened it carries out its last plan with an
# action, and the other seat its first one. A model that has answered in this step is called again only if
# somebody wrote since. In a correction, the model cannot talk. If an answer lacks its analysis or its plan,
# the model is asked once to complete it. If there is no answer, the seat waits for one step.

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from itertools import takewhile
from random import Random
from typing import ClassVar

from kitchen.contract.agent import (
    REASON_TO_ANSWER,
    Agent,
    Decision,
    ForecastTrial,
    Situation,
    run_without_waiting,
)
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import (
    Call,
    CallTimeoutError,
    LanguageModel,
    Message,
    Request,
    UnreadableReplyError,
)
from kitchen.contract.organisation import END, SAY
from kitchen.contract.team_messages import PLAN_KEY, REQUESTS_KEY, MessageDraft, commands_in
from kitchen.contract.world import Command, Json, World
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice, StandInBehaviour, stand_in_settings
from kitchen.worlds.collab_overcooked.collab_agent.prompt import (
    CORRECTION,
    LESSONS_SHOWN,
    REFLECTION,
    REPAIR,
    code_now,
    fixed_prompt,
    reason_text,
    situation_prompt,
    talk_of_step,
)
from kitchen.worlds.collab_overcooked.collab_agent.turn_reply import (
    TURN_TOOL,
    TurnReply,
    UnreadableTurnError,
    read_turn_reply,
    written_turn,
)
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.log_measures import PROCESS_KEY, TOKENS_KEY
from kitchen.worlds.collab_overcooked.macro_checks import WAIT, WAIT_ONE, is_known_macro, never_code, spelled
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner, decide_by_seat

RESERVE_SECONDS = 1.0
"""Seconds kept back from the time for a decision; a quarter of it if there are less than four."""
LESSON_WORDS = 50


class CollabAgent(Agent):
    """An agent whose seats, chef or assistant, are played by a language model."""

    kind: ClassVar[str] = "collab"
    worlds: ClassVar[tuple[str, ...] | None] = ("collab_overcooked",)
    reads_words: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "model",
            "text",
            "Language model",
            "",
            help="Provider and model, such as “openai:” with a name; “stand-in” needs no key. Empty: what "
            "this server uses by default.",
        ),
        Setting(
            "temperature",
            "float",
            "Temperature",
            0.7,
            help="The paper plays 0.7. -1 sends none.",
            minimum=-1,
            maximum=2,
        ),
        Setting("max_tokens", "int", "Longest reply (tokens)", 2000, minimum=64, maximum=64000),
        Setting(
            "structured", "bool", "Ask for a structured answer", True, help="Else for lines, as in the paper."
        ),
        Setting(
            "reflection",
            "bool",
            "Learn from corrected errors",
            True,
            help="One call more after each of them.",
        ),
        *stand_in_settings("plans"),
    )

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.provider, self.model_name = provider_registry.parse_model_setting(self.chosen["model"])

    def cautions(self) -> tuple[str, ...]:
        """Return warnings for the researcher. If the model cannot be called (no key, no model name, no
        price), the teammate will wait in every step."""
        why = provider_registry.why_not_usable(self.provider, self.model_name)
        return tuple(f"{each}: the teammate will wait in every step." for each in why)

    def model(self) -> str:
        """Return the language model that plays, as `provider:model`."""
        return f"{self.provider}:{self.model_name}"

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return why the agent cannot play these seats; empty if it can. The stand-in model cannot play
        the chef without the recipe."""
        is_stand_in = self.provider == provider_registry.STAND_IN
        return RecipePartner({}).unfit(world, seats) if is_stand_in else ""

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for a trial run with the stand-in model, a program that answers instead of a
        language model and costs nothing."""
        quiet = {f"stand_in_{name}": 0.0 for name in ("errors", "nonsense", "latency", "failures")}
        trial = {**self.chosen, "model": provider_registry.STAND_IN, **quiet}
        return ForecastTrial(trial, repairs=2, remembering=trial)

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the text of the system message for each of the agent's seats. The text is the same at
        every step."""
        return tuple(self.fixed_prompt(situation, seat).text for seat in situation.seats)

    def fixed_prompt(self, situation: Situation, seat: int) -> Message:
        """Return the system message for one seat. It is the same message at every step."""
        talk, structured = situation.talk, self.chosen["structured"]
        brief = situation.briefs[seat]
        return fixed_prompt(brief, seat, structured=structured, organisation=talk.organisation)

    async def decide(self, situation: Situation) -> Decision:
        """Ask the model for each of the agent's seats, within the situation's time limit. Return commands,
        plans and messages."""
        reserve = min(RESERVE_SECONDS, situation.limits.seconds / 4)
        deadline = time.monotonic() + situation.limits.seconds - reserve
        return await decide_by_seat(situation, lambda mine: _Turn(self, mine, deadline).decision())

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return a decision without commands, so that the world's default is used. The memory is kept."""
        return Decision({}, memory=situation.memory)


@dataclass(slots=True)
class _Turn:
    """One decision in progress: the questions to the model, and their results."""

    agent: CollabAgent
    situation: Situation
    deadline: float
    calls: list[Call] = field(default_factory=list)
    format_errors: int = 0
    failed: list[str] = field(default_factory=list)
    helped: int = 0
    correction: dict[str, Json] | None = None
    """The macro that failed the check, why, what replaced it, and the lesson."""
    partner: Decision | None = None
    """The decision of the stand-in's rule, where the stand-in is the model."""

    @property
    def seat(self) -> int:
        return self.situation.seats[0]

    async def decision(self) -> Decision:
        memory = self.situation.memory if isinstance(self.situation.memory, dict) else {}
        lessons = list(memory.get("lessons", ()))
        before = memory if memory.get("step") == self.situation.step else {}
        has_answered = bool(before.get("answered")) and not any(
            said.is_new for said in self.situation.talk.messages
        )
        reply = None if has_answered else await self._ask([])
        old = [tuple(each) for each in before.get("plan", ())]
        was_silent = bool(before.get("silent"))
        plan = self._counted(reply, old, was_silent=was_silent)
        says = self._says(reply)
        if plan and self._may_begin() and not self._is_waiting_queue():
            plan = await self._checked(plan, lessons)
        kept = {
            "step": self.situation.step,
            "plan": [list(macro) for macro in plan],
            "answered": has_answered or reply is not None,
            "silent": not (says or talk_of_step(self.situation)) or (was_silent and plan == old),
            "lessons": lessons[-LESSONS_SHOWN:],
            "partner": self.partner.memory if self.partner else memory.get("partner"),
        }
        commands, plans = self._commands(plan)
        last_error = next((call.error for call in reversed(self.calls) if call.error), "")
        error = "" if reply or has_answered else last_error or UnreadableReplyError.code
        return Decision(
            commands,
            memory=kept,
            note=self._note(reply, plan),
            calls=tuple(self.calls),
            says=says,
            plans=plans,
            fallback=error,
        )

    # Calls of the model

    async def _ask(self, errors: Sequence[str], lessons: Sequence[str] = ()) -> TurnReply | None:
        """Ask the model for its reply. If the reply cannot be read, ask it once more. Return None if no
        reply can be read."""
        memory = self.situation.memory if isinstance(self.situation.memory, dict) else {}
        prompt = situation_prompt(self.situation, self.seat, lessons or memory.get("lessons", ()), errors)
        messages = [self.agent.fixed_prompt(self.situation, self.seat), Message("user", prompt)]
        for _ in range(2):
            call = await self._call(messages)
            if call.reply is None:
                return None
            try:
                return read_turn_reply(call.reply)
            except UnreadableTurnError as error:
                self.format_errors += 1
                answer = call.reply.text or str(call.reply.call)
                messages += [Message("assistant", answer), Message("user", REPAIR.format(why=error))]
        return None

    async def _call(self, messages: Sequence[Message], *, in_words: bool = False) -> Call:
        agent, left = self.agent, self.deadline - time.monotonic()
        takes = provider_registry.takes_temperature(agent.provider, agent.model_name)
        temperature = agent.chosen["temperature"] if takes and agent.chosen["temperature"] >= 0 else None
        request = Request(
            model=agent.model_name,
            messages=tuple(messages),
            temperature=temperature,
            max_tokens=agent.chosen["max_tokens"],
            tool=TURN_TOOL if agent.chosen["structured"] and not in_words else None,
            seconds=max(left, 0.0),
        )
        if left > 0:
            call = await ask_and_record(open_model(agent.provider, self.situation, self._stand_in), request)
        else:
            why = "no time was left for the call"
            call = Call(agent.provider, request, error=CallTimeoutError.code, error_text=why)
        self.calls.append(call)
        return call

    def _stand_in(self) -> StandIn:
        """Return the stand-in model, whose answers follow the rules of the stand-in pair."""
        chosen, situation = self.agent.chosen, self.situation
        memory = situation.memory if isinstance(situation.memory, dict) else {}
        rule = RecipePartner({"wrong_requests": chosen["stand_in_errors"]})
        self.partner = run_without_waiting(rule.decide(replace(situation, memory=memory.get("partner"))))
        says = self.partner.says
        requests = tuple(macro for say in says for macro in commands_in(say.data, REQUESTS_KEY))
        plan = tuple(self.partner.commands.values()) or (WAIT_ONE,)
        written = written_turn(TurnReply("I follow the rule.", plan, requests, says[0].text if says else ""))
        manners = StandInBehaviour(
            nonsense_rate=chosen["stand_in_nonsense"],
            failure_rate=chosen["stand_in_failures"],
            latency=chosen["stand_in_latency"],
        )
        advice = StandInAdvice({})
        return StandIn(lambda: advice, manners, situation.seed, writer=lambda commands, rng: written)

    # The protocol

    def _counted(self, reply: TurnReply | None, before: list[Command], *, was_silent: bool) -> list[Command]:
        """Return the plan that is valid after several messages of the same step. For the agent that opens
        the conversation, it is the last plan with an action. For the other agent, it is the first plan. If
        `was_silent`, an earlier plan is already in force, and only a wait is replaced."""
        new = list(reply.plan) if reply else []
        if was_silent:
            return before if any(macro[0] != WAIT for macro in before) else (new or before)
        talk = talk_of_step(self.situation)
        opened = not talk or talk[0].sender == self.situation.talk.member
        return (new or before) if opened else (before or new)

    def _says(self, reply: TurnReply | None) -> tuple[MessageDraft, ...]:
        if reply is None or self.situation.talk.organisation is None:
            return ()
        known = [one for one in reply.requests if is_known_macro(food_rules(), 1 - self.seat, one)]
        if not (reply.say or known):
            return ()
        data = {REQUESTS_KEY: list(map(list, known))} if known else {}
        data |= {PLAN_KEY: list(map(list, reply.plan))} if reply.plan else {}
        return (MessageDraft(reply.say, END if reply.ends else SAY, data=data),)

    def _may_begin(self) -> bool:
        situation = self.situation
        asked = situation.seats if situation.request.asked is None else situation.request.asked
        if situation.request.because != REASON_TO_ANSWER and self.seat in asked:
            return True
        return self.seat in situation.request.may_act

    def _is_waiting_queue(self) -> bool:
        """Return whether the seat is waiting and still has planned actions. A new reply of the model does
        not replace these actions."""
        return self.seat in self.situation.request.may_act and bool(self.situation.plans.get(self.seat))

    async def _checked(self, plan: list[Command], lessons: list[str]) -> list[Command]:
        """Return the plan if its first action can begin now. If it cannot, ask the model to correct it and
        return the corrected plan, or else a wait of one step."""
        code = code_now(self.situation, self.seat, plan[0])
        if not code:
            return plan
        self.failed.append(code)
        failure = {"macro": " ".join(plan[0]), "reason": reason_text(code)}
        corrected = await self._ask([CORRECTION.format(**failure)], lessons)
        new = list(corrected.plan) if corrected else []
        self.correction = {"macro": failure["macro"], "code": code, "plan": spelled(new)}
        if not new:
            return [WAIT_ONE]
        if second_code := code_now(self.situation, self.seat, new[0]):
            self.failed.append(second_code)
            return [WAIT_ONE]
        self.helped += 1
        if self.agent.chosen["reflection"]:
            lesson = await self._lesson({**failure, "solution": " ".join(new[0])})
            lessons += [lesson] if lesson else []
            self.correction["lesson"] = lesson
        return new

    async def _lesson(self, correction: Mapping[str, str]) -> str:
        """Ask the model what it learns from a correction of its plan, and return its answer. The answer is
        cut to `LESSON_WORDS` words. It is empty if the model does not answer."""
        fixed = self.agent.fixed_prompt(self.situation, self.seat)
        call = await self._call([fixed, Message("user", REFLECTION.format(**correction))], in_words=True)
        words = call.reply.text.split() if call.reply else []
        return " ".join(words[:LESSON_WORDS])

    def _commands(self, plan: Sequence[Command]) -> tuple[dict[int, Command], dict[int, Sequence[Command]]]:
        if not self._may_begin() or self._is_waiting_queue():
            return {}, {}
        if not plan:
            return ({self.seat: WAIT_ONE} if self.seat not in self.situation.request.may_act else {}), {}
        then = list(takewhile(partial(_can_follow, self.seat), plan[1:]))
        return {self.seat: plan[0]}, {self.seat: then} if then else {}

    def _note(self, reply: TurnReply | None, plan: Sequence[Command]) -> dict[str, Json]:
        process = {"format_errors": self.format_errors, "failed_checks": self.failed, "helped": self.helped}
        if tokens := sum(sum(astuple(call.usage)) for call in self.calls):
            process[TOKENS_KEY] = tokens
        answer = {"analysis": reply.analysis, "requests": spelled(reply.requests)} if reply else {}
        corrected = {"correction": self.correction} if self.correction else {}
        return {PROCESS_KEY: process, "plan": spelled(plan), **answer, **corrected}


def _can_follow(seat: int, macro: Command) -> bool:
    """Return whether this seat could carry out the macro in any state of the game. A plan ends before the
    first macro that the seat could not."""
    return not never_code(food_rules(), seat, macro)


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """Return the language model for this decision. For the provider `stand-in`, `stand_in` makes the
    program that answers instead of a model. Tests replace this function."""
    return provider_registry.make_decision_model(
        provider,
        rng=Random(situation.seed),  # noqa: S311
        purse=situation.limits.purse,
        stand_in=stand_in,
        answers=situation.limits.answers,
    )
