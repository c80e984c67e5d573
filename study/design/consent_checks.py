"""Find statements that a study's consent text lacks, and false statements in any text of the study.

If a study has other players, written messages, language models or speech services, the consent must mention
them. It must also mention device data that are stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kitchen.contract.organisation import Organisation, Pair
from kitchen.contract.world_errors import WorldError
from kitchen.llm.provider_registry import STAND_IN
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.words.english_text import and_list
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_seats import all_minds, is_shared, mind_plans, planned_organisation, seats_of
from study.design.parts_other_than_rounds import PARTS

WRITING = re.compile(
    r"messag|\bchat|convers|write to|mensaje|escrib\w* a |消息|聊天|对话|写给", re.IGNORECASE
)
"""Matches a text that mentions writing to others, in the languages of the program."""
SPEAKING = re.compile(
    r"speak|speech|spoken|voice|microphone|habl|\bvoz\b|micrófono|语音|说话|麦克风", re.IGNORECASE
)
MAKER = re.compile(
    r"\bmakers?\b|\bservers?\b|google|microsoft|apple|chrome|edge|fabricante|servidor|制造商|服务器|谷歌",
    re.IGNORECASE,
)
"""Matches a text that mentions the companies to which a browser may send recorded speech."""
OTHER_PEOPLE = re.compile(
    r"\bother (people|participants|persons)\b|\bothers who take part\b"
    r"|\botr[ao]s (personas|participantes|jugador[ae]s)\b|\b(los|las) demás\b"
    r"|(其他|其她|别的|另外)的?(几位|几个|一位|一个)?(人|参与者|参加者|玩家|被试|受试者)|他人|别人",
    re.IGNORECASE,
)
"""Matches a text that mentions other participants."""
NOBODY_ELSE = re.compile(
    r"\bno other (person|people|participant|player)|\b(nobody|no one) else (plays|takes part)"
    r"|\bning[uú]n[ao]? otr[ao]|\bno hay otr[ao]s|\bnadie más\b|没有(其他|其她|别的)",
    re.IGNORECASE,
)
"""Matches a text that says that nobody else takes part."""
ALL_PROGRAMS = re.compile(
    r"\b(all|each|every one) (of )?(your|the) (other )?[\w-]+\b"
    r"[^.;]{0,20}"
    r"(computer-controlled|programs|controlled by a (computer|program))"
    r"|todo tu equipo está controlado por|所有队友都由(计算机|电脑|程序)",
    re.IGNORECASE,
)
"""Matches a text that says that all others are programs."""
MODEL = re.compile(
    r"language models?|\bLLMs?\b|\bA\.?I\.?\b|artificial|modelos? de lenguaje|\bIA\b"
    r"|语言模型|大模型|人工智能",
    re.IGNORECASE,
)
"""Matches a text that mentions language models."""
NO_MODEL = re.compile(
    r"\bno\s+(language\s+model|LLM|A\.?I\.?)s?\b|\bning[uú]n\s+modelo\s+de\s+lenguaje"
    r"|(没有|不会|不)(询问|使用)(任何)?(语言模型|大模型|人工智能)",
    re.IGNORECASE,
)
"""Matches a text that says that no language model is used."""

RECORDING = re.compile(r"\brecord|microphone|\bgrab|micrófono|录音|麦克风", re.IGNORECASE)
"""Matches a text that mentions a recording."""
DEVICE = re.compile(r"\bdevice|dispositivo|设备", re.IGNORECASE)
"""Matches a text that mentions the participant's device."""
NO_DEVICE = re.compile(
    r"nothing about your (computer|device|browser)"
    r"|nada sobre (tu|su) (computador|ordenador|dispositivo|navegador)"
    r"|不保存任何关于(你|您)的?(电脑|设备|浏览器)",
    re.IGNORECASE,
)
"""Matches a text that says that nothing about the device is stored."""


def false_statements(design: Blueprint) -> Iterator[tuple[str, str]]:
    """Yield (kind of part, sentence for the researcher) for each text that tells participants something
    false.

    If several people play, no text may say that there are no other people, or only programs. If a language
    model is used, no text may say that none is.
    """
    together, asking = _names_with_several_people(design), _names_with_models(design)
    for pattern, conditions, words in (
        (NOBODY_ELSE, together, "says that nobody else plays; several people do in"),
        (ALL_PROGRAMS, together, "says that all others are programs; people are among them in"),
        (NO_MODEL, asking, "says that no language model is asked; one is in"),
    ):
        for kind in _parts_matching(pattern, design) if conditions else ():
            yield kind, f"{PARTS[kind].words.capitalize()} {words} {and_list(conditions)}."


def _parts_matching(what: re.Pattern[str], design: Blueprint) -> list[str]:
    """Return the kinds of the enabled parts (such as `guide`) whose text matches the pattern `what`."""
    return [part.kind for part in design.parts if part.enabled and what.search(part.text)]


def missing_statements(design: Blueprint) -> Iterator[str]:
    """Yield a sentence for the researcher for each statement that the consent lacks.

    The checks cover these subjects: data stored on the device, other people, written messages, language
    models that read such messages, and speech.
    """
    if not design.has("consent"):
        return
    text = design.part("consent").text
    if design.meant("keeps_devices") and (NO_DEVICE.search(text) or not DEVICE.search(text)):
        yield (
            "Device, window and times away are stored for each page, but the consent does not say so, "
            "or says that nothing is stored. State that you store the device, the browser and the "
            "window size of each page, and how often it was hidden."
        )
    if design.meant("think_aloud") and not RECORDING.search(text):
        yield (
            "What people say is recorded while they play, but the consent does not say so. State that you "
            "record sound, who hears it, and when it is erased."
        )
    together = _names_with_several_people(design)
    if together and (NOBODY_ELSE.search(text) or not OTHER_PEOPLE.search(text)):
        yield (
            "The consent does not say that other participants see what somebody does and writes: several "
            f"people play in {and_list(together)}."
        )
    writes_in_practice = design.has("practice") and design.part("practice").settings.get("talks")
    plans = (*design.conditions, *((design.practice,) if writes_in_practice else ()))
    talks = [(plan, made) for plan in plans if (made := _organisation(plan)) and _people_write(made)]
    if talks and not WRITING.search(text):
        yield (
            f"People may write to others in {_names(talks)}, but the consent does not say so: state "
            "that messages are stored word for word and who reads them, possibly including the "
            "company of a language model."
        )
    read = [(plan, made) for plan, made in talks if _model_reads(plan, made)]
    if read and not MODEL.search(text):
        yield (
            f"A language model reads what people write in {_names(read)}, but the consent does not say "
            "so: name the company that runs it."
        )
    spoken = [(plan, made) for plan, made in talks if made.spoken]
    if spoken and not (SPEAKING.search(text) and MAKER.search(text)):
        yield (
            f"People may speak in {_names(spoken)}, but the consent does not say where their speech "
            "goes: the browser turns it into text, and Chrome and Edge do this on their makers' "
            "servers."
        )


def _names_with_several_people(design: Blueprint) -> list[str]:
    """Return the names of the conditions in which several people play."""
    return [plan.name for plan in design.conditions if _organisation(plan) and is_shared(plan)]


def _names_with_models(design: Blueprint) -> list[str]:
    """Return the names of the conditions that use a language model. The stand-in (an imitation of a
    language model) does not count."""
    return [plan.name for plan in design.conditions if {*_providers(plan)} - {"", STAND_IN}]


def _providers(plan: ConditionPlan) -> list[str]:
    """Return the model providers of all co-players and of the agents that may replace people. Return an
    empty list if the agents cannot be made."""
    try:
        return [mind.model().partition(":")[0] for _, mind in all_minds(plan)]
    except (WorldError, UnknownNameError):
        return []


def _names(found: Sequence[tuple[ConditionPlan, Organisation]]) -> str:
    return and_list([plan.name for plan, _ in found])


def _model_reads(plan: ConditionPlan, organisation: Organisation) -> bool:
    """Return whether a person may write to a co-player that uses a language model."""
    minds, lead = mind_plans(plan), seats_of(plan)
    asking = {min(mind.seats, default=lead) for mind in minds if get_agent(mind.kind).names_model}
    return any(one in _people(organisation) and other in asking for one, other in _pairs(organisation))


def _people(organisation: Organisation) -> set[int]:
    return {member.number for member in organisation.members if member.is_person}


def _pairs(organisation: Organisation) -> frozenset[Pair]:
    return organisation.writes | organisation.commands


def _organisation(plan: ConditionPlan) -> Organisation | None:
    """Return the condition's organisation, or None if there is none or it cannot be made.

    Another check reports an organisation that cannot be made.
    """
    try:
        return planned_organisation(plan)
    except (WorldError, UnknownNameError):
        return None


def _people_write(organisation: Organisation) -> bool:
    """Return True if people may exchange messages in this team: a person may write to somebody, or somebody
    may write to a person."""
    return any(_people(organisation) & set(pair) for pair in _pairs(organisation))
