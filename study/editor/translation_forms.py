"""Define the forms for a study's languages, and for the translations of its texts."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from typing import Any

from django import forms
from django.conf import settings
from django.http import QueryDict

from kitchen.contract.world import text_hash
from study.design.blueprint import Blueprint
from study.design.text_checks import translation_errors
from study.design.translations import (
    ORIGINAL_LANGUAGE,
    Texts,
    describe_text_path,
    equal_options,
    texts_to_translate,
)

LONG = 80
"""The length in characters above which a text gets a box of several lines."""


class LanguagesForm(forms.Form):
    """A form for the language of the study's own texts, and for the other languages that it offers."""

    written = forms.ChoiceField(
        label="Language of your own texts",
        choices=settings.LANGUAGES,
        help_text="The language in which you write headings, consent, questions and labels. All other texts "
        "are shown in each participant's language.",
    )
    others = forms.MultipleChoiceField(
        label="Offered as well",
        choices=settings.LANGUAGES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Participants see the one of these languages that their browser asks for, and can change "
        "it.",
    )

    def languages(self) -> str:
        """Return the chosen language codes as `Study.languages` stores them."""
        return chosen_languages(self.cleaned_data)


def chosen_languages(cleaned: Mapping[str, Any]) -> str:
    """Return the codes of the chosen languages as `Study.languages` stores them, the written one first."""
    written = cleaned["written"] or ORIGINAL_LANGUAGE
    return " ".join([written, *(code for code in cleaned["others"] if code != written)])


class TextsForm(forms.Form):
    """A form to translate a study's texts. Each text has one field, below the original text. A text that
    occurs twice in the study has only one field."""

    def __init__(self, *args: Any, design: Blueprint, there: Texts, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.design, self.own = design, (own := texts_to_translate(design))
        first = {text: path for path, text in reversed(list(own.items()))}
        self.names = {text_field_name(text): text for text in own.values()}
        for name, text in self.names.items():
            self.fields[name] = _field(first[text], text, there.get(text, ""))

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. Raises ValidationError if the original of a translated text has changed
        meanwhile."""
        known = set(map(self.add_prefix, self.names))
        unknown = [
            name for name in self.data if name.startswith(self.add_prefix(PREFIX)) and name not in known
        ]
        if any(self.data[name].strip() for name in unknown):
            raise forms.ValidationError(CHANGED)
        cleaned = super().clean() or self.cleaned_data
        written = {path: cleaned.get(text_field_name(text), "") for path, text in self.own.items()}
        for name in dict.fromkeys(text_field_name(self.own[path]) for path in equal_options(written)):
            self.add_error(name, SAME_OPTION)
        for path, words in translation_errors(self.design, written):
            self.add_error(text_field_name(self.own[path]), words)
        return cleaned

    def column(self) -> str:
        """Return the original texts as one column of a spreadsheet."""
        written = StringIO()
        csv.writer(written, "excel-tab", lineterminator="\n").writerows(
            [text] for text in self.names.values()
        )
        return written.getvalue()

    def texts(self) -> dict[str, str]:
        """Return the submitted translations, by original text."""
        return {text: self.cleaned_data[name] for name, text in self.names.items()}


def with_column(sent: QueryDict, design: Blueprint) -> tuple[QueryDict, str]:
    """Return the submitted data with the pasted translations in their fields. If these cannot be used, return
    the data as they are, and the reason.

    One column is read in the order of the texts. Of several columns, the first has the original texts, and
    the last their translations. An empty cell changes nothing.
    """
    try:
        return _with_column(sent, design)
    except csv.Error:
        return sent, UNREADABLE


def _with_column(sent: QueryDict, design: Blueprint) -> tuple[QueryDict, str]:
    if not (pasted := sent.get(COLUMN, "").strip("\r\n")):
        return sent, ""
    rows = list(csv.reader(StringIO(pasted), "excel-tab"))
    names = list(dict.fromkeys(map(text_field_name, texts_to_translate(design).values())))
    if len(rows) != len(names):
        return sent, f"The column has {len(rows)} rows, but there are {len(names)} texts. Nothing is saved."
    if max(map(len, rows)) > 1:
        named = {_one_line(text): name for name, text in zip(names, _originals(design), strict=True)}
        firsts = [_one_line(row[0]) if row else "" for row in rows]
        if unknown := next((one for one in firsts if one not in named), None):
            return sent, f"The first column has “{unknown[:60]}”, which is no text of the study. {BOTH}"
        if len(set(firsts)) < len(names) or "" in firsts:
            return sent, f"The first column lacks texts, or has one twice. {BOTH}"
        names = [named[one] for one in firsts]
    filled = sent.copy()
    filled[COLUMN] = ""
    for name, row in zip(names, rows, strict=True):
        if row and row[-1].strip():
            filled[name] = row[-1]
    return filled, ""


def _originals(design: Blueprint) -> list[str]:
    return list(dict.fromkeys(texts_to_translate(design).values()))


def _one_line(text: str) -> str:
    """Return the text with single spaces, because spreadsheets and browsers change the ends of lines."""
    return " ".join(text.split())


UNREADABLE = (
    "The column cannot be read: a quotation mark is not closed, or a cell has an odd line end. Copy it "
    "from the spreadsheet again. Nothing is saved."
)
BOTH = "Copy the original texts and their translations together. Nothing is saved."
COLUMN = "column"
"""The name of the field for a pasted column of translations."""
PREFIX = "text-"
SAME_OPTION = (
    "Another option of this question has the same translation: participants could not tell them apart."
)
CHANGED = (
    "Texts of the study changed while you were writing. Their new wording is below: translate it "
    "again. Your other translations are still in the form: save them."
)


def text_field_name(text: str) -> str:
    """Return the name of the form field for this text. Equal texts have the same field, wherever they are
    used."""
    return PREFIX + text_hash(text)[:16]


def _field(path: str, text: str, initial: str) -> forms.CharField:
    rows = max(2, min(12, len(text) // LONG + 1 + text.count("\n")))
    widget = forms.Textarea(attrs={"rows": rows}) if len(text) > LONG or "\n" in text else forms.TextInput()
    return forms.CharField(
        label=describe_text_path(path), help_text=text, initial=initial, required=False, widget=widget
    )
