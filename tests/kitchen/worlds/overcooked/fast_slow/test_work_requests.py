"""Plain sentences about who does what in the grids, in three languages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from kitchen.worlds.overcooked.fast_slow.work_aims import NO_AIMS, WorkAims
from kitchen.worlds.overcooked.fast_slow.work_answers import work_text
from kitchen.worlds.overcooked.fast_slow.work_requests import read_work_request

ONION = ("onion",)
ONIONS_ONLY = WorkAims(("onion",), frozenset({"dish", "serve"}))
SERVES = WorkAims(("serve", "dish"))
DISHES = WorkAims(("dish",))
WITHOUT_POTS = WorkAims(left=frozenset({"pot"}))
MEANT = {
    ONIONS_ONLY: (
        *("Onions are yours", "you do the onions", "You take care of the onions, I serve"),
        *("Las cebollas son tuyas", "洋葱交给你", "洋葱归你", "洋葱是你的"),
    ),
    SERVES: ("You serve", "serve the soup", "tú sirves", "你上菜"),
    DISHES: ("Get dishes!", "can you get the plates?", "trae platos", "去拿盘子"),
    WorkAims(("onion",)): (
        "help me with the onions",
        "fill the pot",
        "ayúdame con las cebollas",
        "帮我拿洋葱",
    ),
    WorkAims(left=frozenset({"onion"})): ("don't get onions", "I do the onions", "no traigas cebollas"),
    WorkAims(left=frozenset({"dish", "serve"})): ("I serve", "yo sirvo", "我上菜"),
    WorkAims(("onion",), frozenset({"dish"})): ("you get the onions, I get the dishes",),
    WITHOUT_POTS: ("leave the pot alone", "leave the pots to me", "deja la olla", "别动锅"),
    NO_AIMS.in_mode("aside"): (
        "Stay out of my way",
        "move aside!",
        "apártate",
        "no estorbes",
        "让开",
        "别挡路",
    ),
    NO_AIMS.in_mode("wait"): ("stop", "para", "停"),
}


@pytest.mark.parametrize(("aims", "texts"), list(MEANT.items()))
def test_sentence_sets_the_aims_that_it_asks_for(aims: WorkAims, texts: tuple[str, ...]) -> None:
    for text in texts:
        found = read_work_request(text, 1, NO_AIMS, ONION)
        assert (found.aims, found.kind) == (aims, "order"), text


CORPUS = tomllib.loads(Path(__file__).with_name("work_sentences.toml").read_text("utf-8"))["meant"]


@pytest.mark.parametrize("group", CORPUS, ids=lambda group: group["texts"][0])
def test_sentence_of_the_corpus_never_leads_to_the_opposite(group: dict[str, Any]) -> None:
    before = NO_AIMS if group.get("changes", True) else DISHES
    meant = WorkAims(
        tuple(group.get("first", ())), frozenset(group.get("left", ())), group.get("mode", "work")
    )
    wrong = {}
    for text in group["texts"]:
        found = read_work_request(text, 1, before, ONION)
        if (found.aims, found.kind == "order") != ((meant, True) if before == NO_AIMS else (before, False)):
            wrong[text] = found
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("go on", "resume"),
        ("do everything", "resume"),
        ("what are you doing?", "doing"),
        ("help", "help"),
        ("thanks", "talk"),
        ("Player 1: get dishes", "talk"),
        ("who gets onions?", "unclear"),
        ("bring tomatoes", "unclear"),
        ("you did serve the onions well if he came", "unclear"),
    ],
)
def test_other_sentences_ask_for_no_work(text: str, kind: str) -> None:
    found = read_work_request(text, 1, DISHES, ONION)
    assert found.kind == kind
    assert found.aims == (NO_AIMS if kind == "resume" else DISHES)


def test_later_request_adds_to_earlier_ones_until_go_on() -> None:
    aims = NO_AIMS
    for text in ("leave the pot alone", "get dishes", "stop"):
        aims = read_work_request(text, 1, aims, ONION).aims
    assert aims == WorkAims(("dish",), frozenset({"pot"}), "wait")
    assert read_work_request("sigue", 1, aims, ONION).aims == NO_AIMS


def test_reply_of_a_model_with_unknown_work_keeps_only_what_a_cook_can_do() -> None:
    read = WorkAims.read({"first": ["dish", "dance"], "left": ["onion", "dish"], "mode": "work"})
    assert read == WorkAims(("dish",), frozenset({"onion"}))
    assert WorkAims.read({"first": "dish"}) is None
    assert WorkAims.read({"mode": "sleep"}) is None


def test_answer_names_what_comes_first_and_what_is_left() -> None:
    parts = [("understood",), ("first", ["onion"]), ("left", ["dish", "serve"])]
    assert work_text(parts) == "Understood. I do this first: onions. I leave this to you: dishes, serving."
