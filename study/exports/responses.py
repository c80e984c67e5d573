"""Files of the export as answers to a browser or a program: streamed, whoever asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from kitchen.registry.names import UnknownNameError
from study.design.models import Study
from study.exports.chosen import Chosen
from study.exports.registry import get_document, get_table
from study.exports.writing import FORMATS, zip_pieces

ZIP = "zip"


def file_response(study: Study, name: str, chosen: Chosen) -> HttpResponseBase:
    """One file by its whole name: `steps.csv`, `steps.parquet`, `design.json`, `all.zip` (CSV), or
    `all_parquet.zip`. UnknownNameError if there is none of this name."""
    stem, _, form = name.rpartition(".")
    if form == ZIP:
        return _zip(study, name, stem, chosen)
    if form in FORMATS:
        pieces = FORMATS[form].pieces(get_table(stem), study, chosen, None)
        return _streamed(pieces, FORMATS[form].content_type, f"{study.slug}_{name}")
    document = get_document(name)
    response = HttpResponse(document.text(study, chosen), content_type=document.content_type)
    return _named(response, f"{study.slug}_{name}")


def _zip(study: Study, name: str, stem: str, chosen: Chosen) -> HttpResponseBase:
    forms = {"all": "csv", **{f"all_{form}": form for form in FORMATS}}
    if stem not in forms:
        raise UnknownNameError(f"{name}: no such file; there are {', '.join(f'{one}.zip' for one in forms)}")
    return _streamed(
        zip_pieces(study, chosen, forms[stem]),
        "application/zip",
        f"{study.slug}{stem.removeprefix('all')}.zip",
    )


def _streamed(pieces: Iterator[bytes], content_type: str, name: str) -> HttpResponseBase:
    return _named(StreamingHttpResponse(_in_pieces(pieces), content_type=content_type), name)


def _named(response: HttpResponseBase, name: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def _in_pieces(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces one by one, each made in the thread of the database when it is asked for."""
    next_piece = sync_to_async(lambda: next(pieces, None))
    while (piece := await next_piece()) is not None:
        if piece:
            yield piece
