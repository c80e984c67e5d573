"""Define `Blueprint`: the complete design of a study, without its participants, as one immutable value.

The database stores a blueprint as a JSON document. `blueprint_of` makes one from a study's database rows.
Participants keep the blueprint that was current when they entered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any

from pydantic import Strict, TypeAdapter

from kitchen.contract.agent import EVERYBODY
from kitchen.contract.data_files import DataSource, Number, Record
from kitchen.contract.page_view import DRAWING_TABLES
from kitchen.contract.world import Json
from kitchen.registry.world_registry import get_world, known_worlds
from study.design.analysis_plan import DEFAULT_PLAN
from study.design.between_groups import conditions_of_group, group_keys
from study.design.condition_seats import NOBODY, is_shared, people_in
from study.design.factors import Factor, parse_factors
from study.design.group_allocation import AllocationPlan, parse_allocation
from study.design.media.media_plans import MediaPlan, names_shown, shown_texts
from study.design.own_pages import OwnPagePlan, ShowRule
from study.design.part_rules import rule_of
from study.design.parts_other_than_rounds import PARTS, practice_organisation, practice_played
from study.design.questions.item_fields import FIELD_INFO, ItemPlan
from study.design.round_plans import RoundPlan, round_plan, rounds_of
from study.design.team_organisation import is_apart
from study.design.translations import ORIGINAL_LANGUAGE, texts_by_path

FORMAT = 16
"""The format of the documents that this program writes. Increase it when documents change. Older documents
must stay readable.

`OUTCOMES`, `STUDY_FIELD_FORMATS`, `CONDITION_FIELD_FORMATS` and the `since` of `FIELD_INFO` list the fields
that older formats lack.
"""
LATER_FIELDS: Mapping[str, tuple[int, Json]] = {
    "scores_above_surveys": (4, True),
    "remind_teams": (4, False),
    "shown": (4, DRAWING_TABLES),
    "asks_first": (4, False),
    "blocked_words": (5, ""),
    "keeps_devices": (6, False),
    "between_groups": (7, ""),
    "main_test": (5, DEFAULT_PLAN.main),
    "measures_correction": (5, DEFAULT_PLAN.correction),
    "planned_contrasts": (5, ""),
    "languages": (4, ORIGINAL_LANGUAGE),
    "texts": (4, {}),
    "factors": (10, []),
    "one_round_per": (10, ""),
    "blocked_by": (10, ""),
    "rounds_per_person": (10, None),
    "measure_roles": (10, {}),
    "allocation": (10, {}),
    "max_round_trip_ms": (13, None),
    "bonus_rule": (16, {}),
    "think_aloud": (16, ""),
    "part_order": (16, ""),
    "survey_show_if": (16, {}),
}
"""Fields of the study that format 1 lacks: the first format that has each, and its implied default.

The implied default describes how the program behaved before.
"""
STUDY_FIELD_FORMATS = {"budget_limit": 2, **{name: since for name, (since, _) in LATER_FIELDS.items()}}
"""The first format whose documents contain a field of the study, by field name."""
IMPLIED_DEFAULTS = {name: default for name, (_, default) in LATER_FIELDS.items()}
"""The values that an older document implies for fields it lacks."""
AROUND_ROUNDS = ("ready_card", "end_card", "rating_replay", "lobby_practice", "lobby_practice_shared")
"""Fields of a condition that switch on what people see before and after a round."""
CONDITION_FIELD_FORMATS = {
    **dict.fromkeys(("shown", "three_dimensions", "shows_intents"), 4),
    **dict.fromkeys(("passes_by", "knowing", "organisation", "decision_seconds", "offers_plans"), 5),
    **dict.fromkeys(("between_group", "within_level"), 7),
    **dict.fromkeys(("goal", "ends_at_goal"), 9),
    **dict.fromkeys(("levels", "talk_language"), 10),
    "recommends_sound": 12,
    **dict.fromkeys(AROUND_ROUNDS, 12),
    **dict.fromkeys(("hides_dots", "lobby_practice_shared"), 13),
    "star_targets": 14,
    "order_choices": 15,
    **dict.fromkeys(("probes", "rating_slider"), 16),
}
"""The first format whose documents contain a field of a condition, by field name."""
PRACTICE_FORMAT = {
    "three_dimensions": 4,
    "shows_intents": 5,
    "offers_plans": 8,
    "recommends_sound": 12,
    "hides_dots": 13,
}
"""The first format in which practice offers a field that any condition has, by field name.

Practice stays as it was for participants who are bound to an older document.
"""
ITEM_FIELD_FORMATS = {name: about.since for name, about in FIELD_INFO.items()}
"""The first format whose documents contain a field of an item, by field name."""
OUTCOMES = 2
"""The first format whose documents contain outcomes."""
OWN_PAGES = 16
"""The first format whose documents may contain pages that researchers wrote. A document has `pages` only if
there are any."""
LANGUAGE_IN_PROMPTS = 11
"""The first format whose prompts name the reader's language, if it is not English."""
LEADER_MESSAGES = 11
"""The first format whose leaders may give every worker a job in one step, if the settings set no limit of
messages. In older documents, the limit is the same for everybody."""


class ConditionPlan(Record):
    """One condition of the design. The fields mean the same as in `study.design.models.Condition`."""

    key: str
    name: str
    label: str
    world: str
    settings: Mapping[str, Json]
    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    thinking_seconds: Number | None = None
    step_seconds: Number | None = None
    shown: str = ""
    three_dimensions: bool = False
    shows_intents: bool = False
    passes_by: bool = False
    knowing: str = EVERYBODY
    organisation: Mapping[str, Json] = {}
    decision_seconds: Number | None = None
    offers_plans: bool = False
    goal: Mapping[str, Number] = {}
    ends_at_goal: bool = False
    between_group: str = ""
    within_level: str = ""
    levels: Mapping[str, str] = {}
    talk_language: str = ""
    recommends_sound: bool = False
    ready_card: bool = False
    end_card: bool = False
    rating_replay: bool = False
    lobby_practice: bool = False
    lobby_practice_shared: bool = False
    hides_dots: bool = False
    star_targets: Mapping[str, Json] = {}
    order_choices: bool = False
    probes: list[Mapping[str, Json]] = []
    rating_slider: Mapping[str, Json] = {}


class PartPlan(Record):
    """One part of the design, such as the consent or the guide, with every default filled in."""

    kind: str
    enabled: bool
    title: str
    text: str
    settings: Mapping[str, Json]

    @property
    def page(self) -> str:
        """Return the name of the participant's page."""
        return self.kind

    @property
    def before(self) -> str:
        """Return the place at which the part's rule is decided: before the part itself."""
        return self.kind

    @property
    def show_if(self) -> ShowRule:
        """Return the rule that decides who sees the part."""
        return rule_of(self.settings)


class OutcomePlan(Record):
    """The text for one way to end a study, such as timing out. Also says whether a completion code and an
    address are set.

    The code and the address themselves are left out, because readers of the design could submit them.
    """

    kind: str
    text: str
    has_code: bool
    has_address: bool


class Blueprint(Record):
    """The planned design of a study, including everything that participants see. `study` holds the fields of
    `Study` by name.

    `format` is the format number of the blueprint's document. Fields that an older format does not have
    are absent.
    """

    study: Mapping[str, Json]
    conditions: Annotated[tuple[ConditionPlan, ...], Strict(False)]
    parts: Annotated[tuple[PartPlan, ...], Strict(False)]
    items: Annotated[tuple[ItemPlan, ...], Strict(False)]
    outcomes: Annotated[tuple[OutcomePlan, ...], Strict(False)] = ()
    pages: Annotated[tuple[OwnPagePlan, ...], Strict(False)] = ()
    """The pages that researchers wrote, in their order."""
    media: Annotated[tuple[MediaPlan, ...], Strict(False)] = ()
    """The files that the texts show, by name."""
    format: int = FORMAT

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> Blueprint:
        """Read a document that `to_json` wrote. Unknown fields, as a later version of the application may
        write them, are ignored.

        Raises DataError for a document that `to_json` cannot have written.
        """
        source = DataSource("design")
        blueprint = source.read(_DOCUMENT, document, more=True)
        if "format" not in blueprint.model_fields_set:
            raise source.error("format", "is missing")
        for number, item in enumerate(blueprint.items, start=1):
            if (
                lacking := ITEM_FIELD_FORMATS.keys()
                - item.model_fields_set
                - _later_fields(ITEM_FIELD_FORMATS, blueprint.format)
            ):
                raise source.error(f"items[{number}].{min(lacking)}", "is missing")
        return blueprint

    def to_json(self) -> dict[str, Json]:
        """Return the document, which consists of JSON values only."""
        outcomes = (
            {"outcomes": [one.model_dump() for one in self.outcomes]} if self.format >= OUTCOMES else {}
        )
        pages = {"pages": [one.model_dump(mode="json") for one in self.pages]} if self.pages else {}
        if self.media:
            pages["media"] = [one.model_dump(mode="json") for one in self.media]
        return {
            "format": self.format,
            "study": dict(self.study),
            "conditions": [
                _fields_in_format(_condition_document(one), CONDITION_FIELD_FORMATS, self.format)
                for one in self.conditions
            ],
            "parts": [one.model_dump() for one in self.parts],
            "items": [
                _fields_in_format(one.model_dump(), ITEM_FIELD_FORMATS, self.format) for one in self.items
            ],
            **outcomes,
            **pages,
        }

    def in_format(self, number: int) -> Blueprint:
        """Return the design as the older document format `number` would store it, without the fields that
        this format lacks. If the design's own format is not newer, return the design itself."""
        if number >= self.format:
            return self
        return Blueprint(
            study=_fields_in_format(self.study, STUDY_FIELD_FORMATS, number),
            conditions=self.conditions,
            parts=self.parts,
            items=self.items,
            outcomes=self.outcomes if number >= OUTCOMES else (),
            pages=self.pages if number >= OWN_PAGES else (),
            media=self.media if number >= OWN_PAGES else (),
            format=number,
        )

    def beyond(self, number: int) -> bool:
        """Return True if the document format `number` cannot store this design completely. This is so if a
        field that the format lacks has another value than its implied default."""
        if number >= self.format:
            return False
        told = Blueprint.from_json(self.in_format(number).to_json())
        plans = self.items != told.items or self.conditions != told.conditions or self.pages != told.pages
        plans = plans or self.media != told.media
        return plans or any(self.meant(name) != told.meant(name) for name in IMPLIED_DEFAULTS)

    def meant(self, name: str) -> Json:
        """Return the value of a field of the study. If the document's format lacks the field, return its
        implied default. Return None if there is no default."""
        return self.study.get(name, IMPLIED_DEFAULTS.get(name))

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the keys of the between-subjects groups. The result is empty if everybody plays every
        condition."""
        return group_keys(str(self.meant("between_groups")))

    @cached_property
    def allocation(self) -> AllocationPlan:
        """Return how people are assigned to the between-subjects groups."""
        return parse_allocation(self.meant("allocation"))

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Return the factors of the design. The result is empty if the researcher named none."""
        return parse_factors(self.meant("factors"))

    def round_plan(self, group: str = "") -> RoundPlan:
        """Return which conditions the participants of a between-subjects group play, and in which orders.
        `group` is empty without groups."""
        rounds = self.meant("rounds_per_person")
        return round_plan(
            self.conditions,
            self.factors,
            scheme=str(self.study["orders"]),
            seed=int(self.study["seed"]),
            group=group,
            one_round_per=str(self.meant("one_round_per")),
            blocked_by=str(self.meant("blocked_by")),
            rounds=None if rounds is None else int(rounds),
        )

    @property
    def rounds(self) -> int:
        """Return how many rounds a participant plays. All groups play equally many."""
        group = next((one.between_group for one in self.conditions if one.between_group), "")
        return rounds_of(self.round_plan(group))

    def for_group(self, group: str) -> Blueprint:
        """Return the design with only the conditions that this group plays. An empty `group` means that the
        participant has no group yet; then the first group is used.

        Use the result only in memory, and never store it with `to_json`.
        """
        if not self.groups:
            return self
        played = conditions_of_group(self.conditions, group or self.groups[0])
        return self.model_copy(update={"conditions": played})

    def shown_in(self, condition: ConditionPlan) -> str:
        """Return how participants see the world in this condition, for example as a drawing. If the
        condition does not define this, return the choice of the study."""
        return condition.shown or str(self.meant("shown"))

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the document in canonical JSON, as hexadecimal digits."""
        return document_digest(self.to_json())

    def part(self, kind: str) -> PartPlan:
        """Return the part of this kind, such as `consent`. If the document lacks it, return a disabled
        part."""
        off = PartPlan(kind=kind, enabled=False, title="", text="", settings={})
        return next((one for one in self.parts if one.kind == kind), off)

    def has(self, kind: str) -> bool:
        """Return whether the part of this kind, such as `consent`, is enabled."""
        return self.part(kind).enabled

    @property
    def practice(self) -> ConditionPlan:
        """Return the practice episode as a condition.

        Practice has each feature of the page that any condition has, so that participants can try it. With
        the setting `own_seat`, the participant gets the seat that one person plays in a condition of the same
        world. With `leads`, the participant leads the teammates, and with `talks` writes to them.

        If this is the design of a single group (see `for_group`), only conditions of that group are
        considered.
        """
        part = self.part("practice").settings
        played = practice_played(part.get("kitchen", {}))
        seat = self.played_seat(played["world"]) if part.get("own_seat") else 0
        offered: dict[str, Any] = {
            name: self.format >= since and any(getattr(one, name) for one in self.conditions)
            for name, since in PRACTICE_FORMAT.items()
        }
        offered["organisation"] = practice_organisation(
            played,
            seat if seat <= played["teammates"] else 0,
            leads=part.get("leads", False),
            talks=part.get("talks", False),
        )
        return ConditionPlan(key="practice", name="Practice", label="Practice", **offered, **played)

    def played_seat(self, world: str) -> int:
        """Return the participant's seat in the first condition of this world that one person plays. 0 if
        there is no such condition."""
        own = (one for one in self.conditions if one.world == world and not is_apart(one.organisation))
        return next((people_in(one)[0] for one in own if not is_shared(one)), 0)

    @property
    def figure_labels(self) -> dict[str, str]:
        """Return the labels of the metrics of the conditions' worlds, by name. Metrics that are computed from
        the log are left out, because they are not there at once."""
        worlds = dict.fromkeys(one.world for one in self.conditions if one.world in known_worlds())
        return {metric.name: metric.label for world in worlds for metric in get_world(world).figures}

    @property
    def worlds(self) -> tuple[str, ...]:
        """Return the worlds that are played, without repeats: first the conditions' worlds, then the world of
        practice."""
        practised = [self.practice.world] if self.has("practice") else []
        return tuple(dict.fromkeys([*(one.world for one in self.conditions), *practised]))

    def items_at(self, place: str) -> list[ItemPlan]:
        """Return the survey items asked at this place (one of `PLACES`), in the order of the design."""
        return [item for item in self.items if item.place == place]

    def items_after(self, condition: str) -> list[ItemPlan]:
        """Return the items asked after an episode in this condition, in the order of the design. `condition`
        is the condition's key."""
        alone = not self.condition(condition).teammates
        return [item for item in self.items_at("survey") if not (alone and item.needs_teammates)]

    def condition(self, key: str) -> ConditionPlan:
        """Return the condition with this key. Raises KeyError if there is none."""
        return {one.key: one for one in self.conditions}[key]


def _condition_document(condition: ConditionPlan) -> dict[str, Json]:
    """Return the fields of a condition, without those of `OPTIONAL_CONDITION_FIELDS` that are empty."""
    values = condition.model_dump()
    return {name: value for name, value in values.items() if value or name not in OPTIONAL_CONDITION_FIELDS}


def document_digest(document: Mapping[str, Json]) -> str:
    """Return the SHA-256 of the document as JSON with sorted keys and no spaces, in UTF-8."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


_DOCUMENT = TypeAdapter(Blueprint)


def _fields_in_format(values: Mapping[str, Json], since: Mapping[str, int], number: int) -> dict[str, Json]:
    """Return the fields that the document format `number` already has. `since` maps field names to the format
    that introduced them."""
    later = _later_fields(since, number)
    return {name: value for name, value in values.items() if name not in later}


def _later_fields(since: Mapping[str, int], number: int) -> set[str]:
    """Return the names of the fields that are newer than the document format `number`. `since` maps field
    names to the format that introduced them."""
    return {name for name, first in since.items() if first > number}


STUDY_FIELDS = (
    "slug",
    "title",
    "seed",
    "orders",
    "between_groups",
    "factors",
    "one_round_per",
    "blocked_by",
    "rounds_per_person",
    "same_dishes",
    "shuffle_items",
    "scores_above_surveys",
    "remind_teams",
    "thinking_seconds",
    "shown",
    "asks_first",
    "blocked_words",
    "keeps_devices",
    "idle_warning_minutes",
    "idle_minutes",
    "planned_participants",
    "hypotheses",
    "exclusions",
    "failed_checks_allowed",
    "planned_tests",
    "main_test",
    "measures_correction",
    "planned_contrasts",
    "measure_roles",
    "languages",
)
"""The study's own fields that affect participants or the preregistration. The translations (`texts`) are
added separately. Recruitment fields are not included, except the limit of the round trip, which decides who
takes part (`OPTIONAL_STUDY_FIELDS`)."""


OPTIONAL_STUDY_FIELDS = (
    "allocation",
    "max_round_trip_ms",
    "bonus_rule",
    "think_aloud",
    "part_order",
    "survey_show_if",
)
"""Fields of the study that a document has only if they are not empty. So documents of studies that do not
use them, and their hashes, stay as they are."""


OPTIONAL_CONDITION_FIELDS = (
    "talk_language",
    "recommends_sound",
    *AROUND_ROUNDS,
    "hides_dots",
    "star_targets",
    "order_choices",
    "probes",
    "rating_slider",
)
"""Fields of a condition that a document has only if they are not empty, for the same reason."""


def blueprint_of(study: Any) -> Blueprint:
    """Return the blueprint (the complete design) of a study, read from the database as it is now. `study`
    is a `study.design.models.Study`."""
    written = {row.kind: row for row in study.parts.all()}
    design = Blueprint(
        study={name: getattr(study, name) for name in STUDY_FIELDS}
        | {name: value for name in OPTIONAL_STUDY_FIELDS if (value := getattr(study, name))}
        | {"texts": {}, "budget_limit": f"{Decimal(study.budget_limit):.2f}"},
        conditions=tuple(ConditionPlan.of(row) for row in study.conditions.all()),
        parts=tuple(_part(kind, written.get(kind)) for kind in PARTS),
        items=tuple(ItemPlan.of(row) for row in study.items.all() if row.enabled),
        outcomes=tuple(_outcome(row) for row in study.outcomes.order_by("kind")),
        pages=tuple(row.plan for row in study.own_pages.all()),
    )
    # Descriptions and transcripts of media are texts, too. Translations may show further files.
    design = _with_media(design, study, [text for texts in study.texts.values() for text in texts.values()])
    texts = texts_by_path(design, study.texts)
    return design.model_copy(update={"study": {**design.study, "texts": texts}})


def _with_media(design: Blueprint, study: Any, translations: list[str]) -> Blueprint:
    """Return the design with the study's files that its texts or their `translations` show."""
    if not (names := names_shown([*shown_texts(design), *translations])):
        return design
    rows = study.media.defer("data").filter(replaced_at=None, name__in=names)
    return design.model_copy(update={"media": tuple(row.plan for row in rows)})


def _outcome(row: Any) -> OutcomePlan:
    return OutcomePlan(kind=row.kind, text=row.text, has_code=bool(row.code), has_address=bool(row.url))


def _part(name: str, row: Any) -> PartPlan:
    kind = PARTS[name]
    enabled, title, text, settings = (
        (row.enabled, row.title, row.text, row.settings) if row else (kind.enabled, "", "", {})
    )
    settings = {**kind.settings, **settings}
    return PartPlan(kind=name, enabled=enabled, title=title or kind.title, text=text, settings=settings)


RANDOM = "random"
"""The agent kind that plays every world and needs no settings."""


def solo_condition(plan: ConditionPlan) -> ConditionPlan:
    """Return a condition that one person can play without others. If it has several people and no co-player,
    random agents become the co-players."""
    if plan.coplayer != NOBODY or not is_shared(plan):
        return plan
    return plan.model_copy(update={"coplayer": RANDOM, "coplayer_settings": {}})
