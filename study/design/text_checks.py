"""Find problems of the texts of a study's parts, pages and ends: words in braces, and media files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from study.design.blueprint import Blueprint, PartPlan
from study.design.media.media_plans import SCHEME, media_problem
from study.design.models import Study
from study.design.own_pages import known_names
from study.design.page_and_item_order import WELCOME
from study.design.parts_other_than_rounds import PARTS
from study.design.piped_words import translation_problem
from study.design.readiness_problem import ReadinessProblem
from study.design.translations import Texts, language_codes, language_name

FILLED_PARTS = frozenset({"about", "guide", "check", "final", "debriefing", "end"})
"""Parts whose text can contain the participant's answers and results."""


def text_problems(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    """Yield the problems of the texts of parts, in every language, and of all texts that show media."""
    for part in design.parts:
        if part.enabled:
            for words in _part_errors(part, design):
                yield ReadinessProblem(
                    f"{PARTS[part.kind].words.capitalize()}: {words}", "part", (part.kind,)
                )
    yield from _media_problems(study, design)


def _part_errors(part: PartPlan, design: Blueprint) -> Iterator[str]:
    """Yield a sentence for each language whose translation of the part's text cannot be filled."""
    if part.kind not in FILLED_PARTS:
        return
    for language, translation in _translations(design, f"parts.{part.kind}.text"):
        if words := translation_problem(part.text, translation, known_names(design, part.kind)):
            yield f"its translation ({language_name(language)}): {words}"


def translation_errors(design: Blueprint, translated: Texts) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for each translation of a part's or a page's text that cannot be filled.
    `translated` has translations by path; an empty one is none."""
    texts = {
        f"parts.{one.kind}.text": (one.text, one.kind, "") for one in design.parts if one.kind in FILLED_PARTS
    }
    texts |= {f"pages.{one.key}.text": (one.text, one.before, one.page) for one in design.pages}
    for path, (text, place, page) in texts.items():
        if words := translation_problem(text, translated.get(path, ""), known_names(design, place, page)):
            yield path, words


def _translations(design: Blueprint, path: str) -> Iterator[tuple[str, str]]:
    """Yield (language, translation) of the text at this path."""
    for language in language_codes(design.study.get("languages", ""))[1:]:
        if translation := design.study.get("texts", {}).get(language, {}).get(path, ""):
            yield language, translation


def _media_problems(study: Study, design: Blueprint) -> Iterator[ReadinessProblem]:
    media = {one.name: one for one in design.media}
    pages = dict(study.own_pages.values_list("key", "pk")) if design.pages else {}
    for part in design.parts:
        words = _media_error(f"parts.{part.kind}.text", part.text, design, media) if part.enabled else ""
        if not words and part.kind == WELCOME and f"]({SCHEME}" in part.text:
            words = "the page of the link cannot show media, because its readers are not participants yet."
        if words:
            yield ReadinessProblem(f"{PARTS[part.kind].words.capitalize()}: {words}", "part", (part.kind,))
    for page in design.pages:
        if words := _media_error(f"pages.{page.key}.text", page.text, design, media):
            yield ReadinessProblem(f"Page “{page.title}”: {words}", "own-page", (pages[page.key],))
    for outcome in design.outcomes:
        if words := _media_error(f"outcomes.{outcome.kind}.text", outcome.text, design, media):
            yield ReadinessProblem(f"End {outcome.kind}: {words}", "outcomes")


def _media_error(path: str, text: str, design: Blueprint, media: Mapping[str, object]) -> str:
    texts = [text, *(translation for _, translation in _translations(design, path))]
    return next(filter(None, (media_problem(one, media) for one in texts)), "")
