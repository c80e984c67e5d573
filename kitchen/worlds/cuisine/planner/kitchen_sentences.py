"""Read plain sentences about a kitchen, with the names of its ingredients, products and places.

`data/spoken_names.toml` holds names in three languages. English names also come from the brief (the
unchanging facts of the kitchen).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

from pydantic import TypeAdapter

from kitchen.agents.plain_sentences.sentence_clauses import Clause, read_clauses
from kitchen.agents.plain_sentences.sentence_words import CHINESE, ENGLISH, SentenceWords
from kitchen.contract.data_files import Record, read_toml
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.display_text import readable_name

KIND, TOOL = "*", "@"
"""First characters of the names of several products, such as `*Sushi` for all whose codes end so, and of a
kind of tool, such as `@pot`."""


class SpokenNames(Record):
    """The names in one language, by code. Names are separated by bars."""

    items: Mapping[str, str]
    kinds: Mapping[str, str]
    tools: Mapping[str, str]


@cache
def spoken_names() -> Mapping[str, SpokenNames]:
    """Read `data/spoken_names.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(Path(__file__).parents[1] / "data" / "spoken_names.toml")
    return source.read(TypeAdapter(Mapping[str, SpokenNames]), values)


def read_sentences(text: str, brief: Mapping[str, Json]) -> list[Clause]:
    """Return what the clauses of a person's message ask for."""
    names = brief.get("names", {})
    known = {key: brief[key] for key in ("base", "locations")} | {"recipes": list(brief["recipes"])}
    return read_clauses(_words(json.dumps(known | {"names": names})).read(text), waits=True)


@lru_cache(maxsize=16)
def _words(facts: str) -> SentenceWords:
    """Return the words for the kitchen with these facts, as JSON. Equal facts share one object."""
    brief = json.loads(facts)
    return SentenceWords({language: list(_names(language, brief)) for language in spoken_names()})


def _names(language: str, brief: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield (name, code) of all things. Names of this kitchen's things replace those of others. Names of
    single things replace equal names of several, and ingredients those of products."""
    own, codes = spoken_names()[language], [*brief["recipes"], *brief["base"]]
    for code, names in (*own.kinds.items(), *own.items.items()):
        value = KIND + code if code in own.kinds else code  # also what this kitchen does not have
        yield from ((name, value) for name in names.split("|"))
    kinds = list(dict.fromkeys(brief["locations"].values()))
    for kind in kinds:
        for name in own.tools.get(kind, kind).split("|"):
            yield name, TOOL + kind
            yield from _numbered(name, kind, brief["locations"])
    for code in codes:
        english = {brief["names"].get(code, readable_name(code)).lower().rstrip("."), code.lower()}
        extra = own.items.get(code, "").split("|")
        ours = extra if language != ENGLISH else [*extra, *english, *(f"{name}s" for name in english)]
        yield from ((name, code) for name in (ours if language != CHINESE else [*ours, *english]) if name)


def _numbered(name: str, kind: str, places: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the names of single places, such as `pot 1` for `pot0`."""
    same = [place for place, its in places.items() if its == kind]
    yield from ((f"{name} {number}", place) for number, place in enumerate(same, start=1))
