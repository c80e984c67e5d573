"""Translate all texts of a study in one table, with a column for each of its other languages.

The table can be downloaded as a CSV file and uploaded again. A row of the file is a text. Its columns have
the codes of the languages, such as `en` and `es`. The text in the study's own language identifies the row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect

from kitchen.infra.file_downloads import as_attachment
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.study_errors import DesignError
from study.design.translations import describe_text_path, language_codes, language_names, texts_to_translate
from study.editor.design_services import texts_save
from study.editor.item_rows import EMPTY, without_apostrophe
from study.editor.translation_forms import TextsForm, text_field_name
from study.exports.csv_encoding import harmless
from study.researchers.form_and_button_pages import back_to_page, form_page
from study.researchers.permissions import FORM_METHODS, study_page

MOST_FIELDS = 900
"""The most fields on the page. Django refuses a form with more than 1000. A larger table is a file only."""
MOST_BYTES = 2 * 2**20
PLACE = "place"
"""The column that says where participants read a text. It is not read."""


class TextFileError(DesignError):
    """Raised if a file of translations cannot be used. `problems` has a sentence for each wrong row."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class TextFileForm(forms.Form):
    """A field for a CSV file of translations."""

    file: Any = forms.FileField(
        required=False,
        label="CSV file",
        help_text=f"Its cells replace what is in the table. An empty cell changes nothing, {EMPTY} removes a "
        "translation. If one row is wrong, nothing is saved.",
        widget=forms.ClearableFileInput({"accept": ".csv,.tsv,.txt", "data-most-bytes": MOST_BYTES}),
    )

    def clean_file(self) -> str:
        """Return the text of the file, empty without a file."""
        file = self.cleaned_data["file"]
        if not file:
            return ""
        if file.size > MOST_BYTES:
            raise forms.ValidationError(f"It has more than {MOST_BYTES // 2**20} MiB.")
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError("Save it as CSV with UTF-8: this is no UTF-8 text.") from None
        return text


@dataclass(frozen=True, slots=True)
class TextRow:
    """A text of the study, where participants read it, and the field of each language."""

    place: str
    text: str
    fields: list[Any]


class TextTable:
    """The forms of all other languages, and the form of a file, as one form."""

    def __init__(self, study: Study, data: QueryDict | None = None, files: Any = None) -> None:
        self.study, self.design = study, blueprint_of(study)
        self.languages = language_names(study.languages)[1:]
        self.own_texts = list(dict.fromkeys(texts_to_translate(self.design).values()))
        self.is_long = len(self.own_texts) * len(self.languages) > MOST_FIELDS
        self.file = TextFileForm(data, files)
        self.read_rows: dict[str, int] = {}
        sent = data if data is None else self._with_file(data)
        self.forms = {code: self._form(sent, code) for code, _ in self.languages}
        self.places = [str(field.label) for field in next(iter(self.forms.values())).fields.values()]
        for code, name in self.languages:
            self._describe_fields(self.forms[code], code, name)

    def _form(self, sent: QueryDict | None, code: str) -> TextsForm:
        return TextsForm(sent, prefix=code, design=self.design, there=self.study.texts.get(code, {}))

    @staticmethod
    def _describe_fields(form: TextsForm, code: str, name: str) -> None:
        """Name the language in the labels of its fields. The row shows the original text once."""
        for field in form.fields.values():
            field.label, field.help_text = f"{field.label}, {name}", ""
            field.language = name  # type: ignore[attr-defined]
            field.widget.attrs["lang"] = code

    def _with_file(self, data: QueryDict) -> QueryDict:
        """Return the submitted data with the cells of the file in their fields. A field that was not
        submitted keeps what is stored."""
        cells: dict[str, tuple[int, str]] = {}
        if self.file.is_valid() and (text := self.file.cleaned_data["file"]):
            try:
                cells = read_text_csv(self.study, text, self.own_texts)
            except TextFileError as error:
                for problem in error.problems:
                    self.file.add_error("file", problem)
        filled = data.copy()
        for code, _ in self.languages:
            stored = self.study.texts.get(code, {})
            for text in self.own_texts:
                filled.setdefault(f"{code}-{text_field_name(text)}", stored.get(text, ""))
        for name, (number, cell) in cells.items():
            filled[name] = cell
            self.read_rows[name] = number
        return filled

    def is_valid(self) -> bool:
        """Return whether all translations and the file can be used. An error of a cell from the file names
        its row."""
        valid = [form.is_valid() for form in (self.file, *self.forms.values())]
        for form in self.forms.values():
            for name, reasons in form.errors.items():
                if number := self.read_rows.get(form.add_prefix(name)):
                    words = [f"Row {number} of the file: {reason}" for reason in reasons]
                    form.errors[name] = form.error_class(words)
        return all(valid)

    @property
    def errors(self) -> bool:
        """Return whether anything is wrong."""
        return any(form.errors for form in (self.file, *self.forms.values()))

    def non_field_errors(self) -> list[str]:
        """Return the errors of no single field, each once."""
        reasons = (str(why) for form in self.forms.values() for why in form.non_field_errors())
        return list(dict.fromkeys(reasons))

    def __iter__(self) -> Iterator[Any]:
        yield from self.file
        for form in self.forms.values():
            yield from form

    def rows(self) -> Iterator[TextRow]:
        """Yield the rows of the table, without any if they are too many for a page."""
        if not self.is_long:
            for place, text, *fields in zip(self.places, self.own_texts, *self.forms.values(), strict=True):
                yield TextRow(place, text, fields)

    @transaction.atomic
    def save(self) -> None:
        """Store the translations of all languages."""
        for code, form in self.forms.items():
            texts_save(study_id=self.study.pk, language=code, texts=form.texts())


def text_csv(study: Study) -> str:
    """Return the study's texts as CSV: where each is read, the text, and its translations."""
    own, *others = language_codes(study.languages)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([PLACE, own, *others])
    places = {text: path for path, text in reversed(texts_to_translate(blueprint_of(study)).items())}
    for text, path in reversed(places.items()):
        told = [study.texts.get(code, {}).get(text, "") for code in others]
        writer.writerow(map(harmless, [describe_text_path(path), text, *told]))
    return out.getvalue()


def read_text_csv(study: Study, text: str, own_texts: list[str]) -> dict[str, tuple[int, str]]:
    """Return the row number and the translation for each form field that the file has a cell for. Raises
    TextFileError with every wrong row."""
    own, *others = language_codes(study.languages)
    known = {_plain_words(one): one for one in own_texts}
    cells: dict[str, tuple[int, str]] = {}
    problems: list[str] = []
    for number, row in _filled_rows(text, own, others):
        original = known.get(_plain_words(row.get(own, "")))
        names = {code: f"{code}-{text_field_name(original or '')}" for code in others if row.get(code)}
        if None in row:
            problems.append(f"Row {number} has too many cells.")
        elif original is None:
            problems.append(f"Row {number}: the study has no text “{row.get(own, '')[:60]}”.")
        elif any(name in cells for name in names.values()):
            problems.append(f"Row {number}: this text is in the file twice.")
        else:
            cells |= {name: (number, "" if row[code] == EMPTY else row[code]) for code, name in names.items()}
    if problems:
        raise TextFileError(*problems)
    return cells


def _filled_rows(text: str, own: str, others: list[str]) -> Iterator[tuple[int, dict[str | None, str]]]:
    """Yield the number of each row with words, and its cells by column. Cells without a column are under
    None. Raises TextFileError if the text is no table of these languages."""
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max("\t;,", key=first.count))
    try:
        heading, *lines = [[without_apostrophe(cell.strip()) for cell in row] for row in reader] or [[]]
    except csv.Error as error:
        raise TextFileError(f"This is not CSV: {error}.") from error
    if wrong := [name for name in heading if name not in (PLACE, own, *others)]:
        raise TextFileError(f"The study has no language “{wrong[0]}”. The first row names the languages.")
    if own not in heading or len({*heading}) < len(heading):
        raise TextFileError(f"The first row must name each language once, and one of them must be {own}.")
    for number, line in enumerate(lines, start=2):
        if any(line):
            beyond = [None] if len(line) > len(heading) else []
            yield number, dict(zip([*heading, *beyond], line, strict=False))


def _plain_words(text: str) -> str:
    """Return the text with single spaces: spreadsheets change the ends of lines."""
    return " ".join(text.split())


@study_page("edit", FORM_METHODS)
def text_table(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the table of all texts in all languages of the study, or save it."""
    if len(language_codes(study.languages)) == 1:
        return redirect("study:staff-design-languages", study.slug)
    is_sent = request.method == "POST"
    table = TextTable(study, request.POST, request.FILES) if is_sent else TextTable(study)
    if is_sent and table.is_valid():
        table.save()
        return back_to_page(request, study, "Texts in all languages: saved.")
    return form_page(
        request,
        study,
        table,
        heading="Texts in all languages",
        template="study/editor/text_table.html",
        upload=True,
        own=language_names(study.languages)[0],
    )


@study_page("edit")
def text_file(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Send the study's texts and their translations as a CSV file."""
    answer = HttpResponse(text_csv(study), content_type="text/csv; charset=utf-8")
    return as_attachment(answer, f"{study.slug}_texts.csv")
