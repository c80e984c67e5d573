"""Scripts of participants' pages say nothing of their own: their words come with the page, translated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kitchen.play.live.render_page import (
    ANNOUNCED_SECONDS,
    REALTIME_TEXTS,
    SCENE_TEXTS,
    SCRIPT_TEXTS,
    script_texts,
)

ROOT = Path(__file__).parent.parent.parent
STAFF = {"admin-experiment.js", "drawn.js", "file_size.js", "live.js", "table.js"}
"""Scripts of pages that only staff see, which are in English."""
FILES = sorted(
    path
    for folder in (ROOT / "static" / "js", ROOT / "kitchen" / "worlds")
    for path in folder.rglob("*.js")
    if path.name not in STAFF
)
COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)
LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
FILLED_IN = re.compile(r"\$\{[^}]*\}")
SENTENCE = re.compile(
    r"^\W*[A-Z][a-z]+(?:[ ,:]|\W*$)|^[^\[\]#.:()=<>|,\"'-]*[a-z]{2,} [a-z]{2,}[^\[\]#:()=<>|\"'-]*$"
)
"""What begins like a sentence, or has two words side by side that are no selector and no style."""
SAID_BY_STYLE = re.compile(r"content:\s*[\"'][^\"']*[A-Za-z]{2}")
NO_WORDS = {"Arrow", "Enter", "Escape", "Backspace", "POST", "GET", "HEAD", "use strict", "Intl"}


def said_in(script: str) -> list[str]:
    """The literals of a script that look like words for people."""
    found = (FILLED_IN.sub("1", one[1:-1]) for one in LITERAL.findall(COMMENT.sub("", script)))
    return [one for one in found if one not in NO_WORDS and SENTENCE.search(one)]


def test_words_are_told_from_selectors_and_styles() -> None:
    script = """
        say("Time is up"); say('you chose this'); say(`${left} seconds left`); say("Connecting…"); // "A word"
        find("details, [data-ask], .goto"); look('input[name="command"]:not(:disabled)'); key("Enter");
        style.translate = `calc(-50% + ${x}px) ${y}px`; fetch("no-store"); // Never mind
    """
    assert said_in(script) == ["Time is up", "you chose this", "1 seconds left", "Connecting…"]


def test_no_script_has_words_of_its_own() -> None:
    said = {path.name: found for path in FILES if (found := said_in(path.read_text()))}
    assert said == {}


def test_no_style_has_words_of_its_own() -> None:
    styles = [*(ROOT / "static" / "css").rglob("*.css"), *(ROOT / "kitchen" / "worlds").rglob("*.css")]
    assert [path.name for path in styles if SAID_BY_STYLE.search(path.read_text())] == []


def said_by(files: Iterable[Path]) -> set[str]:
    return {name for path in files for name in re.findall(r"\bSAY\.(\w+)", path.read_text())}


def test_scripts_say_what_the_page_brings_along_and_all_of_it() -> None:
    of_scene = [path for path in FILES if path.parent.name == "scene"]
    others = [path for path in FILES if path not in of_scene]
    assert said_by(others) == {*SCRIPT_TEXTS, "calls"} == script_texts(scene=False).keys()
    assert said_by(FILES) == {*SCRIPT_TEXTS, *SCENE_TEXTS, "calls"} == script_texts(scene=True).keys()


def test_where_a_clock_runs_nobody_is_told_that_nothing_is_lost_meanwhile() -> None:
    waiting, ticking = script_texts(scene=False), script_texts(scene=False, ticking=True)
    assert ticking.keys() == waiting.keys() > REALTIME_TEXTS.keys()
    assert all("Nothing is lost" in str(waiting[name]) for name in REALTIME_TEXTS)
    assert not any("Nothing is lost" in str(ticking[name]) for name in REALTIME_TEXTS)


def test_what_is_called_out_is_counted() -> None:
    assert script_texts(scene=False)["calls"] == {s: f"{s} seconds left" for s in ANNOUNCED_SECONDS}
