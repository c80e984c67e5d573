"""In which languages a study can be read, and its own texts in each of them, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from study.design.blueprint import blueprint_of
from study.design.languages import codes, named
from study.design.models import Study
from study.design.texts import own_texts
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
    """A field for each text of a study, with what it says in the study's own language above it."""

    def __init__(self, *args: Any, texts: Mapping[str, str], there: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.names = {f"text_{number}": path for number, path in enumerate(texts)}
        for name, path in self.names.items():
            self.fields[name] = _field(path, texts[path], there.get(path, ""))

    def texts(self) -> dict[str, str]:
        """What was filled in, by path."""
        return {path: text for name, path in self.names.items() if (text := self.cleaned_data[name])}


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
    form = TextsForm(request.POST or None, texts=own, there=study.texts.get(language, {}))
    if request.method == "POST" and form.is_valid():
        texts_save(study_id=study.pk, language=language, texts=form.texts())
        return done(request, study, f"Texts in {offered[language]}: saved.", "design-languages")
    heading = f"Texts in {offered[language]}"
    return form_page(
        request, study, form, heading=heading, template="study/editor/texts.html", language=language
    )
