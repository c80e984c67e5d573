"""Define agents of the test world Vault, which say their code, listen, dial and turn the crank."""

from __future__ import annotations

import re
from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command
from tests.worlds.vault.world import CRANK, DIAL, STOP, WAIT

MY_CODE = re.compile(r"\bcode is ([1-9])\b")


class Keeper(Agent):
    """An agent that says its code once, in the first step, and dials the code that the next keeper says."""

    kind: ClassVar[str] = "keeper"
    worlds: ClassVar[tuple[str, ...] | None] = ("vault",)
    reads_words: ClassVar[bool] = True
    instant: ClassVar[bool] = True

    async def decide(self, situation: Situation) -> Decision:
        """Dial the code that was heard, and plan to crank. Stop cranking if a message asks for it."""
        (seat,) = situation.seats
        told = bool(situation.memory)
        says = () if told else (MessageDraft(f"My code is {situation.briefs[seat]['code']}."),)
        code = heard(seat, situation.talk.messages)
        command, then = WAIT, list[Command]()
        if any(said.is_new and said.text == "stop" for said in situation.talk.messages) and stops(
            situation, seat
        ):
            command = STOP
        elif code and situation.observations[seat]["dialled"] != int(code):
            command, then = (DIAL, code), [CRANK]
        elif CRANK in situation.legal[seat]:
            command = CRANK
        return Decision({seat: command}, memory=True, says=says, plans={seat: then} if then else {})


def stops(situation: Situation, seat: int) -> bool:
    """Return whether this keeper may give the command to stop, which is legal while it cranks."""
    return STOP in situation.legal[seat]


def heard(seat: int, messages: tuple[TeamMessage, ...]) -> str:
    """Return the code in the next keeper's messages; empty if there is none."""
    codes = [
        found[1]
        for said in messages
        if said.sender == (seat + 1) % 3 and (found := MY_CODE.search(said.text))
    ]
    return codes[-1] if codes else ""
