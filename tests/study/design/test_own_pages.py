"""Pages that researchers write: where they come, who sees them, and what their texts contain."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override

from study.design.blueprint import Blueprint, blueprint_of
from study.design.markdown_html import to_html
from study.design.models import OwnPage, StudyPart, SurveyItem
from study.design.own_page_checks import own_page_problems, page_errors
from study.design.own_pages import (
    Comparison,
    OwnPagePlan,
    ParticipantFacts,
    ShowRule,
    compared_names,
    holds,
    is_page_shown,
    known_names,
)
from study.design.page_and_item_order import pages_after_rounds, pages_before_rounds, progress
from study.design.piped_words import AnswerWords, answer_words_of, filled_text
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.study_versions import differences
from study.design.text_checks import text_problems
from study.design.translated_texts import TranslatedItem
from tests.study.factories import make_study


def page(
    key: str = "p", before: str = "final", *rules: tuple[str, str, str], **fields: object
) -> OwnPagePlan:
    """A page with these comparisons."""
    told = tuple(Comparison(what=what, compares=compares, value=value) for what, compares, value in rules)
    match = fields.pop("match", "all")
    rule = ShowRule(match=match, rules=told)  # type: ignore[arg-type]
    values = {"title": key.title(), "text": "", **fields}
    return OwnPagePlan(key=key, before=before, show_if=rule, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("compares", "value", "answer", "expected"),
    [
        ("is", "4", 4, True),
        ("is", "4.0", 4, True),
        ("is_not", "4", 4, False),
        ("at_least", "4", 3, False),
        ("at_most", "4", 3, True),
        ("at_least", "4", "many", False),
        ("is", "tea", ["tea", "milk"], True),
        ("is_not", "tea", ["milk"], True),
        ("is", "yes", True, True),
        ("is", "tea", None, False),
        ("is_not", "tea", None, True),
        ("at_most", "4", None, False),
    ],
)
def test_a_comparison_reads_numbers_texts_and_options(
    compares: str, value: str, answer: object, expected: bool
) -> None:
    assert holds(Comparison(what="answer:a", compares=compares, value=value), answer) is expected


def test_a_rule_holds_if_all_or_any_of_its_comparisons_hold() -> None:
    facts = ParticipantFacts(answers={"age": 17}, figures={"dishes": 3}, group="chef")
    rules = (("answer:age", "at_least", "18"), ("figure:dishes", "is", "3"))
    assert not is_page_shown(page("p", "final", *rules), facts)
    assert is_page_shown(page("p", "final", *rules, match="any"), facts)
    assert is_page_shown(page("p", "final", ("group", "is", "chef")), facts)


def test_words_of_participants_are_never_read_as_markup() -> None:
    hostile = "<script>x</script> [a](javascript:b) **c** `d`\n# e"
    facts = ParticipantFacts(answers={"a": hostile, "b": ["tea", "milk"]}, team="Team A")
    text = filled_text(
        "{answer:a} | {answer:b} | {answer:c} | {team} | {figure:x}", facts, {"b": AnswerWords({"tea": "té"})}
    )
    html = to_html(text)
    assert "<script" not in html and "<a " not in html and "<strong>" not in html and "<h2" not in html
    assert "**c**" in html and "té, milk | — | Team A | —" in html


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("single", DOES_NOT_APPLY, "No se aplica"),
        ("ranking", ["milk", "tea"], "leche, té"),
        ("best_worst", {"worst": "tea", "best": "milk"}, "Lo mejor: leche; Lo peor: té"),
        ("texts", {"milk": "tea", "tea": "hot"}, "té: hot; leche: tea"),
        ("team", "one", "Equipo Uno"),
    ],
)
def test_each_kind_of_answer_is_shown_in_the_participants_words(
    kind: str, answer: object, expected: str
) -> None:
    item = TranslatedItem(
        key="a", kind=kind, measure="A", text="A?", options=["tea", "milk"], shown=["té", "leche"]
    )
    with override("es"):
        words = answer_words_of(item, {"one": "Equipo Uno"})
        text = filled_text("{answer:a}", ParticipantFacts(answers={"a": answer}), {"a": words})
    assert to_html(text) == f"<p>{expected}</p>\n"


@pytest.fixture
def design(db: None) -> Blueprint:
    study = make_study(conditions=2, items=1)
    StudyPart.objects.create(study=study, kind="about", enabled=True, text="About you.")
    asked = {"kind": "single", "options": ["yes", "no"]}
    SurveyItem.objects.create(
        study=study, key="plays", measure="Plays", text="Plays?", place="about", **asked
    )
    for number, (key, before) in enumerate([("z", "end"), ("a", "about"), ("r", "round-2"), ("s", "rounds")]):
        OwnPage.objects.create(study=study, key=key, before=before, title=key, position=number)
    return blueprint_of(study)


def test_pages_come_at_their_places_and_progress_counts_them(design: Blueprint) -> None:
    assert pages_before_rounds(design)[:3] == ("consent", "own-a", "about")
    assert pages_before_rounds(design)[-1] == "own-s"
    assert pages_after_rounds(design)[-1] == "own-z"
    between = progress(design, "own-r")
    first, second = (progress(design, "play", position=number) for number in (1, 2))
    assert between and first and second
    assert (between.number, second.number, between.name) == (first.number + 1, first.number + 2, "r")
    ending = design.model_copy(update={"pages": (*design.pages, page("e", "rounds", ends=True))})
    assert progress(ending, "play", position=1) == first and progress(ending, "own-e") is None


def test_pages_are_part_of_the_document_only_where_there_are_any(design: Blueprint) -> None:
    assert Blueprint.from_json(design.to_json()) == design
    without = design.model_copy(update={"pages": ()})
    assert "pages" not in without.to_json()
    assert {one.where for one in differences(without, design)} >= {"page a", "page r", "page s", "page z"}
    assert design.beyond(15) and not without.beyond(16)
    old = without.in_format(15)
    assert "page a" in {one.where for one in differences(old, design)}


def test_only_what_is_known_before_a_page_can_be_used(design: Blueprint) -> None:
    early = page("p", "about", ("answer:plays", "is", "yes"), text="{figure:x}")
    assert set(page_errors(early, design)) == {"show_if", "text"}
    assert "known before this page" in page_errors(page("p", "final", text="{name}"), design)["text"]
    assert not page_errors(page("p", "guide", ("answer:plays", "is", "yes"), text="{answer:plays}"), design)
    number = page("p", "guide", ("answer:plays", "at_least", "many"))
    assert "needs a number" in page_errors(number, design)["show_if"]
    assert "Everybody would end here" in page_errors(page("p", "final", ends=True), design)["ends"]


def test_a_page_knows_the_answers_of_pages_before_it_only(design: Blueprint) -> None:
    items = [ItemPlan(key=f"on_{one.key}", place=one.page, measure="M", text="M?") for one in design.pages]
    told = design.model_copy(update={"items": (*design.items, *items)})

    def known(before: str, page: str = "") -> set[str]:
        return {one.removeprefix("answer:on_") for one in known_names(told, before, page) if ":on_" in one}

    assert known("about", "own-a") == set() and known("about") == {"a"}
    assert known("rounds") == {"a", "s"} and known("round-2", "own-r") == {"a", "s"}
    assert known("debriefing") == {"a", "s", "r"} and known("end") == {"a", "s", "r", "z"}
    for fields in ({"ends": True}, {"not_before_hours": 2}):
        wrong = page("s", "rounds", ("answer:plays", "is", "yes"), **fields)
        assert any("page before this one" in words for words in page_errors(wrong, told).values())


def test_a_page_that_nobody_sees_is_reported(design: Blueprint) -> None:
    study = OwnPage.objects.get(key="s").study
    rules = [{"what": "answer:plays", "compares": "is", "value": "maybe"}]
    OwnPage.objects.filter(key="s").update(show_if={"match": "all", "rules": rules})
    OwnPage.objects.filter(key="r").update(before="round-9")
    told = {one.words: one.hinders for one in own_page_problems(study, blueprint_of(study))}
    assert any("“maybe” is none of yes, no" in words for words in told), told
    assert any("nobody plays round 9" in words for words in told) and not any(told.values())


def test_a_rule_cannot_compare_an_answer_with_several_parts(design: Blueprint) -> None:
    study = OwnPage.objects.get(key="s").study
    made = [("order", "ranking"), ("ends", "best_worst"), ("words", "texts"), ("any", "multiple")]
    for key, kind in made:
        asked = {"kind": kind, "options": ["tea", "milk", "water"], "place": "about"}
        SurveyItem.objects.create(study=study, key=key, measure=key, text=key, **asked)
    changed = blueprint_of(study)
    for key, kind in made:
        rule = ("is", "tea")
        found = page_errors(page("p", "guide", (f"answer:{key}", *rule)), changed)
        assert ("several parts" in found.get("show_if", "")) is (kind != "multiple"), kind
        rules = [{"what": f"answer:{key}", "compares": "is", "value": "tea"}]
        row = OwnPage(study=study, key=key, before="guide", title=key, show_if={"rules": rules})
        if kind == "multiple":
            row.full_clean()
        else:
            with pytest.raises(ValidationError, match="several parts"):
                row.full_clean()
    names = compared_names(changed, "guide")
    assert "answer:any" in names and not {"answer:order", "answer:ends", "answer:words"} & names.keys()


def test_an_answer_with_several_options_can_be_two_of_them(design: Blueprint) -> None:
    study = OwnPage.objects.get(key="s").study
    rules = [{"what": "answer:plays", "compares": "is", "value": value} for value in ("yes", "no")]
    OwnPage.objects.filter(key="s").update(show_if={"match": "all", "rules": rules})
    assert "both “yes” and “no”" in next(own_page_problems(study, blueprint_of(study))).words
    SurveyItem.objects.filter(key="plays").update(kind="multiple")
    assert not [*own_page_problems(study, blueprint_of(study))]


@pytest.mark.parametrize(
    ("translation", "problem"),
    [
        ("Dijiste {respuesta:plays}.", "“{respuesta:plays}” is not in the text itself"),
        ("Dijiste {answer:play}.", "“{answer:play}” is not known before this page"),
        ("Dijiste algo.", "“{answer:plays}” is in the text itself, but not in its translation"),
        ("Dijiste {answer:plays}.", ""),
    ],
)
def test_a_translation_keeps_the_words_in_braces(design: Blueprint, translation: str, problem: str) -> None:
    study = OwnPage.objects.get(key="s").study
    text = "You said {answer:plays}."
    OwnPage.objects.filter(key="s").update(text=text)
    study.languages, study.texts = "en es", {"es": {text: translation}}
    study.save()
    StudyPart.objects.update_or_create(
        study=study, kind="debriefing", defaults={"enabled": True, "text": text}
    )
    new = blueprint_of(study)
    for told in (own_page_problems(study, new), text_problems(study, new)):
        hindering = [one.words for one in told if one.hinders]
        assert [problem in words and "(Español)" in words for words in hindering] == [True] * bool(problem)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ([("answer:plays", "is_not", "maybe")], "everybody sees it"),
        ([("answer:points", "at_least", "1")], "everybody sees it"),
        ([("answer:points", "at_most", "0")], "answers lie between 1 and 5"),
        ([("answer:points", "at_least", "4"), ("answer:points", "at_most", "3")], "no number is at least 4"),
        ([("answer:points", "at_least", "4")], ""),
        ([("answer:plays", "is_not", "maybe"), ("answer:points", "is", "4")], ""),
        ([("answer:points", "at_least", "many")], "needs a number"),
    ],
)
def test_a_rule_that_always_or_never_holds_is_told(
    design: Blueprint, rules: list[tuple[str, str, str]], words: str
) -> None:
    study = OwnPage.objects.get(key="s").study
    asked = {"place": "about", "kind": "likert", "points": 5}
    SurveyItem.objects.create(study=study, key="points", measure="Points", text="?", **asked)
    stored = [dict(zip(("what", "compares", "value"), one, strict=True)) for one in rules]
    OwnPage.objects.filter(key="s").update(show_if={"match": "all", "rules": stored}, before="rounds")
    told = [one.words for one in own_page_problems(study, blueprint_of(study))]
    assert [words in one for one in told] == [True] * bool(words)
