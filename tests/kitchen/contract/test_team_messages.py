"""Words that are not shown, and messages that nobody asked for."""

from __future__ import annotations

import unicodedata

import pytest

from kitchen.agents.talk_rules import talk_rule_lines
from kitchen.contract.mailbox import Mailbox, PostedMessage
from kitchen.contract.organisation import ASK, END, SAY, Member, Organisation, make_organisation
from kitchen.contract.organisation_settings import NEVER
from kitchen.contract.team_messages import MASK, MessageDraft, TeamMessage, mask_blocked_words
from kitchen.registry.world_registry import get_world


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("You IDIOT, fetch rice", "You ***, fetch rice"),
        ("idiotic is another word", "idiotic is another word"),
        ("what  the\nHell is this", "*** is this"),
        ("hell", "***"),
        ("a+b and (x", "*** and (x"),
        ("你这个笨蛋快来", "你这个***快来"),
        ("", ""),
        ("you i\u200bdi\u200dot!", "you ***!"),  # zero-width
        ("an id\u00adiot", "an ***"),  # soft hyphen
        ("ｉｄｉｏｔ 笨\u200b蛋", "*** ***"),  # full-width  # noqa: RUF001
        ("іdіоt, иdiot", "***, иdiot"),  # Cyrillic letters that look alike, and one that does not  # noqa: RUF001
        ("ιdιοt", "***"),  # Greek  # noqa: RUF001
        ("ídïot, IDIOT\u0301", "***, ***"),  # accents
        ("𝐢𝐝𝐢𝐨𝐭 and ⓗⓔⓛⓛ", "*** and ***"),  # noqa: RUF001
        ("Straße, ﬁne, привет, ñandú", "Straße, ﬁne, привет, ñandú"),
    ],
)
def test_each_blocked_word_is_taken_out_and_nothing_else(text: str, shown: str) -> None:
    assert mask_blocked_words(text, ("idiot", "hell", "what the hell", "a+b", "笨蛋", " ")) == shown


@pytest.mark.parametrize(
    "spelled",
    [
        *(f"tu{blank}na" for blank in "\u3164\uffa0\u115f\u1160\u2800"),
        "t\u200b\u3164\u200du\u1160na",
        "🅣🅤🅝🅐",
        "🆃🆄🅽🅰",
        "ᴛᴜɴᴀ",
        "tunɑ",  # noqa: RUF001
        "ŧuna",
        "τυոа",  # Greek, Armenian, Cyrillic
        "Ꭲᴜⲛꓮ",  # Cherokee, Coptic, Lisu
        "ꭲuna",  # a small Cherokee letter
        "TUNA\u3164",
    ],
)
def test_a_blocked_word_in_letters_that_look_alike_is_masked(spelled: str) -> None:
    assert mask_blocked_words(f"no {spelled}!", ("tuna",)) == f"no {MASK}!"


def test_invisible_characters_join_the_words_of_a_phrase_and_blank_ones_part_words() -> None:
    blocked = ("a part", "hell")
    for spelled in ("a\u200bpart", "a \u2060 p\u200bart", "a\u3164part"):
        assert mask_blocked_words(spelled, blocked) == MASK
    assert mask_blocked_words("apart", blocked) == "apart"
    assert mask_blocked_words("hell\u200bo, s\u200bhell", blocked) == "hell\u200bo, s\u200bhell"
    assert mask_blocked_words("the\u3164hell\u2800it", blocked) == f"the\u3164{MASK}it"


@pytest.mark.parametrize("other", ["tuña", "t.u.n.a", "t u n a", "7una", "tunas"])
def test_spellings_that_are_not_found_stay(other: str) -> None:
    assert mask_blocked_words(f"- {other} -", ("tuna",)) == f"- {other} -"


def test_without_words_a_text_stays_as_it_is() -> None:
    assert mask_blocked_words("You idiot", ()) == mask_blocked_words("You idiot", ("", " ")) == "You idiot"


@pytest.mark.parametrize("invisible", ["\u200b", "\ufeff", "\u00b4", "\u0301", " \u00ad "])
def test_entries_without_a_visible_character_mask_nothing(invisible: str) -> None:
    assert mask_blocked_words("You idiot", (invisible,)) == "You idiot"
    assert mask_blocked_words("You idiot", (invisible, "idiot")) == f"You {MASK}"


@pytest.mark.parametrize(
    ("blocked", "other"),
    [
        ("ano", "año"),
        ("ano", "an\u0303o"),
        ("an", "an\u0303o"),
        ("かき", "がき"),
        ("かき", "か\u3099き"),
        ("мои", "мой"),
        ("कम", "कमी"),
        ("가", "각"),
    ],
)
def test_marks_that_make_another_letter_count(blocked: str, other: str) -> None:
    assert mask_blocked_words(f"- {other} -", (blocked,)) == f"- {other} -"
    assert mask_blocked_words(f"- {other} -", (other,)) == f"- {MASK} -"
    assert mask_blocked_words(f"- {unicodedata.normalize('NFD', other)} -", (other,)) == f"- {MASK} -"


def test_marks_on_latin_letters_do_not_count() -> None:
    for text in ("Ïdíot", "i\u0308dio\u0301t", "ídiot\u0301", "i\u200b\u0308diot"):
        assert mask_blocked_words(f"{text}!", ("idiot",)) == f"{MASK}!"
    assert mask_blocked_words("바보야", ("바보",)) == f"{MASK}야"


MEMBERS = (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False))


def refused(unasked: int | str, said: list[tuple[int, int, str]], step: int, *, sender: int = 1) -> str:
    """Return the code for a message of the agent (member 1), after (step, sender, kind) messages of both."""
    made = make_organisation("pair", MEMBERS, seats=2, settings={"unasked": unasked})
    earlier = [
        PostedMessage(TeamMessage(number, at, by, (1 - by,), kind, "x"))
        for number, (at, by, kind) in enumerate(said, 1)
    ]
    world = get_world("cuisine").create(seats=2, settings={})
    world.reset(1)
    return Mailbox(made, earlier).refusal(world, step, sender, MessageDraft("hello"))[1]


@pytest.mark.parametrize(
    ("unasked", "said", "step", "code"),
    [
        (0, [(1, 1, SAY)], 2, ""),
        (NEVER, [], 1, "unasked"),
        (NEVER, [(1, 0, SAY)], 1, ""),
        (NEVER, [(1, 0, ASK), (1, 1, SAY)], 1, "unasked"),
        (NEVER, [(1, 0, END)], 1, "unasked"),
        (5, [], 1, ""),
        (5, [(1, 1, SAY)], 5, "unasked"),
        (5, [(1, 1, SAY)], 6, ""),
        (5, [(1, 1, SAY), (3, 0, SAY)], 3, ""),
    ],
)
def test_a_coplayer_writes_unasked_only_as_often_as_the_condition_says(
    unasked: int | str, said: list[tuple[int, int, str]], step: int, code: str
) -> None:
    assert refused(unasked, said, step) == code


def test_an_answer_of_an_agent_asks_for_no_other_message() -> None:
    members = (*MEMBERS, Member(2, (2,), is_person=False))
    made = make_organisation("graph", members, seats=3, settings={"unasked": NEVER})
    world = get_world("cuisine").create(seats=3, settings={})
    world.reset(1)
    mailbox, hello = Mailbox(made), MessageDraft("hello")
    mailbox.add(PostedMessage(TeamMessage(1, 1, 0, (1,), SAY, "hello")))
    assert mailbox.refusal(world, 1, 1, hello)[1] == ""
    mailbox.add(PostedMessage(TeamMessage(2, 1, 1, (0, 2), SAY, "hello")))
    assert [mailbox.refusal(world, 2, agent, hello)[1] for agent in (1, 2)] == ["unasked", "unasked"]


def test_people_write_as_they_like() -> None:
    assert refused(NEVER, [], 1, sender=0) == ""


def test_the_limit_is_stored_with_the_organisation_and_told_to_models() -> None:
    made = make_organisation("pair", MEMBERS, seats=2, settings={"unasked": 5})
    assert Organisation.from_json(made.to_json()) == made
    assert "at most one in 5 steps" in talk_rule_lines(made)[0]
    free = make_organisation("pair", MEMBERS, seats=2)
    assert "unasked" not in free.to_json()
    assert talk_rule_lines(free) == []
