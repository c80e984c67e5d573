"""List what a study lacks before it can take participants, and what the researcher should reconsider.

Some problems prevent the study from taking participants. The others are only advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations

from django.core.exceptions import ValidationError
from django.utils import timezone

from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.world_errors import SettingsError, WorldError
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_kit, get_page, get_world, known_worlds
from kitchen.words.english_text import and_list, counted_noun
from study.design.analysis_plan import (
    DEFAULT_PLAN,
    MOST_ROWS,
    PlannedContrast,
    contrast_problems,
    parse_contrasts,
)
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.condition_seats import is_shared, missing_packages, people_in, planned_organisation
from study.design.consent_checks import false_statements, missing_statements
from study.design.demo_study_files import DEMO_SLUG, demo_part_texts
from study.design.form_labels import CONDITION, PART_SETTINGS
from study.design.group_allocation import parse_allocation
from study.design.group_and_factor_checks import (
    allocation_problems,
    factor_problems,
    group_problems,
    order_problems,
    shared_subset_problems,
)
from study.design.item_places import is_on_own_page, places_of_design
from study.design.metric_and_scale_names import has_metric_in
from study.design.models import Condition, Outcome, Study, conditions_with_unmeasured
from study.design.own_page_checks import own_page_problems, part_rule_problems
from study.design.page_and_item_order import ITEM_PAGES
from study.design.part_order import plays_first
from study.design.parts_other_than_rounds import PARTS, part_problems, practice_goal, practice_reaches
from study.design.play_metrics import waits_for_people
from study.design.questions.item_kinds import SCALED, item_problems
from study.design.questions.questionnaires import subscales
from study.design.readiness_problem import ReadinessProblem, advice
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.team_organisation import LEAVE, is_apart, team_of
from study.design.text_checks import text_problems
from study.design.translated_texts import missing_translations
from study.design.translations import equal_options, language_codes, language_name

WORD = re.compile(r"\w+")
LONG = 5
"""The fewest letters of a word in which one differing letter counts as a typo.

`pre` and `pro` are two words.
"""


def likely_typos(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each pair of names that differ so little that one may be a typo.

    The two names differ only in capitals, spaces or punctuation, or by one letter of a long word. Examples
    are `Work load` and `Workload`, `Fluency` and `Fluencey`. Names with different numbers are not
    reported.
    """
    return ((one, other) for one, other in combinations(dict.fromkeys(names), 2) if _is_typo(one, other))


def _is_typo(one: str, other: str) -> bool:
    words, others = _words(one), _words(other)
    if "".join(words) == "".join(others):
        return True
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    return len(words) == len(others) and len(differing) == 1 and _one_letter(*differing[0])


def _words(name: str) -> list[str]:
    return WORD.findall(name.casefold())


def _one_letter(one: str, other: str) -> bool:
    """Return True if one word becomes the other by a single change: a letter added, removed or replaced, or
    two neighbouring letters exchanged."""
    short, long = sorted((one, other), key=len)
    if len(short) < LONG or not (one + other).isalpha() or len(long) - len(short) > 1:
        return False
    first = next(
        (at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    if len(short) < len(long):
        return short[first:] == long[first + 1 :]
    exchanged = short[first : first + 2] == long[first : first + 2][::-1]
    return short[first + 1 :] == long[first + 1 :] or (exchanged and short[first + 2 :] == long[first + 2 :])


FEWEST_TESTED_PARTICIPANTS = 3


def readiness_problems(study: Study) -> list[ReadinessProblem]:
    """Return all problems of the study's design: first those that block the study, then the others. Both
    groups are in the order of the design."""
    design = blueprint_of(study)
    gaps = [
        *_conditions(study),
        *_people(study),
        *group_problems(design),
        *allocation_problems(design),
        *factor_problems(study, design),
        *order_problems(study, design),
        *shared_subset_problems(study),
        *_parts(study, design),
        *_practice(design),
        *_practised_seats(design),
        *_unpractised(design),
        *_guide(design),
        *_items(study, design),
        *_revealed_teammates(study, design),
        *_scales(design),
        *_scale_name_typos(design),
        *_plan(design),
        *_recruitment(study, design),
        *own_page_problems(study, design),
        *part_rule_problems(design),
        *text_problems(study, design),
        *_texts(study, design),
    ]
    return sorted(gaps, key=lambda one: not one.hinders)


def _plan(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each planned test that cannot be run."""
    conditions = {one.key: one.between_group for one in design.conditions}
    text = str(design.meant("planned_contrasts"))
    problems = contrast_problems(text, conditions, factorial=bool(design.factors))
    for problem in problems:
        yield ReadinessProblem(problem, "plan", field="planned_contrasts")
    if not problems:
        yield from _contrasts(design, parse_contrasts(text))
    planned = design.study.get("planned_participants")
    number = len(design.for_group("").conditions)
    if number > 1 and planned is not None:
        main = str(design.study.get("main_test") or DEFAULT_PLAN.main)
        told = _sample_size_problems(planned, number, design.rounds, main)
        yield from (ReadinessProblem(words, "plan", field="planned_participants") for words in told)


def _sample_size_problems(planned: int, conditions: int, rounds: int, main: str) -> Iterator[str]:
    """Yield one sentence for each reason why a planned test cannot be run with `planned` participants, who
    each play `rounds` of the conditions. There can be too few participants, or too many for the mixed
    model."""
    if planned < FEWEST_TESTED_PARTICIPANTS:
        yield f"{counted_noun(planned, 'participant')} planned: no test of conditions can be run with so few."
    elif main == "mixed" and planned * (rounds - 1) <= 2 * conditions:
        enough = 2 * conditions // max(rounds - 1, 1) + 1
        yield (
            f"{planned} participants who each play {rounds} of {conditions} conditions are too few for the "
            f"mixed model. Plan {enough} or more, or another main test."
        )
    if main == "mixed" and planned * rounds > MOST_ROWS:
        yield (
            f"{planned} participants in {conditions} conditions give more than {MOST_ROWS} values, too many "
            "for the mixed model. Plan another main test."
        )


def _contrasts(design: Blueprint, contrasts: Sequence[PlannedContrast]) -> Iterator[ReadinessProblem]:
    """Yield a problem for each contrast with ratings that are not asked in all of its conditions. The
    contrast cannot be tested with these ratings.

    If nothing is measured in all conditions of the contrast, the problem blocks the study.
    """
    rated = [item for item in design.items_at("survey") if item.kind in SCALED]
    for contrast in contrasts:
        asked = [{item.key for item in design.items_after(key)} for key in contrast.weights]
        about = [item for item in rated if contrast.is_about(item.key)]
        without = [item.measure for item in about if not all(item.key in keys for keys in asked)]
        if (
            len(without) == len(about)
            and not contrast.measures
            and not has_metric_in(design, contrast.weights)
        ):
            words = (
                f"The planned contrast “{contrast.name}” cannot be tested, because nothing is measured "
                "in all its conditions."
            )
            yield ReadinessProblem(words, "plan", field="planned_contrasts")
        elif without:
            where = "is not asked" if len(without) == 1 else "are not asked"
            words = (
                f"The planned contrast “{contrast.name}” cannot be tested for {', '.join(without)}, which "
                f"{where} in all its conditions."
            )
            yield advice(words, "plan", field="planned_contrasts")


def blocking_problems(study: Study) -> list[ReadinessProblem]:
    """Return the problems that prevent the study from taking participants."""
    return [one for one in readiness_problems(study) if one.hinders]


MOST_NAMED = 3
"""The most conditions that one problem names."""


def _of_several(
    rows: Iterable[Condition], find: Callable[[Condition], Iterable[str]], *, hinders: bool = True
) -> Iterator[ReadinessProblem]:
    """Yield each problem that `find` returns once: the names of its conditions and the rest of its words."""
    found: dict[str, list[Condition]] = {}
    for row in rows:
        for words in find(row):
            found.setdefault(words, []).append(row)
    for words, those in found.items():
        names = [row.name for row in those[:MOST_NAMED]]
        more = [f"{len(those) - MOST_NAMED} more"] if len(those) > MOST_NAMED else []
        yield ReadinessProblem(f"{and_list([*names, *more])}{words}", "condition", (those[0].pk,), hinders)


def _unplayable(row: Condition) -> Iterator[str]:
    """Yield why nobody can play the condition, as the rest of a sentence about it."""
    try:
        row.clean()
    except ValidationError as error:
        yield f" cannot be played: {' '.join(error.messages)}"
    for missing in missing_packages(row):
        yield f" cannot be played here: {missing}"
    if _needs_plans(row) and not row.offers_plans:
        yield (
            ": teammates request several actions at once, and a participant accepts them as a plan. Choose "
            f"“{CONDITION['offers_plans']}”."
        )


def _foreign_talk(study: Study, row: Condition) -> Iterator[str]:
    """Yield a warning if co-players of this condition write in a language that the study does not offer."""
    if row.talk_language and row.talk_language not in language_codes(study.languages):
        name = language_name(row.talk_language)
        yield f": co-players write in {name}, but the study does not offer {name}. Can participants read it?"


def _conditions(study: Study) -> Iterator[ReadinessProblem]:
    rows = list(study.conditions.all())
    if not rows:
        yield ReadinessProblem("There is no condition yet. Add at least one.", "condition-new")
    yield from _of_several(rows, _unplayable)
    unmeasured = dict(conditions_with_unmeasured(study, rows))
    yield from _of_several(
        rows,
        lambda row: [
            f": {one}" for one in (*row.cautions, *unmeasured[row]) if one not in missing_packages(row)
        ],
        hinders=False,
    )
    yield from _of_several(rows, lambda row: _foreign_talk(study, row), hinders=False)
    labels = [row.label for row in rows]
    for label in dict.fromkeys(label for label in labels if labels.count(label) > 1):
        words = f"Two conditions are both called “{label}” for participants, who could not tell them apart."
        first = next(row.pk for row in rows if row.label == label)
        yield advice(words, "condition", first, field="label")


def _needs_plans(row: Condition) -> bool:
    """Return True if participants in this condition play a seat and somebody else can request actions of
    them."""
    if row.world not in known_worlds() or not get_kit(row.world).requests_actions:
        return False
    with suppress(WorldError, UnknownNameError):  # the check of the condition reports it
        organisation = planned_organisation(row)
        return bool(organisation and organisation.people_are_written_to and not is_apart(row.organisation))
    return False


def _parts(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    for part in design.parts:
        kind = PARTS[part.kind]
        if part.enabled and study.slug != DEMO_SLUG and part.text.strip() == demo_part_texts().get(part.kind):
            words = f"{kind.words.capitalize()} still has the demo's words: do they fit this study?"
            yield advice(words, "part", part.kind, field="text")
        for field, wrong in part_problems(part.kind, part.text, part.enabled, part.settings).items():
            yield ReadinessProblem(f"{kind.words.capitalize()}: {wrong}", "part", (part.kind,), field=field)
        empty = not part.text.strip() and not design.items_at(part.kind)
        if part.enabled and part.kind in ITEM_PAGES and empty:
            words = f"{kind.words.capitalize()} is on but asks nothing, so nobody sees it."
            yield advice(words, "instruments")
    if not design.has("consent"):
        yield advice("Consent is switched off, so nobody is asked for it.", "part", "consent")
    for words in missing_statements(design):
        yield advice(words, "part", "consent")
    for told, words in false_statements(design):
        yield advice(words, "part", told)


def _items(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    pages = {one.page for one in design.pages}
    for row in study.items.filter(enabled=True):
        if is_on_own_page(row.place) and row.place not in pages:
            words = f"“{row.measure}”: its page is gone. Choose another place, or switch the question off."
            yield ReadinessProblem(words, "item", (row.pk,), True, "place")
        for field, wrong in item_problems(row.plan).items():
            told, hinders = f"“{row.measure}”: {wrong}", not row.why_fixed()
            yield ReadinessProblem(told, "item", (row.pk,), hinders, field)
    silent = [one.name for one in design.conditions if not design.items_after(one.key)]
    if silent:
        where = f" of {', '.join(silent)}" if len(silent) < len(design.conditions) else ""
        yield advice(f"No questions are asked after the episodes{where}.", "instruments")
    for place in sorted(ITEM_PAGES):
        if design.items_at(place) and not design.has(place):
            words = (
                f"There are questions for “{PARTS[place].words}”, but this part is off, so nobody is asked. "
                "Switch the part on, or switch the questions off."
            )
            yield ReadinessProblem(words, "part", (place,))


PROGRAMS = re.compile(
    r"computer[- ]controlled|\b(programs?|bots?|AIs?|algorithms?|language models?)\b|artificial",
    re.IGNORECASE,
)
PEOPLE = re.compile(r"\b(people|persons?|humans?)\b", re.IGNORECASE)


def _revealed_teammates(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each question whether teammates are people or programs, if earlier texts already
    tell this."""
    before = [one for one in design.parts if one.enabled and one.kind in {"welcome", "consent", "guide"}]
    telling = [PARTS[one.kind].words for one in before if PROGRAMS.search(one.text)]
    for row in study.items.filter(enabled=True) if telling else ():
        if row.place in {"survey", "final"} and all(
            any(map(one.search, row.options)) for one in (PROGRAMS, PEOPLE)
        ):
            words = (
                f"“{row.measure}” asks who is a person and who is a program, but “{telling[0]}” "
                "mentions programs before, so participants already know. Leave the question out, or "
                "say there that some things are revealed only at the end, and reveal them in the "
                "debriefing."
            )
            yield advice(words, "item", row.pk)


def _scales(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each sub-scale whose score cannot be computed, so that its data column would be
    empty."""
    alone = any(not one.teammates for one in design.conditions)
    for place in places_of_design(design):
        for scale in subscales(design.items_at(place)):
            if scale.problem:
                words = f"The sub-scale “{scale.name}” gets no score: {scale.problem}."
                yield advice(words, "instruments")
            elif len({item.needs_teammates for item in scale.items}) > 1 and alone:
                words = (
                    f"The sub-scale “{scale.name}” gets no score alone: not all of its questions are "
                    "asked there."
                )
                yield advice(words, "instruments")


def _scale_name_typos(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each pair of sub-scale names that differ so little that one may be a typo."""
    names = [one.name for place in places_of_design(design) for one in subscales(design.items_at(place))]
    for one, other in likely_typos(names):
        words = (
            f"“{one}” and “{other}” are two separate sub-scales, each with its own score. Is one of "
            "them a typing error?"
        )
        yield advice(words, "instruments")


def _practice(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem if a participant who follows all hints does not reach the goal of the practice
    episode."""
    settings, played = design.part("practice").settings, design.practice
    if not (design.has("practice") and settings.get("hints")):
        return
    goal = practice_goal(settings, played.world)
    seats = {people_in(one.practice)[0] for one in _group_designs(design).values()}
    with suppress(SettingsError):  # the check of the part reports it
        if not all(practice_reaches(played.world, played.settings, goal, seat) for seat in seats):
            words = (
                "Practice is too short: a participant who follows its hints does not reach the goal. "
                "Give it more steps."
            )
            yield advice(words, "part", "practice")


def _group_designs(design: Blueprint) -> dict[str, Blueprint]:
    """Return the design of each between-subjects group, by group key. Without groups, return the whole
    design under an empty key."""
    return {group: design.for_group(group) for group in design.groups or ("",)}


def _practised_seats(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each group whose participants practise in a different seat from the one that they
    play."""
    own_seat = bool(design.part("practice").settings.get("own_seat"))
    if not (design.has("practice") and (design.groups or own_seat)):
        return
    world = design.practice.world
    differing = [
        group
        for group, theirs in _group_designs(design).items()
        if people_in(theirs.practice)[0] != theirs.played_seat(world)
    ]
    if differing:
        participants = f"Participants of the group {and_list(differing)}" if design.groups else "Participants"
        remedy = "Give practice more teammates" if own_seat else f"Switch on “{PART_SETTINGS['own_seat']}”"
        yield advice(f"{participants} practise in another seat than they play. {remedy}.", "part", "practice")


def _unpractised(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each world that participants play without practice. A study has only one practice
    episode, so the guide alone explains its other worlds."""
    worlds = dict.fromkeys(one.world for one in design.conditions)
    unpractised = [readable_name(world) for world in worlds if world != design.practice.world]
    if design.has("practice") and unpractised:
        words = (
            f"A study has one practice episode, here in {readable_name(design.practice.world)}. "
            f"Participants learn {and_list(unpractised)} only from the guide."
        )
        yield advice(words, "part", "practice")


def _guide(design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem if the practice episode differs from every condition in the same world.

    The guide describes the first condition that is played. It would then not describe the practice episode.
    """
    plans = [plan for plan in design.conditions if plan.world == design.practice.world]
    if not (design.has("practice") and design.has("guide") and plans) or plays_first(design):
        return
    with suppress(SettingsError):  # another check reports it
        others = [(plan.name, _differing_choices(plan, design.practice)) for plan in plans]
        if all(labels for _, labels in others):
            name, labels = others[0]
            words = (
                f"The guide shows {name}, but practice has other settings ({', '.join(labels)}), which "
                "people have not read about. Use the same ones, or explain them in a text."
            )
            yield advice(words, "part", "practice")


def _differing_choices(plan: ConditionPlan, practice: ConditionPlan) -> list[str]:
    """Return the labels of settings whose value in practice differs from the condition. Only settings with
    fixed choices that the guide explains are compared. Numbers are not compared."""
    declared, alike = get_world(plan.world).settings, get_page(plan.world).guide_ignores_settings
    one, other = (clean_settings(declared, each.settings) for each in (plan, practice))
    compared = [each for each in declared if each.kind == "choice" and each.name not in alike]
    return [each.label for each in compared if one[each.name] != other[each.name]]


def _texts(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield a problem for each language in which participants would see untranslated texts."""
    for code, paths in missing_translations(design).items():
        name = dict(study.languages_offered)[code]
        words = f"{counted_noun(len(paths), 'text')} of yours: not translated into {name} yet."
        if paths:
            yield advice(words, "texts", code)
        if list(equal_options(design.study.get("texts", {}).get(code, {}))):
            words = f"Two options of a question have the same translation into {name}."
            yield ReadinessProblem(words, "texts", (code,))


def _people(study: Study) -> Iterator[ReadinessProblem]:
    """Yield the problems of conditions for several people. Some prevent the episode, others make people
    wait."""
    rows = [row for row in study.conditions.all() if _is_shared(row)]
    if len({len(people_in(row)) for row in rows}) > 1:
        words = (
            "People who play together stay together, so all such conditions need the same number of people."
        )
        yield ReadinessProblem(words, "condition", (rows[0].pk,), field="team_people")
    for row in rows:
        if row.step_seconds is None and waits_for_people(row):
            words = (
                f"{row.name}: several people play, and there is no step timer: a participant who is "
                "away keeps the others waiting until they are timed out."
            )
            yield advice(words, "condition", row.pk, field="step_seconds")


def _is_shared(row: Condition) -> bool:
    with suppress(WorldError):  # another check reports it
        return is_shared(row)
    return False


def _recruitment(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    if study.closes_at and study.closes_at <= timezone.now():
        yield ReadinessProblem("Its closing date is over.", "recruitment", field="closes_at")
    if not RECRUITMENT_PLACES[study.recruitment].complete:
        return
    rows = {row.kind: row for row in study.outcomes.all()}
    unused = _unused_ends(study, design)
    for kind, words in Outcome.Kind.choices:
        row = rows.get(kind)
        if kind in unused:
            continue
        if row is None or not (row.code or row.url):
            where = study.get_recruitment_display()
            said = f"{where} gets no code for those who end as “{words}”."
            hinders = kind == Outcome.Kind.COMPLETE
            yield ReadinessProblem(said, "outcomes", hinders=hinders, field=f"{kind}-code")


def _unused_ends(study: Study, design: Blueprint) -> set[str]:
    """Return the kinds of ends that nobody can reach in this study."""
    shared = [row for row in study.conditions.all() if _is_shared(row)]
    quotas = parse_allocation(study.allocation).limits if study.between_groups else ()
    parts = {part.kind: part for part in design.parts if part.enabled}
    check = parts.get("check")
    reached = {
        Outcome.Kind.NO_CONSENT: "consent" in parts,
        Outcome.Kind.FAILED_CHECK: check is not None and check.settings.get("on_failure", "end") == "end",
        Outcome.Kind.UNMATCHED: any(team_of(row.organisation).unfilled == LEAVE for row in shared),
        Outcome.Kind.NO_PLACE: any(one.item for one in quotas),
        Outcome.Kind.SCREENED_OUT: study.own_pages.filter(ends=True).exists(),
        Outcome.Kind.LATE_RETURN: study.own_pages.exclude(not_after_hours=None).exists(),
    }
    return {kind for kind, is_reached in reached.items() if not is_reached}
