"""In which languages a study can be read, and its own texts in each of them, side by side."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from kitchen.contract.world import text_hash
from study.design.blueprint import blueprint_of
from study.design.languages import codes, named
from study.design.models import Study
from study.design.wording import Texts, own_texts
from study.editor.paths import path_words
from study.editor.saving import study_save, texts_save
from study.researchers.frame import done, form_page
from study.researchers.permissions import FORM, study_page

LONG = 80
"""Characters from which a text has a box of several lines."""


class LanguagesForm(forms.Form):
    """The language of the study's own texts, and those that it is offered in beside it."""

    written = forms.ChoiceField(
        label="Language of your own texts",
        choices=settings.LANGUAGES,
        help_text="In which you write: headings, consent, questions, labels. All else is said in the "
        "language of each participant.",
    )
    others = forms.MultipleChoiceField(
        label="Offered as well",
        choices=settings.LANGUAGES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Participants read what their browser asks for among all these, and can change it.",
    )

    def languages(self) -> str:
        """As `Study.languages` has them."""
        written = self.cleaned_data["written"]
        return " ".join([written, *(code for code in self.cleaned_data["others"] if code != written)])


@study_page("edit", FORM)
def languages(request: HttpRequest, study: Study) -> HttpResponse:
    """Which languages there are, and a way to the texts in each."""
    first, *others = codes(study.languages)
    form = LanguagesForm(request.POST or None, initial={"written": first, "others": others})
    if request.method == "POST" and form.is_valid():
        study.languages = form.languages()
        study_save(study=study, fields=["languages"])
        return done(request, study, "Languages: saved.", "design-languages")
    return form_page(
        request,
        study,
        form,
        heading="Languages",
        template="study/editor/languages.html",
        others=named(study.languages)[1:],
    )


class TextsForm(forms.Form):
    """A field for each text of a study, with what it says in the study's own language above it. What stands
    there twice is translated once."""

    def __init__(self, *args: Any, own: Texts, there: Texts, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first = {text: path for path, text in reversed(list(own.items()))}
        self.names = {_name(text): text for text in own.values()}
        for name, text in self.names.items():
            self.fields[name] = _field(first[text], text, there.get(text, ""))

    def clean(self) -> dict[str, Any]:
        """ValidationError where a text was translated that has another wording by now."""
        unknown = [name for name in self.data if name.startswith(PREFIX) and name not in self.names]
        if any(self.data[name].strip() for name in unknown):
            raise forms.ValidationError(CHANGED)
        return super().clean() or self.cleaned_data

    def texts(self) -> dict[str, str]:
        """What was filled in, by what is translated."""
        return {text: self.cleaned_data[name] for name, text in self.names.items()}


PREFIX = "text-"
CHANGED = (
    "Texts of the study were changed while you wrote. Their new wording stands below, to be translated anew. "
    "What you wrote for the others is there: save it."
)


def _name(text: str) -> str:
    """The name of the field for this text, wherever it stands."""
    return PREFIX + text_hash(text)[:16]


def _field(path: str, text: str, initial: str) -> forms.CharField:
    rows = max(2, min(12, len(text) // LONG + 1 + text.count("\n")))
    widget = forms.Textarea(attrs={"rows": rows}) if len(text) > LONG or "\n" in text else forms.TextInput()
    return forms.CharField(
        label=path_words(path), help_text=text, initial=initial, required=False, widget=widget
    )


@study_page("edit", FORM)
def texts(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """All texts of the study in one of its other languages."""
    offered = dict(named(study.languages)[1:])
    if language not in offered:
        raise Http404(language)
    own = own_texts(blueprint_of(study))
    form = TextsForm(request.POST or None, own=own, there=study.texts.get(language, {}))
    if request.method == "POST" and form.is_valid():
        texts_save(study_id=study.pk, language=language, texts=form.texts())
        return done(request, study, f"Texts in {offered[language]}: saved.", "design-languages")
    heading = f"Texts in {offered[language]}"
    return form_page(
        request, study, form, heading=heading, template="study/editor/texts.html", language=language
    )
