"""Conversations of two: who talks with whom, and until when."""

from __future__ import annotations

import pytest

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import (
    MessageDraft,
    TeamMessage,
    address_to_partner,
    conversation_partners,
    conversation_refusal,
)

FOUR = make_organisation(
    "pairwise",
    [Member(seat, (seat,), is_person=seat == 0) for seat in range(4)],
    seats=4,
    settings={"silence": 3},
)


def messages_in(text: str) -> list[TeamMessage]:
    """`1:0>1 4:1x` as: in step 1 member 0 writes to member 1, who ends it in step 4."""
    rows = []
    for number, one in enumerate(text.split(), start=1):
        step, words = one.split(":")
        kind, sign = ("end", "x") if "x" in words else ("say", ">")
        sender, to = words.split(sign)
        rows.append(TeamMessage(number, int(step), int(sender), (int(to),), kind, "hello"))
    return rows


@pytest.mark.parametrize(
    ("text", "step", "talking"),
    [
        ("", 1, {}),
        ("1:0>1", 1, {0: 1, 1: 0}),
        ("1:0>1 1:2>3", 2, {0: 1, 1: 0, 2: 3, 3: 2}),
        ("1:0>1 2:1x0", 2, {}),
        ("1:0>1", 3, {0: 1, 1: 0}),
        ("1:0>1", 4, {}),
        ("1:0>1 3:1>0", 5, {0: 1, 1: 0}),
        ("1:0>1 5:1>2", 5, {1: 2, 2: 1}),  # nobody talks with 0 any more
        ("1:0>1 1:0x1 1:0>2", 1, {0: 2, 2: 0}),
    ],
)
def test_conversation_partners_follow_from_messages(text: str, step: int, talking: dict[int, int]) -> None:
    assert conversation_partners(FOUR, messages_in(text), step) == talking


@pytest.mark.parametrize(
    ("sender", "say", "code"),
    [
        (0, MessageDraft("hello", to=(1,)), ""),
        (0, MessageDraft("hello", to=(2,)), "talking"),
        (2, MessageDraft("hello", to=(0,)), "busy"),
        (2, MessageDraft("hello", to=(3,)), ""),
        (2, MessageDraft("hello", to=(0, 3)), "choose_one"),
        (2, MessageDraft("hello"), "choose_one"),
        (0, MessageDraft("", "end", (1,)), ""),
        (2, MessageDraft("", "end", (3,)), "not_allowed"),
        (2, MessageDraft("", "end"), "not_allowed"),
    ],
)
def test_a_member_in_a_conversation_is_busy_for_others(sender: int, say: MessageDraft, code: str) -> None:
    assert conversation_refusal(say, sender, {0: 1, 1: 0}) == code


def test_a_message_without_addressee_goes_to_the_partner() -> None:
    assert address_to_partner(MessageDraft("hello"), 0, {0: 1, 1: 0}).to == (1,)
    assert address_to_partner(MessageDraft("hello"), 2, {0: 1, 1: 0}).to == ()
    assert address_to_partner(MessageDraft("hello", to=(2,)), 0, {0: 1, 1: 0}).to == (2,)
