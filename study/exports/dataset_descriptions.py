"""Describe published data files in JSON: for Psych-DS (`dataset_description.json`) and Croissant 1.1.

Psych-DS 1.0 (psych-ds.github.io) asks for the description of every column, and for file names made of
keywords and values. Croissant 1.1 (docs.mlcommons.org/croissant) describes files with their hashes, and the
type of every column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from kitchen.contract.world import Json
from study.exports.export_table import Column


@dataclass(frozen=True, slots=True)
class Licence:
    """Terms under which data are published."""

    name: str
    url: str
    notice: str


LICENCES: Mapping[str, Licence] = {
    "cc0": Licence(
        "CC0 1.0",
        "https://creativecommons.org/publicdomain/zero/1.0/",
        "The authors waive all copyright and related rights in this dataset, as far as the law allows it.",
    ),
    "cc-by": Licence(
        "CC BY 4.0",
        "https://creativecommons.org/licenses/by/4.0/",
        "You may share and adapt this dataset if you name its authors and say what you changed.",
    ),
    "cc-by-nc": Licence(
        "CC BY-NC 4.0",
        "https://creativecommons.org/licenses/by-nc/4.0/",
        "You may share and adapt this dataset, but not for commercial purposes, if you name its authors and "
        "say what you changed.",
    ),
}
"""Licences that a researcher can choose, by short name."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One table as it was written into a dataset."""

    path: str
    table: str
    meaning: str
    columns: tuple[Column, ...]
    sha256: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is said about a dataset as a whole."""

    slug: str
    name: str
    description: str
    licence: Licence
    made_on: date


def data_path(slug: str, table: str) -> str:
    """Return the path of a table by the rules of Psych-DS, such as
    `data/study-demo_description-teamMeasures_data.csv`."""
    first, *others = re.sub(r"[^A-Za-z0-9]+", " ", table).split()
    told = first + "".join(word.capitalize() for word in others)
    return f"data/study-{re.sub(r'[^A-Za-z0-9]', '', slug)}_description-{told}_data.csv"


def psych_ds_description(dataset: Dataset, files: Sequence[DataFile]) -> dict[str, Json]:
    """Return the content of `dataset_description.json`."""
    columns = {column.name: column for file in files for column in file.columns}
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": dataset.name,
        "description": dataset.description,
        "schemaVersion": "Psych-DS 1.0.0",
        "license": dataset.licence.url,
        "datePublished": dataset.made_on.isoformat(),
        "variableMeasured": [_variable(column) for column in columns.values()],
    }


def _variable(column: Column) -> dict[str, Json]:
    told = {"name": column.name, "description": column.meaning, "unitText": column.unit}
    if column.levels:
        told["valueReference"] = column.levels
    return {"@type": "PropertyValue", **{key: words for key, words in told.items() if words}}


CROISSANT_TYPES: Mapping[str, str] = {
    "text": "sc:Text",
    "json": "sc:Text",
    "integer": "sc:Float",  # readers have no whole number for a blank cell
    "number": "sc:Float",
    "boolean": "sc:Float",
    "time": "sc:DateTime",
}
"""Types of values in Croissant, by kind of column."""
CROISSANT_CONTEXT: Mapping[str, Json] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject"),
            *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
            *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator"),
            *("source", "subField", "transform"),
        )
    },
}


def croissant_description(dataset: Dataset, files: Iterable[DataFile]) -> dict[str, Json]:
    """Return the content of `croissant.json`."""
    files = list(files)
    return {
        "@context": dict(CROISSANT_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": dataset.slug,
        "description": f"{dataset.name}. {dataset.description}",
        "license": dataset.licence.url,
        "url": "https://osf.io/",
        "version": "1.0.0",
        "datePublished": dataset.made_on.isoformat(),
        "creator": {"@type": "sc:Organization", "name": "The authors of the study"},
        "citeAs": f"{dataset.name} ({dataset.made_on.year}).",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path.rpartition("/")[2],
                "description": file.meaning,
                "contentUrl": file.path,
                "contentSize": f"{file.size} B",
                "encodingFormat": "text/csv",
                "sha256": file.sha256,
            }
            for file in files
        ],
        "recordSet": [_record_set(file) for file in files],
    }


def _record_set(file: DataFile) -> dict[str, Json]:
    return {
        "@type": "cr:RecordSet",
        "@id": file.table,
        "name": file.table,
        "description": file.meaning,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{file.table}/{column.name}",
                "name": f"{file.table}/{column.name}",
                "description": column.meaning,
                "dataType": CROISSANT_TYPES[column.kind],
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": column.name}},
            }
            for column in file.columns
        ],
    }
