"""Files that are read while somebody leaves."""

from __future__ import annotations

import pytest

from study.design.models import Study
from study.exports.export_registry import get_table
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.exports.rows import rows_of
from tests.study.exports.test_complete_exports import walk, whole_study
from tests.study.exports.test_exports import MARKED, WITHOUT_ROWS

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

WITH_ROWS = [name for name in MARKED if name not in WITHOUT_ROWS]
READERS = ("participants_table", "played_episodes")
LIKE_STEPS = ("episodes", "commands")
"""Files that read people and episodes by the same function as `steps`."""


@pytest.fixture(scope="module")
def of_four(once: Once) -> tuple[Study, list[Participant]]:
    """A study that four people have walked through."""
    with once():
        study = whole_study(conditions=1)
        return study, [walk(study, entry) for entry in ("one", "before", "after", "last")]


@pytest.mark.parametrize("name", [nightly(name)[0] if name in LIKE_STEPS else name for name in WITH_ROWS])
def test_a_withdrawal_between_the_reads_breaks_no_file(
    of_four: tuple[Study, list[Participant]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two leave: one whose rows are not made yet, and one just after the first of them was."""
    for reader in READERS:
        monkeypatch.setattr(f"study.exports.tables.{reader}.PEOPLE", 1)
    monkeypatch.setattr("study.exports.tables.played_episodes.STEPS", 1)
    monkeypatch.setattr("study.exports.export_table.AT_ONCE", 1)
    study, (_, before, after, last) = of_four
    leaving, codes = {before.code: before, after.code: after}, list[str]()
    for row in rows_of(get_table(name), study):
        codes.append(row[0])
        for code in {before.code, row[0]} & leaving.keys():
            participant_withdraw(participant_id=leaving.pop(code).pk)
    assert before.code not in codes
    assert after.code in codes
    assert codes[-1] == last.code
