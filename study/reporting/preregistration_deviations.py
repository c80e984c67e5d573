"""List how a study and its analysis deviate from the preregistration.

The preregistration is the design that was frozen before data collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from django.utils.text import capfirst

from kitchen.contract.world import Json
from kitchen.words.english_text import counted_noun
from study.analysis.statistics.result_rows import test_rows
from study.analysis.statistics.run_analysis import Analysis
from study.design.blueprint import Blueprint, blueprint_of
from study.design.form_labels import difference_field_label
from study.design.models import Outcome, Study, Version
from study.design.parts_other_than_rounds import PARTS
from study.design.preregistration import program_differences
from study.design.study_versions import Difference, differences, frozen_version

NOTHING = "nothing"
LONG = 60
"""Maximum number of characters of a value that is shown; longer texts are only reported as changed."""
Kind = Literal[
    "preregistration", "design", "program", "sample", "exclusion", "test not run", "test not planned"
]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One deviation, described by a sentence."""

    kind: Kind
    words: str


def deviations_of(study: Study, analysis: Analysis) -> tuple[Deviation, ...]:
    """Return every deviation of a study and its analysis from the design that was preregistered last. If
    nothing was preregistered, return one deviation that says this."""
    frozen = frozen_version(study)
    if frozen is None:
        words = "Nothing was preregistered, so every test is exploratory."
        return (Deviation("preregistration", words),)
    return tuple(_since(study, frozen, analysis))


def _since(study: Study, frozen: Version, analysis: Analysis) -> Iterator[Deviation]:
    yield from (Deviation("preregistration", words) for words in _frozen_anew(study))
    after = _differences("Changed after freezing", frozen.blueprint, blueprint_of(study))
    yield from (Deviation("design", words) for words in after)
    yield from (Deviation("program", words) for words in _program(frozen))
    yield from (Deviation("sample", words) for words in _sample(frozen.blueprint, analysis))
    yield from (Deviation("exclusion", words) for words in _excluded(frozen.blueprint, analysis))
    yield from (Deviation("test not run", words) for words in _not_run(analysis))
    for words in filter(None, (_not_planned(analysis), _explored(analysis))):
        yield Deviation("test not planned", words)


def _frozen_anew(study: Study) -> Iterator[str]:
    """Yield the changes between successive preregistrations of the study, as sentences."""
    for old, new in pairwise(study.versions.exclude(frozen_at=None).defer("bundle").order_by("number")):
        what = f"Version {new.number} was preregistered after version {old.number}"
        changed = list(_differences(what, old.blueprint, new.blueprint))
        yield from changed or [f"{what}, with the same design."]


def _differences(what: str, old: Blueprint, new: Blueprint) -> Iterator[str]:
    names = {f"condition {one.key}": f"condition “{one.name}”" for one in (*old.conditions, *new.conditions)}
    names |= {f"item {one.key}": f"question “{one.measure}”" for one in (*old.items, *new.items)}
    names |= {f"part {kind}": f"part “{part.words}”" for kind, part in PARTS.items()}
    names |= {f"end {one.value}": f"end “{one.label}”" for one in Outcome.Kind}
    for one in differences(old, new):
        # Both values are empty, for example two empty settings of a model.
        if one.field != "all of it" and _short(one.old) == _short(one.new) == NOTHING:
            continue
        yield f"{what}: {_changed(one, names, difference_field_label(one, old, new))}"


def _program(frozen: Version) -> Iterator[str]:
    if frozen.bundle:
        names = {f"condition {one.key}": f"condition “{one.name}”" for one in frozen.blueprint.conditions}
        for one in program_differences(frozen.bundle):
            changed = _changed(one, names, str(capfirst(one.field)))
            yield f"Another program than the one that froze it: {changed}"


def _changed(one: Difference, names: Mapping[str, str], field: str) -> str:
    """Return a difference between two designs as a sentence. `field` is the label of the changed field."""
    where = names.get(one.where, one.where)
    if one.old is None and one.field == "all of it":
        return f"{where} was added."
    if one.new is None and one.field == "all of it":
        return f"{where} was removed."
    field = f"{where}, {field}"
    was, now = _short(one.old), _short(one.new)
    return f"{field}: it was {was}, and is {now}." if was and now else f"{field}."


def _short(value: Json) -> str:
    """Return the value as text. Return an empty string if the text is too long for a sentence."""
    text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = NOTHING if value in (None, "", [], {}) else text
    return "" if len(text) > LONG or "\n" in text else text


def _sample(frozen: Blueprint, analysis: Analysis) -> Iterator[str]:
    yield from analysis.warnings
    planned, people = frozen.study.get("planned_participants"), len(analysis.participants)
    if planned and people != planned:
        less = "fewer" if people < planned else "more"
        number = f"{abs(people - planned)} {less} than planned ({planned})"
        yield f"{counted_noun(people, 'participant')} analysed: {number}."
    if analysis.attrition and analysis.attrition.touched_left_out and analysis.attrition.touched:
        episodes = counted_noun(analysis.attrition.touched, "episode")
        yield f"{episodes} left out, because an outage of the server touched them."


def _excluded(frozen: Blueprint, analysis: Analysis) -> Iterator[str]:
    if analysis.attrition and analysis.attrition.excluded:
        people = counted_noun(analysis.attrition.excluded, "participant")
        planned = frozen.study.get("exclusions")
        rule = "compare it with the planned exclusions" if planned else "none was planned"
        yield f"{people} who came to the end excluded by staff: {rule}."


def _not_run(analysis: Analysis) -> Iterator[str]:
    """Yield the planned tests that could not be computed, with the reason. Measures with the same reason
    share one sentence."""
    measures: dict[tuple[str, str], list[str]] = {}
    for row in test_rows(analysis):
        if row["role"] in ("main", "planned") and row.get("not_computable"):
            test = str(row["term"] if row["role"] == "planned" else row["test"])
            measures.setdefault((test, row["not_computable"]), []).append(row["measure_label"])
    for (test, because), labels in measures.items():
        yield f"{test}: planned, and not computable for {', '.join(labels)}, because {because}."


def _not_planned(analysis: Analysis) -> str:
    rows = list(test_rows(analysis))
    planned = {_test(row) for row in rows if row["role"] in ("main", "planned")}
    others = (row for row in rows if row["role"] == "exploratory" and _test(row) not in planned)
    tests = dict.fromkeys(row["test"] for row in others)
    return f"Run beside what was planned, and exploratory: {', '.join(tests)}." if tests else ""


def _explored(analysis: Analysis) -> str:
    labels = [one.measure.label for one in analysis.measures if one.measure.exploratory]
    return f"Measures beside those planned, and exploratory: {', '.join(labels)}." if labels else ""


def _test(row: Mapping[str, object]) -> str:
    """Return the name of the test in this table row. The name of its sphericity correction is left out."""
    return str(row["test"]).partition(",")[0]
