"""Implement the agent `fast_and_slow`: a fast mind acts in every tick, and a slow mind sets what it aims at.

The idea is that of HLA (arXiv 2312.15224) and DPT-Agent (arXiv 2502.11882). The fast mind is the grid
planner, bound by a ranked list of aims (`aimed_errands`). The slow mind is a language model, or its stand-in.
It reads what people write and what both cooks did (`aim_reflection`). The fast mind never waits for it: a
late thought counts if the aims are still those that it was about. Plain sentences change the aims without a
model (`work_requests`). Each change is in the decision's note under `aim_changes`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar

from kitchen.agents.plain_sentences.sentence_clauses import ORDER, RESUME
from kitchen.agents.skill_agents.base_agent import SCENE_GROWTH
from kitchen.agents.skill_agents.decision_model import ModelSession
from kitchen.agents.skill_agents.settings import INSTANT_SETTINGS
from kitchen.contract.agent import (
    REASON_TO_ANSWER,
    Agent,
    Decision,
    ForecastTrial,
    Situation,
)
from kitchen.contract.agent_skills import SeatObservation
from kitchen.contract.decision_notes import NO_COMMAND
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message, Request
from kitchen.contract.organisation import ANSWER, ASK, REQUEST, SAY
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.llm.call_costs import max_prompt_tokens
from kitchen.llm.provider_registry import (
    STAND_IN,
    parse_model_setting,
    unlisted_model_remarks,
    why_not_usable,
)
from kitchen.llm.providers.stand_in_model import StandInAdvice
from kitchen.words.quoted_messages import MAX_LINE_CHARACTERS, repeats_prompt
from kitchen.worlds.overcooked.fast_slow import aim_reflection
from kitchen.worlds.overcooked.fast_slow.aim_reflection import MAX_MESSAGES_TOLD, Reflection
from kitchen.worlds.overcooked.fast_slow.aimed_errands import aimed_errand
from kitchen.worlds.overcooked.fast_slow.fast_slow_memory import (
    REST_TICKS,
    AimChanges,
    FastSlowMemory,
)
from kitchen.worlds.overcooked.fast_slow.fast_slow_settings import SETTINGS, FastSlowOptions
from kitchen.worlds.overcooked.fast_slow.work_aims import ASIDE, NO_AIMS, WAIT, WorkAims
from kitchen.worlds.overcooked.fast_slow.work_answers import answer_parts, work_message
from kitchen.worlds.overcooked.fast_slow.work_requests import read_work_request
from kitchen.worlds.overcooked.game_rules import INTERACT, STAY
from kitchen.worlds.overcooked.partners.baseline_agents import WORLDS, free_directions
from kitchen.worlds.overcooked.partners.grid_snapshot import scene_from_situation
from kitchen.worlds.overcooked.partners.planner_agent import choose_move, planner_memory, updated_memory
from kitchen.worlds.overcooked.partners.step_aside_agent import step_aside

BY_WORDS, BY_MODEL = "words", "model"
"""Codes of who changed the aims, in the note: a person by a plain sentence, or the model. The stand-in's
code is `STAND_IN`."""
CHANGES_KEY, THOUGHT_KEY, DROPPED_KEY = "aim_changes", "thought", "dropped_thought"
WITHHELD_KEY, CONSIDERED_KEY = "withheld", "considered"
"""Keys of the decision's note. `withheld`: a message of the model that is not sent, because it repeats the
prompt. `considered`: the number of the last message that the slow mind knew, whether it found aims or not."""
READ_KINDS = frozenset({SAY, ASK, ANSWER, REQUEST})
RESERVE_SECONDS = 1.0
"""Seconds kept back from the time for a decision; a quarter of it if there are less than four seconds."""
USUAL_TICKS_BETWEEN_WORDS = 100
"""Ticks between two messages of a person, for the forecast of an agent that thinks only after messages."""
DEED_TOKENS = 300
"""Maximum number of tokens by which deeds lengthen a prompt."""
OWN_WORDS_TOKENS = MAX_MESSAGES_TOLD * max_prompt_tokens(
    Request("", [Message("user", "\u5b57" * (MAX_LINE_CHARACTERS + 1))])
)
"""Maximum number of tokens of the agent's own messages in a prompt. Those of others are counted apart."""


class FastSlowAgent(Agent):
    """An agent that acts in every tick, and thinks beside it about what to aim at."""

    kind: ClassVar[str] = "fast_and_slow"
    worlds: ClassVar[tuple[str, ...] | None] = WORLDS
    reads_words: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.options = FastSlowOptions(**self.chosen)
        parse_model_setting(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Return a warning for each reason why the model cannot be used. Plain sentences work without it."""
        provider, model = parse_model_setting(self.options.model)
        whys = (f"{why}: nobody will reflect, and its aims stay." for why in why_not_usable(provider, model))
        return (*whys, *unlisted_model_remarks(provider, model))

    def model(self) -> str:
        """Return the name of the model in the settings, or the default of this process."""
        return ":".join(parse_model_setting(self.options.model))

    def rehearsal(self) -> ForecastTrial:
        """Return the settings for estimating the cost with the stand-in."""
        settings = {name: value for name, value in INSTANT_SETTINGS.items() if name != "memory"}
        return ForecastTrial(
            {**self.chosen, **settings, "reflect_every": 1},
            extra_tokens=SCENE_GROWTH + DEED_TOKENS + OWN_WORDS_TOKENS,
            least_steps_apart=REST_TICKS,
            usual_steps_apart=max(REST_TICKS, self.options.reflect_every or USUAL_TICKS_BETWEEN_WORDS),
        )

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the system message, which never changes in an episode."""
        sight = SeatObservation.of(situation, situation.seats[0])
        return (aim_reflection.fixed_part(sight, situation.talk.organisation),)

    def will_plan(self, situation: Situation) -> bool:
        """Return whether the slow mind thinks in this step."""
        return _Tick(self.options, situation).is_due()

    async def decide(self, situation: Situation) -> Decision:
        """Return the commands of the fast mind. If the slow mind is due, its thought counts first."""
        tick = _Tick(self.options, situation)
        tick.read_messages()
        if tick.is_due():
            seconds = situation.limits.seconds
            await tick.reflect(time.monotonic() + seconds - min(RESERVE_SECONDS, seconds / 4))
        return tick.decision()

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return the commands of the fast mind while the slow mind thinks, or after it has failed."""
        tick = _Tick(self.options, situation)
        tick.read_messages()
        return tick.decision()

    def arrived(self, situation: Situation, late: Decision) -> Decision:
        """Return the commands of the fast mind after a thought has arrived late. The thought changes nothing
        if the aims have changed meanwhile, or if it is too old."""
        tick = _Tick(self.options, situation)
        tick.read_messages()
        tick.adopt_late(late.note if isinstance(late.note, dict) else {})
        return replace(tick.decision(), calls=late.calls, fallback=late.fallback)


@dataclass(slots=True)
class _Tick:
    """One decision of the agent."""

    options: FastSlowOptions
    situation: Situation
    memory: FastSlowMemory = field(init=False)
    changes: AimChanges = field(init=False)
    says: list[MessageDraft] = field(default_factory=list)
    note: dict[str, Json] = field(default_factory=dict)
    calls: Sequence[Any] = ()
    fallback: str = ""

    def __post_init__(self) -> None:
        brief, step = self.situation.briefs[self.seat], self.situation.step
        memory = FastSlowMemory.read(self.situation.memory)
        memory = memory.having_been(scene_from_situation(self.situation).at[self.seat])
        self.memory = memory.having_seen(aim_reflection.deeds_of(self.situation.events, step), step)
        self.changes = AimChanges(step + 1, brief["tick_ms"] if brief["clock"] == "tick" else None)

    @property
    def seat(self) -> int:
        """Return the seat from which the agent sees the kitchen: its first one."""
        return self.situation.seats[0]

    @property
    def sight(self) -> SeatObservation:
        """Return what the agent sees."""
        return SeatObservation.of(self.situation, self.seat)

    @property
    def food(self) -> tuple[str, ...]:
        """Return the ingredients of the layout."""
        return tuple(scene_from_situation(self.situation).layout.food)

    @property
    def is_stand_in(self) -> bool:
        """Return whether the stand-in takes the model's place."""
        return parse_model_setting(self.options.model)[0] == STAND_IN

    def _words(self, after: int) -> list[TeamMessage]:
        """Return what people wrote after the message with this number, in order."""
        talk, least = self.situation.talk, max(after, self.situation.talk.taken_over)
        people = (
            {one.number for one in talk.organisation.members if one.is_person} if talk.organisation else ()
        )
        found = (one for one in talk.messages if one.number > least and one.kind in READ_KINDS)
        return [one for one in found if one.sender in people and one.sender != talk.member]

    # Plain sentences

    def read_messages(self) -> None:
        """Follow new plain sentences, and answer each of them."""
        if not (self.options.at_once or self.is_stand_in):
            return
        for message in self._words(self.memory.heard):
            self._follow(message)
            self.memory = replace(self.memory, heard=message.number)

    def _follow(self, message: TeamMessage) -> None:
        request = read_work_request(message.text, self.seat, self.memory.aims, self.food)
        if request.kind in (ORDER, RESUME):
            if request.aims != self.memory.aims:
                self.changes.add(request.aims, BY_WORDS, (message.number, message.step), self.changes.step)
            self.memory = self.memory.with_aims(request.aims, is_told=request.kind == ORDER)
        self._say(answer_parts(request.kind, self.memory.aims), message.sender)

    def _say(self, parts: Sequence[Sequence[Json]], to: int | None) -> None:
        team, me = self.situation.talk.organisation, self.situation.talk.member
        if team is not None and to is not None and to in team.to(me, ANSWER):
            self.says.append(work_message(parts, (to,)))

    # Reflection

    def is_due(self) -> bool:
        """Return whether the slow mind has a reason to think: words that it does not know, or the time since
        its last thought."""
        memory, every = self.memory, self.options.reflect_every
        since = self.situation.step - memory.reflected
        if since < REST_TICKS:
            return False
        if self.situation.request.because == REASON_TO_ANSWER and self.is_stand_in:
            return False
        if not self.is_stand_in and self._words(memory.considered):
            return True
        return bool(every) and self.situation.step - max(memory.reflected, 0) >= every

    async def reflect(self, deadline: float) -> None:
        """Ask the slow mind for aims, and adopt them."""
        session = ModelSession(self.options, self.situation, deadline)
        talk, words = self.situation.talk, self._words(self.memory.considered)
        fixed = aim_reflection.fixed_part(self.sight, talk.organisation)
        now = aim_reflection.step_part(
            self.sight, self.memory.aims, self.memory.deeds, talk.messages, talk.member
        )
        rule = Reflection(self._aims_by_rule())
        stand_in = session.stand_in(
            self.seat,
            StandInAdvice(
                {self.seat: (rule.written(),)}, others={self.seat: [(Reflection(NO_AIMS).written(),)]}
            ),
            lambda commands, rng: commands[0][1][0],
        )
        tool = aim_reflection.AIMS_TOOL if self.options.structured else None
        messages = [Message("system", fixed, fixed=True), Message("user", now)]
        call = await session.ask(messages, stand_in, tool)
        self.calls, self.fallback = tuple(session.calls), call.error
        thought = aim_reflection.read_reflection(call.reply) if call.reply else None
        if thought is not None and repeats_prompt(thought.say, [fixed]):
            self.note[WITHHELD_KEY] = thought.say
            thought = replace(thought, say="")
        self.note |= self._reading(thought is not None)
        last = words[-1] if words else None
        self.memory = replace(
            self.memory,
            reflected=self.situation.step,
            considered=last.number if last else self.memory.considered,
        )
        self.note[CONSIDERED_KEY] = self.memory.considered
        if thought is not None:
            self._adopt(thought, STAND_IN if session.is_stand_in else BY_MODEL, last)

    def _aims_by_rule(self) -> WorkAims:
        """Return the aims that the stand-in chooses: those that a person asked for, else those that
        complement what the partner does."""
        memory = self.memory
        return (
            memory.aims
            if memory.is_told
            else aim_reflection.complementing_aims(self.seat, memory.deeds, self.food)
        )

    def _reading(self, is_read: bool) -> dict[str, Json]:
        """Return how the model's reply could be read, for the note."""
        fault = {"code": NO_COMMAND, "seat": self.seat, "command": [], "text": "No aims could be read."}
        return {"faults": [] if is_read else [fault], "mended": [], "asked": 1}

    def _adopt(self, thought: Reflection, by: str, message: TeamMessage | None) -> None:
        """Adopt a thought of the slow mind, and note it. `message` is the last one that it considered, if it
        is new to it."""
        aims, step = thought.aims.in_layout(self.food), self.changes.step
        self.note[THOUGHT_KEY] = {
            "aims": aims.to_json(),
            "say": thought.say,
            "by": by,
            "about": self.memory.changes,
            "asked_in": step,
            "message": [message.number, message.step] if message else None,
        }
        written = (message.number, message.step) if message else None
        self._change(aims, thought.say, by, written, step)

    def _change(
        self, aims: WorkAims, say: str, by: str, written: tuple[int, int] | None, asked_in: int
    ) -> None:
        if aims != self.memory.aims:
            is_told = written is not None or (self.memory.is_told and by == STAND_IN)
            self.memory = self.memory.with_aims(aims, is_told=is_told)
            self.changes.add(aims, by, written, asked_in)
        people = [one for one in self._people() if say]
        if people:
            self.says.append(MessageDraft(say, SAY, tuple(people)))

    def _people(self) -> Collection[int]:
        team, me = self.situation.talk.organisation, self.situation.talk.member
        people = {one.number for one in team.members if one.is_person} if team else set()
        return sorted(people & set(team.to(me, SAY))) if team else ()

    def adopt_late(self, note: Mapping[str, Json]) -> None:
        """Adopt a thought that arrives after its step, if it is still about the present aims and not too
        old."""
        kept = ("faults", "mended", "asked", WITHHELD_KEY, CONSIDERED_KEY)
        self.note |= {name: note[name] for name in kept if name in note}
        considered = max(self.memory.considered, note.get(CONSIDERED_KEY, 0))
        self.memory = replace(self.memory, reflected=self.situation.step, considered=considered)
        thought = note.get(THOUGHT_KEY)
        if not thought:
            return
        is_old = self.changes.step - thought["asked_in"] > self.options.oldest_thought
        if is_old or thought["about"] != self.memory.changes:
            self.note[DROPPED_KEY] = {**thought, "why": "too_old" if is_old else "aims_changed"}
            return
        written = tuple(thought["message"]) if thought["message"] else None
        aims = WorkAims.read(thought["aims"]) or NO_AIMS
        self._change(aims, thought["say"], thought["by"], written, thought["asked_in"])

    # The fast mind

    def decision(self) -> Decision:
        """Return the commands of the fast mind by the present aims, with the note of what changed."""
        commands = {} if self.situation.request.because == REASON_TO_ANSWER else self._commands()
        if self.changes.made:
            self.note[CHANGES_KEY] = self.changes.made
        return Decision(
            commands,
            memory=self.memory.to_json(),
            note=self.note or None,
            calls=tuple(self.calls),
            fallback=self.fallback,
            says=tuple(self.says),
            planned=bool(self.calls),
        )

    def _commands(self) -> dict[int, Command]:
        scene, rng = scene_from_situation(self.situation), Random(self.situation.seed)  # noqa: S311
        planner = updated_memory(scene, self.memory.planner or planner_memory(None))
        commands, aims, waits = dict[int, Command](), self.memory.aims, self.memory.aside_ticks
        for seat in self.situation.seats:
            commands[seat] = choose_move(
                scene,
                seat,
                planner,
                rng,
                self.situation.seats,
                lambda board, own, known: aimed_errand(board, own, known, aims),
            )
            is_moving = commands[seat] not in (STAY, INTERACT)
            if self.memory.swings and is_moving and rng.random() < 0.5:  # two cooks dodge each other
                commands[seat] = rng.choice([STAY, *free_directions(scene, seat)])
            if aims.mode == ASIDE:
                commands[seat], waits = step_aside(self.situation, seat, waits)
            elif aims.mode == WAIT:
                commands[seat] = STAY
        self.memory = replace(self.memory, planner=planner, aside_ticks=max(0, waits - 1))
        return commands
