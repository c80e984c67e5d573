"""Write the list of packages that the app contains, from requirements.txt: docs/licences.md for people, and
docs/sbom.json for programs.

`python -m tests.supply_chain` (`make sbom`) writes both. The bill of materials is CycloneDX 1.5. It has no
date and no serial number, so the same requirements give the same file. requirements.txt has the hashes. The
licences are those that the installed packages state.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from brigade.paths import base_dir

LOCK = base_dir() / "requirements.txt"
PAGE, BILL = base_dir() / "docs" / "licences.md", base_dir() / "docs" / "sbom.json"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
ELSEWHERE = "not installed on Linux with CPython 3.11 and later"
LONGEST = 60
"""The maximum length of a licence's name; longer texts are whole licences."""


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned package, with the SHA-256 of every file in which it is distributed."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def address(self) -> str:
        """Return the address of the page that describes the package."""
        return f"https://pypi.org/project/{self.name}/{self.version}/"


def packages(lock: Path = LOCK) -> list[Package]:
    """Return the packages that requirements.txt, or another such file, pins, in its order. A package with
    several versions is listed for each."""
    found = PINNED.findall(lock.read_text(encoding="utf-8"))
    return [Package(name, version, tuple(HASH.findall(rest))) for name, version, rest in found]


def licence(name: str) -> str:
    """Return the licence that an installed package states, or ELSEWHERE if it is not installed."""
    try:
        said: Any = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ELSEWHERE
    classes = [line for line in said.get_all("Classifier", []) if line.startswith("License ::")]
    named = " ".join((said.get("License") or "").split())
    short = named if 0 < len(named) <= LONGEST else ""
    classified = " and ".join(line.rpartition(" :: ")[2] for line in classes)
    return said.get("License-Expression") or short or classified or "see its page"


SCRIPTS = (
    ("three", "0.187.0", "MIT", "three"),
    ("vega", "6.4.0", "BSD-3-Clause", "vega"),
    ("vega-lite", "6.4.3", "BSD-3-Clause", "vega"),
    ("vega-interpreter", "2.3.2", "BSD-3-Clause", "vega"),
)
"""Third-party scripts for browsers: packages, versions, licences, and folders in `static/vendor/`."""


def page() -> str:
    """Return the text of docs/licences.md."""
    rows = [f"| [{one.name}]({one.address}) | {one.version} | {licence(one.name)} |" for one in packages()]
    scripts = [
        f"| [{name}](https://npmjs.com/package/{name}) (in browsers) | {version} | {terms} |"
        for name, version, terms, _ in SCRIPTS
    ]
    return "\n".join([HEAD, *rows, *scripts, ""])


def bill() -> dict[str, Any]:
    """Return the content of docs/sbom.json."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "brigade", "bom-ref": "brigade"}},
        "components": [*map(_component, packages()), *(_script(*one) for one in SCRIPTS)],
    }


def _script(name: str, version: str, terms: str, folder: str) -> dict[str, Any]:
    at = f"pkg:npm/{name}@{version}"
    made = (base_dir() / "static" / "vendor" / folder / f"{folder}.min.js").read_bytes()
    return {
        "type": "library",
        "bom-ref": at,
        "name": name,
        "version": version,
        "purl": at,
        "licenses": [{"license": {"name": terms}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(made).hexdigest()}],
    }


def _component(one: Package) -> dict[str, Any]:
    at = f"pkg:pypi/{one.name}@{one.version}"
    named = licence(one.name)
    licences = [] if named == ELSEWHERE else [{"license": {"name": named}}]
    return {
        "type": "library",
        "bom-ref": at,
        "name": one.name,
        "version": one.version,
        "purl": at,
        "licenses": licences,
        "externalReferences": [{"type": "distribution", "url": one.address}],
    }


HEAD = """# Look up the licences

On this page you find the licence of every package that Brigade uses. Brigade itself is under the
MIT licence (`LICENSE`).

- The table lists the packages in `requirements.txt`. `make sbom` writes it, and the bill of materials
  (CycloneDX, `docs/sbom.json`). Packages that only tests and checks need are in neither.
- [Transcripts](think-aloud.md) need further packages and a speech model (`make speech`), not listed here.
- `static/vendor/` has other people's work, each with its licence beside it.
- The characters and guests (`templates/kitchen/play/characters.html`), the rooms, the furniture and
  the sounds (`static/js/sounds.js`, made by the browser, without files) are our own work.
- The pictures of food are Microsoft's Fluent Emoji (MIT). The fonts of figures and reports are DejaVu 2.37
  (`kitchen/charts/fonts/`).

| package | version | licence |
|---|---|---|"""


def main() -> None:
    """Write docs/licences.md and docs/sbom.json."""
    PAGE.write_text(page(), encoding="utf-8")
    BILL.write_text(json.dumps(bill(), indent=1) + "\n", encoding="utf-8")
    print(f"{len(packages())} packages: {PAGE.relative_to(base_dir())}, {BILL.relative_to(base_dir())}")


if __name__ == "__main__":
    main()
