"""Tell what a list of commands is for, by the words around it.

A language model's reply may draft, reject, correct and retract commands before it settles on some. The
phrases of this are in `reply_phrases.toml`: in English, German, Spanish, French and Chinese, and a few in
Japanese, Italian and Portuguese. A list whose heading is not understood counts as PLAIN. If it contradicts
another list, nothing is guessed.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path

NOT_MEANT, LATER, PLAIN, ASKED, FINAL = range(5)
"""Levels of intention, from the weakest to the strongest."""

_PHRASES: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("reply_phrases.toml").read_text("utf-8")
)


def _phrases(table: str, *, unspaced: bool) -> list[str]:
    chosen = (phrases for name, phrases in _PHRASES[table].items() if (name in ("zh", "ja")) == unspaced)
    return [phrase for phrases in chosen for phrase in phrases]


def _pattern(table: str, *, begins: bool = False) -> re.Pattern[str]:
    """Return a pattern of all phrases of a table. Chinese and Japanese have no spaces between words."""
    spaced = _phrases(table, unspaced=False)
    either = "|".join(spaced), "|".join(_phrases(table, unspaced=True))
    if begins:
        return re.compile(rf"{_FILLERS}(?:{either[0]}|{either[1]})")
    return re.compile(rf"(?<![^\W_])(?:{either[0]})(?![^\W_])|{either[1]}")


_FILLERS = r"\W*(?:(?:oh|ah|uh|um|h+m+|well|but|and|so|actually|okay|ok|aber|pero|mais)\b\W*)*"
_RETRACTED, _REPLACED, _REJECTED = map(_pattern, ("retracted", "replaced", "rejected"))
_DOUBTED, _LATER, _ASKED, _FINAL, _ANNOUNCED = map(
    _pattern, ("doubted", "later", "asked", "final", "announced")
)
_INTERJECTED = _pattern("interjected", begins=True)
_DOUBTED_OF, _AFFIRMED = map(_pattern, ("doubted_of", "affirmed"))
_ONLY_NEXT = re.compile(r"(?:next|then|previous|previously|before|siguiente|suivante?|despues|dann)\Z")
_OPTION = (
    r"(?:option|opcion|plan|variante?|choice|list|liste|lista|version|alternativ[ea]|idea|方案|选项|计划)"
)
_OF_OPTIONS = re.compile(rf"{_OPTION} ?(?:number |nr |no )?([a-h1-9一二三]|one|two|three|four)(?![^\W_])")
_CHOOSES = re.compile(
    r"(?P<negated>(?:not|never|n t|don t|won t|cannot|nicht|no|ne|不)(?: \w+)? )?"
    r"(?:choos\w+|chose|pick\w*|go(?:ing)? (?:with|for)|went with|prefer\w*|select\w*|take|taking|use|using"
    r"|decide (?:on|for)|settle (?:on|for)|wahle|nehme|entscheide mich fur|elijo|escojo|prefiero|choisis"
    r"|prends|prefere|选择|采用|选)"
    rf"(?: the| den| die| la| el| l)? ?(?={_OPTION})"
)
_STEP = re.compile(
    r"(?:step|turn|round|schritt|paso|etape|tour|turno) ?(?:number |n )?(\d{1,4})(?!\d)|第 ?(\d{1,4}) ?步"
)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002;])|(?<=[!?])(?=[^\s\W])|\n|(?<=[.!?])\Z")
_CLAUSE_ENDS = re.compile(r"[,;:\u3002\u2013\u2014]|\s-{1,2}\s")
_CONDITIONAL = re.compile(
    r"(?:but |and |only )?(?:if|unless|in case|falls|wenn|sollte|si|en caso|au cas)(?![^\W_])|如果|万一"
)
_OF_ABOVE = re.compile(
    r"(?:and )?(?:not|instead of|rather than|in place of) (?:the |those |that )?(?:\w+ )?"
    r"(?:above|before|earlier)\b"
)
"""Words that reject commands before a heading, not those under it."""
_CROSSED = re.compile(r"[\u274c\u2717\u2718\U0001f6ab\u26d4]")
_AGENTS = re.compile(r"(?:agente?|robot(?:er)?|智能体|机器人|代理|特工)[ _-]?(\d{1,3})", re.IGNORECASE)
_SEVERAL_AGENTS = re.compile(r"(?:agent(?:s|es|en)|robots)\b", re.IGNORECASE)


@lru_cache(maxsize=512)
def plain_words(text: str) -> str:
    """Return the words in lower case, without accents and signs, with one space between them."""
    return re.sub(r"[\W_]+", " ", without_accents(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))).strip()


def without_accents(text: str) -> str:
    """Return the text in lower case and without accents; the German sharp s becomes two letters."""
    parts = unicodedata.normalize("NFKD", text.lower().replace("\u00df", "ss"))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a sentence that has no end is the last one."""
    return [part for part in _SENTENCE_ENDS.split(text) if part and part.strip()]


MAX_EXAMINED = 400
"""Number of characters of a sentence that are examined."""


def is_retraction(sentence: str) -> bool:
    """Return whether the sentence takes back what was said before it."""
    sentence = sentence[:MAX_EXAMINED]
    words = plain_words(sentence)
    if _CONDITIONAL.match(words):
        return False
    return bool(_RETRACTED.search(_without_affirmed(words)) or _INTERJECTED.match(without_accents(sentence)))


def is_doubt(sentence: str) -> bool:
    """Return whether the sentence takes back earlier commands that name one of its places or items. If it
    names none, it takes back all of them."""
    words = plain_words(sentence[:MAX_EXAMINED])
    if _CONDITIONAL.match(words) or "?" in sentence:
        return False
    return bool(_DOUBTED_OF.search(_without_affirmed(words)))


def _without_affirmed(words: str) -> str:
    """Return the words without phrases such as `not wrong`, which take nothing back."""
    return " ".join(_AFFIRMED.sub(" ", words).split())


def is_replacement(sentence: str) -> bool:
    """Return whether commands after this sentence replace the commands before it."""
    return is_retraction(sentence) or bool(_REPLACED.search(plain_words(sentence[:MAX_EXAMINED])))


def named_agents(sentence: str) -> frozenset[int]:
    """Return the numbers of the agents that the sentence names; none if it speaks of several at once."""
    if _SEVERAL_AGENTS.search(sentence):
        return frozenset()
    return frozenset(int(number) for number in _AGENTS.findall(sentence))


def is_crossed_out(line: str) -> bool:
    """Return whether the line has a mark such as a red cross."""
    return bool(_CROSSED.search(line))


def options_in(text: str) -> tuple[str, ...]:
    """Return the options that the text names, such as `a` for `Plan A` or `Option a`."""
    return tuple(_OF_OPTIONS.findall(plain_words(text)))


def chosen_option(said: list[str]) -> str:
    """Return the option that these sentences choose, such as `b`. Return an empty text if none is chosen, or
    if the reply names another one after its choice."""
    chosen = ""
    for sentence in said:
        words = plain_words(sentence[:MAX_EXAMINED])
        for match in _CHOOSES.finditer(words):
            option = _OF_OPTIONS.match(words, match.end())
            if option:
                chosen = (chosen if chosen != option[1] else "") if match["negated"] else option[1]
        if chosen and is_retraction(sentence) and not _CHOOSES.search(words):
            chosen = ""
    return chosen


def heading_rank(heading: str, step: int | None, way: str = "") -> int:
    """Return how likely it is that commands under this heading are meant for the current step: NOT_MEANT,
    LATER, PLAIN, ASKED or FINAL.

    `step` is the current step. `way` is the option that the reply chooses (`chosen_option`); its heading
    gives FINAL. Of several sentences, the last one is the heading.
    """
    last = (sentences(heading) or [""])[-1][:MAX_EXAMINED]
    words = _OF_ABOVE.sub("", plain_words(last))
    options = options_in(last)
    if options and way:
        return FINAL if way in options else NOT_MEANT
    if last.rstrip("*_ ").endswith("?") or is_crossed_out(last):
        return NOT_MEANT
    clauses = [_OF_ABOVE.sub("", plain_words(part)) for part in _CLAUSE_ENDS.split(last)]
    clause = [part for part in clauses if part][-1:] or [""]
    if _is_rejected(words, clause[0]):
        return NOT_MEANT
    numbers = step_numbers(words)
    if step in numbers:
        return ASKED
    if numbers or _LATER.search(words) or _ONLY_NEXT.match(words):
        return LATER
    return FINAL if _FINAL.search(words) else ASKED if _ASKED.search(words) else PLAIN


def step_numbers(words: str) -> list[int]:
    """Return the numbers of the steps that a heading names."""
    return [int(number) for found in _STEP.findall(words) for number in found if number]


def _is_rejected(words: str, last_clause: str) -> bool:
    """Return whether the heading rejects what follows it. Its last clause may announce the right commands."""
    announces = bool(
        _ANNOUNCED.search(last_clause) or _FINAL.search(last_clause) or _ASKED.search(last_clause)
    )
    if _REJECTED.search(last_clause) or (_DOUBTED.search(last_clause) and not announces):
        return not (is_retraction(last_clause) and not _REJECTED.search(last_clause))
    return not announces and bool(_REJECTED.search(words) or _DOUBTED.search(words))


def is_of_other_commands(text: str) -> bool:
    """Return whether words in a sentence beside a command reject it or put it off."""
    words = plain_words(text)
    return "?" in text or bool(_REJECTED.search(words) or _DOUBTED.search(words) or _LATER.search(words))
