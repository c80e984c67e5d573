"""What the app is made of is pinned by hash, listed with its licences, and asked about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from brigade.paths import base_dir
from tests import audit, supply_chain
from tests.supply_chain import BILL, ELSEWHERE, PAGE, SCRIPTS, bill, packages, page
from tests.three.__main__ import MADE, THREE, names
from tests.vega.__main__ import INTERPRETER, VEGA, VEGA_LITE


def test_every_package_of_the_lock_has_its_hashes() -> None:
    pinned = packages()
    assert len(pinned) > 90
    assert len(pinned) == (base_dir() / "requirements.txt").read_text().count("==") - _markers()
    assert all(one.hashes for one in pinned)


def _markers() -> int:
    """Equal signs of conditions, not of versions."""
    lines = (base_dir() / "requirements.txt").read_text().splitlines()
    return sum(line.partition(" ; ")[2].count("==") for line in lines)


def test_the_page_of_licences_is_of_what_is_pinned() -> None:
    made, kept = page().splitlines(), PAGE.read_text(encoding="utf-8").splitlines()
    assert len(made) == len(kept)
    for ours, theirs in zip(made, kept, strict=True):  # another platform has other packages
        assert ours == theirs or ELSEWHERE in ours + theirs, "`make sbom` writes it anew"
        assert ours.split("|")[:3] == theirs.split("|")[:3]


def test_every_package_says_what_its_licence_is() -> None:
    assert "see its page" not in page()


def test_the_bill_of_materials_is_of_what_is_pinned() -> None:
    kept = json.loads(BILL.read_text(encoding="utf-8"))
    assert (kept["bomFormat"], kept["specVersion"]) == ("CycloneDX", "1.5")
    assert [one["purl"] for one in kept["components"]] == [one["purl"] for one in bill()["components"]]
    assert len({one["bom-ref"] for one in kept["components"]}) == len(packages()) + len(SCRIPTS)


def test_what_browsers_are_given_of_others_is_the_file_that_is_listed() -> None:
    kept, made = json.loads(BILL.read_text(encoding="utf-8")), bill()
    listed = [[one for one in bom["components"] if "hashes" in one] for bom in (kept, made)]
    assert listed[0] == listed[1], "`make sbom` writes it anew"
    assert [one["name"] for one in listed[0]] == [name for name, *_ in SCRIPTS]
    fetched = [path for path, _ in (THREE, VEGA, VEGA_LITE, INTERPRETER)]
    assert fetched == [f"{name}/-/{name}-{version}.tgz" for name, version, *_ in SCRIPTS]
    assert all((base_dir() / "static" / "vendor" / one[3] / "LICENSE").exists() for one in SCRIPTS)
    assert set(names()) <= set(re.findall(r"(?<= as )\w+", MADE.read_text(encoding="utf-8")[-4000:]))


@pytest.fixture
def osv() -> Iterator[str]:
    """Knows something against Django, on loopback; its address."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            self.send_response(200)
            self.end_headers()
            results = [_known(query) for query in asked]
            self.wfile.write(json.dumps({"results": results}).encode())

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _known(query: dict[str, Any]) -> dict[str, Any]:
    assert query["package"]["ecosystem"] == "PyPI" and query["version"]
    return {"vulns": [{"id": "PYSEC-0"}]} if query["package"]["name"] == "django" else {}


def test_what_is_known_is_told_and_kept_for_when_nobody_can_be_asked(
    osv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, nobody = tmp_path / "copy.json", "http://127.0.0.1:9/"
    assert audit.main(copy, nobody) == 2
    assert "no copy" in capsys.readouterr().out
    for address in (osv, nobody):
        assert audit.main(copy, address) == 1
        said = capsys.readouterr().out.splitlines()
        assert said[0].startswith("django==") and said[0].endswith(": PYSEC-0")
        assert said[-1].startswith(f"audit: 1 of {len(packages())} packages, as of 20")
    (django,) = (one for one in packages() if one.name == "django")
    monkeypatch.setattr(audit, "packages", lambda: [one for one in packages() if one != django])
    assert audit.main(copy, nobody) == 0
    newer = supply_chain.Package("django", "99", ())
    monkeypatch.setattr(audit, "packages", lambda: [newer])
    assert audit.main(copy, nobody) == 2
