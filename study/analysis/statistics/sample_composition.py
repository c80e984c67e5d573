"""Describe the sample of an analysis: exclusions with reasons, versions of the study, and co-players.

A version is the study's design at one time. Co-players are the agents and language models that played with
participants in each condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kitchen.contract.decision_notes import ReplyReadings
from kitchen.words.english_text import counted_noun, percent_text
from study.analysis.statistics.apa_format import DASH
from study.analysis.statistics.observations import AnalysisCondition, BetweenFactor, Observation

Reason = Literal["not every condition", "no value"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The number of rows and the participants that were excluded for one reason. `participants` are sorted
    codes."""

    reason: Reason
    participants: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Attrition:
    """Counts of participants who entered the study.

    `entered` counts participants whose data still exist: `completed` finished the study, and `unfinished`
    dropped out or still take part. `ends` has the number of each kind of end. `excluded` counts participants
    who completed the study and were excluded by staff. `failed_checks` counts participants who failed more
    attention checks than allowed. `withdrew` counts participants who withdrew and whose data are erased.
    Previews by staff are not counted.

    If only data collected as preregistered are requested, the other participants are counted in `otherwise`.
    All counts but `withdrew` then leave them out.

    `touched` counts episodes of the remaining participants that an outage of our server affected.
    `together` counts remaining participants who shared an episode with another one. `shared` counts these
    shared episodes.
    """

    entered: int
    completed: int
    unfinished: int
    withdrew: int
    ends: tuple[tuple[str, int], ...] = ()
    excluded: int = 0
    failed_checks: int = 0
    otherwise: int = 0
    touched: int = 0
    touched_left_out: bool = False
    together: int = 0
    shared: int = 0


def incomplete_participants(
    observations: Sequence[Observation],
    conditions: Sequence[AnalysisCondition],
    between: BetweenFactor | None = None,
    *,
    rounds: int = 0,
) -> frozenset[str]:
    """Return the participants without a value in at least one condition. The paper calls them drop-outs
    (section 5.3). If each participant plays only `rounds` of the conditions, values in so many are required.

    With between-subjects groups, only the conditions of the participant's group are required. Participants
    without a group always count as incomplete.
    """
    played: dict[tuple[str, str], set[str]] = {(row.participant, row.group): set() for row in observations}
    for row in observations:
        if row.value is not None:
            played[row.participant, row.group].add(row.condition)
    needed = {condition.key for condition in conditions}
    if rounds:
        return frozenset(who for (who, _), where in played.items() if len(where & needed) < rounds)
    if between is None:
        return frozenset(who for (who, _), where in played.items() if where != needed)
    own = {group: needed & between.conditions_of(group) for group in between.groups}
    return frozenset(who for (who, group), where in played.items() if where != own.get(group))


def split_exclusions(
    observations: Sequence[Observation], dropped: frozenset[str]
) -> tuple[tuple[Observation, ...], tuple[Exclusion, ...]]:
    """Return two things: the rows of the participants who are not in `dropped`, and the list of exclusions.

    Rows without a value are not removed, but are listed as an exclusion, too.
    """
    kept = tuple(row for row in observations if row.participant not in dropped)
    left_out: dict[Reason, list[str]] = {
        "not every condition": [row.participant for row in observations if row.participant in dropped],
        "no value": [row.participant for row in kept if row.value is None],
    }
    return kept, tuple(
        Exclusion(reason, tuple(sorted(set(names))), len(names))
        for reason, names in left_out.items()
        if names
    )


@dataclass(frozen=True, slots=True)
class DesignVersion:
    """One version of the study's design, compared with the preregistration.

    `frozen`: this exact design was preregistered. `changed_since_freeze`: an earlier design of the study
    was preregistered, but not this one. `planned_later`: the tests of this analysis differ from the tests
    of this version. They were preregistered later.
    """

    number: int
    frozen: bool = False
    changed_since_freeze: bool = False
    planned_later: bool = False


@dataclass(frozen=True, slots=True)
class VersionUsed:
    """One version of the study with its number of analysed participants. `early` of them entered before
    the version was preregistered (frozen)."""

    version: DesignVersion
    participants: int
    early: int = 0

    @property
    def as_planned(self) -> int:
        """Return the number of participants whose tests were preregistered before they took part."""
        is_so = self.version.frozen and not self.version.planned_later
        return self.participants - self.early if is_so else 0


def versions_used(rows: Sequence[Observation], versions: Sequence[DesignVersion]) -> tuple[VersionUsed, ...]:
    """Return the versions under which the participants of these rows took part, in order. Each has the number
    of its participants."""
    people = {row.participant: (row.version, row.before_freeze) for row in rows}
    took_part = (
        (one, [early for number, early in people.values() if number == one.number]) for one in versions
    )
    return tuple(VersionUsed(one, len(early), sum(early)) for one, early in took_part if early)


def version_warnings(versions: Sequence[VersionUsed], differing: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each reason why the data are not from one preregistered design.

    `differing` are labels of measures that the versions asked differently.
    """
    each = ", ".join(f"version {one.version.number} ({one.participants})" for one in versions)
    pooled = f"Data of {len(versions)} versions of the study are pooled here: {each}."
    said = [pooled] if len(versions) > 1 else []
    said += [f"“{label}” was not asked alike in all of these versions." for label in differing]
    changed = [one for one in versions if one.version.changed_since_freeze]
    later = [one for one in versions if one.version.planned_later]
    for some, words in (
        (changed, "in a design changed since the preregistration"),
        ([one for one in later if not one.version.frozen], "before anything was preregistered"),
        (
            [one for one in later if one.version.frozen],
            "under an earlier preregistration than the one analysed",
        ),
    ):
        if some:
            said.append(f"{_people(some)} took part {words}.")
    if early := sum(one.early for one in versions):
        said.append(f"{counted_noun(early, 'participant')} entered before the design was preregistered.")
    return said


def _people(versions: Sequence[VersionUsed]) -> str:
    numbers = ", ".join(str(one.version.number) for one in versions)
    people = counted_noun(sum(one.participants for one in versions), "participant")
    return f"{people} (version {numbers})"


STAND_IN = "stand-in"
NO_MODEL = "stand-in (no language model)"
ALONE = "nobody"

WHY = {
    "timeout": "no answer in time",
    "error": "the co-player failed",
    "connection": "the server was not reached",
    "429": "too many calls for the server (429)",
    "529": "the server was overloaded (529)",
    "5xx": "the server failed (5xx)",
    "4xx": "the server refused the call (4xx)",
    "not_asked": "the model was not asked: no key, or settings that it does not take",
    "unreadable": "the answer could not be read",
    "budget": "the study's money was spent",
    "paused": "the model kept failing and was not called",
    "unpriced": "no price is known for the model",
}
"""Fallback code → description; an unknown code is shown unchanged."""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The calls of one model: the requested name, and the name that the API returned (empty if it never
    answered)."""

    provider: str
    asked: str
    named: str
    calls: int

    @property
    def words(self) -> str:
        """Return the model as text: "anthropic claude-x, answered as claude-x-2026 (60 calls)"."""
        calls = f"({counted_noun(self.calls, 'call')})"
        if self.provider == STAND_IN:
            return f"{NO_MODEL} {calls}"
        asked = f"{self.provider} {self.asked or 'without a name'}"
        return f"{asked}, {f'answered as {self.named}' if self.named else 'never answered'} {calls}"


@dataclass(frozen=True, slots=True)
class ConditionPlayers:
    """The co-players (agents and models) of one condition.

    `kinds` are the kinds of agents that had seats. `chosen_by` lists who made the decisions, and
    `fallbacks` why another agent decided. Both have numbers of decisions, the most frequent first.
    """

    condition: AnalysisCondition
    kinds: tuple[str, ...] = ()
    models: tuple[ModelUsage, ...] = ()
    decisions: int = 0
    chosen_by: tuple[tuple[str, int], ...] = ()
    fallbacks: tuple[tuple[str, int], ...] = ()
    read: ReplyReadings = field(default_factory=ReplyReadings)
    """Counts of how well the replies of language models were parsed."""

    @property
    def kind_words(self) -> str:
        """Return the kinds of agents as text; `nobody` if participants played alone."""
        return ", ".join(self.kinds) or ALONE

    @property
    def model_words(self) -> str:
        """Return the names of all models that were called, as text. Return a dash for none."""
        return "; ".join(model.words for model in self.models) or DASH

    @property
    def chosen_words(self) -> str:
        """Return the number of decisions that each kind of agent made, as text. Return a dash if there were
        no decisions."""
        return ", ".join(f"{agent_name(who)} {number}" for who, number in self.chosen_by) or DASH

    @property
    def fallback_count(self) -> int:
        """Return the number of decisions that a fallback made because the agent made none."""
        return sum(number for _, number in self.fallbacks)

    @property
    def fallback_words(self) -> str:
        """Return the fallbacks as text: "3 of 60 decisions: no answer in time 2, the study's money was spent
        1"."""
        if not self.decisions:
            return DASH
        all_of_them = counted_noun(self.decisions, "decision")
        why = ", ".join(f"{WHY.get(code, code)} {number}" for code, number in self.fallbacks)
        return f"{self.fallback_count} of {all_of_them}: {why}" if why else f"none of {all_of_them}"

    @property
    def short(self) -> str:
        """Return a short text for a figure: the names of the models or, without models, of the agents. If
        there were fallbacks, their share follows."""
        answered = {(model.provider, model.asked) for model in self.models if model.named}
        told = [m for m in self.models if m.named or (m.provider, m.asked) not in answered]
        names = dict.fromkeys(_short(model) for model in told)
        name = ", ".join(names) or ", ".join(agent_name(kind) for kind in self.kinds) or ALONE
        fallback = (
            f"{percent_text(self.fallback_count / self.decisions)} fallback" if self.fallback_count else ""
        )
        return "; ".join(part for part in (name, fallback, self.read.short) if part)

    @property
    def read_words(self) -> str:
        """Return how many replies of the model could be parsed, as text. Return a dash if the model sent no
        replies."""
        return self.read.words or DASH


def _short(model: ModelUsage) -> str:
    return NO_MODEL if model.provider == STAND_IN else model.named or model.asked or model.provider


def agent_name(kind: str) -> str:
    """Return the display name of a kind of agent. For the stand-in (an imitation of a language model), the
    name says that it is no language model."""
    return NO_MODEL if kind == STAND_IN else kind


def players_sentence(players: ConditionPlayers) -> str:
    """Return a sentence about the co-players of one condition, for people who cannot see the table."""
    parts = [f"{players.condition.label}: {players.kind_words}"]
    if players.models:
        parts.append(players.model_words)
    if players.decisions:
        parts.append(f"fallbacks {players.fallback_words}")
    if players.read.is_bad:
        parts.append(f"replies: {players.read.words}")
    return "; ".join(parts)


def players_in_order(
    players: Sequence[ConditionPlayers], conditions: Sequence[AnalysisCondition]
) -> tuple[ConditionPlayers, ...]:
    """Return the co-players of these conditions in the order of conditions. The result is empty if the
    co-players of any condition are unknown."""
    known = {one.condition.key: one for one in players}
    return tuple(known[c.key] for c in conditions) if {c.key for c in conditions} <= known.keys() else ()
