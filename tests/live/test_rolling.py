"""What counts as unpleasant while all processes are exchanged."""

from __future__ import annotations

from kitchen.infra.connection_drain import RESTART_CLOSE_CODE
from tests.live.line import Line
from tests.live.rolling import Guest, unpleasant

HERE = "http://localhost:1"


def guest(*ends: int, plays: bool = True) -> Guest:
    """Whose connections ended so; none of them is made anew. Who does not play is at the end."""
    one = Guest(HERE, "key")
    if not plays:
        one.keys = []
    for code in ends:
        one.line = Line("ws://localhost:1/", [], one.heard, one.lost)
        one.lost(code)
        one.stop()
        one.stopped = False
    return one


async def test_connections_that_broke_off_are_counted_and_others_are_not() -> None:
    people = [guest(RESTART_CLOSE_CODE, 1006), guest(1006, 1011), guest(1006, plays=False)]
    assert unpleasant(people, ended=True) == ["connections broke off: {1006: 2, 1011: 1}"]
    assert unpleasant([guest(RESTART_CLOSE_CODE), guest(1006, plays=False)], ended=True) == []
