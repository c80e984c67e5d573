"""Play the policy of a written co-player beside other co-players, and measure what it reaches.

The policy plays in both seats. Nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.benchmark import PairingBenchmark
from kitchen.contract.line_up import MEMBER_SEPARATOR
from kitchen.contract.policy_language import PolicyLanguage
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.agent_registry import can_play, get_agent, make_agents
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_kit, get_pairings, get_world, known_worlds

SEATS = (0, 1)
"""The seats of a pairing, in each of which the policy plays."""


@dataclass(frozen=True, slots=True)
class PlayedPolicy:
    """One episode of a policy."""

    level: str
    partner: str
    seat: int
    """The seat of the policy."""
    score: Mapping[str, Json]
    figure: float
    """The metric of the world's benchmark."""
    lines: Mapping[int, int]
    """Decisions by the number of the line; line 0 counts those that no line made."""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """What a policy reached in some episodes."""

    played: tuple[PlayedPolicy, ...]

    @property
    def mean(self) -> float:
        """Return the mean of the metric over all episodes."""
        return fmean(each.figure for each in self.played)


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """The episodes in which policies are compared: every level, beside every partner, in both seats."""

    world: str
    levels: tuple[str, ...]
    partners: tuple[str, ...]
    steps: int

    @property
    def ground(self) -> PairingBenchmark:
        """Return the benchmark of the world."""
        return get_pairings(self.world)

    @property
    def language(self) -> PolicyLanguage:
        """Return the language of the policies."""
        return language_of(self.world)

    def check(self) -> None:
        """Raise SettingsError with one line if the test cannot be played."""
        for level in self.levels:
            if level not in self.ground.levels():
                raise SettingsError(f"--layouts: {level!r} is not one of {', '.join(self.ground.levels())}")
        for partner in self.partners:
            self._check_partner(partner)

    def _check_partner(self, partner: str) -> None:
        try:
            kind = get_agent(partner)
        except UnknownNameError as error:
            raise SettingsError(f"--partner: {error.args[0]}") from error
        if not can_play(kind, self.world) or not kind.instant:
            raise SettingsError(f"--partner: {partner} cannot play here without waiting for anything")
        for level, seat in product(self.levels, SEATS):
            if why := kind({}).unfit(self._game(level, 0), (seat,)):
                raise SettingsError(f"--partner: {partner} in {level}: {why}")

    def _game(self, level: str, seed: int) -> World:
        settings = self.ground.settings(level, self.ground.alphas[0], self.steps)
        game = get_world(self.world).create(seats=len(SEATS), settings=settings)
        game.reset(seed)
        return game

    def play(
        self, policy: str, seeds: Sequence[int], after_episode: Callable[[], None] = lambda: None
    ) -> PolicyResult:
        """Play the policy with each of these seeds. `after_episode` is called after each episode."""
        played = []
        for level, partner, seat, seed in product(self.levels, self.partners, SEATS, seeds):
            played.append(self._play_episode(policy, level, partner, seat, seed))
            after_episode()
        return PolicyResult(tuple(played))

    def _play_episode(self, policy: str, level: str, partner: str, seat: int, seed: int) -> PlayedPolicy:
        language = self.language
        kinds = (language.agent, partner) if seat == 0 else (partner, language.agent)
        game = self._game(level, seed)
        course = EpisodeLoop(game, seed, Team.of(MEMBER_SEPARATOR.join(kinds), len(SEATS)))
        agents = dict(enumerate(make_agents(kinds, {language.setting: policy})))
        while not course.is_over:
            course.take(course.step_of(run_without_waiting(course.ask(agents))))
        score = game.score()
        lines = language.decisions(course.log(), seat)
        return PlayedPolicy(level, partner, seat, score, float(score[self.ground.figure]), lines)

    def result_text(self, policy: str, result: PolicyResult) -> str:
        """Return what the policy reached, for a prompt: a line for each level, partner and seat, then the
        share of the decisions that each line of the policy made."""
        groups: dict[tuple[str, str, int], list[PlayedPolicy]] = {}
        for each in result.played:
            groups.setdefault((each.level, each.partner, each.seat), []).append(each)
        told = [
            f"{level}, seat {seat} beside {partner}: "
            f"{self.language.result_text([each.score for each in group], seat)}"
            for (level, partner, seat), group in groups.items()
        ]
        return "\n".join([*told, *line_shares(policy, result)])


def line_shares(policy: str, result: PolicyResult) -> list[str]:
    """Return for each line of the policy that decided, and for no line, its share of the decisions."""
    counts = sum((Counter(dict(each.lines)) for each in result.played), Counter[int]())
    texts = {0: "no line applied", **dict(enumerate(map(str.strip, policy.splitlines()), 1))}
    shares = sorted(counts.items())
    return [f"{count / counts.total():.0%} by line {line}: {texts.get(line, '')}" for line, count in shares]


def worlds_with_policies() -> tuple[str, ...]:
    """Return the worlds that have a language of policies."""
    return tuple(name for name in known_worlds() if get_kit(name).policy_language)


def language_of(world: str) -> PolicyLanguage:
    """Return a world's language of policies. Raises SettingsError if it has none."""
    made = get_kit(world).policy_language if world in known_worlds() else None
    if made is None:
        raise SettingsError(f"--world: {world!r} is not one of {', '.join(worlds_with_policies())}")
    return made()
