"""Of the keys that wait to be forwarded, only the newest state of each is kept."""

from __future__ import annotations

from kitchen.realtime.tick_consumer import MAX_WAITING_KEYS, WaitingKeys
from kitchen.realtime.tick_messages import KeyMessage


def forwarded(*keys: tuple[str, bool]) -> list[tuple[str, bool, int]]:
    """What is forwarded of these keys, each with whether it was pressed: name, pressed, number."""
    waiting = WaitingKeys()
    for number, (name, down) in enumerate(keys):
        waiting.add(KeyMessage((name,), down, number))
    found = []
    while messages := waiting.take():
        found += [(one.command[0], one.down, one.number) for one in messages]
    return found


def test_of_a_key_that_is_pressed_again_and_again_the_last_press_waits() -> None:
    assert forwarded(*[("east", True), ("east", False)] * 12) == [("east", True, 22), ("east", False, 23)]
    assert forwarded(("east", True), ("east", False), ("east", True)) == [("east", True, 2)]
    assert forwarded(("east", False), ("east", False)) == [("east", False, 1)]


def test_keys_are_forwarded_in_the_order_of_their_newest_states() -> None:
    assert forwarded(("east", True), ("north", True), ("east", False)) == [
        ("north", True, 1),
        ("east", True, 0),
        ("east", False, 2),
    ]


def test_of_too_many_keys_the_oldest_are_left_out() -> None:
    found = forwarded(*[(str(number), True) for number in range(MAX_WAITING_KEYS + 3)])
    assert [one[2] for one in found] == list(range(3, MAX_WAITING_KEYS + 3))
