"""Style sheets of the play page: no rule has the browser restyle more than changes."""

from __future__ import annotations

import re
from pathlib import Path

from kitchen.registry.world_registry import get_page

SHEETS = [
    *Path("static/css").glob("*.css"),
    *Path("kitchen/worlds/cuisine/static/worlds/cuisine").glob("*.css"),
]
MOST_LINES = 425
OF_ALL_PANELS = re.compile(r"\.(?:play|stage)\b[^\s{},]*:has\((?!> )")
OF_ANYTHING = re.compile(r":has\([^{}]*\)[^{},]*[ >+~]\*\s*[,{]")


def test_rules_with_has_say_what_they_apply_to() -> None:
    """`.play:has(a) > *` has everything restyled inside each element that any `:has` concerns."""
    found = {sheet.name: OF_ANYTHING.findall(sheet.read_text()) for sheet in SHEETS}
    assert {name: rules for name, rules in found.items() if rules} == {}
    assert OF_ANYTHING.search(".play:has(a:not(.b)) .c > * {")


def test_no_rule_looks_for_a_panel_in_the_whole_page() -> None:
    """`.play:has(.a) .b` restyles the page with each panel that comes; `:has(> .a)` looks at its children."""
    found = {sheet.name: OF_ALL_PANELS.findall(sheet.read_text()) for sheet in SHEETS}
    assert {name: rules for name, rules in found.items() if rules} == {}
    assert OF_ALL_PANELS.search(".play:not(.c):has(.a) .b {")


def test_the_two_worlds_with_the_most_rules_have_several_short_sheets_that_their_pages_list() -> None:
    for world in ("cuisine", "collab_overcooked"):
        sheets = Path(f"kitchen/worlds/{world}/static/worlds/{world}").glob("*.css")
        lines = {f"worlds/{world}/{sheet.name}": sheet.read_text().count("\n") for sheet in sheets}
        assert max(lines.values()) <= MOST_LINES
        assert lines.keys() <= set(get_page(world).styles)
