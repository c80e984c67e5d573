"""Fill every address of the app with values of the scene, and say which roles it is for."""

from __future__ import annotations

import re

import pytest

from tests.addresses import LOGINS, Address
from tests.study.media_samples import NOTES_HASH
from tests.study.researchers.scene import Role, Scene

OPEN = re.compile(
    r"(s/<slug:slug>/(stored/)?|language/|invitation/<str:secret>/|round-trip/|api/(openapi\.json)?|admin/(login|logout)/|health|ready|metrics)?"
)

"""Addresses that are for everybody: what a study says before one takes part, which language one reads, what
the API offers, whether this process is well. `metrics` is for this machine, which all roles are on here; see
`study/operation`."""
WITHOUT_FACTOR = {*LOGINS, "/staff/account/password/", "/admin/logout/"}


def filled(scene: Scene, address: Address, role: Role) -> str:
    """The address where it is about the study `mine`: of keys it has one that this role knows."""
    row = next((str(row.pk) for part, row in scene.rows.items() if f"/{part}/<" in address.written), "")
    values = {
        "slug": scene.study.slug,
        "code": scene.person.code,
        "episode": str(scene.rows["episode"].key),
        "imported": str(scene.rows["imported"].key),
        "dataset": scene.dataset.key,
        "key": role.person.key if role.person else scene.person.code,
        "name": "participants.csv",
        "media_name": "notes.txt",
        "sha256": NOTES_HASH,
        "measure": "i0",
        "figure": "means",
        "factor": "steps",
        "table": "means.csv",
        "ending": "csv",
        "kind": "consent",
        "secret": scene.invitation,
        "file": "prolific.txt",
        "language": "es",
        "number": "1",
        "position": "1",
        "act": "delete",
        "rest": "1/1/",
        "url": "nowhere",
        "app_label": "study",
        "content_type_id": "1",
        **({"pk": row, "object_id": row, "id": row} if row else {}),
    }
    unknown = set(address.takes) - values.keys()
    assert not unknown, f"{address.written} takes {unknown}: say in `filled` or `Scene.rows` what that is"
    return address.filled(values)


def is_let_in(role: Role, address: Address, url: str, method: str) -> bool | None:
    """Whether this role has business there; None where it depends on rights in the admin, so that only what
    comes out of it can be judged. Fails for an address of which nobody said for whom it is."""
    written = address.written
    if OPEN.fullmatch(written):
        return True
    if role.owes:
        return url in WITHOUT_FACTOR
    if written.startswith("p/<slug:key>/"):
        return role.person is not None
    if written.startswith("api/studies"):
        return bool(role.headers and role.sees) and ("<" not in written or "mine" in role.sees)
    if written.startswith("admin/"):
        return None if role.staff else False
    whom = getattr(address.view, "opens_for" if method == "get" else "taken_from", "")
    if not whom:
        pytest.fail(
            f"for whom is {written!r}? Put @study_page, @staff_page or @superuser_page on its view,"
            " or, if it is for everybody, its pattern into OPEN of this test"
        )
    return {"staff": role.staff, "superusers": role.superuser}.get(whom, whom in role.rights)
