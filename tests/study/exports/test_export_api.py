"""The API: by token, read-only, as much as the token's researcher may see; and the page that makes tokens."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from brigade.log_formatters import redact_keys
from study.design.models import Condition, Study
from study.exports.export_registry import DOCUMENTS, TABLES
from study.researchers.api_tokens import token_make, token_revoke
from study.researchers.models import ApiToken, Membership
from tests.conftest import Once
from tests.nightly import nightly, thinned
from tests.study.exports.test_exports import downloaded
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study in which one person and one program went the whole way; its pk."""
    with once():
        found = make_study()
        complete(found, "one")
        complete(found, "two", synthetic=True)
        enter(found, "three")
    return found.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


@pytest.fixture
def viewer(study: Study, django_user_model: Any) -> Any:
    found = django_user_model.objects.create_user("viewer", is_staff=True)
    Membership.objects.create(study=study, user=found, role=Membership.Role.VIEWER)
    return found


def asked(path: str, secret: str = "") -> Any:
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    return Client().get(f"/api/{path}", headers=headers)


PATHS = ["studies", "studies/small/progress", "studies/small/files", "studies/small/files/steps.csv"]


@pytest.mark.parametrize("path", thinned(PATHS, 3))
def test_without_a_token_that_works_there_is_only_a_401(viewer: Any, path: str) -> None:
    row, secret = token_make(user=viewer, name="mine")
    assert asked(path, secret).status_code == 200
    assert asked(path, secret)["Cache-Control"] == asked(path)["Cache-Control"] == "no-store"
    for wrong in ("", "brigade_nothing", secret + "x"):
        answer = asked(path, wrong)
        assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (401, "application/json")
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert asked(path, secret).status_code == 401
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert token_revoke(user=viewer, token_id=row.pk)
    assert asked(path, secret).status_code == 401


def test_a_token_is_stored_as_a_hash_and_notes_its_use(viewer: Any) -> None:
    _, secret = token_make(user=viewer, name="mine")
    stored = ApiToken.objects.values().get()
    assert secret not in str(stored)
    assert stored["last_used_at"] is None
    asked("studies", secret)
    assert ApiToken.objects.get().last_used_at


def test_a_token_opens_what_its_researcher_may_see_now(viewer: Any, study: Study) -> None:
    other = make_study("other")
    _, secret = token_make(user=viewer, name="mine")
    assert [one["slug"] for one in asked("studies", secret).json()] == ["small"]
    assert asked("studies/other/progress", secret).status_code == 404
    Membership.objects.create(study=other, user=viewer, role=Membership.Role.VIEWER)
    _, narrow = token_make(user=viewer, name="one study", study=study)
    assert [one["slug"] for one in asked("studies", secret).json()] == ["other", "small"]
    assert [one["slug"] for one in asked("studies", narrow).json()] == ["small"]
    viewer.is_active = False
    viewer.save()
    assert asked("studies", secret).status_code == 401


def test_nobody_makes_a_token_for_a_study_of_others(viewer: Any) -> None:
    with pytest.raises(PermissionError):
        token_make(user=viewer, name="mine", study=make_study("other"))


@pytest.mark.servers
def test_progress_is_in_numbers(viewer: Any, study: Study) -> None:
    _, secret = token_make(user=viewer, name="mine")
    found = asked("studies/small/progress", secret).json()
    assert (found["people"]["complete"], found["people"]["active"]) == (1, 1)
    assert found["synthetic"]["complete"] == 1
    assert sum(cell["finished"] + cell["playing"] for cell in found["cells"]) == 2
    assert found["spent_usd"] == 0.0


@pytest.mark.servers
def test_sequences_are_counted_by_scheme_and_whole_blocks_are_listed(viewer: Any, study: Study) -> None:
    _, secret = token_make(user=viewer, name="mine")
    before = asked("studies/small/progress", secret).json()["cells"]
    assert [(one["versions"], one["sequence"], one["order"]) for one in before] == [
        ([1], 1, ["c0", "c1"]),
        ([1], 2, ["c1", "c0"]),
    ]
    Condition.objects.create(study=study, key="c2", name="Third", label="Third", position=2)
    late = enter(study, "four")
    cells = asked("studies/small/progress", secret).json()["cells"]
    assert cells[:2] == before
    assert [(one["versions"], one["sequence"]) for one in cells[2:]] == [([2], n) for n in range(1, 7)]
    assert {one["sequence"]: one["playing"] for one in cells[2:]} == {
        n: int(n == late.sequence) for n in range(1, 7)
    }
    Study.objects.update(orders="random")
    assert len(asked("studies/small/progress", secret).json()["cells"]) == 8


@pytest.mark.servers
@pytest.mark.parametrize("form", ["parquet", *nightly("csv")])
def test_every_file_can_be_read_and_kinds_left_out(viewer: Any, study: Study, form: str) -> None:
    _, secret = token_make(user=viewer, name="mine")
    listed = {one["name"] for one in asked("studies/small/files", secret).json()}
    assert listed >= {
        *(f"{name}.csv" for name in TABLES),
        *(f"{name}.parquet" for name in TABLES),
        *DOCUMENTS,
    }
    for name in ("participants.csv", "participants.parquet", f"all_{form}.zip"):
        assert len(downloaded(asked(f"studies/small/files/{name}", secret))) > 100
    assert asked("studies/small/files/README.md", secret).status_code == 200
    people = downloaded(asked("studies/small/files/participants.csv?without=synthetic", secret)).decode()
    assert people.count("\r\n") == 3
    assert asked("studies/small/files/secrets.csv", secret).status_code == 404
    assert asked("studies/small/files/steps.csv?without=nobody", secret).status_code == 422


def test_nothing_can_be_changed(viewer: Any) -> None:
    _, secret = token_make(user=viewer, name="mine")
    for path in PATHS:
        answer = Client().post(f"/api/{path}", headers={"authorization": f"Bearer {secret}"})
        assert answer.status_code == 405


def test_a_new_token_is_shown_once_and_can_be_revoked(viewer: Any, client: Client) -> None:
    client.force_login(viewer)
    page = client.post("/staff/tokens/", {"name": "script", "study": "", "days": "30"}).content.decode()
    found = re.search(r"brigade_[\w-]{43}", page)
    assert found
    assert asked("studies", found[0]).status_code == 200
    again = client.post("/staff/tokens/", {"name": "script", "study": "", "days": "30"})
    assert (again.status_code, ApiToken.objects.count()) == (422, 1)
    page = client.get("/staff/tokens/").content.decode()
    assert found[0] not in page
    assert found[0][:12] in page
    client.post("/staff/tokens/", {"revoke": str(ApiToken.objects.get().pk), "sure": "on"})
    assert asked("studies", found[0]).status_code == 401
    assert "revoked" in client.get("/staff/tokens/").content.decode()


def test_nobody_revokes_the_token_of_another(viewer: Any, admin_client: Client) -> None:
    row, _ = token_make(user=viewer, name="mine")
    admin_client.post("/staff/tokens/", {"revoke": str(row.pk), "sure": "on"})
    row.refresh_from_db()
    assert row.works


def test_the_api_explains_itself_without_scripts(client: Client) -> None:
    page = client.get("/api/")
    assert page.status_code == 200
    text = page.content.decode()
    assert all(
        one in text for one in ("/api/studies/{slug}/progress", "/api/studies/{slug}/files/{name}", "401")
    )
    assert client.get("/api/openapi.json").json()["info"]["title"] == "Brigade"


def test_no_log_line_holds_a_token(viewer: Any) -> None:
    _, secret = token_make(user=viewer, name="mine")
    for line in (
        f"Authorization: Bearer {secret}",
        f"GET /api/studies?auth=Bearer%20{secret}&more=1",
        f"GET /api/studies?auth={quote(repr(secret))}",
        f"x_{secret}",
        f"{secret}_x",
        repr({"token": secret}),
    ):
        assert secret[12:] not in redact_keys(line)
        assert "brigade_" in redact_keys(line)
