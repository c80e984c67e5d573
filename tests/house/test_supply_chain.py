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
from tests import audit
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
    assert query["package"]["ecosystem"] in {"PyPI", "npm"} and query["version"]
    return {"vulns": [{"id": "PYSEC-0"}]} if query["package"]["name"] == "django" else {}


NOBODY = "http://127.0.0.1:9/"


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nobody can be asked but the registry, which has withdrawn a release."""

    def away(*_: object) -> dict[str, list[str]]:
        raise OSError("nobody there")

    monkeypatch.setattr(audit, "OSV", NOBODY)
    monkeypatch.setattr(audit, "ask_pypi", away)
    monkeypatch.setattr(audit, "ask_list", away)
    monkeypatch.setattr(audit, "ask_withdrawn", lambda _: {str(pinned_as("celery")): ["withdrawn: broken"]})
    return monkeypatch


def pinned_as(name: str) -> audit.Pinned:
    return next(one for one in audit.all_pinned() if one.name == name)


def test_what_is_known_is_told_and_kept_for_when_nobody_can_be_asked(
    osv: str, sources: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.json"
    assert audit.main([], copy) == 0
    assert "Copy of never: no source; " in capsys.readouterr().out
    sources.setattr(audit, "OSV", osv)
    assert audit.main(["--refresh"], copy) == 1
    assert "OSV answered now. Copy of 20" in capsys.readouterr().out
    sources.setattr(audit, "OSV", NOBODY)
    assert audit.main([], copy) == 1
    *found, last = capsys.readouterr().out.splitlines()
    assert sorted(found) == [f"{pinned_as('celery')}: withdrawn: broken", f"{pinned_as('django')}: PYSEC-0"]
    assert last.startswith(
        f"audit: something is known against 2 of {len(audit.all_pinned())} packages. OSV could"
    )
    assert last.endswith(
        ": OSV answered; releases withdrawn from PyPI answered; "
        f"{audit.LIST} could not be asked (nobody there)."
    )


def test_a_copy_says_who_was_not_asked_and_what_it_does_not_hold(
    sources: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.json"
    assert audit.main(["--refresh"], copy) == 1
    assert "PyPI's list of vulnerabilities could not be asked (nobody there)" in capsys.readouterr().out
    newer = audit.Pinned("PyPI", "celery", "99")
    sources.setattr(audit, "all_pinned", lambda: [newer])
    assert audit.main([], copy) == 0
    assert capsys.readouterr().out.endswith("; 1 are not in it.\n")
    with pytest.raises(SystemExit) as ended:
        audit.main(["--anew"], copy)
    assert ended.value.code == 2


def test_every_lock_and_every_script_of_others_is_audited() -> None:
    pinned = audit.all_pinned()
    assert {one.name for one in pinned} >= {"django", "pytest", "sphinx", "ortools", "uv", "three", "vega"}
    assert len(set(pinned)) == len(pinned) > 150


def test_the_warning_of_uv_about_a_withdrawn_release_is_read() -> None:
    said = 'warning: `attrs==21.1.0` is yanked (reason: "breaks a dependency")\nwarning: `a==1` is yanked\n'
    assert audit.WITHDRAWN.findall(said) == [("attrs==21.1.0", '"breaks a dependency"'), ("a==1", "")]


def test_what_a_source_says_wrongly_is_told_and_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    (name, wrong), *_ = audit.FALSE
    one = audit.Pinned("PyPI", name, "1")
    stored = {"asked": "2026-11-29", "sources": {}, "known": {str(one): [wrong]}}
    assert audit.tell([one], stored, {}, "OSV answered now") == 0
    assert f"{one}: not counted: {wrong}" in capsys.readouterr().out
    assert audit.tell([one], stored, {str(one): ["PYSEC-0"]}, "OSV answered now") == 1


def test_the_kept_copy_says_when_and_whom_it_asked() -> None:
    kept = audit.read_copy(audit.COPY)
    assert kept["asked"] >= "2026-11-29" and kept["sources"] and kept["known"]
