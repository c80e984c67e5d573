"""Turn an adapter into the kit of a world, for `BRIGADE_WORLDS` or an entry point."""

from __future__ import annotations

from functools import partial
from typing import Any

from kitchen.contract.kit import WorldKit
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.registry.dotted_paths import load_path

_OPENED = "kitchen.opened"


def environment_kit(adapter: EnvironmentAdapter) -> WorldKit:
    """Return the kit of the world that this adapter describes. Its parts are imported when they are used."""
    return WorldKit(
        rules=partial(_made, f"{_OPENED}.environment_world:world_class", adapter),
        page=partial(_made, f"{_OPENED}.environment_page:page_of", adapter),
        reward="total",
        steps=adapter.length,
        is_environment=True,
    )


def _made(path: str, adapter: EnvironmentAdapter) -> Any:
    return load_path(path)(adapter)
