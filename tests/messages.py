"""Gather the texts that participants read, and compile their translations: `make messages`.

The app has a catalogue for each language, and so has every world with a folder `locale`. Texts come from
Python (`gettext`, `gettext_noop`), Django's templates (`{% translate %}`), Jinja2 (`{% trans %}`) and the
data files of worlds. Translators edit `locale/<language>/LC_MESSAGES/django.po`. The app reads `django.mo`
beside it. This module compiles it, so that no further tool is needed.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from kitchen.worlds.cuisine.display_text import place_catalogue_key

ROOT = Path(__file__).parent.parent
WORLDS = ROOT / "kitchen" / "worlds"
HOMES = (ROOT, *sorted(folder.parent for folder in WORLDS.glob("*/locale")))
"""The folders with catalogues: the app's own, and those of worlds."""
SPOKEN = {"es": "es", "zh-hans": "zh_Hans"}
"""The languages with a catalogue: the folder of each, by code."""
WORDS = {
    "gettext": 1,
    "gettext_noop": 1,
    "gettext_lazy": 1,
    "ngettext": 2,
    "ngettext_noop": 2,
    "pgettext": 2,
    "npgettext": 3,
}
"""Functions whose texts are translated, with the names of their text arguments."""
SAID_IN_TEMPLATES = re.compile(r"\b(n?p?gettext|_)\(((?:\s*u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"),?)+)")
CREATED = datetime(2026, 1, 1, tzinfo=UTC)
"""The creation date in the files. It is constant, so that equal files stay equal."""


class Message(NamedTuple):
    """A text to translate, with the place where it occurs first."""

    context: str | None
    singular: str
    plural: str | None
    place: str

    @property
    def key(self) -> tuple[str | None, str]:
        """Return the key of the message in a catalogue."""
        return self.context, self.singular


def gathered(home: Path | None = None) -> list[Message]:
    """Return every message once, by its location: of all catalogues, or of one."""
    found: dict[tuple[str | None, str], Message] = {}
    for path in _files():
        for message in _messages_of(path) if home in (None, home_of(path)) else ():
            found.setdefault(message.key, message)
    return list(found.values())


@cache
def _messages_of(path: Path) -> tuple[Message, ...]:
    """Return all messages in a file. Each file is read once."""
    return tuple(READERS[path.suffix](path))


def home_of(path: Path) -> Path:
    """Return the folder whose catalogue has the messages of a file."""
    return next((home for home in HOMES[1:] if path.is_relative_to(home)), ROOT)


def _files() -> Iterator[Path]:
    for folder in ("brigade", "kitchen", "study", "templates"):
        yield from sorted(
            path for path in (ROOT / folder).rglob("*") if path.suffix in READERS and path.is_file()
        )


def _of_python(path: Path) -> Iterator[Message]:
    text = path.read_bytes()
    if b"gettext" in text:
        yield from _read(path, extract_python(io.BytesIO(text), dict.fromkeys(WORDS), (), {}))


def _of_jinja(path: Path) -> Iterator[Message]:
    options = {"trimmed": "true", "silent": "false", "trim_blocks": "true", "lstrip_blocks": "true"}
    yield from _read(path, babel_extract(io.BytesIO(path.read_bytes()), tuple(WORDS), (), options))


def _read(path: Path, called: Iterable[tuple[int, Any, Any, Any]]) -> Iterator[Message]:
    for _, function, said, _ in called:
        words = [word for word in ([said] if isinstance(said, str) else said or ()) if word is not None]
        if len(words) >= WORDS.get(function, 99):  # less where what is looked up is no constant
            yield _message(function, words, path)


def _of_django(path: Path) -> Iterator[Message]:
    from django.utils.translation.template import templatize

    for function, said in SAID_IN_TEMPLATES.findall(templatize(path.read_text())):
        words = ast.literal_eval(f"[{said.rstrip(',')}]")
        yield _message("gettext" if function == "_" else function, words, path)


def _message(function: str, words: list[str], path: Path) -> Message:
    words = list(words)
    context = words.pop(0) if function in ("pgettext", "npgettext") else None
    plural = words[1] if function in ("ngettext", "npgettext", "ngettext_noop") else None
    return Message(context, words[0], plural, str(path.relative_to(ROOT)))


def _of_data(path: Path) -> Iterator[Message]:
    """Return the names of things and the sentences in a world's data files."""
    if path.parent.name == "data" and "worlds" in path.parts:
        for name in _names(tomllib.loads(path.read_text()), all_of=path.stem in ("ingredients", "sentences")):
            yield Message(None, name, None, str(path.relative_to(ROOT)))
            if path.stem == "tools":
                for several in (False, True):
                    yield Message(
                        "within a sentence",
                        place_catalogue_key(name, several=several),
                        None,
                        str(path.relative_to(ROOT)),
                    )


def _names(table: Mapping[str, Any], *, all_of: bool) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _names(value, all_of=all_of)
        elif isinstance(value, str) and (all_of or key == "name"):
            yield value


READERS: Mapping[str, Callable[[Path], Iterator[Message]]] = {
    ".py": _of_python,
    ".html": _of_django,
    ".jinja": _of_jinja,
    ".toml": _of_data,
}


def catalogue_of(language: str, home: Path) -> Path:
    """Return the path of the catalogue that a translator edits."""
    return home / "locale" / SPOKEN[language] / "LC_MESSAGES" / "django.po"


def translations(language: str, home: Path) -> Catalog:
    """Return the translations in the file; empty if there is no file yet."""
    path = catalogue_of(language, home)
    return read_po(io.BytesIO(path.read_bytes()), locale=SPOKEN[language]) if path.exists() else Catalog()


def renewed(known: Catalog, language: str, messages: Iterable[Message]) -> Catalog:
    """Return the catalogue with exactly these messages, and with their existing translations."""
    made = Catalog(
        locale=SPOKEN[language], project="Brigade", charset="utf-8", fuzzy=False, header_comment=""
    )
    made.creation_date = made.revision_date = CREATED
    for message in messages:
        there = known.get(message.singular, message.context)
        said = (
            there.string
            if there and not there.fuzzy and bool(there.pluralizable) == bool(message.plural)
            else ""
        )
        words = (message.singular, message.plural) if message.plural else message.singular
        made.add(
            words,
            said or (("",) * made.num_plurals if message.plural else ""),
            context=message.context,
            locations=[(message.place, 0)],
        )
    return made


def written(catalogue: Catalog) -> bytes:
    """Return the catalogue as text."""
    file = io.BytesIO()
    write_po(file, catalogue, width=110, include_lineno=False)
    return file.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """Return the catalogue in the binary form that the app reads."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def main() -> int:
    """Write the catalogues of each language, for the app and each world, and print what is not translated
    yet."""
    left = 0
    for language, home in product(SPOKEN, HOMES):
        messages, path = gathered(home), catalogue_of(language, home)
        catalogue = renewed(translations(language, home), language, messages)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written(catalogue))
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        missing = [message.id for message in catalogue if message.id and not _is_said(message.string)]
        print(f"{path.relative_to(ROOT)}: {len(messages)} sentences, {len(missing)} not translated yet")
        left += len(missing)
    return 1 if left else 0


def _is_said(said: Any) -> bool:
    return all(said) if isinstance(said, tuple) else bool(said)


if __name__ == "__main__":
    sys.exit(main())
