"""Write TOML: the values of a study file as text that `tomllib` reads back unchanged.

Texts with several lines become multi-line strings, so that a person can read and edit them. TOML has no null:
entries of tables that are None are left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from kitchen.contract.world import Json

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Characters that a multi-line string cannot have as they are."""
Values = Mapping[str, Json]


def toml_text(values: Values) -> str:
    """Return the values as TOML. Lists of tables become `[[name]]`, tables `[name]`, and tables within them
    inline tables. Raises ValueError for a value that TOML cannot store."""
    plain = {name: value for name, value in values.items() if not _is_section(value)}
    lines = list(_pairs(plain))
    for name, value in values.items():
        if name not in plain:
            lines += _section(name, value)
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_section(value: Json) -> bool:
    rows = value if isinstance(value, list) and value else [value]
    return all(isinstance(one, Mapping) for one in rows)


def _section(name: str, value: Json) -> Iterator[str]:
    if isinstance(value, list):
        for row in value:
            yield f"\n[[{_key(name)}]]"
            yield from _pairs(row)
        return
    tables = {key: one for key, one in value.items() if isinstance(one, Mapping)}
    if len(tables) < len(value) or not value:
        yield f"\n[{_key(name)}]"
        yield from _pairs({key: one for key, one in value.items() if key not in tables})
    for key, one in tables.items():
        yield f"\n[{_key(name)}.{_key(key)}]"
        yield from _pairs(one)


def _pairs(values: Values) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            yield f"{_key(name)} = {_value(value, top=True)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _value(value: Json, *, top: bool = False) -> str:
    """Return one value as TOML. `top` is True outside of lists and inline tables, where a string may have
    several lines."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number of JSON")
        return repr(value)
    if isinstance(value, str):
        return _lines(value) if top and "\n" in value and not _UNPRINTED.search(value) else _quoted(value)
    if isinstance(value, Mapping):
        inner = [f"{_key(name)} = {_value(one)}" for name, one in value.items() if one is not None]
        return f"{{ {', '.join(inner)} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    raise ValueError(f"{value!r} cannot be stored in TOML")


def _quoted(text: str) -> str:
    """Return a text as a basic string. JSON escapes as TOML does, except for the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    return f'"""\n{escaped}"""'
