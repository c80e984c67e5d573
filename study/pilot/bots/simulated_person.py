"""Define how a synthetic participant (a program) answers survey items, plays, and makes mistakes.

The same seed gives the same random choices. In play, an adviser program of the game
(`kitchen.contract.advisers.Adviser`) recommends commands and messages. Without an adviser, commands are
chosen at random. Random errors are added to the recommended commands. Ratings follow from what happened in
the episode (`Experience`). The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kitchen.agents.human_like.habit_choice import HabitState, habit_choice
from kitchen.agents.human_like.play_habits import PlayHabits
from kitchen.contract.agent import Situation, TeamTalk
from kitchen.contract.assigned_jobs import OPEN
from kitchen.contract.probes import CHOICE, LIKERT, SLIDER_END, TEXT
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Command, Json
from kitchen.registry.agent_registry import get_adviser, get_pursuer
from kitchen.registry.world_metrics import metric_summary
from kitchen.registry.world_registry import get_kit
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kind_base import must_be_answered
from study.design.questions.item_kinds import is_right, kind_of
from study.pilot.bots.walk_plans import PlannedOutcome, WalkPlan


@dataclass(frozen=True, slots=True)
class Temperament:
    """A participant's stable traits.

    `skill` is the probability of a sensible choice in a step. `leniency` is added to every rating and
    `spread` is the standard deviation of ratings, both as fractions of a scale. `pace` is relative thinking
    time; 1 is usual.
    """

    skill: float
    leniency: float
    spread: float
    pace: float


@dataclass(frozen=True, slots=True)
class Experience:
    """The experience of one episode of a participant. All numbers except `teammates` are from 0 to 1."""

    teammates: int = 0
    success: float | None = None
    """The success of the episode, from 0 to 1; None if undefined."""
    output: float = 0.0
    """The result, as a fraction of the most that can be expected."""
    figure: str = field(default="", compare=False)
    """The world's first defined metric as text, for the operator."""
    expected: float = 0.0
    """Share of the teammates' steps that matched a sensible choice; 0 without teammates."""

    @property
    def company(self) -> float:
        """Return the size of the team as a number from 0 (alone) to 1 (three or more teammates)."""
        return min(self.teammates, 3) / 3

    @property
    def help(self) -> float:
        """Return how much the teammates contributed to the result, from 0 to 1. Return 0 without
        teammates."""
        return (self.success or 0.0) * self.expected if self.teammates else 0.0


WEIGHTS: dict[str, Mapping[str, float]] = {
    "assisting": {"base": 0.1, "help": 0.8, "company": 0.1},
    "dependability": {"base": 0.1, "company": 0.3, "help": 0.4},
    "enjoyment": {"base": 0.25, "success": 0.4, "company": 0.15},
    "fun": {"base": 0.1, "help": 0.4, "company": 0.3},
    "predictability": {"base": 0.1, "expected": 0.8},
    "productivity": {"output": 0.6, "success": 0.35},
    "trust": {"base": 0.15, "help": 0.5, "expected": 0.25},
}
"""Weights of the features of the experience in the rating of each known item, as fractions of a scale."""
GENERAL: Mapping[str, float] = {"base": 0.2, "success": 0.5, "help": 0.2}
"""Weights for every other item: general satisfaction."""


class Person:
    """One synthetic participant. `seed` and `number` determine all traits and random choices.

    With `people`, the participant plays with the habits of one of them.
    """

    def __init__(self, seed: int, number: int, people: Sequence[PlayHabits] = ()) -> None:
        self.seed = seed
        self.number = number
        self.temper = temper_of(self.chance("temper"))
        self.habits = self.chance("habits").choice(people) if people else None

    def chance(self, *what: object) -> Random:
        """Return a new random generator for a purpose, given as values such as ("answer", episode, item). The
        same purpose always gives a generator in the same state."""
        return Random(":".join(str(part) for part in (self.seed, self.number, *what)))  # noqa: S311

    def answer(
        self,
        item: str,
        points: Sequence[float],
        experience: Experience,
        *,
        episode: int,
        known: float | None = None,
    ) -> float:
        """Return this person's rating: one of the `points` of a scale, of which the last is the highest.

        The rating follows the experience or, if given, `known` (a fraction of the scale). `episode` is the
        number of the episode.
        """
        rng = self.chance("answer", episode, item)
        level = opinion(item, experience) if known is None else known
        level += self.temper.leniency + rng.gauss(0, self.temper.spread)
        return points[round(min(max(level, 0.0), 1.0) * (len(points) - 1))]


def temper_of(rng: Random) -> Temperament:
    """Return a random temperament: most people play well, few rate at the ends of scales, and some are
    slow."""
    return Temperament(
        skill=rng.betavariate(9, 2),
        leniency=rng.gauss(0, 0.08),
        spread=rng.uniform(0.05, 0.18),
        pace=rng.lognormvariate(0, 0.4),
    )


def opinion(item: str, experience: Experience) -> float:
    """Return the rating that follows from the experience, as a fraction of the item's scale. It may be
    slightly outside 0 to 1."""
    features = {
        "base": 1.0,
        "success": experience.success or 0.0,
        "output": experience.output,
        "expected": experience.expected,
        "company": experience.company,
        "help": experience.help,
    }
    return sum(weight * features[name] for name, weight in WEIGHTS.get(item, GENERAL).items())


BLANK = "\N{EN DASH}"
"""End of the text of an undefined metric."""
QUESTION = "What are you doing?"
"""The question of a person who was given no other words."""
ASKS_AFTER = 1
"""Number of steps before a person asks."""
State = Mapping[str, Any]
"""A `kitchen.play.turn.websocket_messages.StateMessage` as received from the websocket."""


PROBE_TEXTS = ("I wait for my partner.", "We go on as planned.", "I do not know yet.")
"""The text that synthetic people write in probes."""


class Player:
    """A synthetic participant in one episode.

    Call `watch` for every state from the server, and `choose` when the server asks for a command.
    """

    def __init__(self, person: Person, episode: int) -> None:
        self.person = person
        self.episode = episode
        """1 for the first episode that this person plays."""
        self.last: State | None = None
        self._memory: Json = None
        self._messages: tuple[MessageDraft, ...] = ()
        self._wrote = False
        self._expected: dict[int, Command] = {}
        self._hits: list[bool] = []
        self._sent: tuple[int, Command] | None = None
        self._refused: set[tuple[int, Command]] = set()
        self._habit = HabitState()
        self._habit_before = 0, HabitState()
        """A step, and the state of the habits before it, in case a command of this step is refused."""

    def watch(self, state: State) -> None:
        """Record a state from the server. After a new step, check whether the predictions about the other
        seats came true."""
        if self.last is not None and state["step"] == self.last["step"] + 1:
            came_true, seen = get_adviser(state["world"]).came_true, state["observation"]
            self._hits += [came_true(seat, command, seen) for seat, command in self._expected.items()]
        if self.last is None or state["step"] != self.last["step"]:
            self._expected = {}
        self.last = state

    def choose(self, state: State) -> Command:
        """Return a command among those that the state offers. The same state gives the same command, except
        after a refusal (see `refused`)."""
        step = state["step"] + 1
        if self._sent and self._sent[0] == step and self._sent not in self._refused:
            return self._sent[1]
        offered = [tuple(command) for command in (*state["legal"], *state["anticipated"])]
        left = [command for command in offered if (step, command) not in self._refused] or offered
        command = self._pick(state, left)
        self._sent = (step, command)
        return command

    def messages(self, state: State) -> tuple[MessageDraft, ...]:
        """Return the messages that the person writes before the command just chosen. A second call returns
        none.

        If the adviser suggests none, the person asks one question in the episode, from the second step on.
        The result is empty if the person may write to nobody.
        """
        drafts, self._messages = self._messages, ()
        if not state.get("addressees"):
            return ()
        if not drafts and not self._wrote and state["step"] >= ASKS_AFTER:
            drafts = (MessageDraft(QUESTION),)
        self._wrote = self._wrote or bool(drafts)
        return drafts

    def press(self, state: State) -> Command:
        """Return the command whose key the person presses in a real-time episode: the advised command or, as
        an error, a random one.

        States in real time list no legal commands. So the random command comes from the last complete state.
        """
        return self._pick(state, [tuple(command) for command in state["legal"]], any_advice=True)

    def jobs(self, state: State) -> list[tuple[int, Sequence[str]]]:
        """Return (member, job) pairs: a job for each team member whom this person leads and who has no job.

        It is the job that the world suggests for what the person sees. As an error, or without a suggestion,
        it is a random one of those that can be given.
        """
        still = [job for job in state.get("jobs", ()) if job["state"] in OPEN]
        busy = {job["worker"] for job in still}
        taken = [tuple(job["aim"]) for job in still if job["aim"]]
        rng, given = (
            self.person.chance("jobs", self.episode, state["step"]),
            list[tuple[int, Sequence[str]]](),
        )
        for member, aims in state.get("aims", {}).items():
            if int(member) not in busy:
                slip = rng.random() >= self.person.temper.skill
                wanted = None if slip else _suggested_job(state, int(member), taken)
                aim = list(wanted) if wanted and list(wanted) in aims else rng.choice(aims)
                taken.append(tuple(aim))
                given.append((int(member), aim))
        return given

    def answer_item(self, item: Mapping[str, Any]) -> Json:
        """Return this person's answer to an item of a probe (`kitchen.contract.probes`), as the page sends
        it. Scales follow the experience so far."""
        step = self.last["step"] if self.last else 0
        rng = self.person.chance("probe", self.episode, step, item["key"])
        if item["kind"] == TEXT:
            return rng.choice(PROBE_TEXTS)
        if item["kind"] == CHOICE:
            return rng.randint(1, len(item["options"]))
        points = range(1, item["points"] + 1) if item["kind"] == LIKERT else range(SLIDER_END + 1)
        return int(self.person.answer(item["key"], points, self.experience(), episode=self.episode))

    def rate(self) -> int:
        """Return the value to which this person moves the slider beside the game, from the experience so
        far."""
        points = range(SLIDER_END + 1)
        item = f"rating_slider.{self.last['step'] if self.last else 0}"
        return int(self.person.answer(item, points, self.experience(), episode=self.episode))

    def refused(self) -> None:
        """Record that the server refused the last command, so that `choose` returns another one."""
        if self._sent:
            self._refused.add(self._sent)

    def _pick(self, state: State, offered: Sequence[Command], *, any_advice: bool = False) -> Command:
        """Return the command that the person chooses. It is the adviser's command if that is among `offered`,
        or always with `any_advice`. Sometimes the person makes an error and chooses a random command."""
        rng, advised = self.person.chance("step", self.episode, state["step"] + 1), self._advice(state)
        slip = rng.random() >= self.person.temper.skill
        bounds = {tuple(of): (least, most) for of, least, most in state.get("amounts", ())}
        fits = advised is not None and (any_advice or advised in offered or _in_range(advised, bounds))
        if self.person.habits and offered:
            command = self._by_habit(state, advised if fits else None, offered, rng)
            command = command if command == advised else _with_amount(command, bounds, rng)
        elif advised and fits and not slip:
            command = advised
        else:
            command = _with_amount(get_adviser(state["world"]).slip(offered, rng), bounds, rng)
        self._expect(state, command)
        return command

    def _by_habit(
        self, state: State, advised: Command | None, offered: Sequence[Command], rng: Random
    ) -> Command:
        """Return the command that the person's habits lead to. Choosing again in the same step begins with
        the same state of the habits."""
        assert self.person.habits  # noqa: S101 - the caller has checked it
        if self._habit_before[0] != state["step"] + 1:
            self._habit_before = state["step"] + 1, self._habit
        command, self._habit = habit_choice(
            self._situation(state, {}), advised, self.person.habits, self._habit_before[1], rng, offered
        )
        return command

    def _advice(self, state: State) -> Command | None:
        """Return the command that the adviser recommends in this state. Return None if the adviser
        recommends nothing."""
        decision = get_adviser(state["world"]).decide(self._situation(state, {}))
        self._memory, self._messages = decision.memory, decision.says
        return decision.commands.get(state["seat"])

    def _expect(self, state: State, own: Command) -> None:
        """Store what the adviser expects the other seats to do next. `own` is the person's own command."""
        if others := [seat for seat in range(state["seats"]) if seat != state["seat"]]:
            situation = self._situation(state, {state["seat"]: own})
            self._expected = dict(get_adviser(state["world"]).expected(situation, others))

    def _situation(self, state: State, commanded: Mapping[int, Command]) -> Situation:
        seat: int = state["seat"]
        return Situation(
            world=state["world"],
            step=state["step"],
            seats=(seat,),
            briefs={seat: state["brief"]},
            observations={seat: state["observation"]},
            legal={seat: [tuple(command) for command in state["legal"]]},
            commanded=commanded,
            people=(seat,),
            memory=self._memory,
            talk=TeamTalk(member=state.get("member") or 0, messages=_messages_in(state)),
            seed=self.person.chance("plan", self.episode, state["step"]).getrandbits(32),
        )

    def experience(self) -> Experience:
        """Return a summary of the episode as the person has experienced it, computed from its score and the
        predictions."""
        if self.last is None:
            return Experience()
        adviser, score = get_adviser(self.last["world"]), self.last["score"]
        return Experience(
            teammates=self.last["seats"] - 1,
            success=adviser.success(score),
            figure=next((one for one in metric_summary(self.last["world"], score) if one[-1] != BLANK), ""),
            output=adviser.output(score, max(self.last["step"], 1)),
            expected=sum(self._hits) / len(self._hits) if self._hits else 0.0,
        )


def _messages_in(state: State) -> tuple[TeamMessage, ...]:
    return tuple(TeamMessage(**{**each, "to": tuple(each["to"])}) for each in state.get("messages", ()))


Bounds = Mapping[Command, tuple[int, int]]
"""Smallest and largest amount by command without its amount (`World.amounts`)."""


def _suggested_job(state: State, seat: int, taken: Sequence[Aim]) -> Aim | None:
    """Return the job that the world suggests for a seat, from the observation of a seat that the leader sees.
    None if the leader sees none, or if the world has no suggestion. `taken` are the jobs that others have."""
    seen = next(iter((state["seen"] or {}).values()), state["observation"])
    if not seen or seat >= state["seats"] or not get_kit(state["world"]).pursuer:
        return None
    pursuer = get_pursuer(state["world"])
    return pursuer.suggest(state["brief"], seen, seat, taken) if pursuer.can_suggest(state["brief"]) else None


def _in_range(command: Command, bounds: Bounds) -> bool:
    """Return True if the command contains an amount that is within the bounds for its kind of command."""
    least, most = bounds.get(command[:-1], (1, 0))
    return command[-1:] in {(str(amount),) for amount in range(least, most + 1)}


def _with_amount(command: Command, bounds: Bounds, rng: Random) -> Command:
    """Return the command with a random amount within its bounds. Return the command unchanged if it takes
    no amount."""
    if found := bounds.get(command[:-1]):
        return (*command[:-1], str(rng.randint(*found)))
    return command


LEFT_OPEN = 0.1
"""Share of the optional items that are left open."""


def item_answer(
    item: ItemPlan,
    person: Person,
    plan: WalkPlan,
    experience: Experience,
    *,
    episode: int,
    teams: Sequence[str] = (),
    known: float | None = None,
) -> Json:
    """Return this person's answer to an item in the form of stored answers. Return None if an optional item
    is left open.

    Items with a right answer are answered as `plan` says. Scales follow the experience or, if given,
    `known` (a fraction of the scale). All other answers are random. `teams` are the possible answers to an
    item that compares teams.
    """
    if item.correct is not None:
        return wrong_answer(item) if _fails(item, person, plan, episode) else item.correct
    rng = person.chance("item", episode, item.key)
    if not must_be_answered(item) and rng.random() < LEFT_OPEN:
        return None
    if not (points := kind_of(item).places(item)):
        return kind_of(item).any_answer(item, rng, teams)
    if item.reversed and known is None:
        points = points[::-1]
    value = person.answer(item.key, points, experience, episode=episode, known=known)
    return int(value) if value == int(value) else value


def _fails(item: ItemPlan, person: Person, plan: WalkPlan, episode: int) -> bool:
    """Return True if the person shall answer this item wrongly. The plan gives every attention check the
    same probability of a wrong answer."""
    if item.place == "check":
        return plan.outcome == PlannedOutcome.FAIL
    return person.chance("attention", episode, item.key).random() < plan.careless


def wrong_answer(item: ItemPlan) -> Json:
    """Return a wrong answer to an item that has a right one. If every answer is right, return the right
    one."""
    others = kind_of(item).some_answers(item)
    return next((one for one in others if is_right(item, one) is False), item.correct)
