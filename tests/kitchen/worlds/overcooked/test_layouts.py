"""Layout files: those that come along, and what is said of a wrong one."""

from __future__ import annotations

import pytest

from kitchen.contract.data_files import DataError
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.layout import CLASSIC_LAYOUTS, parse_own_layout, shipped_layouts
from kitchen.worlds.overcooked.world import Overcooked

ROWS = ("XXPXX", "O  2O", "X1  X", "XDXSX")
WHOLE = {"title": '"Ours"', "orders": '["OOO"]', "value": "20", "time": "20"}


def text(rows: tuple[str, ...] = ROWS, **keys: str | None) -> str:
    told = {"grid": str(list(rows)), **WHOLE, **keys}
    return "\n".join(f"{key} = {value}" for key, value in told.items() if value is not None)


def test_at_least_eight_come_along_the_classic_ones_first() -> None:
    assert tuple(shipped_layouts())[:5] == CLASSIC_LAYOUTS and len(shipped_layouts()) >= 8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (text(("XXPXX", "O  2O", "X1 X", "XDXSX")), "grid[3]: has 4 cells"),
        (text(("XXPXX", "O ?2O", "X1  X", "XDXSX")), "grid[2]: '?' is no letter"),
        (text(("XXPXX", "O  2 ", "X1  X", "XDXSX")), "grid[2]: floor on the border"),
        (text(("XXPXX", "O   O", "X1  X", "XDXSX")), "grid: the start 2 stands there 0 times"),
        (text(("XXPXX", "O1 2O", "X1  X", "XDXSX")), "grid: the start 1 stands there 2 times"),
        (text(("XXPXX", "O  2O", "X1  X", "XXXSX")), "grid: there is no D"),
        (text(("XXPXX", "O  2O", "X1  X", "XDXXX")), "grid: there is no S"),
        (text(("XXXXX", "O  2O", "X1  X", "XDXSX")), "grid: there is no P"),
        (text(("XXPXX", "X  2X", "X1  X", "XDXSX")), "grid: there is neither O nor T"),
        (text(()), "grid: must not be empty"),
        (text(orders="[]"), "orders: "),
        (text(orders='["OOOO"]'), "orders[1]: 'OOOO' is not made of"),
        (text(orders='["OX"]'), "orders[1]: 'OX' is not made of"),
        (text(orders='["OOO", "OOO"]'), "orders[2]: 'OOO' stands there twice"),
        (text(orders='["OT"]'), "orders[1]: 'OT' needs T"),
        (text(bonus='["OO"]'), "bonus[1]: 'OO' is no order"),
        (text(value="0"), "value: must be a whole number from 1 to 1000000"),
        (text(value="1_000_001"), "value: must be a whole number from 1 to 1000000"),
        (text(value=str(10**22)), "value: must be a whole number from 1 to 1000000"),
        (text(time="{ O = 0 }"), "time.O: must be a whole number from 1 to 1000000"),
        (text(time=f"{{ O = {10**22} }}"), "time.O: must be a whole number from 1 to 1000000"),
        (text(time="{ T = 3 }"), "time.O: is missing"),
        (text(time='"long"'), "time: must be"),
        (text(title=None), "title: is missing"),
        (text(title=r'"a\u0000b"'), "title: must be one line without control characters"),
        (text(title=r'"a\nb"'), "title: must be one line without control characters"),
        (text(colour='"red"'), "colour: unknown key"),
    ],
)
def test_a_wrong_file_is_refused_with_file_key_and_reason(wrong: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_own_layout(wrong)
    assert str(caught.value).startswith(f"own_layout: {said}") and "\n" not in str(caught.value)


def test_letters_of_an_order_stand_in_any_order() -> None:
    rows = ("XXPXX", "O  2T", "X1  X", "XDXSX")
    with pytest.raises(DataError, match=r"orders\[2\]: 'TO' stands there twice"):
        parse_own_layout(text(rows, orders='["OT", "TO"]'))


def test_a_layout_of_ones_own_stands_in_the_settings() -> None:
    world = Overcooked.create(seats=2, settings={"layout": "own", "own_layout": text(time="3")})
    assert world.brief(0)["title"] == "Ours" and world.brief(0)["orders"][0]["ticks"] == 3
    assert Overcooked.from_dict(world.to_dict()).state_hash() == world.state_hash()
    with pytest.raises(SettingsError, match="own_layout: title: is missing"):
        Overcooked.create(seats=2, settings={"layout": "own"})
