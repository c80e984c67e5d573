"""The app is attacked while people play: every answer is right, and nothing is changed or lost."""

from __future__ import annotations

import gzip
from random import Random

import pytest

from tests.addresses import is_refused
from tests.live import attack
from tests.live.attack_loads import LOADS
from tests.live.attack_requests import REQUESTS, wrongly_answered
from tests.live.attack_sockets import SOCKETS, wrong_at_seat
from tests.live.attack_tally import Tally
from tests.live.hostile_files import cut_off
from tests.malformed_messages import malformed_key


@pytest.mark.servers
@pytest.mark.sqlite
@pytest.mark.nightly  # each attack has a cheaper test beside the code that it attacks
def test_whoever_attacks_nothing_is_changed_or_lost(capfd: pytest.CaptureFixture[str]) -> None:
    code = attack.main(["--quick"])
    assert code == 0, capfd.readouterr().out


def test_every_attack_has_a_program() -> None:
    assert LOADS.keys() == REQUESTS.keys() | SOCKETS.keys()


def test_an_answer_that_nobody_expects_is_a_fault() -> None:
    tally = Tally()
    for status in (200, 500, 500):
        tally.answered("a page", status, {200})
    assert tally.report() == {
        "sent": 0,
        "answers": {"200": 1, "500": 2},
        "faults": ["2 x a page: answered with 500"],
    }


@pytest.mark.parametrize(
    ("method", "allowed", "status", "wrong"),
    [
        ("GET", True, 200, False),
        ("GET", True, 404, True),
        ("GET", False, 200, True),
        ("GET", False, 403, False),
        ("GET", None, 403, False),
        ("POST", True, 403, False),
        ("POST", False, 200, True),
    ],
)
def test_who_is_let_in_is_judged(method: str, allowed: bool | None, status: int, wrong: bool) -> None:
    asked = {"method": method, "allowed": allowed}
    assert wrongly_answered(asked, is_refused("/staff/", status)) is wrong


def test_a_malformed_message_that_is_accepted_is_a_fault() -> None:
    assert wrong_at_seat(b'{"type": "notice", "code": "accepted"}')
    assert wrong_at_seat(b'{"type": "state", "step": 1}')
    assert not wrong_at_seat(b'{"type": "notice", "code": "unreadable"}')
    assert not wrong_at_seat(b'{"type": "state", "step": 0}')


def test_attackers_send_what_is_malformed() -> None:
    chance = Random(1)
    assert len({malformed_key(chance) for _ in range(100)}) > 30
    with pytest.raises(EOFError):
        gzip.decompress(cut_off())
