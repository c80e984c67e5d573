"""What the dispatcher carries from step to step, as JSON: the last exchanges verbatim, and what to say next.

Paper, section 4.1 (Memory History): a fixed horizon. It is counted in messages, the present state among
them, so a horizon of 5 keeps two exchanges; whole exchanges only, because a conversation begins with a state.
The memory does not grow: what is longer than LONGEST characters is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from kitchen.contract.model import Message
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.dispatcher.moment import Given
from kitchen.worlds.cuisine.dispatcher.wording import Fault

LONGEST = 8000
"""Characters of one remembered reply; no reply that makes sense is as long."""
MOST_FAULTS = 40

Exchange = tuple[str, str]
"""What the model was told and what it answered."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Exchanges from old to new, and sentences that are the feedback of the next step."""

    exchanges: tuple[Exchange, ...] = ()
    feedback: tuple[str, ...] = ()
    refused: tuple[Given, ...] = ()
    """Commands of the last step that could not be carried out; the model is not told of them here."""
    plan: Json = None
    """What the planner remembers, where it stood in for the model in the last step."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """What `to_json` wrote; an empty memory at the first step or where another kind of mind played."""
        if not isinstance(stored, dict) or "exchanges" not in stored:
            return cls()
        exchanges = tuple((told, said) for told, said in stored["exchanges"])
        refused = tuple((seat, tuple(command)) for seat, command in stored.get("refused", ()))
        return cls(exchanges, tuple(stored.get("feedback", ())), refused, stored.get("plan"))

    def to_json(self) -> Json:
        """As JSON, for `Decision.memory`."""
        return {
            "exchanges": [list(each) for each in self.exchanges],
            "feedback": list(self.feedback),
            "refused": [[seat, list(command)] for seat, command in self.refused],
            "plan": self.plan,
        }

    def within(self, horizon: int) -> Self:
        """Only what the horizon leaves besides the present state."""
        kept = (horizon - 1) // 2
        return replace(self, exchanges=self.exchanges[-kept:] if kept else ())

    def messages(self) -> list[Message]:
        """The exchanges as messages."""
        pairs = [(Message("user", told), Message("assistant", said)) for told, said in self.exchanges]
        return [message for pair in pairs for message in pair]

    def after(self, exchange: Exchange | None, faults: Sequence[Fault], plan: Json) -> Self:
        """The memory after another step; without a reply there is no exchange."""
        said = ((exchange[0], exchange[1][:LONGEST]),) if exchange else ()
        kept = faults[:MOST_FAULTS]
        return replace(
            self,
            exchanges=self.exchanges + said,
            feedback=tuple(fault.text for fault in kept),
            refused=tuple((int(f.seat or 0), f.command) for f in kept if f.command),
            plan=plan,
        )
