"""Who really played beside the participants of each condition: co-players, models, fallbacks; in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kitchen.contract.reading import Readings
from kitchen.words.counting import counted, percent
from study.analysis.statistics.format import NOTHING
from study.analysis.statistics.rows import AnalysisCondition

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
    "unpriced": "no price is known for the model",
}
"""Codes of fallbacks in words; another code stands for itself."""


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """One model that was called: as it was asked for, and as the API named it (empty where it never
    answered)."""

    provider: str
    asked: str
    named: str
    calls: int

    @property
    def words(self) -> str:
        """As in "anthropic claude-x, answered as claude-x-2026 (60 calls)"."""
        calls = f"({counted(self.calls, 'call')})"
        if self.provider == STAND_IN:
            return f"{NO_MODEL} {calls}"
        asked = f"{self.provider} {self.asked or 'without a name'}"
        return f"{asked}, {f'answered as {self.named}' if self.named else 'never answered'} {calls}"


@dataclass(frozen=True, slots=True)
class Players:
    """One condition's co-players. `kinds` are those that were seated, `chosen_by` who really decided and
    `fallbacks` why another stepped in, both with their numbers of decisions, most first."""

    condition: AnalysisCondition
    kinds: tuple[str, ...] = ()
    models: tuple[ModelUsed, ...] = ()
    decisions: int = 0
    chosen_by: tuple[tuple[str, int], ...] = ()
    fallbacks: tuple[tuple[str, int], ...] = ()
    read: Readings = field(default_factory=Readings)
    """How the replies of language models were read."""

    @property
    def kind_words(self) -> str:
        """The co-players; `nobody` for a participant alone."""
        return ", ".join(self.kinds) or ALONE

    @property
    def model_words(self) -> str:
        """Every model that was called; a dash for none."""
        return "; ".join(model.words for model in self.models) or NOTHING

    @property
    def chosen_words(self) -> str:
        """Who really decided, with numbers; a dash for nobody."""
        return ", ".join(f"{name_of(who)} {number}" for who, number in self.chosen_by) or NOTHING

    @property
    def fallback_count(self) -> int:
        """Decisions in which another stepped in."""
        return sum(number for _, number in self.fallbacks)

    @property
    def fallback_words(self) -> str:
        """As in "3 of 60 decisions: no answer in time 2, the study's money was spent 1"."""
        if not self.decisions:
            return NOTHING
        all_of_them = counted(self.decisions, "decision")
        why = ", ".join(f"{WHY.get(code, code)} {number}" for code, number in self.fallbacks)
        return f"{self.fallback_count} of {all_of_them}: {why}" if why else f"none of {all_of_them}"

    @property
    def short(self) -> str:
        """For a figure: models by name, else kinds, and the share of fallbacks if there were any."""
        answered = {(model.provider, model.asked) for model in self.models if model.named}
        told = [m for m in self.models if m.named or (m.provider, m.asked) not in answered]
        names = dict.fromkeys(_short(model) for model in told)
        name = ", ".join(names) or ", ".join(name_of(kind) for kind in self.kinds) or ALONE
        fallback = f"{percent(self.fallback_count / self.decisions)} fallback" if self.fallback_count else ""
        return "; ".join(part for part in (name, fallback, self.read.short) if part)

    @property
    def read_words(self) -> str:
        """How replies were read; a dash where nobody read any."""
        return self.read.words or NOTHING


def _short(model: ModelUsed) -> str:
    return NO_MODEL if model.provider == STAND_IN else model.named or model.asked or model.provider


def name_of(kind: str) -> str:
    """A kind of co-player; the stand-in with what it is not."""
    return NO_MODEL if kind == STAND_IN else kind


def sentence(players: Players) -> str:
    """One condition in a sentence, for those who do not see the table."""
    parts = [f"{players.condition.label}: {players.kind_words}"]
    if players.models:
        parts.append(players.model_words)
    if players.decisions:
        parts.append(f"fallbacks {players.fallback_words}")
    if players.read.is_bad:
        parts.append(f"replies: {players.read.words}")
    return "; ".join(parts)


def in_order(players: Sequence[Players], conditions: Sequence[AnalysisCondition]) -> tuple[Players, ...]:
    """Those of these conditions, in their order; none where one is not known."""
    known = {one.condition.key: one for one in players}
    return tuple(known[c.key] for c in conditions) if {c.key for c in conditions} <= known.keys() else ()
