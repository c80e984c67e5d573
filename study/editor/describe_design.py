"""Describe a study's design as texts for pages: settings, parts, questions, sub-scales, and outcomes.

The texts use the labels of the forms. A sub-scale is a score that is computed from several questions. An
outcome is what participants get at the end, such as a completion code. The caller passes the design; the
module reads no database rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from kitchen.contract.agent import EVERYBODY
from kitchen.contract.declared_settings import Setting
from kitchen.contract.organisation import ORGANISATION_LABELS
from kitchen.contract.organisation_settings import CYCLE_LIMIT, ORGANISATION_SETTINGS, applicable_settings
from kitchen.contract.team_schedules import SCHEDULE
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import readable_name, setting_value_text
from kitchen.words.english_text import and_list, counted_noun
from study.design.analysis_plan import CORRECTIONS, MAIN_TESTS, main_test_label
from study.design.blueprint import AROUND_ROUNDS, OUTCOMES, Blueprint, ConditionPlan, OutcomePlan, PartPlan
from study.design.bonus_rule import bonus_rule_words, parse_bonus
from study.design.condition_choices import COPLAYER, WORLD, goal_labels, settings_of_kind
from study.design.condition_seats import NOBODY
from study.design.counterbalancing import SCHEMES, get_scheme
from study.design.describe_factors import allocation_sentence, factor_lines, subset_sentence
from study.design.factors import Factor
from study.design.form_labels import CONDITION, part_label, study_label
from study.design.item_places import item_place_words, places_of_design
from study.design.markdown_html import to_html
from study.design.media.media_plans import MediaPlan
from study.design.media_html import size_words
from study.design.models import Condition, Knowing, Outcome, Shown, Study
from study.design.own_pages import (
    AFTER_ROUND,
    OwnPagePlan,
    ShowRule,
    compared_names,
    place_words,
    rule_words,
)
from study.design.part_rules import RULE, SurveyRule, survey_rule
from study.design.parts_other_than_rounds import PARTS, practice_played
from study.design.probe_texts import probes_in_words, slider_in_words
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_fields import item_notes as notes
from study.design.questions.item_kind_base import must_be_answered
from study.design.questions.item_kinds import KIND_FIELDS, kind_of
from study.design.questions.item_numbers import format_number
from study.design.questions.questionnaires import SubScale, subscales
from study.design.session_breaks import break_words
from study.design.team_organisation import PAIRS_BY_TRIP_LABEL, REPLACE, Team, is_apart, team_of
from study.design.translations import describe_text_path, language_name, language_names
from study.editor.design_forms import SETTING_FIELDS, PlanForm, SettingsForm
from study.editor.place_choices import FIXED_PLACES

NOTHING_SET = "nothing"
TESTED: Mapping[str, Mapping[str, str]] = {"main_test": MAIN_TESTS, "measures_correction": CORRECTIONS}
CHOICES: Mapping[str, Mapping[str, str]] = {**TESTED, "think_aloud": dict(Study.ThinkAloud.choices)}
"""Labels of the values of a study's fields, by field."""
NOT_SAID: Mapping[str, str] = {
    "idle_warning_minutes": "never",
    "idle_minutes": "never",
    "planned_participants": "not given",
    "failed_checks_allowed": "nobody is left out for this reason",
    "max_round_trip_ms": "no limit",
}
"""Texts that say what an empty field of a study means."""
FIXED_CODE = "A fixed code, the same for everybody"
OWN_CODE = "Each complete participant gets their own code"


class LabelledValue(NamedTuple):
    """A label with its value: one text, or a list of texts (`many`)."""

    label: str
    value: str = ""
    many: tuple[str, ...] = ()

    @property
    def is_lines(self) -> bool:
        """Return whether the value is a text with several lines, whose spaces must be kept."""
        return "\n" in self.value


class DescribedQuestion(NamedTuple):
    """One survey item with all its properties, as texts for display."""

    item: ItemPlan
    answers: str
    """A text about how the item is answered: its kind, its points or range, and the labels at the ends."""
    right: str
    """The right answer, or an empty string."""
    notes: tuple[str, ...]


class AskedAtPlace(NamedTuple):
    """The questions that are asked at one point of the study, such as after each episode."""

    words: str
    order: str
    """The order in which they are asked, or a note that they are not asked."""
    questions: tuple[DescribedQuestion, ...]


class DescribedScale(NamedTuple):
    """One sub-scale: a score that is computed from several items."""

    name: str
    place: str
    formula: str
    ends: str
    items: tuple[str, ...]
    problem: str
    """The reason why the sub-scale gets no score, or an empty string."""


class DescribedOutcome(NamedTuple):
    """The completion code, address and text for one kind of end, as texts for display."""

    words: str
    given: str
    text: SafeString


def plain_value(value: Json) -> str:
    """Return any stored value as readable text, never as JSON."""
    if value is None or value in ("", [], {}):
        return NOTHING_SET
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format_number(value)
    if isinstance(value, list | tuple):
        return "; ".join(map(plain_value, value))
    if isinstance(value, dict):
        return "; ".join(f"{readable_name(name)}: {plain_value(one)}" for name, one in value.items())
    return str(value)


def _part_order_words(value: Json) -> str:
    return ", ".join(PARTS[kind].words for kind in str(value).split()) or "as usual"


WORDED: Mapping[str, Callable[[Any], str]] = {
    "bonus_rule": lambda value: bonus_rule_words(parse_bonus(value)),
    "part_order": _part_order_words,
    "survey_show_if": lambda value: rule_words(SurveyRule(ShowRule.model_validate(value)), {}),
}
"""Fields of the study with words of their own."""


def study_value(name: str, value: Json) -> str:
    """Return the value of the study's field `name` as readable text."""
    if value is None:
        return NOT_SAID.get(name, NOTHING_SET)
    if name == "planned_contrasts":
        return "; ".join(str(value).split("\n")) or NOTHING_SET
    if name == "measure_roles":
        return "; ".join(f"{key}: {role}" for key, role in value.items()) or NOTHING_SET
    if name in WORDED:
        return WORDED[name](value)
    if name in CHOICES:
        return CHOICES[name].get(str(value), str(value))
    if name == "shown":
        return shown_words(value)
    if name == "languages":
        return ", ".join(words for _, words in language_names(str(value)))
    return get_scheme(value).label if name == "orders" and value in SCHEMES else plain_value(value)


def study_pairs(design: Blueprint) -> list[LabelledValue]:
    """Return the study's settings with their labels. Settings that the design's document lacks are left out,
    and so are those of the plan (see `plan_pairs`)."""
    texts = [LabelledValue(study_label("texts"), many=_texts(design))] if "texts" in design.study else []
    groups = ("between_groups",) if design.groups else ()
    more = [name for name in ("bonus_rule", "part_order", "survey_show_if") if design.meant(name)]
    return [
        *_study_pairs(design, (*SettingsForm.Meta.fields, *groups, *more, "languages")),
        *_factor_pairs(design),
        *texts,
    ]


def _factor_pairs(design: Blueprint) -> Iterator[LabelledValue]:
    """Yield the factors, and which conditions each participant plays. Nothing is yielded for a design without
    factors that everybody plays completely."""
    if lines := factor_lines(design):
        yield LabelledValue("Factors", many=lines)
    if sentence := subset_sentence(design):
        yield LabelledValue("Who plays what", sentence)
    if design.groups and design.meant("allocation"):
        yield LabelledValue("Allocation to groups", allocation_sentence(design.allocation))


def _texts(design: Blueprint) -> tuple[str, ...]:
    """Return the translations, each with its language and place."""
    return tuple(
        f"{language_name(language)}: {describe_text_path(path)}: {text}"
        for language, texts in design.study["texts"].items()
        for path, text in texts.items()
    )


PLANNED = ("planned_participants", "failed_checks_allowed", *TESTED, "planned_contrasts")
"""Fields of the plan that are described on one line each."""


def plan_pairs(design: Blueprint) -> list[LabelledValue]:
    """Return the planned numbers of participants and the planned tests, with their labels. Roles of measures
    are left out if none is chosen."""
    roles = ("measure_roles",) if design.meant("measure_roles") else ()
    return _study_pairs(design, (*PLANNED, *roles))


def _study_pairs(design: Blueprint, names: tuple[str, ...]) -> list[LabelledValue]:
    values = {name: study_value(name, design.study[name]) for name in names if name in design.study}
    if "main_test" in values and (design.groups or design.factors):
        test, grouped = str(design.study["main_test"]), bool(design.groups)
        values["main_test"] = main_test_label(test, grouped=grouped, factorial=bool(design.factors))
    if "survey_show_if" in values and (rule := survey_rule(design)):
        values["survey_show_if"] = rule_words(rule, compared_names(design, AFTER_ROUND))
    return [LabelledValue(study_label(name, design.worlds), value) for name, value in values.items()]


PLAN_TEXTS = tuple(name for name in PlanForm.Meta.fields if name not in PLANNED)
"""Fields of the plan that are Markdown texts."""


def setting_value(setting: Setting | None, value: Json) -> str:
    """Return the value of a setting as readable text. A choice is shown by its label. `setting` is None if
    no world or co-player declares the setting."""
    if value == "":
        return "empty"
    if setting is None or isinstance(value, float):
        return plain_value(value)
    return setting_value_text(setting, value)


def setting_pairs(part: str, name: str, values: Mapping[str, Json]) -> Iterator[LabelledValue]:
    """Yield every setting of a world or co-player with its value. `part` is `WORLD` or `COPLAYER`; `name` is
    its registered name.

    Values of settings that are not declared come last, with their stored names as labels.
    """
    known = settings_of_kind(part, name)
    for setting in known.values():
        if setting.name in values:
            yield LabelledValue(setting.label, setting_value(setting, values[setting.name]))
        else:
            yield LabelledValue(setting.label, f"{setting_value(setting, setting.default)} (default)")
    yield from (
        LabelledValue(readable_name(key), plain_value(value))
        for key, value in values.items()
        if key not in known
    )


def world_words(condition: Condition) -> str:
    """Return a short text for tables: the name of a condition's world and its first settings, as in
    `Chess, Minutes: 5`. A setting with choices is shown by the label of the chosen value alone."""
    first = next(iter(settings_of_kind(WORLD, condition.world).values()), None)
    value = condition.settings.get(first.name) if first else None
    if first is None or value in (None, ""):
        return readable_name(condition.world)
    words = (
        setting_value_text(first, value) if first.choices else f"{first.label}: {setting_value(first, value)}"
    )
    return f"{readable_name(condition.world)}, {words}"


def coplayer_words(name: str) -> str:
    """Return the readable name of a type of co-player, or `nobody`."""
    return "nobody" if name == NOBODY else readable_name(name)


def agents_words(teammates: int, *, apart: bool = False) -> str:
    """Return a text with the number of players in an episode and who they are.

    `apart` means that the participant leads the team without a seat in the world.
    """
    if apart:
        return f"{teammates}: all are teammates; the participant leads and controls no player"
    if not teammates:
        return "1: only the participant's"
    return f"{teammates + 1}: the participant's and {counted_noun(teammates, 'teammate')}"


def condition_agents_words(condition: Condition) -> str:
    """Return a text with the number of players in a condition and who they are."""
    return agents_words(condition.teammates, apart=is_apart(condition.organisation or {}))


def played_pairs(played: Mapping[str, Json]) -> list[LabelledValue]:
    """Return the world, the co-players and their settings, with labels.

    `played` has the fields `world`, `settings`, `coplayer`, `coplayer_settings` and `teammates` of a
    condition or of practice.
    """
    pairs = [
        LabelledValue("World", readable_name(played["world"])),
        *setting_pairs(WORLD, played["world"], played["settings"]),
        LabelledValue(
            "Agents", agents_words(played["teammates"], apart=is_apart(played.get("organisation", {})))
        ),
    ]
    if not played["teammates"]:
        return pairs
    name = played["coplayer"]
    return [
        *pairs,
        LabelledValue("Co-player", coplayer_words(name)),
        *setting_pairs(COPLAYER, name, played["coplayer_settings"]),
    ]


COPLAYER_LEADS = "a co-player that controls no player"


def team_pairs(condition: ConditionPlan) -> list[LabelledValue]:
    """Return the rules about who may command and write to whom, and the co-players of single teammates, with
    labels.

    The result is empty if the condition defines no organisation.
    """
    if not condition.organisation:
        return []
    team = team_of(condition.organisation)
    chosen = [
        f"{setting.label}: {setting_value_text(setting, team.settings.get(setting.name, setting.default))}"
        for setting in ORGANISATION_SETTINGS
        if setting.name in applicable_settings(team.kind, team.settings)
        and (setting.name not in {SCHEDULE, CYCLE_LIMIT} or setting.name in team.settings)
    ]
    own = [
        f"{_players(one.seats, team) or COPLAYER_LEADS}: {coplayer_words(one.coplayer)}"
        for one in team.members
    ]
    pairs = [
        f"{_member(one, team, condition)} to {_member(other, team, condition)} ({name})"
        for name in ("commands", "writes")
        for one, other in getattr(team, name)
    ]
    chosen += _people_words(team)
    leader = _players((team.leads,), team)
    if team.is_led_apart:
        leader = "the participant, who controls no player" if team.apart else COPLAYER_LEADS
    leads = [LabelledValue("Leader", leader)] if team.is_led_apart or team.kind in {"tree", "chain"} else []
    return [
        LabelledValue("Organisation", ORGANISATION_LABELS[team.kind]),
        *leads,
        LabelledValue("Details", many=(*chosen, *own, *pairs)),
    ]


def _people_words(team: Team) -> list[str]:
    """Return texts that say which seats people have, and what happens if they are missing. The result is
    empty if one person has the first seat and nobody else plays."""
    seats = and_list([str(seat + 1) for seat in team.people])
    if not team.is_shared:
        return [] if team.people == (0,) else [f"The participant is player {seats}"]
    who = (
        f"misses {counted_noun(team.absent_steps, 'turn')} in a row or leaves"
        if team.absent_steps
        else "leaves"
    )
    return [
        f"People: players {seats}",
        f"Longest wait in the lobby: {counted_noun(team.lobby_seconds, 'second')}",
        *([PAIRS_BY_TRIP_LABEL] if team.pairs_by_trip else []),
        "After that, co-players play for the people who are missing"
        if team.unfilled == REPLACE
        else "After that, the people who came leave",
        f"A co-player takes over if somebody {who}"
        if team.absent == REPLACE
        else f"The episode ends if somebody {who}",
    ]


def _member(number: int, team: Team, condition: ConditionPlan) -> str:
    """Return a text that names the team member with this number. A member who leads without a seat has the
    number after the last seat."""
    if team.is_led_apart and number == condition.teammates + (not team.apart):
        return "the participant" if team.apart else COPLAYER_LEADS
    return _players((number,), team)


def _players(seats: Sequence[int], team: Team) -> str:
    """Return a text that names these seats as players, counted from 1. If only one person plays, that
    person is called “the participant”."""
    person = team.people[0] if len(team.people) == 1 and not team.apart else None
    return and_list(["the participant" if seat == person else f"player {seat + 1}" for seat in seats])


def shown_words(value: str) -> str:
    """Return the label that forms use for this choice of how to show a world."""
    return str(Shown(value).label) if value in Shown.values else "as in the study"


def _seconds(value: float | None, unset: str) -> str:
    return unset if value is None else f"{format_number(value)} s"


def goal_words(world: str, goal: Mapping[str, Json]) -> str:
    """Return the goal of a round as text: `Orders completed: at least 3`. Return an empty string without a
    goal."""
    labels = goal_labels(world)
    return "; ".join(
        f"{labels.get(name, name)}: at least {format_number(least)}" for name, least in goal.items()
    )


def star_words(world: str, star_targets: Mapping[str, Json]) -> str:
    """Return the star targets as text: `Orders completed: 3, 5, 7`. Return an empty string without any."""
    labels = goal_labels(world)
    return "; ".join(
        f"{labels.get(name, name)}: {', '.join(map(format_number, targets))}"
        for name, targets in star_targets.items()
    )


READERS_LANGUAGE = "the reader's language"


def talk_language_words(code: str | None) -> str:
    """Return the language in which co-players write to people, as text. `code` is empty for the language of
    the reader's pages."""
    return language_name(code) if code else READERS_LANGUAGE


def _levels_in_words(levels: Mapping[str, str], factors: Sequence[Factor]) -> str:
    """Return the levels of a condition by their names: `Who leads: The participant`. A level that no factor
    has is named by its key."""
    names = {(factor.key, level.key): level.name for factor in factors for level in factor.levels}
    called = {factor.key: factor.name for factor in factors}
    return "; ".join(
        f"{called.get(key, key)}: {names.get((key, level), level)}" for key, level in levels.items()
    )


def condition_pairs(condition: ConditionPlan, factors: Sequence[Factor] = ()) -> list[LabelledValue]:
    """Return all properties of a condition except its name, with labels. Switches that are off and other
    defaults are left out. `factors` are those of the study; they name the levels."""
    knows, decides = condition.knowing, condition.decision_seconds
    chosen = [
        ("Also offered in three dimensions", "yes" if condition.three_dimensions else ""),
        ("Shows what teammates are about to do", "yes" if condition.shows_intents else ""),
        ("Recommends sound", "yes" if condition.recommends_sound else ""),
        ("Hides the dots at useful actions", "yes" if condition.hides_dots else ""),
        ("Offers whole parts of an order as one choice", "yes" if condition.order_choices else ""),
        ("Goes on without busy players", "yes" if condition.passes_by else ""),
        (
            "Whose commands a co-player knows before it decides",
            str(Knowing(knows).label) if knows in Knowing.values and knows != EVERYBODY else "",
        ),
    ]
    last = [
        ("Time for a decision", _seconds(decides, "")),
        ("Lets participants plan ahead", "yes" if condition.offers_plans else ""),
        (
            CONDITION["talk_language"],
            talk_language_words(condition.talk_language) if condition.talk_language else "",
        ),
        ("Goal of a round", goal_words(condition.world, condition.goal)),
        ("End the round at its goal", "yes" if condition.ends_at_goal else ""),
        ("Results for one, two and three stars", star_words(condition.world, condition.star_targets)),
        (CONDITION["probes"], probes_in_words(condition.world, condition.probes)),
        (CONDITION["rating_slider"], slider_in_words(condition.rating_slider)),
        *((CONDITION[name], "yes" if getattr(condition, name) else "") for name in AROUND_ROUNDS),
        ("Played by the group", condition.between_group),
        ("Level within people", condition.within_level),
        ("Levels of the factors", _levels_in_words(condition.levels, factors)),
    ]
    return [
        LabelledValue("Name in the data", condition.key),
        LabelledValue("Participants read", condition.label),
        *played_pairs(vars(condition)),
        LabelledValue("Thinking time", _seconds(condition.thinking_seconds, "as in the study")),
        LabelledValue("Step timer", _seconds(condition.step_seconds, "none")),
        LabelledValue("How the world is shown", shown_words(condition.shown)),
        *(LabelledValue(label, value) for label, value in chosen if value),
        *team_pairs(condition),
        *(LabelledValue(label, value) for label, value in last if value),
    ]


def part_value(kind: str, name: str, value: Json) -> str:
    """Return the value of a part's setting as readable text. `kind` names the part, such as `check`;
    `name` is the setting."""
    field = SETTING_FIELDS.get(kind, dict)().get(name)
    choices = dict(getattr(field, "choices", ()))
    return str(choices[value]) if isinstance(value, str) and value in choices else plain_value(value)


def part_pairs(part: PartPlan, names: Mapping[str, str] | None = None) -> list[LabelledValue]:
    """Return the settings of a part with their labels. `names` are readable names of the values in its
    rule."""
    pairs: list[LabelledValue] = []
    for name, value in part.settings.items():
        if name == RULE:
            words = rule_words(part, names or {})
            pairs += [LabelledValue(part_label(name), words)] if words else []
        elif name == "kitchen":
            pairs += played_pairs(practice_played(value))
        elif isinstance(value, list):
            pairs.append(LabelledValue(part_label(name), many=tuple(map(plain_value, value))))
        else:
            pairs.append(LabelledValue(part_label(name), part_value(part.kind, name, value)))
    return pairs


def page_pairs(page: OwnPagePlan, names: Mapping[str, str] | None = None) -> list[LabelledValue]:
    """Return the properties of a page that researchers wrote, as labelled values. `names` are readable names
    of the values in its rule."""
    told = [
        LabelledValue("Place", place_words(page.before, {kind.name: kind.words for kind in PARTS.values()})),
        LabelledValue("Name in the data", page.page),
        LabelledValue("Shown if", rule_words(page, names or {})),
        LabelledValue("The study ends here", "yes" if page.ends else ""),
        LabelledValue("Break between sessions", break_words(page)),
        LabelledValue("Code for the session", "yes" if page.has_code else ""),
    ]
    return [one for one in told if one.value]


def file_pairs(file: MediaPlan) -> list[LabelledValue]:
    """Return the properties of a media file, as labelled values."""
    told = [
        LabelledValue("Kind", file.kind),
        LabelledValue("Size", size_words(file)),
        LabelledValue("SHA-256", file.sha256),
        LabelledValue("Description", file.alt),
        LabelledValue("Transcript", file.transcript),
    ]
    return [one for one in told if one.value]


def parts_off(design: Blueprint) -> list[str]:
    """Return the names of the study's disabled parts, which participants do not see."""
    return [PARTS[one.kind].words for one in design.parts if not one.enabled]


def answers_words(item: ItemPlan) -> str:
    """Return how an item is answered, as text: its kind, the numbers of its scale or its allowed range, and
    the labels at the ends."""
    return kind_of(item).answers_words(item)


def item_notes(item: ItemPlan) -> tuple[str, ...]:
    """Return short texts about the special properties of an item: its sub-scale, whether it is reversed or
    optional, and restrictions."""
    meaningless = set(KIND_FIELDS) - set(kind_of(item).uses)
    told = [words for name, words in notes(item).items() if name not in meaningless]
    return (*told, *(() if must_be_answered(item) else ("may be left empty",)))


def question(item: ItemPlan) -> DescribedQuestion:
    """Return an item with all its properties as texts for display."""
    must = ("must be answered",) if must_be_answered(item) else ()
    right = "" if item.correct is None else plain_value(item.correct)
    return DescribedQuestion(item, answers_words(item), right, (*must, *item_notes(item)))


def question_pairs(item: ItemPlan) -> list[LabelledValue]:
    """Return all properties of an item as labelled values."""
    asked = question(item)
    options = [LabelledValue("Options", many=tuple(item.options))] if item.options else []
    right = [LabelledValue("Correct answer", asked.right)] if asked.right else []
    return [
        LabelledValue("Name in the data", item.key),
        LabelledValue("Asked", item_place_words(item.place, FIXED_PLACES)),
        LabelledValue("Participants read", item.text),
        LabelledValue("Answers", asked.answers),
        *options,
        *right,
        LabelledValue("Notes", many=asked.notes),
    ]


def questions_by_place(design: Blueprint) -> list[AskedAtPlace]:
    """Return the questions, grouped by the point of the study where they are asked, in the order in which
    participants see them. Points without questions are left out."""
    by_place = ((place, words, design.items_at(place)) for place, words in _places_in_words(design))
    return [
        AskedAtPlace(str(words), _order(design, kind), tuple(map(question, items)))
        for kind, words, items in by_place
        if items
    ]


def _places_in_words(design: Blueprint) -> list[tuple[str, str]]:
    """Return (place, words) pairs for every place at which the design may ask."""
    titles = {one.key: one.title for one in design.pages}
    return [(one, item_place_words(one, FIXED_PLACES, titles)) for one in places_of_design(design)]


def _order(design: Blueprint, place: str) -> str:
    if place in PARTS and not design.has(place):
        return "This part is off, so these questions are not asked."
    if place == "survey" and design.study["shuffle_items"]:
        return (
            "In a random order for each participant, which is the same after each episode. Items of one "
            "sub-scale stay together."
        )
    return "In this order."


def scales(design: Blueprint) -> list[DescribedScale]:
    """Return every sub-scale with its formula and items. Items that are asked at different points of the
    study belong to different sub-scales."""
    return [
        _scale(str(words), one)
        for place, words in _places_in_words(design)
        for one in subscales(design.items_at(place))
    ]


def _scale(place: str, scale: SubScale) -> DescribedScale:
    ends = "" if scale.problem else "{} to {}".format(*map(format_number, scale.ends))
    items = tuple(
        f"{item.measure} ({item.key}{', reversed' if item.reversed else ''})" for item in scale.items
    )
    return DescribedScale(scale.name, place, scale.label, ends, items, scale.problem)


def _given(outcome: OutcomePlan) -> str:
    """Return a text that says what participants get at this kind of end: a completion code, an address to go
    to, both or nothing."""
    own = OWN_CODE if outcome.kind == Outcome.Kind.COMPLETE else "No code"
    where = "an address to go to" if outcome.has_address else "no address"
    return f"{FIXED_CODE if outcome.has_code else own}; {where}."


def ends(design: Blueprint) -> list[DescribedOutcome]:
    """Return the completion code, address and text for each kind of end. “Complete” is always listed. The
    result is empty if the design's document format has no outcomes."""
    if design.format < OUTCOMES:
        return []
    known = {one.kind: one for one in design.outcomes}
    known.setdefault("complete", OutcomePlan(kind="complete", text="", has_code=False, has_address=False))
    rows = [known[kind] for kind in Outcome.Kind.values if kind in known]
    return [DescribedOutcome(end_words(one.kind), _given(one), to_html(one.text)) for one in rows]


def end_words(kind: str) -> str:
    """Return the readable name of a way to end a study; `kind` is a stored name such as `timed_out`."""
    return str(Outcome.Kind(kind).label)


def end_pairs(outcome: OutcomePlan) -> list[LabelledValue]:
    """Return the code, address and text of an outcome as labelled values."""
    return [LabelledValue("Given", _given(outcome)), LabelledValue("Text", plain_value(outcome.text))]
