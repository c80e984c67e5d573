"""The characters are one set of drawings, and whatever points to a part or an image of it finds it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from django.template.loader import render_to_string

from kitchen.contract.page import Page
from kitchen.registry.world_registry import get_page, known_worlds
from kitchen.worlds.cuisine.order_tickets import GUEST_LOOKS
from kitchen.worlds.cuisine.page import PAGE
from tests.character_images import IMAGES, characters_css

ROOT = Path(__file__).parents[3]
KINDS = "body|whole|builder|pose|face|arms|guest|look|mood|character"
DRAWN = re.compile(rf'id="((?:{KINDS})-[\w-]+)"')
POINTED = re.compile(rf"(?:#|part\([`\"])((?:{KINDS})-)([a-z][\w-]*|\$\{{|\{{\{{)")
"""The kind of a part, and its name or the beginning of a placeholder (of a script or of a template)."""
BODIES = ("whole-", "builder-")
NUMBERED = dict.fromkeys(BODIES, 8)
"""The last number of each kind whose placeholders are numbers. Other placeholders are names of poses."""


def drawings() -> set[str]:
    return set(DRAWN.findall(render_to_string("kitchen/play/characters.html")))


def pointed_by(text: str) -> set[str]:
    """Return the names of all parts that a template or script points to."""
    return {
        f"{kind}{one}"
        for kind, name in POINTED.findall(text)
        for one in ((name,) if name[0] not in "${" else range(1, NUMBERED.get(kind, 0) + 1))
    }


def test_every_seat_has_a_body_and_every_pose_its_face_and_arms() -> None:
    found = drawings()
    assert {f"{what}-{seat}" for what in ("body", "whole", "builder") for seat in range(1, 9)} <= found
    poses = {"stand", "carry", "chop", "stir", "wait", "sad", "cheer"}
    assert {f"pose-{pose}" for pose in poses} <= found
    assert {f"arms-{pose}" for pose in poses - {"sad"}} <= found
    assert {f"look-{look}" for look in range(1, GUEST_LOOKS + 1)} <= found
    assert {f"mood-{mood}" for mood in ("calm", "late", "happy", "sad")} <= found
    assert {f"{what}-{mood}" for what in ("guest", "face") for mood in ("calm", "happy", "sad")} <= found


def test_all_parts_that_templates_and_scripts_point_to_are_drawn() -> None:
    files = [
        path
        for folder in ("templates", "static/js", "kitchen/worlds")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".html", ".jinja", ".js"}
    ]
    pointed = set[str]().union(*(pointed_by(path.read_text()) for path in files))
    assert {f"{kind}{number}" for kind, last in NUMBERED.items() for number in range(1, last + 1)} <= pointed
    assert len([name for name in pointed if not name[-1].isdigit()]) > 8
    assert pointed - drawings() == set()


def test_players_who_are_away_are_found_by_every_body_that_a_world_draws() -> None:
    script = (ROOT / "static" / "js" / "play" / "away.js").read_text()
    assert pointed_by(script) == {f"{kind}{seat}" for kind in BODIES for seat in range(1, 9)}
    assert "`.body-${seat + 1}`" in script, "where bodies are images"


def test_every_world_that_includes_a_character_lists_the_style_of_its_images_as_the_guide_says() -> None:
    style, include = "css/character_images.css", 'include "kitchen/play/character.jinja"'
    worlds = [page for name in known_worlds() if include in templates_of(page := get_page(name))]
    assert worlds and all(style in page.styles for page in worlds)
    guide = (ROOT / "docs" / "draw-a-world.md").read_text()
    assert f"`{style}` to `styles`" in guide and '`drawings = ""`' in guide


def templates_of(page: Page) -> str:
    """Return the text of all templates in the folder of a world's page."""
    folder = Path(inspect.getfile(type(page))).parent
    return "".join(one.read_text() for one in folder.rglob("*.jinja"))


def test_the_images_are_those_of_the_drawings() -> None:
    css = IMAGES.read_text()
    assert css == characters_css(), "run: python -m tests.character_images"
    assert all(f".body-{seat} {{" in css for seat in range(1, 9))
    assert all(f".look-{look} {{" in css for look in range(1, GUEST_LOOKS + 1))
    assert all(f".mood-{mood}::before {{" in css for mood in ("calm", "late", "happy", "sad"))
    poses = [name for name in drawings() if name.startswith("pose-")]
    assert len(poses) == 7 and all(f".{pose}::before {{" in css for pose in poses)
    assert ".pose-chop::after {" in css and ".pose-stir::after {" in css, "the arm that swings"


def test_an_image_has_the_colours_of_its_seat_by_day_and_at_night() -> None:
    fifth = next(rule for rule in characters_css().split("}\n") if rule.startswith(".body-5 "))
    day, night = fifth.split("prefers-color-scheme:dark")
    assert "%230072b2" in day and "%233d9bd6" in night
    assert "var(" not in characters_css() and "<use" not in characters_css()


def test_a_page_with_images_does_not_have_the_drawings_too() -> None:
    assert "css/character_images.css" in PAGE.styles and not PAGE.drawings


def test_a_seats_shape_and_number_are_those_of_all_other_places() -> None:
    page = render_to_string("kitchen/play/characters.html")
    assert all(f'href="#seat-{seat}"' in page for seat in range(1, 9))


def test_a_script_fills_in_the_waiting_time_only_where_the_bar_says_so() -> None:
    """Words at a head had the mark of the waiting time, and were emptied each second."""
    scripts = {path.name: path.read_text("utf-8") for path in (ROOT / "static/js/play").glob("*.js")}
    assert 'querySelector("#phase [data-since]")' in scripts["waiting.js"]
    assert [name for name, text in scripts.items() if "dataset.since" in text or "{ since:" in text] == []
