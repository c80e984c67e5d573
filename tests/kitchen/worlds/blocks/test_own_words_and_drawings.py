"""Participants' pages name no game of others, and show none of its pictures and sounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from django.utils import translation

from kitchen.worlds.blocks import macro_world
from kitchen.worlds.blocks.page import PAGES
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from tests.kitchen.worlds.blocks.games import FAMILIES, game
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.test_pages import whole

NAMES = re.compile(r"mine ?craft|mindcraft|minecollab|mojang|voyager", re.IGNORECASE)


@pytest.mark.parametrize("language", ["en", "es", "zh-hans"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_and_its_guide_name_no_other_game(family: str, language: str) -> None:
    world = game(family)
    page = PAGES[world.kind]
    with translation.override(language):
        for phase in ("choose", "over"):
            text = whole(page, seen(world, 0, phase=phase))
            assert "guide-dialog" in text and len(text) > 5000
            assert not NAMES.findall(text)


@pytest.mark.parametrize("name", ["blocks_voice", "blocks_plan"])
def test_the_texts_of_a_ready_study_name_no_other_game(name: str) -> None:
    study = tomllib.loads(DEMO_FILE.with_name(READY_STUDIES[name][1]).read_text())
    assert study["parts"]["consent"]["text"] and not NAMES.findall(str(study))


def test_things_that_look_alike_have_drawings_of_their_own_and_others_have_letters() -> None:
    script = (Path(macro_world.__file__).parent / "static/worlds/blocks/block_pictures.js").read_text()
    patterns = dict(re.findall(r'(\w+): "(\w+)"', script.split("const PATTERNS = {")[1].split("};")[0]))
    assert {patterns[kind] for kind in ("cooked_chicken", "egg", "bucket", "pickaxe", "beef")} == {
        *("leg", "egg", "bucket", "pickaxe", "steak"),
    }
    assert {kind for kind, pattern in patterns.items() if pattern == "plain"} == {"dirt", "soul_sand"}
    assert '?? "letters"' in script, "what is not listed"
    drawn = set(re.findall(r"^    (\w+)(?:: |\()", script.split("const DRAW = {")[1], re.MULTILINE))
    assert set(patterns.values()) | {"letters"} <= drawn


def test_all_that_is_drawn_is_drawn_by_our_scripts() -> None:
    """No pictures, textures or sounds are shipped with the worlds of blocks, except a picture of their own
    drawing, which is shown before a game."""
    folder = Path(macro_world.__file__).parent
    files = [path for path in (folder / "static").rglob("*") if path.is_file()]
    shipped = [path for path in files if path.name != "cover.webp"]
    assert len(shipped) >= 4 and {path.suffix for path in shipped} == {".js", ".css"}
    assert not [
        path for path in shipped if re.search(r"url\(|data:image|\.(png|jpg|svg|ogg|mp3)", path.read_text())
    ]
