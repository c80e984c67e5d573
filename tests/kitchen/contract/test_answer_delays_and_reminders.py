"""When an agent answers its conversation partner, row by row of the table."""

from __future__ import annotations

from collections.abc import Sequence, Set

import pytest

from kitchen.contract.answer_delays_and_reminders import AnswerDelays, BusyMembers
from kitchen.contract.team_messages import TeamMessage

ME, PARTNER = 1, 0
TALKING = {ME: PARTNER, PARTNER: ME}
LAST = 12


def wrote(
    number: int = 1, kind: str = "say", text: str = "Here.", sender: int | None = PARTNER
) -> TeamMessage:
    return TeamMessage(number, 1, sender, (ME,), kind, text, is_new=True)


def asked_in(
    mine: range | Set[int],
    theirs: range | Set[int],
    *messages: tuple[int, TeamMessage],
    thinks: Set[int] = frozenset(),
    waits: bool = False,
    partners: Sequence[int] = range(1, LAST + 1),
) -> int | None:
    """Return the first step in which I am asked about the messages, which arrive in the given steps. I act in
    the steps `mine`, my partner in `theirs`; we talk in the steps `partners`."""
    delays = AnswerDelays({})
    for step in range(1, LAST + 1):
        said = [one for begins, one in messages if begins <= step]
        busy = BusyMembers(
            acting={*({ME} if step in mine else ()), *({PARTNER} if step in theirs else ())},
            thinking={ME} if step in thinks else set(),
            waiting={ME} if waits else set(),
        )
        delayed = delays.delayed(step, busy, {ME: said}, TALKING if step in partners else {})
        if said and ME not in delayed:
            return step
    return None


NEVER = range(0)
LONG = range(1, LAST + 1)


def test_neither_is_busy_it_answers_in_this_step() -> None:
    assert asked_in(NEVER, NEVER, (2, wrote())) == 2


@pytest.mark.parametrize(("partner_busy", "step"), [(LONG, 7), (range(1, 5), 5)])
def test_only_the_partner_is_busy_it_answers_five_steps_later_or_when_the_partner_is_free(
    partner_busy: range, step: int
) -> None:
    assert asked_in(NEVER, partner_busy, (2, wrote())) == step


@pytest.mark.parametrize(
    ("message", "step"),
    [
        (wrote(), 9),
        (wrote(kind="ask"), 2),
        (wrote(kind="request", text=""), 2),
        (wrote(text="Have you rice? "), 2),
        (wrote(text="有米吗\uff1f"), 2),
        (wrote(kind="answer"), 9),
    ],
)
def test_only_it_is_busy_it_answers_questions_and_requests_at_once(message: TeamMessage, step: int) -> None:
    assert asked_in(range(1, 9), NEVER, (2, message)) == step
    assert asked_in(range(1, 9), range(3, 13), (2, message)) == step, "the partner is busy later"


@pytest.mark.parametrize(
    ("mine", "theirs", "waits", "step"),
    [
        (LONG, LONG, False, None),
        (range(1, 6), LONG, False, 6),
        (LONG, range(1, 4), False, 4),
        (LONG, LONG, True, 2),
    ],
)
def test_both_are_busy_it_answers_when_one_is_free_or_at_once_while_it_waits(
    mine: range, theirs: range, waits: bool, step: int | None
) -> None:
    assert asked_in(mine, theirs, (2, wrote(kind="ask")), waits=waits) == step


def test_more_messages_before_the_answer_are_read_together_and_begin_the_delay_again() -> None:
    assert asked_in(NEVER, LONG, (2, wrote(1)), (5, wrote(2))) == 10
    assert asked_in(LONG, NEVER, (2, wrote(1, "ask")), (2, wrote(2))) == 2, "one of them is a question"


def test_an_agent_that_thinks_is_busy() -> None:
    assert asked_in(range(4, 7), NEVER, (2, wrote()), thinks={2, 3}) == 7


def test_the_end_of_a_conversation_disturbs_nobody_and_delays_nobody() -> None:
    over = wrote(kind="end", text="")
    assert asked_in(range(1, 5), NEVER, (2, over), partners=()) == 5
    assert asked_in(NEVER, LONG, (2, wrote()), partners=range(1, 4)) == 4, "silence ends it"
    assert asked_in(NEVER, LONG, (2, wrote(1)), (3, wrote(2, "end")), partners=range(1, 3)) == 3


def test_the_platforms_own_messages_are_heard_at_once() -> None:
    assert asked_in(LONG, LONG, (2, wrote(kind="system", sender=None)), partners=()) == 2
