"""In which languages people can read a study: codes with spaces between, as `Study.languages` has them. The
first is that in which the study's own texts are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.conf import settings

WRITTEN = "en"
"""In which a study's own texts are written where nothing is said."""


def codes(languages: str) -> list[str]:
    """Those that this program speaks; a study from a later one may offer more."""
    known = dict(settings.LANGUAGES)
    return [code for code in languages.split() if code in known] or [WRITTEN]


def named(languages: str) -> list[tuple[str, str]]:
    """By their codes, each in its own words."""
    known = dict(settings.LANGUAGES)
    return [(code, str(known[code])) for code in codes(languages)]


def languages_problem(languages: str) -> str:
    """What is wrong with them; empty if nothing is."""
    asked = languages.split()
    if not asked:
        return "Choose at least one language."
    if unknown := [code for code in asked if code not in dict(settings.LANGUAGES)]:
        return f"{unknown[0]} is not one of {', '.join(dict(settings.LANGUAGES))}."
    return "Each language can be chosen only once." if len(set(asked)) < len(asked) else ""


def best(languages: str, wanted: Iterable[str]) -> str:
    """The one that somebody reads who wants these, the dearest first; the study's own for who reads none."""
    offered = codes(languages)
    return next((code for one in wanted if (code := _among(one, offered))), offered[0])


def _among(wanted: str, offered: Sequence[str]) -> str:
    """The same language, or another kind of it; empty if there is none."""
    wanted = _SAME.get(wanted.lower(), wanted.lower())
    if wanted in offered:
        return wanted
    family = wanted.partition("-")[0]
    return next((code for code in offered if code.partition("-")[0] == family), "")


_SAME = {"zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans"}
"""Other names of a language."""
