"""What pages and owners of episodes say to one another, while a clock takes the steps.

From a page, over `/ws/ticks/<key>/`, one JSON object each:

- `{"type": "key", "command": ["north"], "down": true, "number": 7}`: a key goes down, or up (`down` is
  false). A key that is held down is said again at least every five seconds. `number` grows with each, and
  comes back.
- `{"type": "sync"}`: everything, please. `{"type": "ping"}`: is anybody there?

To a page:

- `state`: what is stored, as `told.StateMessage`, when it has connected and after a `sync`; `brief` is in no
  other.
- `whole`: `{step, tick_ms, observation, score, key, starts_in_ms, lost_ms}`, how things are now. What comes
  after it changes it. `key` is the `number` of the page's last word that was heard; `starts_in_ms` is how
  long it is until the first tick begins; `lost_ms` is not 0 where time was lost, and `step` may be less than
  what was shown.
- `tick`: `{step, changed, gone, score, events, key, lost_ms}`, one more step: values of the observation and
  of the score that are others now, by name, names that are gone, and what happened as far as this seat gets
  to know it. Where the page says what others are about to do, both have `intents`, what each seat is (as in
  `Decision.intents`), by seat, and where it gives hints `errand`, what would be good to do, as one
  of these; a `tick` only if that is something else now.
- `over`: `{status, html}`; all of it is stored. `html` are the panels of the page as they are then.
- `gone`: `{said}`, sentences about people who are gone, once there is another one.
- `notice`: as `told.NoticeMessage`, `pong`.

Over the channel layer: pages of an episode hear its group (`pages_of`), its owner that of its keys
(`keys_of`). Owners tell all pages the same; each page sends its browser what belongs to its seat, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from kitchen.contract.world import Command, Json
from kitchen.play.messages import MessageError, PingMessage, Readable, SyncMessage, read_command
from kitchen.words.speech import marked

LARGEST = 2**53
"""Numbers of a page's words are less."""


@dataclass(frozen=True, slots=True)
class KeyMessage:
    """A key goes down or up."""

    command: Command
    down: bool
    number: int
    type: str = field(default="key", init=False)

    @classmethod
    def read(cls, sent: Mapping[str, Json]) -> Self:
        """From what was sent; MessageError if it is none."""
        down, number = sent.get("down", True), sent.get("number", 0)
        if type(down) is not bool or type(number) is not int or not 0 <= number < LARGEST:
            raise MessageError(marked("That message could not be read."))
        return cls(read_command(sent.get("command")), down, number)


KINDS: Mapping[str, type[Readable]] = {"key": KeyMessage, "ping": PingMessage, "sync": SyncMessage}
"""What a page may send, by type."""


def pages_of(episode_id: int) -> str:
    """The channel group of the pages of an episode."""
    return f"ticks.{episode_id}"


def keys_of(episode_id: int) -> str:
    """That of its owner."""
    return f"keys.{episode_id}"


def difference(before: Mapping[str, Json], now: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """What is another value or new, by name, and the names that are gone."""
    changed = {name: value for name, value in now.items() if name not in before or before[name] != value}
    return changed, [name for name in before if name not in now]


def said(kind: str, **more: Any) -> dict[str, Any]:
    """A message of this kind for the channel layer."""
    return {"type": kind, **more}
