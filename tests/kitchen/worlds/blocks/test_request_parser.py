"""The builder without a model reads what people write in three languages, as files of sentences say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kitchen.worlds.blocks.builder_words import AXES
from kitchen.worlds.blocks.parsed_requests import ParsedRequest
from kitchen.worlds.blocks.request_parser import parse_requests

SENTENCES = Path(__file__).with_name("planner_sentences")
LEAST_SENTENCES = 60


def written(requests: Sequence[ParsedRequest]) -> str:
    """Requests as the files write them."""
    return "; ".join(" ".join(_words_of(one)) for one in requests) or "nothing"


def _words_of(request: ParsedRequest) -> Iterator[str]:
    yield request.do
    if request.thing:
        yield request.thing
    if request.amount:
        yield f"x{request.amount}"
    for name, numbers in (
        ("by", request.players),
        ("to", request.to),
        *zip(AXES, request.places, strict=True),
    ):
        if numbers:
            yield f"{name} {','.join(str(number + 1) for number in numbers)}"
    yield from _exceptions_of(request)
    if request.every_level:
        yield "every level"
    if request.shape:
        yield request.shape
    yield from (name for name in ("corrects", "adds") if getattr(request, name))
    if request.undoes:
        yield f"what was {request.undoes}"


def _exceptions_of(request: ParsedRequest) -> Iterator[str]:
    for place in request.without:
        yield "except"
        named = ((axis, numbers) for axis, numbers in zip(AXES, place, strict=True) if numbers)
        yield from (f"{axis} {','.join(str(number + 1) for number in numbers)}" for axis, numbers in named)
    for item, amount in request.keeps:
        yield f"keeping {item}" + (f" x{amount}" if amount else "")


@pytest.mark.parametrize("language", ["en", "es", "zh"])
def test_it_reads_every_sentence_as_the_file_says(language: str) -> None:
    lines = (SENTENCES / f"{language}.txt").read_text().splitlines()
    expected = dict(line.rsplit(" => ", 1) for line in lines if not line.startswith("#"))
    read = {text: written(list(parse_requests(text, ["lime_dye"]))) for text in expected}
    assert read == expected
    assert len(expected) >= LEAST_SENTENCES
