"""Tell a team what went well in a kitchen: time to spare, dishes in a row, dishes made together.

All of it follows from the log, so it is the same for everybody who played. It is no metric and changes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.world import Event, Json
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.cuisine.display_text import BriefLookup, join_sentence

CLOSE_CALL = 3
"""The most steps that an order had left when it was served just in time."""
LONG_ROW = 3
"""The smallest number of dishes in a row that is the best moment of a game."""
LEAST_ROW = 2
"""The smallest number of dishes that is called a row."""


@dataclass(slots=True)
class Highlights:
    """What a log says of the served dishes. `follow` adds one step after another."""

    brief: Mapping[str, Json]
    orders: list[tuple[int, str]]
    """Open orders as (steps left at the start, dish), the most urgent first."""
    spare: dict[str, int] = field(default_factory=dict)
    """The most steps that an order of each dish had left when it was served."""
    longest_row: int = 0
    """The most dishes that were served one after another without a missed order."""
    closest: tuple[int, str] | None = None
    """The fewest steps that a served order had left, with its dish. None if none was served."""
    served: int = 0
    together: int = 0
    """Dishes that one robot cooked and another served."""
    _row: int = 0
    _cooks: dict[str, int | None] = field(default_factory=dict)
    _servers: dict[str, int | None] = field(default_factory=dict)

    def follow(self, step: int, events: Iterable[Event]) -> None:
        """Add the events of the step with this number; the first is 1."""
        for event in events:
            match event.kind:
                case "performed":
                    self._performed(event)
                case "ordered":
                    self.orders.append((step + event.data["life"], event.data["dish"]))
                    self.orders.sort()
                case "failed":
                    self._close(event.data["dish"])
                    self._row = 0
                case "completed":
                    self._completed(step, event.data["dish"])

    def _performed(self, event: Event) -> None:
        command, item = event.data["command"], str(event.data.get("item"))
        if command[0] == "activate":
            self._cooks[item] = event.seat
        elif command[0] == "put" and self.brief["locations"][command[1]] == "servingtable":
            self._servers[item] = event.seat

    def _close(self, dish: str) -> int | None:
        """Remove the most urgent order of this dish, and return the step at which it would have run out. None
        if the log has no such order."""
        order = next((one for one in self.orders if one[1] == dish), None)
        if order is None:
            return None
        self.orders.remove(order)
        return order[0]

    def _completed(self, step: int, dish: str) -> None:
        if (runs_out := self._close(dish)) is not None:
            left = runs_out - step
            self.spare[dish] = max(self.spare.get(dish, 0), left)
            self.closest = min(self.closest or (left, dish), (left, dish))
        self.served += 1
        self._row += 1
        self.longest_row = max(self.longest_row, self._row)
        makers = {self._cooks.get(dish), self._servers.get(dish)}
        self.together += len(makers) > 1 and None not in makers


def highlights_of(
    brief: Mapping[str, Json], start: Mapping[str, Json], steps: Iterable[Sequence[Event]]
) -> Highlights:
    """Return the highlights of a log. `start` is the public state at the start, `steps` the events of each
    step."""
    found = Highlights(brief, [(order["life"], order["dish"]) for order in start["orders"]])
    for number, events in enumerate(steps, 1):
        found.follow(number, events)
    return found


def highlight_lines(found: Highlights, lookup: BriefLookup) -> tuple[str, ...]:
    """Return the highlights as sentences in the reader's language; empty if nothing was served."""
    lines = list(_best_moment(found, lookup))
    if found.spare:
        ranked = sorted(found.spare.items(), key=lambda one: -one[1])
        dishes = (_spare_text(lookup.words.mid(dish), left) for dish, left in ranked)
        lines.append(gettext("Most time to spare: {dishes}.").format(dishes=", ".join(dishes)))
    if LEAST_ROW <= found.longest_row < LONG_ROW:
        lines.append(
            gettext("{count} dishes in a row without a missed order.").format(count=found.longest_row)
        )
    if found.together:
        text = gettext("Made together, one cooked and another served: {count} of {total} dishes.")
        lines.append(text.format(count=found.together, total=found.served))
    return tuple(lines)


def _best_moment(found: Highlights, lookup: BriefLookup) -> Iterator[str]:
    """Yield the best moment of the game as a sentence: a long row, or else a dish that came just in time."""
    if found.longest_row >= LONG_ROW:
        text = gettext("Best moment: {count} guests in a row left happy.")
        yield text.format(count=found.longest_row)
    elif found.closest and found.closest[0] <= CLOSE_CALL:
        text = gettext("Best moment: {dish}, served just before the guest would have left.")
        yield join_sentence(text.format(dish=lookup.words.mid(found.closest[1])))


def _spare_text(dish: str, left: int) -> str:
    return ngettext("{dish} {count} step", "{dish} {count} steps", left).format(dish=dish, count=left)
