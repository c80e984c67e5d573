"""What a consent has to tell of talk: that people write to others, and where their speech goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kitchen.contract.organisation import Organisation
from kitchen.contract.world import WorldError
from kitchen.registry.names import UnknownNameError
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.plan import organisation_planned

WRITING = re.compile(
    r"messag|\bchat|convers|write to|mensaje|escrib\w* a |消息|聊天|对话|写给", re.IGNORECASE
)
"""What a text has that speaks of writing to others, in the languages of the program."""
SPEAKING = re.compile(
    r"speak|speech|spoken|voice|microphone|habl|\bvoz\b|micrófono|语音|说话|麦克风", re.IGNORECASE
)
MAKER = re.compile(
    r"\bmakers?\b|\bservers?\b|google|microsoft|apple|chrome|edge|fabricante|servidor|制造商|服务器|谷歌",
    re.IGNORECASE,
)
"""Likewise, of those to whom a browser may send what it hears."""
OTHER_PEOPLE = re.compile(
    r"\bother (people|participants|persons)\b|\bothers who take part\b"
    r"|\botr[ao]s (personas|participantes|jugador[ae]s)\b|\b(los|las) demás\b"
    r"|(其他|其她|别的|另外)的?(几位|几个|一位|一个)?(人|参与者|参加者|玩家|被试|受试者)|他人|别人",
    re.IGNORECASE,
)
"""Likewise, of others who take part."""


def unsaid(design: Blueprint) -> Iterator[str]:
    """What is not in the consent although people may write or speak in a condition: whole sentences for the
    researcher."""
    if not design.has("consent"):
        return
    text = design.part("consent").text
    talks = [
        (plan.name, made) for plan in design.conditions if (made := _organisation(plan)) and _writes(made)
    ]
    if talks and not WRITING.search(text):
        yield (
            f"People may write to others in {talks[0][0]}, and the consent does not say so: say that "
            "messages are stored word for word, who reads them, and that the company of a language model may "
            "be among those."
        )
    spoken = [name for name, made in talks if made.spoken]
    if spoken and not (SPEAKING.search(text) and MAKER.search(text)):
        yield (
            f"People may speak in {spoken[0]}, and the consent does not say where that goes: the browser "
            "makes text of it, and Chrome and Edge have that done on their makers' servers."
        )


def _organisation(plan: ConditionPlan) -> Organisation | None:
    """None where it cannot be made, too: that is told of the condition."""
    try:
        return organisation_planned(plan)
    except (WorldError, UnknownNameError):
        return None


def _writes(organisation: Organisation) -> bool:
    """Whether a person may say anything to anybody."""
    people = {member.number for member in organisation.members if member.is_person}
    pairs = organisation.writes | organisation.commands
    return any(people & set(pair) for pair in pairs)
