"""Define the factors of a study: their levels, the fields of a condition that each level sets, and the cells.

A *factor* is a manipulated variable, within or between participants. A *cell* is one combination of levels,
one for each factor. Each cell is played as a condition: a copy of the base condition in which only the fields
that its levels name have other values. The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated, Any

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import DataError, DataSource, Record
from kitchen.contract.world import Json
from study.design.analysis_plan import KEY
from study.design.between_groups import MOST_GROUPS

Cell = Mapping[str, str]
"""The level of each factor, by the factor's key."""

MOST_FACTORS = 4
"""The most factors of a study. Interactions of more factors cannot be interpreted."""
MOST_CELLS = 48
"""The most cells of a study."""
LONGEST_KEY = 24
"""The most characters of a factor's or level's key. Keys of cells consist of the keys of their levels."""

DICTIONARIES = ("settings", "coplayer_settings", "organisation", "goal", "star_targets")
"""Fields of a condition that hold several named values. A level can set one of them: `settings.level`."""
FIELDS = (
    "world",
    "coplayer",
    "teammates",
    "thinking_seconds",
    "step_seconds",
    "shown",
    "three_dimensions",
    "shows_intents",
    "recommends_sound",
    "hides_dots",
    "passes_by",
    "knowing",
    "decision_seconds",
    "offers_plans",
    "order_choices",
    "talk_language",
    "ends_at_goal",
    "ready_card",
    "end_card",
    "rating_replay",
    "lobby_practice",
    "lobby_practice_shared",
    *DICTIONARIES,
)
"""The fields of a condition that a level can set."""
WHOLE = {"world": "settings", "coplayer": "coplayer_settings"}
"""Fields whose change replaces a whole dictionary, because its names belong to the old value."""


class Level(Record):
    """One level of a factor. `sets` has the value of each field that the level sets, by the field's path.

    A path is the name of a field, or a dictionary's name and one of its names: `settings.level`. A name can
    itself be a dictionary with names: `organisation.settings.talk`. The value
    None in a dictionary means that the name is absent.
    """

    key: str
    name: str
    sets: Mapping[str, Json] = {}


class Factor(Record):
    """One factor. If `between` is true, each participant plays one level; else each plays several levels."""

    key: str
    name: str
    between: bool = False
    levels: Annotated[tuple[Level, ...], Strict(False)]

    def level(self, key: str) -> Level:
        """Return the level with this key. Raises KeyError if there is none."""
        return {one.key: one for one in self.levels}[key]

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the fields that the levels set, without repeats."""
        return tuple(dict.fromkeys(path for level in self.levels for path in level.sets))


_FACTORS: TypeAdapter[tuple[Factor, ...]] = TypeAdapter(Annotated[tuple[Factor, ...], Strict(False)])


def parse_factors(document: Json) -> tuple[Factor, ...]:
    """Return the factors in a stored document: a list of factors with their levels.

    Raises DataError with the place in the document and the reason if it cannot be used.
    """
    source = DataSource("factors")
    factors = source.read(_FACTORS, document)
    if problem := factors_problem(factors):
        raise source.error("", problem)
    return factors


def factors_problem_in(document: Json) -> str:
    """Return why a document cannot be read as factors. Return an empty string if it can be."""
    try:
        parse_factors(document)
    except DataError as error:
        return str(error)
    return ""


def factors_problem(factors: Sequence[Factor]) -> str:
    """Return why these factors cannot be used together. Return an empty string if they can, or if there are
    none."""
    return (
        next(filter(None, map(_own_problem, factors)), "")
        or _doubled("factors", [one.key for one in factors])
        or _doubled("factors", [one.name for one in factors])
        or _overlap(factors)
        or _size_problem(factors)
    )


def _own_problem(factor: Factor) -> str:
    """Return why this factor cannot be used, whatever the other factors are."""
    for key, name in [(factor.key, factor.name), *((one.key, one.name) for one in factor.levels)]:
        if not KEY.fullmatch(key) or len(key) > LONGEST_KEY:
            return f"{key}: a key has up to {LONGEST_KEY} letters, digits, hyphens and underscores."
        if not name.strip() or not name.isprintable():
            return f"{key}: give it a name."
    if len(factor.levels) < 2:
        return f"The factor {factor.name} needs two levels or more."
    for path in factor.paths:
        field, _, name = path.partition(".")
        if field not in FIELDS or (name and field not in DICTIONARIES):
            return f"The factor {factor.name} sets {path}, which is no field of a condition."
        if lacking := [one.name for one in factor.levels if path not in one.sets]:
            return f"The factor {factor.name} sets {path}, but its level {lacking[0]} does not."
    keys, names = ([getattr(one, what) for one in factor.levels] for what in ("key", "name"))
    return _doubled(f"levels of {factor.name}", keys) or _doubled(f"levels of {factor.name}", names)


def _doubled(what: str, names: Sequence[str]) -> str:
    twice = next((name for name in names if names.count(name) > 1), "")
    return f"Two {what} are called {twice}." if twice else ""


def _overlap(factors: Sequence[Factor]) -> str:
    """Return which two factors set the same field. Return an empty string if there are none."""
    owner: dict[str, Factor] = {}
    for factor in factors:
        for path in factor.paths:
            for other, whose in owner.items():
                same = path == other or path.startswith(f"{other}.") or other.startswith(f"{path}.")
                if same and whose is not factor:
                    return f"The factors {whose.name} and {factor.name} both set {min(path, other, key=len)}."
            owner[path] = factor
    return ""


def _size_problem(factors: Sequence[Factor]) -> str:
    if len(factors) > MOST_FACTORS:
        return f"A study has at most {MOST_FACTORS} factors."
    cells, groups = (
        prod(len(one.levels) for one in some) for some in (factors, [one for one in factors if one.between])
    )
    if groups > MOST_GROUPS:
        return f"The factors between people make {groups} groups; a study has at most {MOST_GROUPS}."
    return f"The factors have {cells} cells; a study has at most {MOST_CELLS}." if cells > MOST_CELLS else ""


def all_cells(factors: Sequence[Factor]) -> list[dict[str, str]]:
    """Return every combination of levels. The levels of the last factor change fastest. Without factors, the
    result is empty."""
    if not factors:
        return []
    levels = [[one.key for one in factor.levels] for factor in factors]
    return [dict(zip([one.key for one in factors], keys, strict=True)) for keys in product(*levels)]


def cell_key(factors: Sequence[Factor], cell: Cell) -> str:
    """Return the key of a cell's condition: the keys of its levels, with underscores between them."""
    return "_".join(cell[one.key] for one in factors)


def cell_name(factors: Sequence[Factor], cell: Cell) -> str:
    """Return the name of a cell for researchers: the names of its levels, with commas between them."""
    return ", ".join(one.level(cell[one.key]).name for one in factors)


def group_of_cell(factors: Sequence[Factor], cell: Cell) -> str:
    """Return the key of the between-subjects group that plays the cell. It is empty without factors between
    participants."""
    return cell_key([one for one in factors if one.between], cell)


def level_of_cell(factors: Sequence[Factor], cell: Cell) -> str:
    """Return the key of the cell among the cells of one group: the levels of the factors within participants.
    It is empty without such factors."""
    return cell_key([one for one in factors if not one.between], cell)


def groups_of(factors: Sequence[Factor]) -> tuple[str, ...]:
    """Return the keys of the between-subjects groups. The result is empty without factors between
    participants."""
    between = [one for one in factors if one.between]
    return tuple(cell_key(between, cell) for cell in all_cells(between))


def cell_fields(base: Mapping[str, Any], factors: Sequence[Factor], cell: Cell) -> dict[str, Any]:
    """Return the fields of a cell's condition. `base` has the fields of the base condition by name.

    Fields that no level sets have the values of the base condition.
    """
    fields = {name: dict(base[name]) if name in DICTIONARIES else base[name] for name in FIELDS}
    for factor in factors:
        for path, value in factor.level(cell[factor.key]).sets.items():
            _set(fields, path.split("."), value)
    return fields


def _set(fields: dict[str, Any], names: Sequence[str], value: Json) -> None:
    """Set the value at a path, given as its names. None removes a name from a dictionary. Dictionaries inside
    a dictionary are copied."""
    first, *inner = names
    if not inner:
        fields[first] = value
    elif len(inner) == 1 and value is None:
        fields[first].pop(inner[0], None)
    else:
        fields[first] = dict(fields.get(first) or {})
        _set(fields[first], inner, value)


def field_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a condition's fields by path. Dictionaries are split into one path for each
    name."""
    values: dict[str, Any] = {}
    for name in FIELDS:
        if name in DICTIONARIES:
            values |= {f"{name}.{inner}": value for inner, value in fields[name].items()}
        else:
            values[name] = fields[name]
    return values


def levels_from(conditions: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return what each level must set so that cells differ as these conditions do. There is one level for
    each condition.

    The result has the same paths in each level. If the conditions' worlds differ, the levels set all
    settings of the world at once; the same holds for the co-player.
    """
    whole = [name for field, name in WHOLE.items() if len({str(one[field]) for one in conditions}) > 1]
    values = [
        {path: value for path, value in field_values(one).items() if path.partition(".")[0] not in whole}
        | {name: dict(one[name]) for name in whole}
        for one in conditions
    ]
    paths = dict.fromkeys(path for one in values for path in one)
    differ = [path for path in paths if any(one.get(path) != values[0].get(path) for one in values)]
    return [{path: one.get(path) for path in differ} for one in values]


def unplanned_differences(
    base: Mapping[str, Any], factors: Sequence[Factor], cell: Cell, fields: Mapping[str, Any]
) -> list[str]:
    """Return the paths in which a cell's condition differs from what its levels make of the base condition.

    `base` has the fields of the base condition, and `fields` those of the cell's condition.
    """
    planned, own = field_values(cell_fields(base, factors, cell)), field_values(fields)
    return [path for path in dict.fromkeys([*planned, *own]) if planned.get(path) != own.get(path)]
