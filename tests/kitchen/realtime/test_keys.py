"""Which key counts at a tick."""

from __future__ import annotations

from kitchen.realtime.realtime_episode import KEY_TIMEOUT_SECONDS, MAX_HELD_KEYS, HeldKeys

NORTH, SOUTH = ("north",), ("south",)


def test_a_key_that_was_pressed_and_let_go_before_the_tick_counts_once() -> None:
    keys = HeldKeys()
    keys.press(NORTH, 0.0)
    keys.release(NORTH)
    assert keys.take(0.1) == NORTH
    assert keys.at == 0.0
    assert keys.take(0.2) is None


def test_the_last_key_counts_and_earlier_ones_are_dropped() -> None:
    keys = HeldKeys()
    for _ in range(2):
        keys.press(NORTH, 0.0)
        keys.release(NORTH)
    keys.press(SOUTH, 0.05)
    keys.release(SOUTH)
    assert [keys.take(0.1), keys.take(0.2)] == [SOUTH, None]


def test_a_key_that_is_held_down_repeats_and_the_one_before_it_when_it_is_let_go() -> None:
    keys = HeldKeys()
    keys.press(NORTH, 0.0)
    keys.press(SOUTH, 0.01)
    assert [keys.take(0.1), keys.take(0.2)] == [SOUTH, SOUTH]
    assert keys.at == 0.2
    keys.release(SOUTH)
    assert keys.take(0.3) == NORTH


def test_a_key_that_is_not_repeated_is_released() -> None:
    keys = HeldKeys()
    keys.press(NORTH, 0.0)
    keys.press(NORTH, KEY_TIMEOUT_SECONDS - 1)
    assert keys.take(KEY_TIMEOUT_SECONDS + 1) == NORTH
    assert keys.take(2 * KEY_TIMEOUT_SECONDS) is None


def test_another_player_starts_without_keys_and_held_keys_are_limited() -> None:
    keys = HeldKeys()
    for number in range(MAX_HELD_KEYS + 5):
        keys.press((str(number),), 0.0, number)
    assert keys.number == MAX_HELD_KEYS + 4
    keys.let_go()
    assert (keys.take(0.1), keys.number) == (None, 0)
