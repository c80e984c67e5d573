"""Define the forms for a study's languages, and for the translations of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings

from kitchen.contract.world import text_hash
from study.design.translations import ORIGINAL_LANGUAGE, Texts, describe_text_path, equal_options

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

    def __init__(self, *args: Any, own: Texts, there: Texts, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.own = own
        first = {text: path for path, text in reversed(list(own.items()))}
        self.names = {_name(text): text for text in own.values()}
        for name, text in self.names.items():
            self.fields[name] = _field(first[text], text, there.get(text, ""))

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. Raises ValidationError if the original of a translated text has changed
        meanwhile."""
        unknown = [name for name in self.data if name.startswith(PREFIX) and name not in self.names]
        if any(self.data[name].strip() for name in unknown):
            raise forms.ValidationError(CHANGED)
        cleaned = super().clean() or self.cleaned_data
        written = {path: cleaned.get(_name(text), "") for path, text in self.own.items()}
        for name in dict.fromkeys(_name(self.own[path]) for path in equal_options(written)):
            self.add_error(name, SAME_OPTION)
        return cleaned

    def texts(self) -> dict[str, str]:
        """Return the submitted translations, by original text."""
        return {text: self.cleaned_data[name] for name, text in self.names.items()}


PREFIX = "text-"
SAME_OPTION = (
    "Another option of this question has the same translation: participants could not tell them apart."
)
CHANGED = (
    "Texts of the study changed while you were writing. Their new wording is below: translate it "
    "again. Your other translations are still in the form: save them."
)


def _name(text: str) -> str:
    """Return the name of the form field for this text. Equal texts have the same field, wherever they are
    used."""
    return PREFIX + text_hash(text)[:16]


def _field(path: str, text: str, initial: str) -> forms.CharField:
    rows = max(2, min(12, len(text) // LONG + 1 + text.count("\n")))
    widget = forms.Textarea(attrs={"rows": rows}) if len(text) > LONG or "\n" in text else forms.TextInput()
    return forms.CharField(
        label=describe_text_path(path), help_text=text, initial=initial, required=False, widget=widget
    )
