"""The characters are one set of drawings, and whatever points to a part of it finds it."""

from __future__ import annotations

import re
from pathlib import Path

from django.template.loader import render_to_string

from kitchen.worlds.cuisine.waiting_guests import LOOKS

ROOT = Path(__file__).parents[3]
DRAWN = re.compile(r'id="((?:body|whole|pose|face|arms|guest|look|mood|character)-[\w-]+)"')
POINTED = re.compile(r"#((?:body|whole|pose|face|arms|guest|look|mood|character)-[a-z]+[\w-]*)[\"'`/]")


def drawings() -> set[str]:
    return set(DRAWN.findall(render_to_string("kitchen/play/characters.html")))


def test_every_seat_has_a_body_and_every_pose_its_face_and_arms() -> None:
    found = drawings()
    assert {f"{what}-{seat}" for what in ("body", "whole") for seat in range(1, 9)} <= found
    poses = {"stand", "carry", "chop", "stir", "wait", "sad", "cheer"}
    assert {f"pose-{pose}" for pose in poses} <= found
    assert {f"arms-{pose}" for pose in poses - {"sad"}} <= found
    assert {f"look-{look}" for look in range(1, LOOKS + 1)} <= found
    assert {f"mood-{mood}" for mood in ("calm", "late", "happy", "sad")} <= found
    assert {f"{what}-{mood}" for what in ("guest", "face") for mood in ("calm", "happy", "sad")} <= found


def test_all_parts_that_templates_and_scripts_point_to_are_drawn() -> None:
    files = [
        path
        for folder in ("templates", "static/js", "kitchen/worlds")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".html", ".jinja", ".js"}
    ]
    pointed = {name for path in files for name in POINTED.findall(path.read_text())}
    assert len(pointed) > 5
    assert pointed - drawings() == set()


def test_a_seats_shape_and_number_are_those_of_all_other_places() -> None:
    page = render_to_string("kitchen/play/characters.html")
    assert all(f'href="#seat-{seat}"' in page for seat in range(1, 9))
