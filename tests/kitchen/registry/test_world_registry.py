"""What every registered world's kit names exists."""

from __future__ import annotations

import pytest

from kitchen.contract.organisation import ORGANISATION_KINDS
from kitchen.contract.team_schedules import SCHEDULES
from kitchen.registry.world_registry import WORLDS_VARIABLE, get_kit, known_worlds
from tests.worlds.vault.kit import LINE


@pytest.mark.parametrize("world", [*known_worlds(), "vault"])
def test_a_kit_names_only_organisations_and_schedules_that_exist(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    kit = get_kit(world)
    assert set(kit.organisations) <= ORGANISATION_KINDS.keys()
    assert set(kit.schedules) <= SCHEDULES.keys()
