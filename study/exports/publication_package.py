"""Make one ZIP file to publish a study's data, for example on OSF.

It has data files and a description by the rules of Psych-DS, a description in Croissant, a codebook,
preregistrations, scripts that read the data, a README and a licence. The data are those of the export, or a
de-identified copy.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from kitchen.contract.world import Json
from kitchen.infra.file_writing import stream_zip
from study.design.models import Study
from study.design.preregistration import HASHES, has_content
from study.exports.column_levels import study_codes, with_levels
from study.exports.dataset_descriptions import (
    LICENCES,
    DataFile,
    Dataset,
    croissant_description,
    data_path,
    psych_ds_description,
)
from study.exports.deidentify import CopyOptions, DeidentifiedCopy
from study.exports.export_registry import CODEBOOK_COLUMNS, codebook_rows, design, tables
from study.exports.export_table import ExportSelection, ExportTable
from study.exports.tables.participants_table import WideColumn

LEAST_K, MOST_K = 2, 50
DESCRIBED_APART = frozenset({"codebook", "dictionary"})
"""Tables that describe others; the codebook is in `documentation/`."""
SEED_AND_HASHES = frozenset({"seed", "digest", "bundle_digest", "design_sha256"})
"""Fields of design.json that are a seed, or a hash of something with the seed."""
BUNDLE_HASHES = frozenset(HASHES)
"""Such fields of a preregistration, beside its content."""
LEFT_OUT = "left out of this copy"
"""The text in place of seeds, their hashes and logins."""


@dataclass(frozen=True, slots=True)
class PackageOptions:
    """What a package is to have."""

    copy: CopyOptions | None
    """How the data are de-identified; None for the data as they are."""
    licence: str
    """A key of `LICENCES`."""

    @property
    def file_name(self) -> str:
        """Return the name that asks for this package, such as `publication_k5_replays_cc-by.zip`."""
        how = f"k{self.copy.k}{'_replays' if self.copy.replays else ''}" if self.copy else "identified"
        return f"publication_{how}_{self.licence}.zip"

    def saved_as(self, study: Study) -> str:
        """Return the name under which the package is saved. It says whether the data are de-identified."""
        how = "deidentified" if self.copy else "identified"
        return f"{study.slug}_publication_{how}.zip"


def package_options(name: str) -> PackageOptions | None:
    """Return the options that a file's name asks for. Return None for another name."""
    found = re.fullmatch(r"publication_(?:identified|k(\d{1,2})(_replays)?)_([a-z0-9-]+)\.zip", name)
    if not found or found[3] not in LICENCES:
        return None
    if found[1] is None:
        return PackageOptions(None, found[3])
    k = int(found[1])
    return PackageOptions(CopyOptions(k, bool(found[2])), found[3]) if LEAST_K <= k <= MOST_K else None


def package_pieces(study: Study, chosen: ExportSelection, options: PackageOptions) -> Iterator[bytes]:
    """Return the package as a ZIP file, in pieces of bytes."""
    files = ((f"{study.slug}/{path}", pieces) for path, pieces in package_files(study, chosen, options))
    return stream_zip(files, at=timezone.now())


def package_files(
    study: Study, chosen: ExportSelection, options: PackageOptions
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield every file of the package as (path, pieces of bytes). Read the pieces of a file before you ask
    for the next file."""
    copy = DeidentifiedCopy(study, chosen, options.copy) if options.copy else None
    written, codes = list[DataFile](), study_codes(study)
    for table in tables():
        if table.name in DESCRIBED_APART:
            continue
        left = table if copy is None else copy.table(table)
        if left is None:
            continue
        columns, _ = left.opened(study, chosen)
        columns = with_levels((column.in_study(study) for column in columns), codes)
        file = _Written(DataFile(data_path(study.slug, table.name), table.name, table.meaning, columns))
        pieces = copy.csv_pieces(left) if copy else _csv(left, study, chosen)
        yield file.about.path, file.measured(pieces)
        written.append(file.about)
    yield from _described(study, chosen, options, written)
    if copy and options.copy:
        yield "documentation/left_out.md", [copy.changes.text(options.copy).encode()]


def _csv(table: ExportTable, study: Study, chosen: ExportSelection) -> Iterator[bytes]:
    return (text.encode() for text, _ in table.lines(study, chosen))


class _Written:
    """A data file whose hash and size are known after its pieces were read."""

    def __init__(self, about: DataFile) -> None:
        self.about = about

    def measured(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces, and note their hash and size."""
        digest, size = hashlib.sha256(), 0
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            yield piece
        self.about = replace(self.about, sha256=digest.hexdigest(), size=size)


def _described(
    study: Study, chosen: ExportSelection, options: PackageOptions, written: list[DataFile]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the files that describe the data files."""
    dataset = _dataset(study, options)
    yield "dataset_description.json", [_json(psych_ds_description(dataset, written))]
    yield "croissant.json", [_json(croissant_description(dataset, written))]
    yield "documentation/codebook.csv", _codebook(study, chosen, written)
    yield "documentation/design.json", [_design(study, chosen, options)]
    for version in study.versions.filter(frozen_at__isnull=False).order_by("number"):
        bundle = _without_seed(_without_login(version.bundle)) if _hides_seeds(options) else version.bundle
        yield f"preregistration/version-{version.number}.json", [_json(bundle)]
    yield "analysis/read_data.R", [_script(study, written, R_SCRIPT, R_PARTS)]
    yield "analysis/read_data.py", [_script(study, written, PYTHON_SCRIPT, PYTHON_PARTS)]
    yield "README.md", [_readme(dataset, options, written).encode()]
    yield "LICENSE.txt", [_licence(dataset).encode()]


def _script(study: Study, written: Iterable[DataFile], measures: str, parts: str) -> bytes:
    """Return a script that reads the measures, and the numbers of options in rankings and the like."""
    script = measures.format(path=data_path(study.slug, "measures"))
    options = [
        column.name
        for file in written
        for column in file.columns
        if isinstance(column, WideColumn) and column.slot.option and column.kind == "integer"
    ]
    if options:
        names = ",\n".join(f'    "{name}"' for name in options)
        script += parts.format(path=data_path(study.slug, "participants"), names=names)
    return script.encode()


def _design(study: Study, chosen: ExportSelection, options: PackageOptions) -> bytes:
    """Return design.json. In a de-identified copy, versions have days and no times, because a version begins
    with its first participant. The study's seed is there only if seeds are kept."""
    document = json.loads(design(study, chosen))
    if _hides_seeds(options):
        for version in document["versions"]:
            version["bundle"] = _without_login(version["bundle"])
        document = _without_seed(document)
    for version in document["versions"] if options.copy else ():
        for name in ("created_at", "frozen_at"):
            version[name] = version[name] and version[name][:10]
    return _json(document)


def _without_login(bundle: Json) -> Json:
    """Return a preregistration without the login of the person who froze it. The hash that covers the login
    does not fit any more."""
    frozen = bundle.get("frozen") if isinstance(bundle, dict) else None
    return {**bundle, "frozen": {**frozen, "by": LEFT_OUT}} if isinstance(frozen, dict) else bundle


def _hides_seeds(options: PackageOptions) -> bool:
    return options.copy is not None and not options.copy.replays


def _without_seed(document: Json) -> Json:
    """Return the design or preregistration without seeds. It has no hash of them either: with the rest of the
    design, a hash tells the seed to somebody who tries all of them."""
    if isinstance(document, list):
        return [_without_seed(one) for one in document]
    if not isinstance(document, dict):
        return document
    hidden = BUNDLE_HASHES if has_content(document) else SEED_AND_HASHES
    return {
        name: LEFT_OUT if name in hidden and value is not None else _without_seed(value)
        for name, value in document.items()
    }


def _dataset(study: Study, options: PackageOptions) -> Dataset:
    about = "Data of a study of people and programs that play together, exported by Brigade"
    how = "; a de-identified copy." if options.copy else "."
    today = timezone.now().date()
    return Dataset(study.slug, study.title or study.slug, about + how, LICENCES[options.licence], today)


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _codebook(study: Study, chosen: ExportSelection, written: list[DataFile]) -> Iterator[bytes]:
    groups = [codebook_rows(file.path, file.columns) for file in written]
    return _csv(ExportTable("codebook", "", CODEBOOK_COLUMNS, lambda *_: groups), study, chosen)


def _licence(dataset: Dataset) -> str:
    licence = dataset.licence
    return f"{dataset.name}\n\n{licence.notice}\n\n{licence.name}: {licence.url}\n"


def _readme(dataset: Dataset, options: PackageOptions, written: list[DataFile]) -> str:
    files = [f"- `{file.path}`: {file.meaning}" for file in written]
    copy = (
        ["- `documentation/left_out.md`: what is left out of this copy or made coarser"]
        if options.copy
        else []
    )
    return "\n".join(
        [
            f"# {dataset.name}",
            "",
            dataset.description,
            "",
            f"Licence: {dataset.licence.name} ({dataset.licence.url}).",
            "",
            "## Files",
            "",
            *files,
            "- `documentation/codebook.csv`: what every column means",
            "- `documentation/design.json`: every version of the study's design",
            *copy,
            "- `preregistration/`: the preregistered versions, if there are any",
            "- `analysis/`: scripts that read the measures and compare the conditions",
            "- `dataset_description.json`: the description for Psych-DS",
            "- `croissant.json`: the description for Croissant",
            "",
            "Files join by `participant` and `episode`. Booleans are 1 and 0, and blank means none. A text",
            "that a spreadsheet would run as a formula or round stands behind an apostrophe.",
            "",
        ]
    )


R_SCRIPT = """# Reads the measures, and shows mean and standard deviation by measure and condition.
measures <- read.csv("{path}", colClasses = c(participant = "character"), na.strings = "")
measures <- subset(measures, synthetic == 0 & is.na(left_out_of_analysis))
described <- function(x) c(n = length(x), mean = mean(x), sd = sd(x))
print(aggregate(value ~ condition + measure, measures, described))
"""
PYTHON_SCRIPT = '''"""Read the measures, and show mean and standard deviation by measure and condition."""

import pandas as pd

measures = pd.read_csv("{path}", dtype={{"participant": str}})
measures = measures[(measures.synthetic == 0) & measures.left_out_of_analysis.isna()]
print(measures.groupby(["measure", "condition"]).value.agg(["count", "mean", "std"]))
'''
R_PARTS = """
# Shows the mean of each option: of its rank (1 = first place), or of best (1), neither (0) and worst (-1).
options <- c(
{names}
)
people <- read.csv("{path}", colClasses = c(participant = "character"), na.strings = "", check.names = FALSE)
people <- subset(people, synthetic == 0 & is.na(left_out_of_analysis))
print(colMeans(people[options], na.rm = TRUE))
"""
PYTHON_PARTS = """
# Show the mean of each option: of its rank (1 = first place), or of best (1), neither (0) and worst (-1).
options = [
{names},
]
people = pd.read_csv("{path}", dtype={{"participant": str}})
people = people[(people.synthetic == 0) & people.left_out_of_analysis.isna()]
print(people[options].mean())
"""
