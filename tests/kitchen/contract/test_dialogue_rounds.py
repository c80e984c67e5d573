"""The talk of any number of minds within one step: who speaks when, what each hears, what is followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from kitchen.contract.agent import REASON_TO_ANSWER, Decision, Situation
from kitchen.contract.dialogue_rounds import StepDialogue
from kitchen.contract.organisation import Member, Organisation, make_organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from tests.kitchen.changed_facts import changed

Line = MessageDraft | str
Lines = Mapping[int, Sequence[Line]]
"""By member: what it says whenever it is asked, in order; after that nothing."""
MEMBERS = tuple(Member(number, (number,), is_person=False) for number in range(3))


def graph(**settings: object) -> Organisation:
    return make_organisation("graph", MEMBERS, seats=3, settings={"within": True, **settings})


def pair(**settings: object) -> Organisation:
    return make_organisation("pair", MEMBERS[:2], seats=2, settings={"within": True, **settings})


def chain() -> Organisation:
    return make_organisation("chain", MEMBERS, seats=3, settings={"within": True})


def situation(organisation: Organisation, member: int, **more: Any) -> Situation:
    plain = Situation("kitchen", 0, (member,), {}, {}, {})
    return changed(plain, organisation=organisation, member=member, **more)


class Talk:
    """One talk that is over."""

    def __init__(
        self,
        organisation: Organisation,
        lines: Lines,
        *,
        busy: Sequence[int] = (),
        hears: Callable[[int, TeamMessage], bool] | None = None,
        sent: int = 0,
    ) -> None:
        situations = [
            situation(organisation, number, **({"because": REASON_TO_ANSWER} if number in busy else {}))
            for number in organisation.numbers
        ]
        talk = (
            StepDialogue.of(situations, sent=sent)
            if hears is None
            else StepDialogue.of(situations, hears, sent=sent)
        )
        assert talk is not None
        self.talk, self.asked, self.left = talk, list[tuple[int, list[str]]](), list[int]()
        turns, decision = talk.turns(), None
        try:
            while True:
                place, now, left = turns.send(decision) if decision else next(turns)
                self.left.append(left)
                self.asked.append((place, [one.text for one in now.talk.messages if one.is_new]))
                decision = self._decide(place, lines.get(place, ()))
        except StopIteration as done:
            self.made: list[Decision] = done.value

    def _decide(self, place: int, lines: Sequence[Line]) -> Decision:
        count = len(self.talk.decisions[place])
        says = [lines[count]] if count < len(lines) and lines[count] else []
        said = tuple(say if isinstance(say, MessageDraft) else MessageDraft(say) for say in says)
        return Decision({place: ("go", f"{count}")}, memory=count + 1, says=said)

    @property
    def said(self) -> list[tuple[int | None, str]]:
        return [(one.sender, one.text) for one in self.talk.messages]

    @property
    def order(self) -> list[int]:
        return [place for place, _ in self.asked]


def test_addressed_members_answer_in_order_in_each_round() -> None:
    talk = Talk(graph(rounds=2), {0: ["who?", "good"], 1: ["me", "thanks"], 2: ["not me"]})
    assert talk.said == [(0, "who?"), (1, "me"), (2, "not me"), (0, "good"), (1, "thanks")]
    assert talk.asked == [
        (0, []),
        (1, ["who?"]),
        (2, ["who?", "me"]),
        (0, ["me", "not me"]),
        (1, ["who?", "not me", "good"]),
        (2, ["who?", "me", "good", "thanks"]),
    ]
    assert [made.commands[place][1] for place, made in enumerate(talk.made)] == ["1", "1", "1"]
    assert [made.memory for made in talk.made] == [2, 2, 2]
    assert talk.left == [6, 5, 4, 3, 2, 1]


def test_a_member_without_news_is_not_asked_twice() -> None:
    """Two talk; the third decides once, when they have nothing more to say, and then opens anew to all."""
    private: dict[int, Sequence[Line]] = {
        0: [MessageDraft("you?", to=(1,)), MessageDraft("fine", to=(1,))],
        1: [MessageDraft("yes", to=(0,))],
        2: ["and I?"],
    }
    talk = Talk(graph(rounds=3), private)
    assert talk.order == [0, 1, 0, 1, 2, 0, 1]
    assert dict(talk.asked[4:]) == {2: [], 0: ["yes", "and I?"], 1: ["you?", "fine", "and I?"]}


def test_a_member_that_said_nothing_answers_the_one_that_opens_after_it() -> None:
    """Both orders: who opens speaks as often as the rounds allow, and each of its messages is answered."""
    second = Talk(pair(rounds=2), {0: ["", "no", "still no"], 1: ["help?", "please"]})
    assert second.said == [(1, "help?"), (0, "no"), (1, "please"), (0, "still no")]
    first = Talk(pair(rounds=2), {0: ["help?", "please"], 1: ["no", "still no"]})
    assert first.said == [(0, "help?"), (1, "no"), (0, "please"), (1, "still no")]
    busy = Talk(pair(rounds=2), {0: ["no", "still no"], 1: ["help?", "please"]}, busy=[0])
    assert busy.said == second.said
    assert Talk(pair(), {1: [MessageDraft("bye", "end")]}).order == [0, 1]


def test_edges_decide_the_audience_of_a_message() -> None:
    talk = Talk(chain(), {0: ["down"], 1: ["both ways"], 2: ["up"]})
    assert dict(talk.asked[:3]) == {0: [], 1: ["down"], 2: ["both ways"]}


def test_members_do_not_hear_hidden_messages() -> None:
    talk = Talk(graph(), {0: ["psst"]}, hears=lambda member, said: member != 2)
    assert talk.asked == [(0, []), (1, ["psst"]), (2, [])]


@pytest.mark.parametrize("last", ["", MessageDraft("", "end"), "again", "A gain"])
def test_silence_an_end_or_a_repetition_ends_the_talk(last: Line) -> None:
    lines: dict[int, Sequence[Line]] = {
        0: ["hello", "more", "still more"],
        1: ["again", last, "never said"],
        2: [],
    }
    talk = Talk(graph(rounds=4), lines)
    assert talk.order == [0, 1, 2, 0, 1] and (1, "never said") not in talk.said


@pytest.mark.parametrize("answer", ["", MessageDraft("bye", "end"), "again", "A gain"])
@pytest.mark.parametrize("opener", [0, 1])
def test_of_two_that_take_turns_only_the_opener_ends_the_talk(opener: int, answer: Line) -> None:
    other = 1 - opener
    lines: dict[int, Sequence[Line]] = {
        opener: ["hello", "more", "hel lo", "never said"],
        other: [*([""] if opener else []), "again", answer, "never said"],
    }
    talk = Talk(pair(rounds=4), lines)
    begins = [0] if opener else []
    assert talk.order == [*begins, opener, other, opener, other, opener]
    assert talk.said[-1] == (opener, "hel lo") and len(talk.said) == 4 + bool(answer)


def test_the_cap_ends_a_talk_whose_answers_are_silent() -> None:
    talk = Talk(pair(rounds=2), {0: ["one", "two", "three"], 1: []})
    assert talk.said == [(0, "one"), (0, "two")] and talk.order == [0, 1, 0, 1]


def test_it_ends_after_so_many_rounds_and_everybody_has_decided() -> None:
    talk = Talk(graph(rounds=1), {0: ["a"], 1: [MessageDraft("b", to=(0,))], 2: ["c"]})
    assert talk.order == [0, 1, 2]
    assert talk.talk.last_round == [1, 1, 1]


def test_a_member_without_a_decision_is_asked_only_when_addressed() -> None:
    quiet = Talk(graph(), {0: [MessageDraft("you?", to=(1,))]}, busy=[2])
    assert quiet.order == [0, 1] and quiet.made[2] == Decision({}) and not quiet.talk.decisions[2]
    called = Talk(graph(), {0: [MessageDraft("you?", to=(2,))], 2: ["busy"]}, busy=[2])
    assert called.order == [0, 2, 0, 1] and called.made[2].commands == {2: ("go", "0")}
    assert Talk(graph(), {1: ["you?"]}, busy=[0, 2]).order == [1, 2, 0]  # the first that is asked opens


def test_jobs_are_heard_in_the_next_step_and_call_for_no_answer() -> None:
    talk = Talk(graph(), {0: [MessageDraft("chop", "inform", (1,))]})
    assert talk.said == [] and talk.asked == [(0, []), (1, []), (2, [])]
    assert [say.kind for say in talk.made[0].says] == ["inform"]


def test_earlier_messages_of_the_step_count_towards_the_limit() -> None:
    organisation = graph(messages_a_step=2)
    earlier = tuple(TeamMessage(number, 1, 0, (1, 2), "say", "earlier") for number in (4, 5))
    situations = [situation(organisation, number, messages=earlier) for number in range(3)]
    talk = StepDialogue.of(situations, sent=6)
    assert talk is not None
    turns = talk.turns()
    next(turns)
    place, now, _ = turns.send(Decision({}, says=(MessageDraft("too many"),)))
    assert (place, [one.text for one in now.talk.messages]) == (1, ["earlier", "earlier"])
    _, now, _ = turns.send(Decision({}, says=(MessageDraft("yes"),)))
    assert [(one.number, one.text) for one in now.talk.messages[2:]] == [(7, "yes")]  # as it will be stored


def test_agents_talk_where_the_organisation_allows_it() -> None:
    silent = make_organisation("graph", MEMBERS, seats=3)
    assert StepDialogue.of([situation(silent, number) for number in range(3)]) is None
    assert StepDialogue.of([situation(graph(), 0)]) is None
    assert StepDialogue.of([]) is None
