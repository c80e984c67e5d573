"""Define `ReadinessProblem`: one thing about a study's design that is missing or to be considered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadinessProblem:
    """One problem of a study's design, described in `words`.

    `page` is the URL name of the page on which the researcher can solve it. `args` are the URL arguments
    after the slug. If `hinders` is True, the study must not take participants before the problem is
    solved. `field` is the name of the form field on that page, or empty.
    """

    words: str
    page: str
    args: tuple[str | int, ...] = ()
    hinders: bool = True
    field: str = ""


def advice(words: str, page: str, *args: str | int, field: str = "") -> ReadinessProblem:
    """Return a problem that does not prevent the study from taking participants. `words` is its text, and
    `page` the page where the researcher can solve it, in `field`."""
    return ReadinessProblem(words, page, args, hinders=False, field=field)
