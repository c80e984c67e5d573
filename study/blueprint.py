"""A study as it was designed, without its people: one value that can be stored, hashed and read again.

Participants are bound to the blueprint they entered under. Plain Python: `blueprint_of` reads a study's rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

from kitchen.worlds.base import Json
from study.parts import PARTS
from study.practice import practice_played

FORMAT = 3
"""Raised when documents are written in another form; older ones must still be read. Which do not say
what, `OUTCOMES`, `SINCE` and `ITEMS_SINCE` tell."""
SINCE = {"budget_limit": 2}
"""Fields of a study that documents have only from this format on."""
ITEMS_SINCE = {"needs_teammates": 3}
"""Likewise of an item."""
OUTCOMES = 2
"""The format from which on documents have outcomes."""


@dataclass(frozen=True)
class ConditionPlan:
    """One condition; the fields mean what they mean in `study.models.Condition`."""

    key: str
    name: str
    label: str
    world: str
    settings: Mapping[str, Json]
    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    thinking_seconds: float | None = None
    step_seconds: float | None = None


@dataclass(frozen=True)
class ItemPlan:
    """One item; the fields mean what they mean in `study.models.SurveyItem`."""

    key: str
    place: str
    kind: str
    measure: str
    text: str
    points: int
    low: str
    high: str
    scale: str
    reversed: bool
    options: list[str]
    minimum: float | None
    maximum: float | None
    step: float | None
    correct: Json
    required: bool
    needs_teammates: bool = False


@dataclass(frozen=True)
class PartPlan:
    """One part beside the rounds, with nothing left to default."""

    kind: str
    enabled: bool
    title: str
    text: str
    settings: Mapping[str, Json]


@dataclass(frozen=True)
class OutcomePlan:
    """What one kind of end gives: its words, and whether a code and an address are set. These themselves are
    no part of a design: whoever reads it could hand them in."""

    kind: str
    text: str
    has_code: bool
    has_address: bool


@dataclass(frozen=True)
class Blueprint:
    """All that participants meet and all that was planned; `study` holds the study's own fields by name.
    `format` is that of its document: what an older one does not know is not there."""

    study: Mapping[str, Json]
    conditions: tuple[ConditionPlan, ...]
    parts: tuple[PartPlan, ...]
    items: tuple[ItemPlan, ...]
    outcomes: tuple[OutcomePlan, ...] = ()
    format: int = FORMAT

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        return cls(
            study=document["study"],
            conditions=tuple(_read(ConditionPlan, row) for row in document["conditions"]),
            parts=tuple(_read(PartPlan, row) for row in document["parts"]),
            items=tuple(_read(ItemPlan, row) for row in document["items"]),
            outcomes=tuple(_read(OutcomePlan, row) for row in document.get("outcomes", ())),
            format=document["format"],
        )

    def to_json(self) -> dict[str, Json]:
        """The document: JSON and nothing else."""
        outcomes = {"outcomes": [asdict(one) for one in self.outcomes]} if self.format >= OUTCOMES else {}
        return {
            "format": self.format,
            "study": dict(self.study),
            "conditions": [asdict(one) for one in self.conditions],
            "parts": [asdict(one) for one in self.parts],
            "items": [_known(asdict(one), ITEMS_SINCE, self.format) for one in self.items],
            **outcomes,
        }

    def in_format(self, number: int) -> Blueprint:
        """The same design as a document of an older format tells it; itself where that is no older."""
        if number >= self.format:
            return self
        outcomes = self.outcomes if number >= OUTCOMES else ()
        return replace(self, study=_known(self.study, SINCE, number), outcomes=outcomes, format=number)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the document in canonical JSON."""
        return digest_of(self.to_json())

    def part(self, kind: str) -> PartPlan:
        """One of the parts."""
        return next((one for one in self.parts if one.kind == kind), PartPlan(kind, False, "", "", {}))

    def has(self, kind: str) -> bool:
        """Whether this part is on."""
        return self.part(kind).enabled

    @property
    def practice(self) -> ConditionPlan:
        """The practice episode, as if it were a condition."""
        played = practice_played(self.part("practice").settings.get("kitchen", {}))
        return ConditionPlan(key="practice", name="Practice", label="Practice", **played)

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds that are played: those of the conditions, then that of the practice."""
        practised = [self.practice.world] if self.has("practice") else []
        return tuple(dict.fromkeys([*(one.world for one in self.conditions), *practised]))

    def items_at(self, place: str) -> list[ItemPlan]:
        """The items asked there, in the order of the design."""
        return [item for item in self.items if item.place == place]

    def items_after(self, condition: str) -> list[ItemPlan]:
        """The items asked after an episode in the condition of this key, in the order of the design."""
        alone = not self.condition(condition).teammates
        return [item for item in self.items_at("survey") if not (alone and item.needs_teammates)]

    def condition(self, key: str) -> ConditionPlan:
        """One of the conditions; KeyError if there is none of this key."""
        return {one.key: one for one in self.conditions}[key]


def digest_of(document: Mapping[str, Json]) -> str:
    """SHA-256 of JSON with sorted keys and no spaces, in UTF-8."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _known(values: Mapping[str, Json], since: Mapping[str, int], number: int) -> dict[str, Json]:
    """The fields that a document of this format has."""
    return {name: value for name, value in values.items() if since.get(name, 1) <= number}


def _read(kind: Any, row: Mapping[str, Json]) -> Any:
    known = {one.name for one in fields(kind)}
    return kind(**{name: value for name, value in row.items() if name in known})


STUDY_FIELDS = (
    "slug",
    "title",
    "seed",
    "orders",
    "same_dishes",
    "shuffle_items",
    "thinking_seconds",
    "idle_warning_minutes",
    "idle_minutes",
    "planned_participants",
    "hypotheses",
    "exclusions",
    "failed_checks_allowed",
    "planned_tests",
)
"""Fields of a study that participants or the preregistration rest on; what recruits is not among them."""


def blueprint_of(study: Any) -> Blueprint:
    """The blueprint of a study (a `study.models.Study`) as it is now."""
    written = {row.kind: row for row in study.parts.all()}
    return Blueprint(
        study={name: getattr(study, name) for name in STUDY_FIELDS}
        | {"budget_limit": f"{Decimal(study.budget_limit):.2f}"},
        conditions=tuple(_of(ConditionPlan, row) for row in study.conditions.all()),
        parts=tuple(_part(kind, written.get(kind)) for kind in PARTS),
        items=tuple(_of(ItemPlan, row) for row in study.items.all() if row.enabled),
        outcomes=tuple(
            OutcomePlan(row.kind, row.text, bool(row.code), bool(row.url))
            for row in study.outcomes.order_by("kind")
        ),
    )


def _of(kind: Any, row: Any) -> Any:
    return kind(**{one.name: getattr(row, one.name) for one in fields(kind)})


def _part(name: str, row: Any) -> PartPlan:
    kind = PARTS[name]
    if row is None:
        return PartPlan(name, kind.enabled, kind.title, "", dict(kind.settings))
    return PartPlan(name, row.enabled, row.title or kind.title, row.text, {**kind.settings, **row.settings})
