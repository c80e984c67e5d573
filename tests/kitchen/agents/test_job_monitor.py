"""How a job stands, judged from the world and from its worker's words."""

from __future__ import annotations

import pytest

from kitchen.agents.job_monitor import judge_job
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("I will start with the onions",), UNKNOWN),
        (("Ok",), UNKNOWN),
        ((), UNKNOWN),
        (("Succeeded: 3 sliced",), SUCCESS),
        (("Failed, no tomato left",), FAIL),
    ],
)
def test_organisation_monitor_words_without_a_result_say_nothing_and_reports_count(
    words: tuple[str, ...], result: str
) -> None:
    assert judge_job(UNKNOWN, words) == result


def test_organisation_monitor_the_aim_in_the_world_counts_before_any_word() -> None:
    assert judge_job(SUCCESS, ()) == judge_job(SUCCESS, ("Failed.",)) == SUCCESS
    assert judge_job(FAIL, ("Done!",)) == FAIL


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Ok, done.", SUCCESS),
        ("I have finished the rice", SUCCESS),
        ("It failed at first, but now it is done", SUCCESS),
        ("Done with the first one. I can't reach the second", FAIL),
        ("I couldn't find any rice", FAIL),
        ("I can\N{RIGHT SINGLE QUOTATION MARK}t reach it", FAIL),
        ("There is no rice left", FAIL),
        ("We ran out of dishes", FAIL),
        ("I did not succeed", FAIL),
        ("It is not done", UNKNOWN),
        ("I have not failed", UNKNOWN),
        ("Almost done", UNKNOWN),
        ("I'll be done soon", UNKNOWN),
        ("Tell me when you are done", UNKNOWN),
        ("Shall I stop if I fail", UNKNOWN),
        ("Are you done?", UNKNOWN),
        ("I am chopping the onions", UNKNOWN),
    ],
)
def test_only_plain_reports_of_a_result_count_and_the_last_one_wins(text: str, result: str) -> None:
    assert judge_job(UNKNOWN, (text,)) == result


def test_a_later_message_corrects_an_earlier_one() -> None:
    assert judge_job(UNKNOWN, ("Failed: no pot is free", "Ok, I will try again")) == FAIL
    assert judge_job(UNKNOWN, ("Failed: no pot is free", "Succeeded after all")) == SUCCESS
