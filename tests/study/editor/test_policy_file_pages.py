"""Staff upload policy files, see what they are, choose them in conditions, and delete unused ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from kitchen.agents.policy.upload_checks import MAX_BYTES, check_policy
from kitchen.play.policies.models import UploadedPolicy
from study.design import condition_choices
from study.design.models import Condition, Study
from study.design.readiness_checks import readiness_problems
from tests.kitchen.agents.policy.onnx_files import policy, unhurried_checks  # noqa: F401
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db
FILES = "/staff/policies/"
ENVELOPE = 2**20


@pytest.fixture(autouse=True)
def without_games(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check files in this process, and play no trial games."""
    path = "kitchen.play.policies.policy_storage.check_and_play"
    monkeypatch.setattr(path, lambda data, given: check_policy(data, given))


@pytest.fixture
def staff(client: Client) -> User:
    user = User.objects.create_user("staff", is_staff=True)
    client.force_login(user)
    return user


def upload(client: Client, data: bytes, name: str = "run.onnx", **fields: str) -> Any:
    file = SimpleUploadedFile(name, data)
    return client.post(FILES, {"file": file, **fields}, follow=True)


def chosen(study: Study, **changed: Any) -> Condition:
    """A condition with the co-player `policy`."""
    layout = {"layout": "cramped_room"}
    made: dict[str, Any] = {"key": "net", "name": "Net", "label": "Net", "world": "overcooked"}
    made |= {"coplayer": "policy", "teammates": 1, "settings": layout}
    return Condition.objects.create(study=study, **(made | changed))


def test_an_upload_is_shown_with_its_hash_and_deleted_while_nothing_uses_it(
    staff: User, client: Client
) -> None:
    page = upload(client, policy(), author="A. Cook", licence="MIT").content.decode()
    row = UploadedPolicy.objects.get()
    assert "run is stored" in page and row.sha256 in page and "A. Cook" in page and "MIT" in page
    assert "layout: cramped_room" in page and row.uploaded_by == staff
    assert row.sha256[:12] in client.get(FILES).content.decode()
    address = f"{FILES}{row.pk}/"
    assert "tick the box" in client.post(address, follow=True).content.decode()
    condition = chosen(make_study(conditions=1), coplayer_settings={"file": row.reference})
    assert "1 condition names it" in client.post(address, {"sure": "on"}, follow=True).content.decode()
    condition.delete()
    client.force_login(User.objects.create_user("other", is_staff=True))
    assert "Only the person" in client.post(address, {"sure": "on"}, follow=True).content.decode()
    client.force_login(staff)
    assert "run is deleted" in client.post(address, {"sure": "on"}, follow=True).content.decode()
    assert not UploadedPolicy.objects.exists()


def test_a_refused_file_is_told_with_its_code_and_typed_words_stay(staff: User, client: Client) -> None:
    refused = upload(client, policy(actions=5), author="A. Cook")
    page = refused.content.decode()
    assert refused.status_code == 422 and "wrong_output" in page and "A. Cook" in page
    unread = upload(client, policy(seed=3), settings="{")
    assert "This cannot be read: it is no JSON." in unread.content.decode()
    large = upload(client, bytes(MAX_BYTES + 1))
    assert "too_large" in large.content.decode() and not UploadedPolicy.objects.exists()


def test_conditions_offer_the_files_that_fit_the_world(staff: User, client: Client) -> None:
    study = make_study(conditions=1)
    study.memberships.create(user=staff, role="owner")
    upload(client, policy())
    row = UploadedPolicy.objects.get()
    address = f"/staff/{study.slug}/design/conditions/{chosen(study).pk}/"
    page = client.get(address).content.decode()
    assert f'<option value="{row.reference}">run (overcooked.lossless_26/1, layout: cramped_room' in page
    cuisine = chosen(study, key="c", name="C", world="cuisine", settings={})
    other = client.get(f"/staff/{study.slug}/design/conditions/{cuisine.pk}/").content.decode()
    assert row.reference not in other and "Choose a file" in other


def test_another_layout_is_a_caution_of_the_condition_and_another_shape_forbids_it(
    staff: User, client: Client
) -> None:
    upload(client, policy())
    file = {"file": UploadedPolicy.objects.get().reference}
    study = make_study(conditions=1)
    condition = chosen(study, coplayer_settings=file)
    condition.full_clean()
    assert condition.cautions == ()
    condition.settings = {"layout": "cramped_room_tomato"}
    assert "was not trained with layout cramped_room_tomato" in " ".join(condition.cautions)
    condition.settings = {"layout": "coordination_ring"}
    with pytest.raises(ValidationError, match="made for shape"):
        condition.full_clean()


def test_without_the_package_pages_say_how_to_install_it(
    staff: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.editor.policy_file_pages.is_installed", lambda: False)
    assert "make open" in client.get(FILES).content.decode()
    assert "make open" in upload(client, policy()).content.decode() and not UploadedPolicy.objects.exists()


def test_a_long_author_is_cut_in_the_list(staff: User, client: Client) -> None:
    upload(client, policy(), author=150 * "A")
    assert f">{39 * 'A'}…</td>" in client.get(FILES).content.decode()


def test_without_the_package_a_study_with_a_policy_cannot_be_opened_and_the_form_offers_more(
    staff: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(client, policy())
    study = make_study(conditions=1)
    condition = chosen(study, coplayer_settings={"file": UploadedPolicy.objects.get().reference})
    study.memberships.create(user=staff, role="owner")
    page = f"/staff/{study.slug}/design/conditions/{condition.pk}/"
    assert "make open" not in client.get(page).content.decode()
    assert not [one for one in readiness_problems(study) if "make open" in one.words]
    for module in ("registry.agent_registry", "agents.policy.policy_session"):
        monkeypatch.setattr(f"kitchen.{module}.find_spec", lambda name: None)
    uncached: Any = condition_choices._all_kinds
    monkeypatch.setattr(condition_choices, "_all_kinds", uncached.__wrapped__)
    (told,) = [one for one in readiness_problems(study) if "make open" in one.words]
    assert told.hinders and "cannot be played here" in told.words
    assert condition_choices.MORE in client.get(page).content.decode()
