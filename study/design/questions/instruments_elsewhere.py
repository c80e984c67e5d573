"""Read the descriptions of questionnaires whose questions are not shipped, and search in the library.

Their terms do not allow shipping, or are not known. `study/data/instruments_elsewhere.toml` says what each
measures and where to read it. The module does not import Django.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from kitchen.contract.data_files import Record, Text, read_toml
from study.design.questions.questionnaires import Instrument

FILE = Path(__file__).parents[2] / "data" / "instruments_elsewhere.toml"


class DescribedInstrument(Record):
    """A questionnaire that is described with a link, without its questions."""

    title: Text
    form: Text
    """The number of questions and the form of the answers."""
    measures: Text
    source: Text
    terms: Text
    link: Annotated[str, Field(pattern=r"^https://\S+$")]


class _File(Record):
    instruments: list[DescribedInstrument]


@cache
def instruments_elsewhere() -> tuple[DescribedInstrument, ...]:
    """Return the described questionnaires, in the order of the file. Raises DataError for an invalid file."""
    source, values = read_toml(FILE)
    return tuple(source.read(TypeAdapter(_File), values).instruments)


def mentions(one: Instrument | DescribedInstrument, sought: str) -> bool:
    """Return whether every word of `sought` is in a questionnaire's title, source, scales or questions."""
    texts = [one.title, one.source]
    if isinstance(one, Instrument):
        texts += [text for item in one.items for text in (item.text, item.measure, item.scale)]
    else:
        texts.append(one.measures)
    known = " ".join(texts).casefold()
    return all(word in known for word in sought.casefold().split())
