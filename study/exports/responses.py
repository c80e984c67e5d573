"""Files of the export as answers to a browser or a program: streamed, whoever asks."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBase

from kitchen.machine.downloads import named, streamed
from kitchen.registry.names import UnknownNameError
from study.design.models import Study
from study.exports.chosen import Chosen
from study.exports.registry import get_document, get_table
from study.exports.writing import FORMATS, table_pieces, zip_pieces

ZIP = "zip"


def file_response(study: Study, name: str, chosen: Chosen) -> HttpResponseBase:
    """One file by its whole name: `steps.csv`, `steps.parquet`, `design.json`, `all.zip` (CSV), or
    `all_parquet.zip`. UnknownNameError if there is none of this name."""
    stem, _, form = name.rpartition(".")
    if form == ZIP:
        return _zip(study, name, stem, chosen)
    if form in FORMATS:
        pieces = table_pieces(get_table(stem), form, study, chosen)
        return streamed(pieces, FORMATS[form].content_type, f"{study.slug}_{name}")
    document = get_document(name)
    response = HttpResponse(document.text(study, chosen), content_type=document.content_type)
    return named(response, f"{study.slug}_{name}")


def _zip(study: Study, name: str, stem: str, chosen: Chosen) -> HttpResponseBase:
    forms = {"all": "csv", **{f"all_{form}": form for form in FORMATS}}
    if stem not in forms:
        raise UnknownNameError(f"{name}: no such file; there are {', '.join(f'{one}.zip' for one in forms)}")
    return streamed(
        zip_pieces(study, chosen, forms[stem]),
        "application/zip",
        f"{study.slug}{stem.removeprefix('all')}.zip",
    )
