"""Settings of a world that are drawn (`kitchen.contract.canvas`), in a form of the console.

What is stored is the text, as ever: for the field `name` of such a setting a form sends `name__rows`, each
`name__line_…`, and `name__kept`, the text that was drawn from, which stays as it is where the drawing says
the same. A text that cannot be drawn is written as before, and so is what comes as `name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from kitchen.contract.canvas import REFUSED, Begun, Canvas, Sheet
from kitchen.contract.data_files import DataError
from kitchen.contract.world import Json, Setting
from kitchen.registry.worlds import get_canvas
from study.design.models import Study
from study.design.offered import ChoosableKind, world_kinds
from study.editor.model_forms import SHOW

BEGIN, READ, TOLD = "begin ", "read ", "told "
"""Values of the button that shows the form again, with the name of a field: drawn on from what its select
says, or from a file; or only what there is to say of it."""


class Drawn(NamedTuple):
    """A setting that is drawn, and the name of its field."""

    kind: ChoosableKind
    name: str
    setting: Setting
    canvas: Canvas


def drawn_settings() -> Iterator[Drawn]:
    """Those of every world."""
    for kind in world_kinds():
        for name, setting in kind.named_settings():
            if canvas := get_canvas(kind.name, setting.name):
                yield Drawn(kind, name, setting, canvas)


def draw_on(form: Any, study: Study) -> None:
    """The fields of a form that can be drawn become drawings."""
    for one in drawn_settings():
        if one.name in form.fields:
            widget = DrawnText(
                one.canvas,
                partial(begun, one, study, form.data),
                partial(_beside, form, one.kind),
                partial(last_drawn, one, form.data),
            )
            form.fields[one.name].widget = widget


def drawn_words(form: Any, why: str) -> list[str]:
    """What the rules say of a form's settings; of a drawing all that keeps it from being played, instead."""
    for one in drawn_settings():
        if one.name in form.fields and f"{one.setting.name}: " in why:
            found = form.fields[one.name].widget.refusals(form.cleaned_data.get(one.name) or "")
            return [f"{one.setting.label}: {words}" for words in found] or [why]
    return [why]


def _beside(form: Any, kind: ChoosableKind) -> dict[str, Json]:
    """What is chosen beside it."""
    chosen = ((name, setting) for name, setting in kind.named_settings() if setting.kind == "choice")
    return {setting.name: form[name].value() for name, setting in chosen}


def last_drawn(drawn: Drawn, sent: Mapping[str, Any]) -> str:
    """The text of the drawing that was on the page, whatever is to be put in its place; empty if there was
    none."""
    rows = {name: value for name, value in sent.items() if name != drawn.name}
    return sent_text(drawn.canvas, rows, drawn.name) or ""


def begun(drawn: Drawn, study: Study, sent: Mapping[str, Any]) -> dict[str, Begun]:
    """What can be drawn on from: what was drawn before one began anew, what was drawn for the study's
    conditions, and what the world has."""
    before = sent.get(f"{drawn.name}__before", "")
    own = {
        f"condition-{row.pk}": Begun(f"As drawn for “{row.name}”", row.settings[drawn.setting.name])
        for row in (study.conditions.all() if study.pk else ())
        if row.world == drawn.kind.name and row.settings.get(drawn.setting.name)
    }
    return {
        **({"before": Begun("What was drawn before", before)} if before else {}),
        **drawn.canvas.begun(),
        **own,
    }


def with_begun(sent: QueryDict, study: Study) -> QueryDict:
    """What was sent; where something is to be drawn on from, with its text, and set so that it counts. What
    was drawn till then can be gone back to. A file that was given and not drawn yet is, when it is saved."""
    asked = sent.get(SHOW, "")
    for one in drawn_settings() if asked.startswith((BEGIN, READ)) or not asked else ():
        if text := _begun_text(one, study, sent, asked):
            setting, value = one.canvas.belongs
            fields = {setting.name: name for name, setting in one.kind.named_settings()}
            before = sent_text(one.canvas, sent, one.name) or ""
            sent = sent.copy()
            sent[one.name], sent[fields[setting]], sent[f"{one.name}__before"] = text, value, before
    return sent


def _begun_text(drawn: Drawn, study: Study, sent: QueryDict, asked: str) -> str:
    """Empty if it is not this that is begun, or from nothing that there is."""
    if asked in ("", READ + drawn.name):
        return sent.get(f"{drawn.name}__given", "").replace("\r\n", "\n").strip()
    chosen = begun(drawn, study, sent).get(sent.get(f"{drawn.name}__begin", ""))
    return chosen.text if chosen and asked == BEGIN + drawn.name else ""


def sent_text(canvas: Canvas, data: Mapping[str, Any], name: str) -> str | None:
    """The text of what was drawn; what was kept, where that is drawn the same. None if neither this nor the
    text itself was sent."""
    if data.get(name) or f"{name}__rows" not in data:
        return data.get(name)
    kept: str = data.get(f"{name}__kept", "").replace("\r\n", "\n")
    lines = {line.name: data.get(f"{name}__line_{line.name}", "").strip() for line in canvas.lines}
    rows = data[f"{name}__rows"].replace("\r\n", "\n").strip("\n")
    drawn = Sheet(tuple(rows.split("\n")) if rows else (), lines)
    return kept if drawn == sheet_of(canvas, kept)[0] else canvas.text(drawn)


def sheet_of(canvas: Canvas, text: str) -> tuple[Sheet | None, str]:
    """How a text is drawn, or why it cannot be."""
    try:
        return canvas.sheet(text), ""
    except DataError as error:
        return None, str(error).partition(": ")[2]


def told_page(request: HttpRequest, form: Any) -> HttpResponse | None:
    """What there is to say of a drawing, if the request asks for that."""
    asked = request.POST.get(SHOW, "")
    field = form.fields.get(asked.removeprefix(TOLD)) if asked.startswith(TOLD) else None
    if field is None or not isinstance(field.widget, DrawnText):
        return None
    bound = form[asked.removeprefix(TOLD)]
    context = {**field.widget.told(bound.value() or ""), "id": bound.auto_id, "again": True}
    return render(request, "study/editor/drawing_told.html", context)


class DrawnText(forms.Textarea):
    """A text as a drawing: a grid of letters, with lines of text beside it."""

    def __init__(
        self,
        canvas: Canvas,
        begun: Callable[[], Mapping[str, Begun]],
        beside: Callable[[], Mapping[str, Json]],
        last: Callable[[], str],
    ) -> None:
        super().__init__()
        self.canvas, self.begun, self.beside, self.last = canvas, begun, beside, last

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str | None:
        """As `sent_text` has it."""
        return sent_text(self.canvas, data, name)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        """Neither the text was sent nor a drawing."""
        return name not in data and f"{name}__rows" not in data

    def told(self, text: str) -> dict[str, Any]:
        """What there is to say of this text, and the text itself."""
        return {"remarks": self.canvas.told(text, self.beside()), "text": text}

    def refusals(self, text: str) -> list[str]:
        """Why it cannot be played, a sentence each."""
        return [remark.words for remark in self.canvas.told(text, self.beside()) if remark.kind == REFUSED]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The drawing. Of a text that cannot be drawn the one before it, and the text where it was given;
        where there was none, a box for the text."""
        text, given = value or "", ""
        sheet, why = sheet_of(self.canvas, text)
        if sheet is None and (before := sheet_of(self.canvas, self.last())[0]) and not before.is_empty:
            given, text, sheet = text, self.last(), before
        context = {
            **self.told(text),
            "name": name,
            "id": (attrs or {}).get("id", f"id_{name}"),
            "canvas": self.canvas,
            "sheet": sheet,
            "why": why,
            "given": given,
            "begun": (choices := self.begun()),
            "before": choices.get("before"),
            "begin": BEGIN,
            "read": READ,
            "asks": TOLD,
            "lines": [(line, sheet.lines.get(line.name, "")) for line in self.canvas.lines] if sheet else [],
            "rows": "\n".join(sheet.rows) if sheet else "",
        }
        return mark_safe(render_to_string("study/editor/drawing.html", context))  # noqa: S308 - a template
