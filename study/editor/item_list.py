"""Add several questions with one scale from a pasted list, copy a question, and arrange the question form.

A line of the list is a question. `(R)` at its end reverses the question. The name of the list names the
questions: `Trust` makes `Trust 1`, with the name `trust_1` in the data. A line that ends with answers in
square brackets, such as `smooth = How smooth was it? [slider: no | yes]`, is a question of its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.forms.models import fields_for_model

from kitchen.contract.probes import USUAL_POINTS
from study.design import form_labels
from study.design.models import Study, SurveyItem
from study.design.naming_rules import key_from_name
from study.design.questions.item_fields import LONGEST
from study.design.questions.item_kinds import KIND_FIELDS, KINDS
from study.design.study_errors import DesignError
from study.editor.answers_in_brackets import BracketedQuestion, bracketed_question
from study.editor.condition_and_item_forms import SurveyItemForm
from study.editor.condition_form_sections import make_fold
from study.editor.design_services import after_last, unused_name
from study.editor.place_choices import place_field

MOST_LINES = 100
SHARED = ("place", "points", "low", "high", "table", "required", "needs_teammates", "may_not_apply")
"""The fields that all questions of a list share."""
IN_BRACKETS = ("likert", "slider", "single", "multiple", "number", "text")
"""The kinds of question that a line of a list can have in square brackets."""
REPEATED = ("place", "kind", "points", "low", "high", "scale", "table", "unit", "minimum", "maximum", "step")
"""The fields that the next question takes over from the one that was added before."""
_REVERSED = re.compile(r"\s*\(r\)\s*$", re.IGNORECASE)


class ItemListForm(forms.Form):
    """A form to paste questions, one on each line, that all have the same scale."""

    lines = forms.CharField(
        max_length=40_000,
        label="Questions",
        help_text=f"One on each line, at most {MOST_LINES}. End a line with (R) if a high answer means a low "
        "value: it is reversed before scoring. A line can have answers of its own: “[slider: low | high]”, "
        "“[likert 5: low | high]”, “[single: one | two]”, “[multiple: one | two]”, “[number: 18 | 99]”, "
        "“[text]”. It then counts for no sub-scale. “smooth = ” before such a question names it in the data.",
        widget=forms.Textarea({"rows": 10}),
    )
    name = forms.CharField(
        max_length=LONGEST["scale"] - 4,
        label="Name of the list",
        help_text="“Trust” names the questions “Trust 1”, “Trust 2” and so on in tables and data.",
    )
    scored = forms.BooleanField(
        required=False,
        initial=True,
        label="Score them as one sub-scale",
        help_text="Its score is the mean of the answers. Reversed questions are turned round first.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        shared = fields_for_model(SurveyItem, SHARED, labels=form_labels.ITEM)
        shared["place"] = place_field(study)
        self.fields |= {name: shared[name] for name in SHARED}

    def clean(self) -> dict[str, Any]:
        """Make the questions as `made`. A line that cannot be a question is an error of the field `lines`."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self.made: list[SurveyItem] = []
        if not self.errors:
            self.made = list(self._items(cleaned))
        return cleaned

    def _items(self, cleaned: dict[str, Any]) -> Iterator[SurveyItem]:
        lines = [line.strip() for line in cleaned["lines"].splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            self.add_error("lines", f"There are {len(lines)} questions; {MOST_LINES} is the most.")
            return
        name, keys = cleaned["name"], set(self.study.items.values_list("key", flat=True))
        shared = {field: cleaned[field] for field in SHARED}
        position = after_last(self.study.items.values_list("position", flat=True))
        measures = set[str]()
        for number, line in enumerate(lines, start=1):
            own = bracketed_question(line)
            label = own.key.replace("_", " ").capitalize() if own and own.key else f"{name} {number}"
            key = key_from_name(label, keys, f"question_{number}")
            keys.add(key)
            try:
                if label in measures:
                    raise ValidationError({"measure": f"“{label}” names two questions."})
                values = _own_values(own) if own else _values_of_list(line, name if cleaned["scored"] else "")
                fields = {"key": key, "measure": label, "position": position + number - 1, **shared | values}
                item = SurveyItem(study=self.study, **fields)
                item.full_clean()
            except ValidationError as error:
                self._tell(number, error, shared if own is None else ("place",))
                if self.errors.keys() & shared.keys():
                    return  # every further line would have the same error
                continue
            measures.add(label)
            yield item

    def _tell(self, number: int, error: ValidationError, shared: Collection[str]) -> None:
        """Add the reasons why a line cannot be a question, at the field that all questions share (one of
        `shared`) or at the list."""
        for field, reasons in error.message_dict.items():
            words = " ".join(reasons)
            if field in shared:
                self.add_error(field, words)
            else:
                self.add_error("lines", f"Line {number}: {words}")


def _values_of_list(line: str, scale: str) -> dict[str, Any]:
    return {"text": _REVERSED.sub("", line), "reversed": bool(_REVERSED.search(line)), "scale": scale}


def _own_values(own: BracketedQuestion) -> dict[str, Any]:
    """Return the fields of a question with answers of its own. Raises ValidationError, with the fields that
    are wrong, if they are no answers of a question."""
    kind = KINDS.get(own.kind) if own.kind in IN_BRACKETS else None
    if kind is None:
        raise ValidationError({"kind": f"“{own.kind}” is none of {', '.join(IN_BRACKETS)}."})
    values: dict[str, Any] = {"text": own.text, "kind": own.kind, "table": "", "low": "", "high": ""}
    if "options" in kind.uses:
        return values | {"options": [*own.words]}
    if own.kind == "number":
        names = ("minimum", "maximum")
        return values | dict(zip(names, _numbers(own.words), strict=False))
    if own.kind != "text":
        if len(own.words) != 2:
            raise ValidationError({"low": f"Write both ends with | between them: [{own.kind}: low | high]."})
        values |= dict(zip(("low", "high"), own.words, strict=True))
    if own.kind == "slider":
        values |= {"minimum": 0, "maximum": 100}
    return values | {"points": own.points or USUAL_POINTS}


def _numbers(words: Sequence[str]) -> list[float]:
    try:
        return [float(word) for word in words[:2]]
    except ValueError:
        raise ValidationError({"minimum": "Write the limits as numbers: [number: 18 | 99]."}) from None


@transaction.atomic
def items_add(*, study_id: int, items: list[SurveyItem]) -> None:
    """Store the questions of a list. Raises DesignError if somebody added questions of the same names
    meanwhile."""
    study = Study.objects.select_for_update().get(pk=study_id)
    keys, measures = [one.key for one in items], [one.measure for one in items]
    if study.items.filter(models.Q(key__in=keys) | models.Q(measure__in=measures)).exists():
        raise DesignError("Nothing was added: the study's questions changed meanwhile. Try again.")
    for item in items:
        item.save()


def item_copy(item: SurveyItem, place: str = "") -> SurveyItem:
    """Copy a question under an unused key and name, and return the copy. The copy is placed last, at the same
    place of the study or at `place`."""
    others = SurveyItem.objects.filter(study=item.study_id)
    keys, measures = (set(others.values_list(name, flat=True)) for name in ("key", "measure"))
    made = SurveyItem(study_id=item.study_id, **item.plan.model_dump())
    made.key = unused_name(item.key, "_copy", LONGEST["key"], keys.__contains__)
    made.measure = unused_name(item.measure, " copy", LONGEST["measure"], measures.__contains__)
    made.enabled, made.place = item.enabled, place or item.place
    made.position = others.aggregate(last=models.Max("position"))["last"] + 1
    made.save()
    return made


def repeated_values(study: Study, pk: str) -> dict[str, Any]:
    """Return the values with which a new question begins after the question `pk`. The result is empty if the
    study has no such question."""
    row = study.items.filter(pk=pk).first() if pk.isdecimal() and len(pk) < 10 else None
    return {name: getattr(row, name) for name in (*REPEATED, *_ASKED)} if row else {}


_ASKED = ("required", "needs_teammates", "may_not_apply")
FIRST_FIELDS = ("place", "kind", "text", "measure")
"""The fields with which the form of a question begins."""
FOLDED_FIELDS = ("key", "scale", "reversed", "table", "correct", *_ASKED, "enabled")
"""The fields in the fold of the form of a question."""


def item_sections(form: SurveyItemForm) -> dict[str, Any]:
    """Return the fields of the question form for its page: those that the chosen kind needs, a fold, and
    those that mean nothing for this kind, which are hidden. A field with an error is never hidden."""
    kind = KINDS.get(str(form["kind"].value()))
    unused = (KIND_FIELDS - set(kind.uses) if kind else set()) - {*form.errors}
    open_fields = [name for name in form.fields if name not in {*FIRST_FIELDS, *FOLDED_FIELDS, *unused}]
    fresh = {name: getattr(SurveyItem(), name) for name in FOLDED_FIELDS}
    folded = [form[name] for name in FOLDED_FIELDS if name in form.fields and name not in unused]
    return {
        "first": [form[name] for name in (*FIRST_FIELDS, *open_fields)],
        "fold": make_fold("item", "More: name in the data, scoring, who is asked", folded, fresh),
        "unused": [form[name] for name in form.fields if name in unused],
    }
