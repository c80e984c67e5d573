"""What the log tells about one decision of the dispatcher, as JSON, besides the calls themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.dispatcher.moment import Given
from kitchen.worlds.cuisine.dispatcher.prompt import demonstration_of
from kitchen.worlds.cuisine.dispatcher.spelling import spell
from kitchen.worlds.cuisine.dispatcher.talk import Answered, Talk


def note_answer(talk: Talk, answer: Answered, told: Sequence[str]) -> Json:
    """The commands as they were read, what of them could not be, and what was told before."""
    return {
        **_setting(talk),
        "feedback": list(told),
        "extracted": spelled(answer.given),
        "carried_on": spelled(answer.verdict.commands),
        "faults": [fault.to_json() for fault in answer.verdict.faults],
        "mended": [fault.to_json() for fault in answer.mended],
        **({"withheld": talk.line} if talk.withheld else {}),
    }


def note_fallback(talk: Talk, by: str, told: Sequence[str]) -> Json:
    """Why there was no answer, and who commanded instead."""
    call = talk.calls[-1]
    why = {"by": by, "code": call.error, "text": call.error_text}
    return {**_setting(talk), "feedback": list(told), "fallback": why}


def spelled(given: Iterable[Given]) -> list[str]:
    """Commands as the model writes them."""
    return [spell(seat, command) for seat, command in given]


def _setting(talk: Talk) -> dict[str, Json]:
    """What was asked and how, as far as it is not plain from the settings: defaults that were filled in."""
    shown = demonstration_of(talk.moment, talk.options)
    return {
        "provider": talk.door.provider,
        "model": talk.door.model,
        "stand_in": talk.door.is_stand_in,
        "temperature": talk.door.temperature,
        "effort": talk.options.effort,
        "reply": talk.options.reply,
        "memory_messages": talk.remembered + 1,
        "demonstration": {"dish": shown.dish, "agents": shown.team.agents} if shown else None,
        **({"asked": len(talk.moment.team.asked)} if talk.moment.team.settled else {}),
    }
