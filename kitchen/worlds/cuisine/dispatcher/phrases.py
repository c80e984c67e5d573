"""A command after its verb: `pot0`, `to the pot 0`, `tuna from storage0`, `(agent=1, location="pot0")`.

Who is commanded has been read before. A name that the level does not have is kept where nothing follows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kitchen.worlds.cuisine.dispatcher.moment import Given
from kitchen.worlds.cuisine.dispatcher.names import Names, agent_of, plain, shown
from kitchen.worlds.cuisine.rules import VERBS

VERB = r"(?:go[ _-]?to|get|put|activate|noop)"
"""A pattern of every verb that there is."""

_KEYS = {
    **dict.fromkeys(("agent", "agentid", "agentname", "robot", "robotid", "seat", "id", "who"), "agent"),
    **dict.fromkeys(("verb", "command", "action", "act", "do", "function", "move", "name"), "verb"),
    **dict.fromkeys(("location", "place", "target", "destination", "where", "tool", "to", "from"), "place"),
    **dict.fromkeys(("item", "object", "ingredient", "what", "food"), "item"),
}
"""What a key says, by the words that models have for it."""
_BEGINS = re.compile(rf"\W{{0,4}}({VERB})(?![A-Za-z0-9])", re.IGNORECASE)
_TOKEN = re.compile(r"[ \t_,|:\"'`*>\u2192-]{0,6}([A-Za-z]{1,40}\d{0,3}|\d{1,3})")
_CALL = re.compile(r"[ \t]{0,2}\(([^()\n\ue001]{0,160})\)")
_FILLERS = frozenset(("the", "a", "an", "to", "at", "from", "in", "into", "on", "onto", "with", "of", "one"))
ENDS = re.compile(r"[ \t.,;:|)\]}\"'`*_]*(?:\n|$|[(#\u2013\u2014\u2192]|//|- )")
MOST_TOKENS = 10


def phrase(seat: int, text: str, names: Names) -> Given | None:
    """The command that a text is which names no agent: `goto pot0`, `goto(pot0)`, `goto_pot0`."""
    match = _BEGINS.match(text)
    if not match:
        return None
    found = after(verb_of(match[1]), seat, text, match.end(), names, sure=True)
    return found[0] if found else None


def after(
    verb: str, seat: int, text: str, at: int, names: Names, *, sure: bool = False
) -> tuple[Given, int] | None:
    """A command whose arguments begin here, and where they end; None if this is no command. A name that the
    level does not have counts where nothing follows it."""
    if not takes(verb):
        return (seat, (verb,)), at
    call = _CALL.match(text, at)
    if call:
        given = of_arguments(verb, call[1], names, seat)
        return (given, call.end()) if given else None
    place, item, end = _names_from(text, at, names)
    if place or (item and verb == "get"):
        return (seat, names.command(verb, place, item)), end
    return _unknown(verb, seat, text, at, sure=sure)


def _names_from(text: str, at: int, names: Names) -> tuple[str, str, int]:
    """Location and item that are named from here on, and where that ends."""
    words: list[tuple[str, int]] = []
    end = at
    while len(words) < MOST_TOKENS and (match := _TOKEN.match(text, end)):
        words.append((match[1], match.end()))
        end = match.end()
    place, item, end = "", "", at
    while words and not (place and item):
        if words[0][0].lower() in _FILLERS:
            words = words[1:]
            continue
        where, what, length = names.begins([word for word, _ in words])
        if not length or (where and place) or (what and item):
            break
        place, item, end = place or where, item or what, words[length - 1][1]
        words = words[length:]
    return place, item, end


def _unknown(verb: str, seat: int, text: str, at: int, *, sure: bool) -> tuple[Given, int] | None:
    """`goto stove`, `goto fridge7`: one name and no more; or none, where the line ends."""
    match = _TOKEN.match(text, at)
    word, end = (match[1], match.end()) if match else ("", at)
    ends = bool(ENDS.match(text, end))
    if ends or sure or word[-1:].isdigit():
        return (seat, (verb, word) if word else (verb,)), end
    return None


def of_arguments(verb: str, inside: str, names: Names, seat: int | None = None) -> Given | None:
    """A call's arguments; with a `seat`, those of a call that may leave the agent out."""
    keyed, parts = _arguments(inside)
    agent = keyed.get("agent", parts[0] if parts else "")
    named = agent_of(agent)
    if seat is None and named is not None and "agent" not in keyed:
        sure = verb in VERBS and (agent.strip()[:1].isalpha() or verb == "noop")
        named = named if sure or len(parts) > 1 else None
    if "agent" not in keyed and named is not None:
        parts = parts[1:]
    who = named if seat is None else seat
    place, item = (*[part for part in parts if shown(part)], "", "")[:2]
    if who is None:
        return None
    return who, names.command(verb, keyed.get("place", place), keyed.get("item", item if place else ""))


def _arguments(inside: str) -> tuple[Mapping[str, str], list[str]]:
    """Those with keys by what they are for, and the others in their order."""
    keyed: dict[str, str] = {}
    parts: list[str] = []
    for part in inside.split(","):
        key, sign, value = part.replace(":", "=", 1).partition("=")
        role = role_of(key) if sign else ""
        written = (value if role else part).strip(" \t\r\n\"'`*")
        if role:
            keyed[role] = written
        else:
            parts.append(written)
    return keyed, parts


def role_of(key: str) -> str:
    """What a key of a keyword argument, an object or a column is for; empty for anything else."""
    return _KEYS.get(plain(key), "")


def begins(text: str) -> bool:
    """Whether it begins with a verb that there is."""
    return bool(_BEGINS.match(text))


def verb_of(written: str) -> str:
    """`go to` is goto."""
    lower = written.lower()
    return "goto" if plain(lower) == "goto" else lower


def takes(verb: str) -> bool:
    """Whether it needs to be told where."""
    return verb not in VERBS or VERBS[verb].most > 0
