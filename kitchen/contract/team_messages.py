"""Define the messages between members of an episode, and check whether a member may send a given message.

A message is only shown as text: the platform itself never obeys it. Words that a study forbids are masked. In
an organisation of the kind `pairwise`, each member talks with one partner at a time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kitchen.contract.organisation import END, MESSAGE_KINDS, SAY, SYSTEM, TALK_KINDS, Organisation
from kitchen.contract.organisation_settings import NEVER
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import gettext_noop
from kitchen.words.look_alike_letters import BLANKS, LOOK_ALIKES

MAX_PERSON_CHARACTERS = 500
"""Maximum length of a person's message."""
MESSAGE_TOO_LONG = gettext_noop(
    "Your message was not sent: a message has at most 500 characters. Shorten it, and send it again."
)
MAX_AGENT_CHARACTERS = 2000
"""Maximum length of an agent's message."""


REQUESTS_KEY = "requests"
"""Key of a message's data for commands that the addressees should give, as lists of words: each among the
commands that their seats can plan (`World.plannable`)."""
PLAN_KEY = "plan"
"""Key of a message's data for the commands that its sender will give, as lists of words."""
CODE_KEY = "code"
"""Key of a message's data for the code of a sentence that pages translate (`Page.translated_message`)."""
ONLY_JOBS = "only_jobs"
"""The `code` of an answer from a member that reads no messages and only does jobs with an aim."""


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message that somebody wants to send."""

    text: str
    kind: str = SAY
    """One of `kitchen.contract.organisation.MESSAGE_KINDS`."""
    to: tuple[int, ...] = ()
    """Numbers of the addressees; empty: all to whom the sender may send such a message."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """JSON data of the kind: `job` is the number of the message that gave the job."""


@dataclass(frozen=True, slots=True)
class TeamMessage:
    """A message that was sent, in the form that its sender and addressees get."""

    number: int
    """Number in the episode, from 1."""
    step: int
    """The step that was open; the first is 1."""
    sender: int | None
    """The number of a member; None for the platform."""
    to: tuple[int, ...]
    """Numbers of all addressees."""
    kind: str
    text: str
    data: Mapping[str, Json] = field(default_factory=dict)
    is_new: bool = False
    """True if it is newer than what this agent knew at its last decision."""


def message_refusal(organisation: Organisation, sender: int, say: MessageDraft, *, sent: int) -> str:
    """Return a code for why this member may not send this message. Return an empty text if the member may.

    The codes are `not_allowed`, `empty`, `too_long` and `too_many`. `sent` is the number of messages that the
    member has already sent in this step.
    """
    if sender not in organisation.numbers or say.kind not in MESSAGE_KINDS:
        return "not_allowed"
    if not message_recipients(organisation, sender, say):
        return "not_allowed"
    if not (say.text.strip() or say.data or say.kind == END):
        return "empty"
    if len(say.text) > max_message_length(organisation, sender):
        return "too_long"
    return "too_many" if sent >= organisation.messages_a_step else ""


def is_unasked(
    organisation: Organisation, sender: int, say: MessageDraft, posted: Iterable[TeamMessage], step: int
) -> bool:
    """Return whether an agent may not send this message now because nobody asked for it
    (`Organisation.unasked`).

    `posted` are the messages of the episode so far, and `step` is the present one. Somebody asks for a
    message by writing to the agent. One answer is then allowed. What an agent answers asks for nothing.
    """
    if (
        not organisation.unasked
        or say.kind not in TALK_KINDS - {END}
        or organisation.member(sender).is_person
    ):
        return False
    last, asked = 0, set[int]()
    for said in posted:
        if said.kind not in TALK_KINDS or said.sender is None:
            continue
        is_answer = said.sender in asked
        asked.discard(said.sender)
        if said.sender == sender:
            last = said.step
        if said.kind != END and (organisation.member(said.sender).is_person or not is_answer):
            asked |= {*said.to}
    if sender in asked:
        return False
    return organisation.unasked == NEVER or (last > 0 and step - last < int(organisation.unasked))


def message_recipients(organisation: Organisation, sender: int, say: MessageDraft) -> tuple[int, ...]:
    """Return the numbers of the addressees that the message names. If it names none, return all possible
    addressees. Empty if the sender may not write to one of the named addressees."""
    may = organisation.to(sender, say.kind)
    return tuple(sorted(set(say.to or may))) if set(say.to) <= set(may) else ()


def message_content(text: str, data: Mapping[str, Json]) -> tuple[str, Json]:
    """Return the text in lower case without spaces, and the requested commands. Two messages for which both
    are equal have the same content."""
    return "".join(text.split()).casefold(), data.get(REQUESTS_KEY)


def commands_in(data: Mapping[str, Json], key: str) -> list[Command]:
    """Return the commands under this key of a message's data, such as `REQUESTS_KEY`. Entries that are not
    lists of words are left out."""
    given = data.get(key)
    if not isinstance(given, list | tuple):
        return []
    words = (one for one in given if isinstance(one, list | tuple) and one)
    return [tuple(one) for one in words if all(isinstance(word, str) for word in one)]


def max_message_length(organisation: Organisation, sender: int) -> int:
    """Return the maximum number of characters of a message from this member."""
    return MAX_PERSON_CHARACTERS if organisation.member(sender).is_person else MAX_AGENT_CHARACTERS


MASK = "***"


def mask_blocked_words(text: str, blocked: Sequence[str]) -> str:
    """Return the text with each blocked word or phrase replaced by `MASK`.

    Case, accents of Latin letters, invisible characters, letters that look alike (`plain_letters`) and the
    amount of space between the words of a phrase do not matter. Other spellings are not found: letters with
    dots or spaces between them, and digits or signs in place of letters. Entries without any visible
    character are ignored.
    """
    if (pattern := _pattern(tuple(blocked))) is None:
        return text
    plain, places = plain_letters(text)
    shown, end = "", 0
    for found in pattern.finditer(plain):
        shown += text[end : places[found.start()]] + MASK
        end = places[found.end()] if found.end() < len(places) else len(text)
    return shown + text[end:]


@lru_cache(maxsize=64)
def _pattern(blocked: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return the regular expression of the blocked words; None if nothing is blocked."""
    words = [words for one in blocked if (words := plain_letters(one)[0].translate(_NO_GAPS).split())]
    words.sort(key=lambda one: -len("".join(one)))
    alone = (_alone(rf"[\s{INVISIBLE}{BLANK}]+".join(map(_with_gaps, one))) for one in words)
    return re.compile("|".join(alone)) if words else None


def _with_gaps(word: str) -> str:
    """Return the regular expression of a word that may have invisible characters between its letters."""
    return f"[{INVISIBLE}{BLANK}]?".join(map(re.escape, word))


INVISIBLE, BLANK = "\u200b", "\u2800"
"""The characters of plain text that stand for any number of invisible characters, and for one or more blank
characters (`BLANKS`), perhaps with invisible ones."""
_NO_GAPS = str.maketrans("", "", INVISIBLE + BLANK)
TILDE = "\u0303"
"""The mark that makes an n a letter of its own: Spanish “ano” and “año” are different words."""


def plain_letters(text: str) -> tuple[str, list[int]]:
    """Return the text in small letters without accents of Latin letters, with Latin letters in place of
    full-width and similar ones. Invisible and blank characters in a row become one, `INVISIBLE` or `BLANK`.

    Marks of other scripts stay, because they make other letters. The second value is the place in `text` of
    each character.
    """
    plain, places = [""], [0]
    for found in _LETTER.finditer(text):
        kept, gap = _letter_and_gap(found[0])
        for letter in kept:
            plain.append(letter.translate(LOOK_ALIKES))
            places.append(found.start())
        if gap and plain[-1] in (INVISIBLE, BLANK):
            plain[-1], places[-1] = BLANK if BLANK in (plain[-1], gap) else INVISIBLE, found.end()
        elif gap:
            plain.append(gap)
            places.append(found.end())
    return "".join(plain), places[1:]


def _letter_and_gap(found: str) -> tuple[str, str]:
    """Return the small letter that begins `found`, with the marks that count, and what is behind it:
    `INVISIBLE`, `BLANK`, or an empty text."""
    kept, base, gap = "", "", ""
    for letter in unicodedata.normalize("NFKD", found).casefold():
        category = unicodedata.category(letter)
        if letter in BLANKS:
            gap = BLANK
        elif category == "Cf":
            gap = gap or INVISIBLE
        elif category not in {"Mn", "Me"}:
            kept, base = kept + letter, letter
        elif category == "Mn" and _is_part_of_letter(base, letter):
            kept += letter
    return unicodedata.normalize("NFC", kept), gap


def _is_part_of_letter(base: str, mark: str) -> bool:
    if not base.isalpha() or "LATIN" in unicodedata.name(base, ""):
        return (base, mark) == ("n", TILDE)
    return True


_MARKS = "".join(one for one in map(chr, range(0x300, 0x3100)) if unicodedata.category(one).startswith("M"))
_LETTER = re.compile(rf"(?s:.)[{_MARKS}\u1160-\u11ff\u200b-\u200d\u2060\ufeff\ufe0f]*")
"""One character with the marks, Korean vowels and final consonants, and invisible characters behind it."""


def _alone(pattern: str) -> str:
    """Return a regular expression that matches `pattern` only as a whole word. In scripts without spaces
    between words, it matches anywhere."""
    if re.search(r"[\u2e80-\u9fff\uac00-\ud7af]", pattern):
        return pattern
    letter = rf"[\w{_MARKS}]"
    return rf"(?<!{letter})(?<!{letter}{INVISIBLE}){pattern}(?!{INVISIBLE}?{letter})"


BUSY, TALKING, CHOOSE_ONE = "busy", "talking", "choose_one"
"""The reasons why a message is not sent: the addressee or the sender is already in a conversation, or the
sender did not name exactly one addressee."""
GONE = "gone"
"""The `code` of the platform's message that a `member` was replaced, which ends their conversation."""


def conversation_partners(
    organisation: Organisation, messages: Iterable[TeamMessage], step: int
) -> dict[int, int]:
    """Return the conversation partner of each member who is in a conversation in this step, by member
    number."""
    talking: dict[int, int] = {}
    last: dict[frozenset[int], int] = {}
    for message in messages:
        if message.kind == SYSTEM and message.data.get("code") == GONE:
            _leave(talking, message.data["member"])
        if message.kind not in TALK_KINDS or message.sender is None:
            continue
        _leave(talking, message.sender)
        if message.kind != END:
            _leave(talking, message.to[0])
            talking |= {message.sender: message.to[0], message.to[0]: message.sender}
            last[frozenset((message.sender, message.to[0]))] = message.step
    since = step - organisation.silence
    return {one: other for one, other in talking.items() if last[frozenset((one, other))] > since}


def _leave(talking: dict[int, int], member: int) -> None:
    other = talking.pop(member, None)
    if other is not None:
        talking.pop(other, None)


def address_to_partner(say: MessageDraft, sender: int, talking: Mapping[int, int]) -> MessageDraft:
    """Return the message, addressed to the sender's conversation partner if it names no addressee. Without
    a partner, return the message unchanged. `talking` maps members to their partners."""
    return replace(say, to=(talking[sender],)) if not say.to and sender in talking else say


def conversation_refusal(say: MessageDraft, sender: int, talking: Mapping[int, int]) -> str:
    """Return a code for why the sender may not send this message now. Return an empty text if the sender may.

    `talking` maps members to their conversation partners. The codes are:

    - `busy`: the addressee talks with another member.
    - `talking`: the sender talks with another member.
    - `choose_one`: the message does not name exactly one addressee.
    - `not_allowed`: the message ends a conversation that has not begun.
    """
    if len(set(say.to)) != 1:
        return "not_allowed" if say.kind == END else CHOOSE_ONE
    if talking.get(sender) == say.to[0]:
        return ""
    if say.kind == END:
        return "not_allowed"
    if sender in talking:
        return TALKING
    return BUSY if say.to[0] in talking else ""
