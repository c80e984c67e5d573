"""Style sheets of the play page: no rule has the browser restyle more than changes."""

from __future__ import annotations

import re
from pathlib import Path

SHEETS = [
    *Path("static/css").glob("*.css"),
    *Path("kitchen/worlds/cuisine/static/worlds/cuisine").glob("*.css"),
]
OF_ANYTHING = re.compile(r":has\([^{}]*\)[^{},]*[ >+~]\*\s*[,{]")


def test_rules_with_has_say_what_they_apply_to() -> None:
    """`.play:has(a) > *` has everything restyled inside each element that any `:has` concerns."""
    found = {sheet.name: OF_ANYTHING.findall(sheet.read_text()) for sheet in SHEETS}
    assert {name: rules for name, rules in found.items() if rules} == {}
    assert OF_ANYTHING.search(".play:has(a:not(.b)) .c > * {")
