"""Infinitives get the forms in which people write them."""

from __future__ import annotations

import pytest

from kitchen.agents.plain_sentences.verb_forms import (
    BASE,
    GOING,
    ORDERED,
    OWN,
    PAST,
    TOLD,
    english_forms,
    spanish_forms,
)


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("chop", {"chop": BASE, "chops": BASE, "chopping": GOING, "chopped": PAST}),
        ("fry", {"fries": BASE, "frying": GOING, "fried": PAST}),
        ("pick up", {"picks up": BASE, "picked up": PAST}),
        ("take+took+taken", {"taking": GOING, "took": PAST, "taken": PAST}),
        ("cut+cut", {"cut": BASE, "cutting": GOING}),
    ],
)
def test_english_verbs_are_inflected(verb: str, forms: dict[str, str]) -> None:
    made = dict(reversed(list(english_forms(verb))))
    assert {form: made.get(form) for form in forms} == forms


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("cortar", {"corta": ORDERED, "cortas": ORDERED, "corte": ORDERED, "cortar": BASE, "corto": OWN}),
        ("cortar", {"cortando": GOING, "corté": TOLD, "cortado": PAST, "cortaré": OWN}),
        ("servir~sirv", {"sirve": ORDERED, "sirvan": ORDERED, "sirvo": OWN, "sirviendo": GOING}),
        ("picar~pic~piqu", {"pica": ORDERED, "pique": ORDERED, "piqué": TOLD}),
        ("ir por:ve por vayan por", {"ve por": ORDERED, "vayan por": ORDERED, "ir por": BASE}),
    ],
)
def test_spanish_verbs_are_inflected(verb: str, forms: dict[str, str]) -> None:
    made = dict(reversed(list(spanish_forms(verb))))
    assert {form: made.get(form) for form in forms} == forms
