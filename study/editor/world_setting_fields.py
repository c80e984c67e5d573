"""Define form fields for the settings of a world (game) or agent, and for layouts drawn on a grid.

The module also defines the fields for the practice episode. A drawn setting is stored as text
(`kitchen.contract.drawable_setting`). For a field `name`, the form sends the drawing as `name__rows` and
several `name__line_…`, and the stored text as `name__kept`. A text that cannot be shown as a drawing is sent
as `name`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from kitchen.contract.data_files import DataError
from kitchen.contract.declared_settings import Setting
from kitchen.contract.drawable_setting import REMARK_REFUSED, DrawableSetting, GridDrawing, StartingDrawing
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import setting_field
from kitchen.registry.world_registry import get_canvas, get_kit, known_worlds
from study.design.condition_choices import (
    COPLAYER,
    WORLD,
    ChoosableKind,
    kind_choices,
    world_kinds,
)
from study.design.condition_seats import NOBODY, teammates_needed
from study.design.form_labels import PART_SETTINGS
from study.design.models import Study
from study.design.parts_other_than_rounds import practice_played
from study.editor.condition_and_item_forms import SHOW_BUTTON, TEAM_SIZE
from study.editor.form_fields import APART

TEAMMATES = "teammates"

Usual = Callable[[ChoosableKind, Setting], Json]
"""Returns the default value of a setting of a kind."""


def with_default_settings(
    sent: QueryDict, kinds: Iterable[ChoosableKind], usual: Usual = lambda _, setting: setting.default
) -> QueryDict:
    """Return the submitted data `sent`, with default values added for settings that were not on the page.
    Only settings of the chosen world and co-player are added.

    The field `_shown` lists the worlds and co-players whose settings were on the page. `usual` returns the
    default of a setting.
    """
    filled, shown = sent.copy(), sent.getlist("_shown")
    for kind in kinds:
        if sent.get(kind.part) != kind.name or f"{kind.part}__{kind.name}" in shown:
            continue
        for name, setting in kind.named_settings():
            if name not in filled and usual(kind, setting) is not False:
                filled[name] = str(usual(kind, setting))
    return filled


def with_needed_teammates(sent: QueryDict) -> QueryDict:
    """Return the submitted data with the number of teammates that the world needs. It is set only if the form
    is reloaded to show a world that allows just one number. A number other than 0 that the user entered
    stays."""
    world = sent.get(WORLD, "")
    if SHOW_BUTTON not in sent or world not in known_worlds() or sent.get(TEAMMATES) not in {"", "0"}:
        return sent
    filled, needed = sent.copy(), teammates_needed(world, apart=bool(sent.get(APART)))
    if needed is not None:
        filled[TEAMMATES] = str(needed)
    return filled


def chosen_fields(
    form: Any, kinds: Iterable[ChoosableKind], chosen: Mapping[str, str], shown: Collection[str] = ()
) -> dict[str, Any]:
    """Return the template context of a form: its `plain` fields, and `groups` of setting fields. Each group
    is (world or co-player, its setting fields, whether it is chosen).

    Groups in `shown` stay on the page, so that typed values are not lost. Co-players that cannot play the
    chosen world are not offered.
    """
    if COPLAYER in form.fields:
        offered = kind_choices(COPLAYER, str(form[COPLAYER].value() or ""), chosen[WORLD])
        form.fields[COPLAYER].widget.choices = offered
    named = [(kind, [name for name, _ in kind.named_settings()]) for kind in kinds]
    own = {name for _, names in named for name in names}
    return {
        "plain": [field for field in form if field.name not in own],
        "groups": [
            (kind, [form[name] for name in names], kind.name == chosen[kind.part])
            for kind, names in named
            if names and (kind.name == chosen[kind.part] or f"{kind.part}__{kind.name}" in shown)
        ],
    }


BEGIN, READ, TOLD = "begin ", "read ", "told "
"""Values of the button that reloads the form, followed by the name of a field.

BEGIN starts from the drawing in the field's select. READ starts from a file. TOLD shows only the remarks
about the drawing.
"""


class DrawnSetting(NamedTuple):
    """A setting whose value is drawn on a grid, and the name of its form field."""

    kind: ChoosableKind
    name: str
    setting: Setting
    canvas: DrawableSetting


def drawn_settings() -> Iterator[DrawnSetting]:
    """Yield the settings of every world that are drawn on a grid."""
    for kind in world_kinds():
        for name, setting in kind.named_settings():
            if canvas := get_canvas(kind.name, setting.name):
                yield DrawnSetting(kind, name, setting, canvas)


def use_drawing_fields(form: Any, study: Study) -> None:
    """Let the form's fields for drawn settings show a grid (`DrawingWidget`)."""
    for one in drawn_settings():
        if one.name in form.fields:
            widget = DrawingWidget(
                one.canvas,
                partial(earlier_drawings, one, study, form.data),
                partial(_choice_values, form, one.kind),
                partial(last_drawn, one, form.data),
            )
            form.fields[one.name].widget = widget


def drawing_problems(form: Any, why: str) -> list[str]:
    """Return the messages to show for the error `why`. If the error is about a drawing, return all reasons
    why the drawing cannot be played. Otherwise return only `why`."""
    for one in drawn_settings():
        if one.name in form.fields and f"{one.setting.name}: " in why:
            found = form.fields[one.name].widget.refusals(form.cleaned_data.get(one.name) or "")
            return [f"{one.setting.label}: {words}" for words in found] or [why]
    return [why]


def _choice_values(form: Any, kind: ChoosableKind) -> dict[str, Json]:
    """Return the currently chosen values of those settings of `kind` that offer fixed choices."""
    chosen = ((name, setting) for name, setting in kind.named_settings() if setting.kind == "choice")
    return {setting.name: form[name].value() for name, setting in chosen}


def last_drawn(drawn: DrawnSetting, sent: Mapping[str, Any]) -> str:
    """Return the text of the drawing that was submitted. Return an empty string if there was none."""
    rows = {name: value for name, value in sent.items() if name != drawn.name}
    return sent_text(drawn.canvas, rows, drawn.name) or ""


def earlier_drawings(
    drawn: DrawnSetting, study: Study, sent: Mapping[str, Any]
) -> dict[str, StartingDrawing]:
    """Return the drawings that the researcher can start from, by name: the world's layouts, drawings in the
    study's conditions, and the drawing that was replaced last."""
    before = sent.get(f"{drawn.name}__before", "")
    own = {
        f"condition-{row.pk}": StartingDrawing(f"As drawn for “{row.name}”", row.settings[drawn.setting.name])
        for row in (study.conditions.all() if study.pk else ())
        if row.world == drawn.kind.name and row.settings.get(drawn.setting.name)
    }
    return {
        **({"before": StartingDrawing("Previous drawing", before)} if before else {}),
        **drawn.canvas.starting_drawings(),
        **own,
    }


def with_earlier_drawing(sent: QueryDict, study: Study) -> QueryDict:
    """Return the submitted data, changed so that the form starts from the drawing that the researcher chose
    or uploaded.

    The setting that makes the world use a drawing is set, too. The replaced drawing is kept, so that it can
    be restored. An uploaded file is also used if the form is saved directly.
    """
    asked = sent.get(SHOW_BUTTON, "")
    for one in drawn_settings() if asked.startswith((BEGIN, READ)) or not asked else ():
        if text := _begun_text(one, study, sent, asked):
            setting, value = one.canvas.belongs
            fields = {setting.name: name for name, setting in one.kind.named_settings()}
            before = sent_text(one.canvas, sent, one.name) or ""
            sent = sent.copy()
            sent[one.name], sent[fields[setting]], sent[f"{one.name}__before"] = text, value, before
    return sent


def _begun_text(drawn: DrawnSetting, study: Study, sent: QueryDict, asked: str) -> str:
    """Return the text of the drawing from which the researcher wants to start. `asked` is the button that was
    pressed.

    Return an empty string if the button belongs to another drawing, or if there is no text.
    """
    if asked in ("", READ + drawn.name):
        return sent.get(f"{drawn.name}__given", "").replace("\r\n", "\n").strip()
    chosen = earlier_drawings(drawn, study, sent).get(sent.get(f"{drawn.name}__begin", ""))
    return chosen.text if chosen and asked == BEGIN + drawn.name else ""


def sent_text(canvas: DrawableSetting, data: Mapping[str, Any], name: str) -> str | None:
    """Return the submitted drawing as text. Return None if neither a drawing nor a text was submitted.

    If the drawing is unchanged, return the text from which it was drawn.
    """
    if data.get(name) or f"{name}__rows" not in data:
        return data.get(name)
    kept: str = data.get(f"{name}__kept", "").replace("\r\n", "\n")
    lines = {line.name: data.get(f"{name}__line_{line.name}", "").strip() for line in canvas.lines}
    rows = data[f"{name}__rows"].replace("\r\n", "\n").strip("\n")
    drawn = GridDrawing(tuple(rows.split("\n")) if rows else (), lines)
    return kept if drawn == drawing_sheet(canvas, kept)[0] else canvas.text(drawn)


def drawing_sheet(canvas: DrawableSetting, text: str) -> tuple[GridDrawing | None, str]:
    """Return (drawing, ""), or (None, the reason why the text cannot be drawn)."""
    try:
        return canvas.sheet(text), ""
    except DataError as error:
        return None, str(error).partition(": ")[2]


def drawing_remarks_page(request: HttpRequest, form: Any) -> HttpResponse | None:
    """Return an HTML fragment with the remarks about a drawing. Return None if the request does not ask for
    these remarks."""
    asked = request.POST.get(SHOW_BUTTON, "")
    field = form.fields.get(asked.removeprefix(TOLD)) if asked.startswith(TOLD) else None
    if field is None or not isinstance(field.widget, DrawingWidget):
        return None
    bound = form[asked.removeprefix(TOLD)]
    context = {**field.widget.remarks_context(bound.value() or ""), "id": bound.auto_id, "again": True}
    return render(request, "study/editor/drawing_told.html", context)


class DrawingWidget(forms.Textarea):
    """A form widget that shows a text as a drawing: a grid of letters, with lines of text next to it."""

    def __init__(
        self,
        canvas: DrawableSetting,
        begun: Callable[[], Mapping[str, StartingDrawing]],
        beside: Callable[[], Mapping[str, Json]],
        last: Callable[[], str],
    ) -> None:
        super().__init__()
        self.canvas, self.begun, self.beside, self.last = canvas, begun, beside, last

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str | None:
        """Return the submitted text (see `sent_text`). Return None if none was submitted."""
        return sent_text(self.canvas, data, name)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        """Return True if the form sent no text and no drawing."""
        return name not in data and f"{name}__rows" not in data

    def remarks_context(self, text: str) -> dict[str, Any]:
        """Return the template context with the text of a drawing and the remarks about it."""
        return {"remarks": self.canvas.remarks(text, self.beside()), "text": text}

    def refusals(self, text: str) -> list[str]:
        """Return why the drawing cannot be played, one sentence per reason."""
        return [
            remark.words
            for remark in self.canvas.remarks(text, self.beside())
            if remark.kind == REMARK_REFUSED
        ]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Return the HTML of the drawing.

        If the text cannot be drawn, the previous drawing and the text are shown. Without a previous
        drawing, a text area is shown.
        """
        text, given = value or "", ""
        sheet, why = drawing_sheet(self.canvas, text)
        if sheet is None and (before := drawing_sheet(self.canvas, self.last())[0]) and not before.is_empty:
            given, text, sheet = text, self.last(), before
        context = {
            **self.remarks_context(text),
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


UNTIL_DONE = (
    "If off, practice ends when the participant has reached its goal once. A participant who "
    "has not reached it after all steps may practise again."
)


OWN_SEAT = (
    "For worlds whose players differ, such as chef and assistant. It needs as many teammates as in that "
    "condition. If off, everybody practises as the first player."
)


LEADS = (
    "For studies in which participants lead. In practice they have a player of their own, too, and give jobs "
    "to the teammates. Choose a co-player that does jobs, such as Follower."
)
TALKS = (
    "For studies in which participants write messages. Choose a co-player that reads them. It has no effect "
    "in worlds whose practice has messages anyway."
)


PLAYS_FIRST = (
    "Practice follows the consent at once and leads through the first game in three parts. The guide is no "
    "page of its own: participants open it with a button. Best with hints. If off, participants read the "
    "guide, then practise."
)


def practice_fields() -> dict[str, forms.Field]:
    """Return the form fields for the practice episode, by name.

    Settings of a world have the same field names as in a condition's form.
    """
    return {
        "hints": forms.BooleanField(label=PART_SETTINGS["hints"], required=False),
        "all_steps": forms.BooleanField(
            label=PART_SETTINGS["all_steps"], required=False, help_text=UNTIL_DONE
        ),
        "own_seat": forms.BooleanField(label=PART_SETTINGS["own_seat"], required=False, help_text=OWN_SEAT),
        "leads": forms.BooleanField(label=PART_SETTINGS["leads"], required=False, help_text=LEADS),
        "talks": forms.BooleanField(label=PART_SETTINGS["talks"], required=False, help_text=TALKS),
        "plays_first": forms.BooleanField(
            label=PART_SETTINGS["plays_first"], required=False, help_text=PLAYS_FIRST
        ),
        WORLD: forms.ChoiceField(label="World", choices=kind_choices(WORLD)),
        **{name: setting_field(setting) for kind in world_kinds() for name, setting in kind.named_settings()},
        COPLAYER: forms.ChoiceField(label="Co-player", choices=kind_choices(COPLAYER)),
        "teammates": forms.IntegerField(
            label="Teammates", min_value=0, max_value=63, initial=0, help_text=TEAM_SIZE
        ),
    }


def practice_default(kind: ChoosableKind, setting: Setting) -> Json:
    """Return the value that a setting of this world has in practice by default."""
    return get_kit(kind.name).practice.settings.get(setting.name, setting.default)


def practice_fields_of(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return the initial values of the practice form's fields, from the stored settings of the practice
    part."""
    played = practice_played(settings["kitchen"])
    values = {
        name: played["settings"].get(setting.name, setting.default)
        if kind.name == played["world"]
        else practice_default(kind, setting)
        for kind in world_kinds()
        for name, setting in kind.named_settings()
    }
    return {**settings, **played, **values}


PRACTICE_SWITCHES = ("all_steps", "own_seat", "leads", "talks", "plays_first")
"""Settings of practice that a design has only where they are on."""


def practice_settings(given: Mapping[str, Json], stored: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of the practice part, from the submitted values in `given`.

    Settings without a form field keep their value in `stored`.
    """
    played = practice_played(stored.get("kitchen", {}))
    if played["world"] != given[WORLD]:
        played = practice_played({"world": given[WORLD]})
    (world,) = (kind for kind in world_kinds() if kind.name == given[WORLD])
    own = {setting.name: given[name] for name, setting in world.named_settings()}
    same = played["coplayer"] == given["coplayer"]
    kitchen = {
        **played,
        "settings": {**played["settings"], **own},
        "coplayer": given["coplayer"],
        "coplayer_settings": played["coplayer_settings"] if same else {},
        "teammates": given["teammates"] if given["coplayer"] != NOBODY else 0,
    }
    switches = {name: True for name in PRACTICE_SWITCHES if given[name]}
    return {"hints": given["hints"], **switches, "kitchen": kitchen}
