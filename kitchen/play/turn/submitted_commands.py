"""Define the data that people and agents submit for a step: commands and decisions.

The answer to a submission is a `Receipt`, which says whether the submission was accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.dialogue_rounds import DialoguePosition
from kitchen.contract.language_model import Call
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.play.models import Decision
from kitchen.words.gettext_without_django import gettext_noop

RECEIPTS = {
    "accepted": gettext_noop("Your choice was received."),
    "repeated": gettext_noop("Your choice had already been received."),
    "double": gettext_noop("You had already chosen for this step; your first choice counts."),
    "late": gettext_noop("That step has already been played. This page shows the current step."),
    "early": gettext_noop("That step has not begun yet. This page shows the current step."),
    "too_late": gettext_noop("Too late: the step is over, and you did nothing in it."),
    "over": gettext_noop("This game has ended."),
    "elsewhere": gettext_noop("This is open in another tab: continue there, or choose to play here instead."),
    "clocked": gettext_noop("The game runs by the clock: press a key to act."),
    "not_your_turn": gettext_noop("It is not your turn yet. Nothing was sent: wait for the other player."),
    "passed_by": gettext_noop("There is nothing to choose in this step."),
    "probing": gettext_noop("The game stands still until the question is answered. Nothing was sent."),
    "probe_over": gettext_noop("The time for this question is over. The game goes on."),
    "unanswered": gettext_noop("Answer each question first."),
    "taken": gettext_noop("Another worker is deciding this step."),
    "decided": gettext_noop("Another worker has already decided this step."),
    "not_offered": gettext_noop("That is not possible at this moment. Choose one of the actions shown."),
}
"""Every answer of `submit_commands`, in English, to be translated for the person who sent the command."""


@dataclass(frozen=True, slots=True)
class SubmittedCommand:
    """One seat's command for a step, as it is submitted."""

    seat: int
    command: Command
    chosen_by: str = "person"
    fallback: str = ""
    page: str = ""
    """The id of the browser page that sent the command. Empty for programs and agents."""
    then: tuple[Command, ...] = ()
    """The plan: what the seat does afterwards without being asked (see `contract.automatic_commands`)."""


@dataclass(frozen=True, slots=True)
class SubmittedDecision:
    """One agent's decision with its model calls. It is stored together with the submitted commands, or not
    at all."""

    row: Decision
    calls: tuple[Call, ...] = ()
    member: int = 0
    """The agent's number among the members of the episode."""
    says: tuple[MessageDraft, ...] = ()
    """The messages that the agent sends with the decision. Refused ones are left out."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """New plans for seats that already have a plan and are not commanded by this decision."""
    planned: bool = True
    """False if the agent only goes on with its job. In a schedule it then takes effect at once."""
    commanded: frozenset[int] = frozenset()
    """The seats that the agent itself commanded. Other seats of it are idle."""
    talk: DialoguePosition | None = None
    """The point up to which the agent had followed the talk of this step when it was last asked. None if
    agents do not talk."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of submitting commands. `code` is a key of `RECEIPTS`."""

    code: str
    step: int
    """Number of steps taken when the answer was given."""

    @property
    def accepted(self) -> bool:
        """Return True if the commands were accepted."""
        return self.code == "accepted"

    @property
    def text(self) -> str:
        """Return the result of the submission as an English sentence."""
        return RECEIPTS[self.code]
