"""Policy files are stored once, copied to machines that lack them, and kept while episodes used them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kitchen.agents.policy.policy_card import PolicyFileError
from kitchen.agents.policy.policy_folder import find_policy, has_copy, remove_copy
from kitchen.agents.policy.upload_checks import check_policy
from kitchen.infra import process_pool
from kitchen.play.coplayers.instant_decisions import prepare_agents
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.play.policies.models import UploadedPolicy
from kitchen.play.policies.policy_storage import (
    PolicyInUseError,
    delete_policy,
    policies_on_this_machine,
    policy_name,
    store_policy,
)
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.registry.agent_registry import prepare_agent
from tests.kitchen.agents.policy.onnx_files import policy
from tests.kitchen.factories import mind

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture(autouse=True)
def without_games(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check files in this process, and play no trial games."""
    path = "kitchen.play.policies.policy_storage.check_and_play"
    monkeypatch.setattr(path, lambda data, given: check_policy(data, given))


def test_a_file_is_stored_once_under_its_hash() -> None:
    row = store_policy("C:\\my files\\Best run (2).onnx", policy(), {"author": "A. Cook"})
    assert (row.name, row.card["author"], len(row.sha256)) == ("Best_run_2_", "A. Cook", 64)
    assert find_policy(row.reference).card.author == "A. Cook"
    with pytest.raises(PolicyFileError, match="here already, as Best_run_2_"):
        store_policy("other.onnx", policy(), {})
    with pytest.raises(PolicyFileError):
        store_policy("wrong.onnx", policy(actions=5), {})
    assert UploadedPolicy.objects.count() == 1
    assert policy_name("../..") == "policy"


def test_a_machine_without_the_file_gets_a_copy_before_the_agent_is_asked() -> None:
    row = store_policy("run.onnx", policy(), {})
    episode = played(row)
    remove_copy(row.sha256)
    assert not has_copy(row.sha256)
    assert [mind.kind for mind in OpenTurn(episode, episode.seats.all()).minds] == ["policy"]
    assert has_copy(row.sha256)
    remove_copy(row.sha256)
    assert row.reference in [one.reference for one in policies_on_this_machine()]


def test_a_file_that_an_episode_used_is_not_deleted() -> None:
    used, unused = store_policy("a.onnx", policy(), {}), store_policy("b.onnx", policy(seed=2), {})
    played(used)
    with pytest.raises(PolicyInUseError, match="1 episode used it"):
        delete_policy(used)
    delete_policy(unused)
    assert (has_copy(used.sha256), has_copy(unused.sha256)) == (True, False)
    assert list(UploadedPolicy.objects.values_list("name", flat=True)) == ["a"]


def played(row: UploadedPolicy) -> Episode:
    """Begin an episode in which the network plays beside a person."""
    return create_episode(
        world="overcooked",
        settings={"layout": "cramped_room"},
        seats=2,
        seed=1,
        minds=[mind("policy", 1, file=row.reference)],
    )


def test_networks_are_loaded_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    row, sent = store_policy("run.onnx", policy(), {}), list[object]()

    def submit(*call: object) -> list[object]:
        sent.append(call)
        return [call]

    monkeypatch.setattr(process_pool, "submit_to_each", submit)
    episode = played(row)
    turn = OpenTurn(episode, episode.seats.all())
    assert prepare_agents(turn) == sent == [(prepare_agent, "policy", {"file": row.reference}, "overcooked")]
    prepare_agent("policy", {"file": row.reference}, "overcooked")
