"""The keys of one person, between two ticks. Plain Python.

What counts at a tick is the key that was pressed last since the tick before it, once, however short it was
held down and however often it was pressed; without one, that of those still down which was pressed last. A
key of which nobody has spoken for `LONGEST` is let go of: its page may have gone.
"""

from __future__ import annotations

from kitchen.contract.world import Command

LONGEST = 5.0
"""Seconds after which a page says again that a key is held down."""
MOST = 8
"""Keys that are held down at once."""


class Keys:
    """Which keys are down, and which was pressed last. Moments are seconds of one clock."""

    def __init__(self) -> None:
        self.number = 0
        """Of the last word of its page that was heard."""
        self.at = 0.0
        """When that was pressed which was taken last; of a key that is held, when it was taken."""
        self._pressed: tuple[Command, float] | None = None
        self._held: dict[Command, float] = {}

    def press(self, command: Command, now: float, number: int = 0) -> None:
        """A key goes down; said again of one that is down, it is held on to."""
        self.number = number
        if command not in self._held:
            self._pressed = command, now
        self._held[command] = now
        while len(self._held) > MOST:
            del self._held[next(iter(self._held))]

    def release(self, command: Command, number: int = 0) -> None:
        """It goes up."""
        self.number = number
        self._held.pop(command, None)

    def let_go(self) -> None:
        """Nobody is at the keys any more, or somebody else is."""
        self._pressed, self._held, self.number = None, {}, 0

    def take(self, now: float) -> Command | None:
        """What counts at this tick; None where no key does."""
        self._held = {command: at for command, at in self._held.items() if now - at < LONGEST}
        held = next(reversed(self._held)) if self._held else None
        command, self.at = self._pressed or (held, now)
        self._pressed = None
        return command
