"""Write the forms of English and Spanish verbs, so that data files list infinitives only.

Each form is of one kind: `BASE` (an infinitive; in English also an order), `ORDERED` (a Spanish order, *you*
or *it*), `OWN` (*I*), `GOING` (*-ing*), `PAST`, or `TOLD` (a Spanish past form that is no participle).
"""

from __future__ import annotations

from collections.abc import Iterator

BASE, ORDERED, OWN, GOING, PAST, TOLD = "base", "ordered", "own", "going", "past", "told"
VOWELS = "aeiou"
Form = tuple[str, str]
"""A written form, and its kind."""

SPANISH_STEM_ENDINGS = {
    "ar": "amos ad á ás arías arías aría arían aras aran ás",
    "er": "emos ed é és erías ería erían ieras ieran",
    "ir": "imos id í ís irías iría irían ieras ieran",
}
"""Endings of forms that keep the stem of the infinitive."""
SPANISH_CHANGED_ENDINGS = {"ar": "a as an", "er": "e es en", "ir": "e es en"}
SPANISH_WISH_ENDINGS = {"ar": "e es en emos", "er": "a as an amos", "ir": "a as an amos"}
"""Endings of forms with the changed stem, and of those for polite orders and after *que*."""
SPANISH_GOING = {"ar": "ando", "er": "iendo", "ir": "iendo"}
SPANISH_PAST = {"ar": "ado ada ados adas", "er": "ido ida idos idas", "ir": "ido ida idos idas"}
SPANISH_TOLD = {"ar": "é aste ó aron", "er": "í iste ió ieron", "ir": "í iste ió ieron"}


def english_forms(verb: str) -> Iterator[Form]:
    """Yield the forms of an English verb. Words after its first one stay: `pick up`, `picks up`. Irregular
    past forms follow after plus signs: `take+took+taken`."""
    whole, *past = verb.split("+")
    first, _, rest = whole.partition(" ")
    end = f" {rest}" if rest else ""
    yield f"{first}{end}", BASE
    yield f"{_with_s(first)}{end}", BASE
    for stem in _english_stems(first):
        yield f"{stem}ing{end}", GOING
        if not past:
            yield f"{stem}ed{end}", PAST
    yield from ((f"{one}{end}", PAST) for one in past if one != first)


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2] not in VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{word}s"


def _english_stems(word: str) -> Iterator[str]:
    """Yield the stems before *-ing* and *-ed*, with and without a doubled last letter."""
    if word.endswith("e"):
        yield word[:-1]
        return
    yield word
    if word.endswith("y") and word[-2] not in VOWELS:
        yield f"{word[:-1]}i"
    elif word[-1] not in "wxy" and word[-2:-1] in tuple(VOWELS):
        yield word + word[-1]


def spanish_forms(verb: str) -> Iterator[Form]:
    """Yield the forms of a Spanish verb, without appended pronouns.

    The stem that changes in *yo sirvo*, and its spelling before *e*, follow after tildes: `servir~sirv`,
    `picar~pic~piqu`. `ir por:ve por vayan por` lists all forms of an irregular verb.
    """
    whole, _, listed = verb.partition(":")
    if listed:
        yield from _listed_forms(whole, listed)
        return
    infinitive, *stems = whole.split("~")
    stem, kind = infinitive[:-2], infinitive[-2:].replace("í", "i")
    changed = stems[0] if stems else stem
    wished = stems[1] if len(stems) > 1 else changed
    orders = [changed + end for end in SPANISH_CHANGED_ENDINGS[kind].split()]
    orders += [wished + end for end in SPANISH_WISH_ENDINGS[kind].split()]
    orders += [stem + end for end in SPANISH_STEM_ENDINGS[kind].split()]
    going = [f"{stem}{SPANISH_GOING[kind]}", f"{changed}{SPANISH_GOING[kind]}"]
    yield from ((one, ORDERED) for one in orders)
    yield infinitive, BASE
    yield from ((one, GOING) for one in going)
    yield from ((one, OWN) for one in (f"{changed}o", f"{infinitive}é"))
    yield from ((stem + end, PAST) for end in SPANISH_PAST[kind].split())
    yield from ((stem + end, TOLD) for end in SPANISH_TOLD[kind].split())
    yield f"{wished}é" if kind == "ar" else f"{changed}ió", TOLD


def _listed_forms(infinitive: str, listed: str) -> Iterator[Form]:
    """Yield the listed forms. A verb of several words has them with all their words."""
    words = len(infinitive.split())
    parts = listed.split()
    forms = [" ".join(parts[at : at + words]) for at in range(0, len(parts), words)]
    yield from ((one, ORDERED) for one in forms)
    yield infinitive, BASE
