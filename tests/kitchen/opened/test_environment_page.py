"""The page of an environment that draws itself: the picture in words."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from kitchen.registry.world_registry import get_page


def test_the_picture_in_words_has_the_order_of_the_adapter_after_a_state_was_stored() -> None:
    rows = {name: ["empty"] * 3 for name in ("your_mark", "top_row", "middle_row", "bottom_row")}
    stored = json.loads(json.dumps({**rows, "seat": 0, "alive": True, "turn": 0, "more": 1}, sort_keys=True))
    view: Any = SimpleNamespace(observation=stored, timing=SimpleNamespace(tick_ms=None))
    page: Any = get_page("pettingzoo_tictactoe")
    facts = page.description(view).shows.facts
    assert [fact.code for fact in facts] == ["your_mark", "top_row", "middle_row", "bottom_row", "more"]
