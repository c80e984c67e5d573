"""Look up known vulnerabilities of everything that the project pins: `python -m tests.audit` (`make audit`).

The packages are those of all `requirements*.txt`, and the scripts of others for browsers. They are checked
against the dated copy in docs/vulnerabilities.json, and against the OSV database if it can be asked. The last
line tells which sources answered. `--refresh` writes the copy anew. It asks OSV or else PyPI, reads which
releases were withdrawn from PyPI, and uses the list `safety-db` (2021), which PyPI distributes.

Exit code 0: no vulnerability is known. 1: one is known. 2: the command line is wrong.

pip-audit 2.10 (November 2026) asks OSV or PyPI and stores nothing, so without a network it gives no answer.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from brigade.paths import base_dir
from tests.supply_chain import SCRIPTS, packages

COPY = base_dir() / "docs" / "vulnerabilities.json"
OSV, PYPI = "https://api.osv.dev/v1/querybatch", "https://pypi.org/pypi"
LIST = "safety-db==2021.7.17"
"""The newest list of vulnerabilities that PyPI distributes as a package. It ends in July 2021."""
SECONDS = 30
FALSE = {
    ("reportlab", "CVE-2020-28463"): "fixed in 3.5.55, as the database of the Python Packaging Authority says"
}
"""False reports about our versions, by package and id, with the reason. They are shown but not counted."""
WITHDRAWN = re.compile(r"`(\S+?==\S+?)` is yanked(?: \(reason: (.*)\))?")
"""How uv warns of a pinned release that was withdrawn (PEP 592)."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pinned package of the ecosystem `PyPI` or `npm`."""

    ecosystem: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.ecosystem}:{self.name}=={self.version}"


Known = Mapping[str, Sequence[str]]
"""What is known against packages, by `str(Pinned)`: ids of vulnerabilities, and reasons of withdrawals."""


def main(arguments: Sequence[str] | None = None, copy: Path = COPY) -> int:
    """Print what is known against the pinned packages, and which sources answered. Return the exit code."""
    parser = argparse.ArgumentParser(prog="make audit", description="Look up known vulnerabilities.")
    parser.add_argument("--refresh", action="store_true", help="write docs/vulnerabilities.json anew")
    pinned = all_pinned()
    if parser.parse_args(arguments).refresh:
        copy.write_text(json.dumps(fresh_copy(pinned), indent=1) + "\n", encoding="utf-8")
    stored = read_copy(copy)
    now, live = answer_of(lambda: ask_osv(pinned))
    return tell(pinned, stored, now, f"OSV {live} now")


def all_pinned() -> list[Pinned]:
    """Return the packages of all `requirements*.txt`, and the scripts for browsers. Each version is listed
    once."""
    python = [Pinned("PyPI", one.name, one.version) for lock in locks() for one in packages(lock)]
    return [*dict.fromkeys(python), *(Pinned("npm", name, version) for name, version, *_ in SCRIPTS)]


def locks() -> list[Path]:
    """Return the files that pin packages."""
    return sorted(base_dir().glob("requirements*.txt"))


def read_copy(copy: Path) -> dict[str, Any]:
    """Return the stored copy: `asked` (date), `sources` (answers by name) and `known`."""
    if copy.exists():
        stored: dict[str, Any] = json.loads(copy.read_text(encoding="utf-8"))
        return stored
    return {"asked": "never", "sources": {}, "known": {}}


def answer_of(ask: Callable[[], Known]) -> tuple[Known, str]:
    """Return what a source knows, and whether it answered, in words."""
    try:
        return ask(), "answered"
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        why = " ".join(str(error).split())[:90]
        return {}, f"could not be asked ({why})"


def fresh_copy(pinned: list[Pinned]) -> dict[str, Any]:
    """Ask all sources, and return a copy of their answers. PyPI is asked only if OSV does not answer,
    because it has the same data."""
    known, sources = defaultdict[str, set[str]](set), dict[str, str]()

    def add(name: str, ask: Callable[[list[Pinned]], Known]) -> None:
        found, sources[name] = answer_of(lambda: ask(pinned))
        for package, ids in found.items():
            known[package].update(ids)

    add("OSV", ask_osv)
    if sources["OSV"] != "answered":
        add("PyPI's list of vulnerabilities", ask_pypi)
    add("releases withdrawn from PyPI", ask_withdrawn)
    add(LIST, ask_list)
    found = {str(one): sorted(known[str(one)]) for one in pinned}
    return {"asked": f"{datetime.now(UTC):%Y-%m-%d}", "sources": sources, "known": found}


def ask_osv(pinned: list[Pinned]) -> Known:
    """Return what the OSV database knows about the packages. Raises OSError, ValueError or KeyError if it
    gives no usable answer."""
    queries = [
        {"package": {"name": one.name, "ecosystem": one.ecosystem}, "version": one.version} for one in pinned
    ]
    results = _fetch(OSV, json.dumps({"queries": queries}).encode())["results"]
    return {
        str(one): [found["id"] for found in result.get("vulns", [])]
        for one, result in zip(pinned, results, strict=True)
    }


def ask_pypi(pinned: list[Pinned]) -> Known:
    """Return what PyPI lists for the Python packages. Errors are those of `ask_osv`."""
    found = {}
    for one in pinned:
        if one.ecosystem == "PyPI":
            release = _fetch(f"{PYPI}/{one.name}/{one.version}/json")
            found[str(one)] = [each["id"] for each in release["vulnerabilities"] if not each["withdrawn"]]
    return found


def _fetch(address: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})  # noqa: S310 - ours
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return json.load(answer)


def ask_withdrawn(pinned: list[Pinned]) -> Known:
    """Return which of the pinned releases were withdrawn from PyPI, with the reason. For that, uv looks up
    what each lock installs on this machine. Raises SubprocessError if it cannot."""
    uv, said = Path(sys.executable).with_name("uv"), ""
    for lock in locks():
        with tempfile.TemporaryDirectory() as folder:
            asked = [str(uv), "pip", "install", "--dry-run", "--no-deps", "--target", folder, "-r", str(lock)]
            done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            raise subprocess.SubprocessError(done.stderr.strip().rpartition("\n")[2] or "uv failed")
        said += done.stderr
    return {f"PyPI:{name}": [f"withdrawn: {why or 'no reason'}"] for name, why in WITHDRAWN.findall(said)}


def ask_list(pinned: list[Pinned]) -> Known:
    """Return what the list `safety-db` has against the Python packages. pip downloads it. Raises
    CalledProcessError if it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, LIST]
        subprocess.run(asked, capture_output=True, check=True, timeout=120)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            listed = json.loads(archive.read("safety_db/insecure_full.json"))
    return {
        str(one): [
            each.get("cve") or each["id"]
            for each in listed.get(one.name, [])
            if any(SpecifierSet(spec).contains(one.version) for spec in each["specs"])
        ]
        for one in pinned
        if one.ecosystem == "PyPI"
    }


def tell(pinned: list[Pinned], stored: dict[str, Any], now: Known, live: str) -> int:
    """Print what is known against the packages. The last line has the number of packages, and what was asked
    when. Return the exit code."""
    wrong, unasked = 0, 0
    for one in pinned:
        found = sorted({*stored["known"].get(str(one), ()), *now.get(str(one), ())})
        ids = [each for each in found if (one.name, each) not in FALSE]
        wrong += bool(ids)
        unasked += str(one) not in stored["known"] and str(one) not in now
        if ids:
            print(f"{one}: {', '.join(ids)}")
        for each in set(found) - set(ids):
            print(f"{one}: not counted: {each} ({FALSE[one.name, each]})")
    sources = "; ".join(f"{name} {said}" for name, said in stored["sources"].items()) or "no source"
    missing = f"; {unasked} are not in it" if unasked else ""
    print(
        f"audit: something is known against {wrong} of {len(pinned)} packages. {live}. "
        f"Copy of {stored['asked']}: {sources}{missing}."
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
