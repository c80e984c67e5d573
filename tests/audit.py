"""Look up known vulnerabilities of the packages that requirements.txt pins: `python -m tests.audit` (`make
audit`).

The program asks the OSV database, and stores its answer with the date in docs/vulnerabilities.json. Without a
network, it uses the stored answer and prints its date. Exit code 1: a vulnerability is known. Exit code 2:
there is no answer for some package.

pip-audit 2.10 (November 2026) gives no answer without a network, so we do not use it.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from brigade.paths import base_dir
from tests.supply_chain import Package, packages

COPY = base_dir() / "docs" / "vulnerabilities.json"
ADDRESS = "https://api.osv.dev/v1/querybatch"
SECONDS = 30

Known = Mapping[str, list[str]]
"""Ids of vulnerabilities by `name==version`. A package without known vulnerabilities has an empty list."""


def main(copy: Path = COPY, address: str = ADDRESS) -> int:
    """Ask the OSV database, or read the stored answer. Print the known vulnerabilities, and return the exit
    code."""
    pinned = packages()
    try:
        known, day = asked(pinned, address), f"{datetime.now(UTC):%Y-%m-%d}"
        copy.write_text(json.dumps({"asked": day, "known": known}, indent=1) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        if not copy.exists():
            print(f"audit: OSV does not answer ({error}), and there is no copy of an earlier answer")
            return 2
        stored = json.loads(copy.read_text(encoding="utf-8"))
        known, day = stored["known"], stored["asked"]
    return tell(pinned, known, day)


def asked(pinned: list[Package], address: str) -> Known:
    """Return what the OSV database knows about the packages. Raises OSError or ValueError if it gives no
    usable answer."""
    queries = [{"package": {"name": one.name, "ecosystem": "PyPI"}, "version": one.version} for one in pinned]
    body = json.dumps({"queries": queries}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})  # noqa: S310 - ours
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        results = json.load(answer)["results"]
    return {
        spelled(one): [found["id"] for found in result.get("vulns", [])]
        for one, result in zip(pinned, results, strict=True)
    }


def tell(pinned: list[Package], known: Known, day: str) -> int:
    """Print the vulnerabilities of the pinned packages, and the packages without an answer. Return the exit
    code."""
    names = [spelled(one) for one in pinned]
    wrong = [f"{name}: {', '.join(known[name])}" for name in names if known.get(name)]
    unasked = [f"{name}: not asked about" for name in names if name not in known]
    print(*wrong, *unasked, f"audit: {len(wrong)} of {len(names)} packages, as of {day}", sep=os.linesep)
    return 1 if wrong else 2 if unasked else 0


def spelled(one: Package) -> str:
    """Return the package as requirements.txt writes it."""
    return f"{one.name}=={one.version}"


if __name__ == "__main__":
    sys.exit(main())
