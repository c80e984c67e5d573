"""Let a message take its sender's step, where the condition says that talk has a cost.

The setting `takes_step` of the organisation applies to agents, with or without a model. In a step in which an
agent sends a message, its seats do nothing else, unless they go on with an action or a plan. CoELA (arXiv
2307.02485) lets agents weigh a message against an action in the same way.
"""

from __future__ import annotations

from dataclasses import replace

from kitchen.contract.agent import Decision, Situation, add_to_note
from kitchen.contract.organisation import END, TALK_KINDS, Organisation
from kitchen.contract.team_messages import is_unasked, message_refusal

TOOK_STEP_KEY = "talk_took_step"
"""Key of a decision's note: the commands that were dropped for a message, by seat."""


def charge_talk(situation: Situation, decision: Decision) -> Decision:
    """Return the decision without commands, plans and intents if it sends a message that takes its sender's
    step. The note then has the dropped commands. Otherwise return the decision itself."""
    organisation = situation.talk.organisation
    if organisation is None or not organisation.takes_step or not _sends(organisation, situation, decision):
        return decision
    dropped = {str(seat): list(command) for seat, command in decision.commands.items()}
    note = add_to_note(decision.note, TOOK_STEP_KEY, dropped) if dropped else decision.note
    return replace(decision, commands={}, plans={}, intents={}, note=note)


def _sends(organisation: Organisation, situation: Situation, decision: Decision) -> bool:
    """Return whether one of the decision's messages will be sent. Jobs and reports on them are no talk."""
    member, step = situation.talk.member, situation.step + 1
    sent = sum(one.step == step and one.sender == member for one in situation.talk.messages)
    return any(
        say.kind in TALK_KINDS - {END}
        and not message_refusal(organisation, member, say, sent=sent)
        and not is_unasked(organisation, member, say, situation.talk.messages, step)
        for say in decision.says
    )
