"""Commands picked out of what a model answered, wherever it put them (paper, section 4.1, Action Extraction).

How commands may be spelled says `spelled`, which shapes of JSON are read, `objects`; which of them are meant,
`choosing`. What stands in a `<think>` block, closed or not, or is struck out, is not looked at. Any text is
taken; the time is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.dispatcher.choosing import ANYTHING, Asked, Extracted, Said, choose
from kitchen.worlds.cuisine.dispatcher.headings import chosen_way, meaning
from kitchen.worlds.cuisine.dispatcher.names import Names
from kitchen.worlds.cuisine.dispatcher.objects import Listed, commands_in, values
from kitchen.worlds.cuisine.dispatcher.passages import MARK, passages
from kitchen.worlds.cuisine.dispatcher.spelled import TAKEN, Span, alone, find, taken
from kitchen.worlds.cuisine.dispatcher.tables import rows

_THOUGHTS_BEGIN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_PLAINLY = str.maketrans(
    "\uff1a\uff0c\uff1b\uff08\uff09\uff1d\u2010\u2011\u2019\u00a0\u3000\u201c\u201d", ':,;()=--\'  ""'
)
"""Signs of other keyboards, as they are on ours."""
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~")


def extract(text: str, names: Names, asked: Asked = ANYTHING) -> Extracted:
    """The commands in the text that are meant (`choose`), in order. Never raises."""
    said = _without_thoughts(text)
    finds, way = _finds(said, names, asked.seats), chosen_way(said)
    found: list[Said] = []
    for passage, (_, listed) in zip(passages(_marked(said, finds)), finds, strict=True):
        for heading, given in listed:
            meant = meaning(f"{passage.words} / {heading}", asked.step, way)
            found.append(Said(given, (passage.number, heading, meant), passage.is_list, meant))
    return choose(found, asked.seats)


def extract_call(call: Mapping[str, Json], names: Names, asked: Asked = ANYTHING) -> Extracted:
    """The same of a structured reply. A provider may not keep to the schema: commands that are spelled are
    read too, and what is no command at all is passed over. Never raises."""
    found: list[Said] = []
    for heading, given in commands_in(call, names):
        meant = meaning(heading, asked.step)
        found.append(Said(given, (0, heading, meant), is_list=True, meant=meant))
    return choose(found, asked.seats)


def _without_thoughts(text: str) -> str:
    """The text without the model's thoughts, with markdown's escapes undone. Thoughts that were cut off go on
    to the end."""
    after = _THOUGHTS_END.split(text)[-1]
    said = _THOUGHTS_BEGIN.split(after)[0].replace("\\_", "_").translate(_PLAINLY)
    return _STRUCK_OUT.sub(" ", said).replace(MARK, " ").replace(TAKEN, " ")


def _finds(said: str, names: Names, seats: Sequence[int]) -> list[tuple[Span, Sequence[Listed]]]:
    """All commands with the places where they stand, in order; those of one JSON value have one place. Where
    one agent alone is asked for, it need not be named."""
    held = values(said, names)
    rest = taken(said, [each.span for each in held])
    finds: list[tuple[Span, Sequence[Listed]]] = [(each.span, each.listed) for each in held if each.listed]
    for reader in (rows, find):
        spelled = list(reader(rest, names))
        rest = taken(rest, [each.span for each in spelled])
        finds += [(each.span, (Listed("", each.given),)) for each in spelled]
    if not finds and len(seats) == 1:
        finds = [(each.span, (Listed("", each.given),)) for each in alone(seats[0], rest, names)]
    return sorted(finds, key=lambda each: each[0])


def _marked(said: str, finds: Iterable[tuple[Span, Sequence[Listed]]]) -> str:
    parts, at = [], 0
    for (begin, end), _ in finds:
        parts += [said[at:begin], MARK]
        at = end
    return "".join([*parts, said[at:]])
