"""Moving a row of a design up or down."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from study.design.models import Condition, Study, SurveyItem
from study.editor.services import row_move
from study.researchers.frame import asked


def moved(request: HttpRequest, study: Study, row: Condition | SurveyItem, act: str) -> HttpResponse:
    """A row was asked to go `up` or `down`."""
    by = -1 if act == "up" else 1
    return asked(request, study, lambda: row_move(row, by=by), f"{row} was moved {act}.")
