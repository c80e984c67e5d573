"""Every address with every role: who is let in where, and that whoever is not reads and changes nothing. A
new address is tried by itself."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client, client

from tests.addresses import Address, addresses
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.researchers.scene import NIGHTLY, RIGHTS, ROLES, Role, Scene

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume"),
]

OPEN = re.compile(
    r"(s/<slug:slug>/(stored/)?|language/|api/(openapi\.json)?|admin/(login|logout)/|health|ready|metrics)?"
)

"""Addresses that are for everybody: what a study says before one takes part, which language one reads, what
the API offers, whether this process is well. `metrics` is for this machine, which all roles are on here; see
`study/operation`."""
LOGINS = ("/admin/login/", "/staff/account/second-factor/")
WITHOUT_FACTOR = {*LOGINS, "/staff/account/password/", "/admin/logout/"}
EVERY_FORM = {
    "sure": "on",
    "confirm": "yes",
    "action": "exclude",
    "reason": "because",
    "agree": "on",
    "post": "yes",
    "title": "Another",
    "slug": "another",
}
"""What is sent, so that whatever a form does would be done."""
UNESCAPED = re.compile("<i>(?:LABEL|SAID|ANSWER)")
"""What people of the scene wrote."""
NOTED = ("django_session", "study_securityevent", "study_securitycount", "study_apitoken", "axes_")
"""Tables in which it may be noted that somebody came."""
ALIKE = {
    "owner": "viewer",
    "superuser": "owner",
    "staff with all rights in the admin": "staff of another study",
}
"""Roles that many pages treat as they treat another role, by one decision. In `make test` the first comes to
one of `SAMPLE` such pages, and to all of them each night."""
SAMPLE = 4
OF_EXPERIMENTS = ("kitchen_experiment", "django_admin_log")
"""Tables that the admin's rights open, without any study."""


@pytest.fixture(scope="module")
def scene(once: Once) -> Scene:
    with once():
        return Scene()


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """That somebody is refused need not be logged a thousand times, and nobody asks which templates were
    drawn with what."""
    logging.disable(logging.ERROR)
    monkeypatch.setattr(client, "store_rendered_templates", lambda *_, **__: None)
    yield
    logging.disable(logging.NOTSET)


def filled(scene: Scene, address: Address, role: Role) -> str:
    """The address where it is about the study `mine`: of keys it has one that this role knows."""
    row = next((str(row.pk) for part, row in scene.rows.items() if f"/{part}/<" in address.written), "")
    values = {
        "slug": scene.study.slug,
        "code": scene.person.code,
        "episode": str(scene.rows["episode"].key),
        "key": role.person.key if role.person else scene.person.code,
        "name": "participants.csv",
        "measure": "i0",
        "figure": "means",
        "factor": "steps",
        "table": "means.csv",
        "ending": "csv",
        "kind": "consent",
        "language": "es",
        "number": "1",
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


def is_alike(role: Role, other: Role, address: Address) -> bool:
    """Whether both have the same rights on this page of a study, of the staff or of the admin."""
    if address.written.startswith("admin/"):
        return bool(other.rights) and not role.superuser
    whom = {getattr(address.view, name, "") for name in ("opens_for", "taken_from")}
    return whom <= {"staff", *RIGHTS["owner"]} and not whom & (role.rights ^ other.rights)


class Knock:
    """What came of one request; what it wrote is taken back."""

    def __init__(self, role: Role, url: str, method: str, browser: Client | None = None) -> None:
        self.url, self.method, self.written = url, method, list[str]()
        browser = browser or role.client
        browser.cookies = role.cookies.copy()
        sent = EVERY_FORM if method == "post" else {}
        with undone(), connection.execute_wrapper(self._listen):
            answer: Any = getattr(browser, method)(url, sent, headers=role.headers)
            self.answer, self.body = answer, b"".join(answer).decode(errors="replace")

    def _listen(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = re.match(r'(?:INSERT(?: OR IGNORE)? INTO|UPDATE|DELETE FROM) "(\w+)"', sql)
        if found and not found[1].startswith(NOTED):
            self.written.append(found[1])
        return execute(sql, params, many, context)

    @property
    def is_page(self) -> bool:
        """Read by a browser."""
        return str(self.answer.headers.get("Content-Type", "")).startswith("text/html")

    @property
    def refused(self) -> bool:
        """Not for you, not there, or log in first."""
        led = self.answer["Location"] if self.answer.status_code == 302 else self.url
        return self.answer.status_code in {401, 403, 404} or (led != self.url and led.startswith(LOGINS))

    def __str__(self) -> str:
        return f"{self.method} {self.url}: {self.answer.status_code}"


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *((name, ALIKE.get(name, "")) for name in ROLES if name not in NIGHTLY),
        *nightly(*((name, "") for name in (*ALIKE, *NIGHTLY))),
    ],
)
def test_every_address_lets_in_whom_it_is_for_and_nobody_else(
    scene: Scene, name: str, other: str, settings: Any
) -> None:
    role, wrong = scene.role(name), list[str]()
    settings.SECOND_FACTOR_REQUIRED = role.owes
    for number, address in enumerate(addresses()):
        if other and number % SAMPLE and is_alike(role, scene.role(other), address):
            continue
        url = filled(scene, address, role)
        knocks = [Knock(role, url, method) for method in ("get", "post")]
        met = [knock for knock in knocks if knock.answer.status_code != 405]
        wrong += [] if met else [f"{url} answers to nothing"]
        for knock in met:
            wrong += judged(role, knock, is_let_in(role, address, url, knock.method))
    assert not wrong, "\n".join(wrong)


def judged(role: Role, knock: Knock, allowed: bool | None) -> Iterator[str]:
    """What is wrong with this answer."""
    if allowed is not None and knock.refused is allowed:
        yield f"{knock}, though they are {'' if allowed else 'not '}to be let in"
    if written := [table for table in knock.written if not may_write(role, knock, allowed, table)]:
        yield f"{knock} wrote {written}"
    if told := [word for word in role.hidden if word in knock.body]:
        yield f"{knock} tells {told}"
    if found := UNESCAPED.findall(knock.body if knock.is_page else ""):
        yield f"{knock} shows as it was written {found}"


def may_write(role: Role, knock: Knock, allowed: bool | None, table: str) -> bool:
    """Who is let in writes by sending a form; for a participant it is noted which pages they opened."""
    let_in = role.superuser or table.startswith(OF_EXPERIMENTS) if allowed is None else allowed
    return let_in and (knock.method == "post" or role.person is not None)


@pytest.mark.parametrize("name", ["participant", "superuser"])
def test_no_form_of_another_site_does_anything(scene: Scene, name: str) -> None:
    role, wrong, strict = scene.role(name), list[str](), Client(enforce_csrf_checks=True)
    for address in addresses():
        knock = Knock(role, filled(scene, address, role), "post", strict)
        if knock.answer.status_code not in {401, 403, 405} or knock.written:
            wrong.append(f"{knock} wrote {knock.written}")
    assert not wrong, "\n".join(wrong)


def test_only_a_personal_key_opens_a_persons_pages(scene: Scene) -> None:
    person, role = scene.person, scene.role("another participant")
    known = [person.code, person.entry, person.completion_code, str(person.pk), person.label]
    known += [scene.seat(person).key, f"{person.pk}-{scene.fellow.guest_key.partition('-')[2]}"]
    for tail in ("", "here/", "withdraw/"):
        for word in known:
            knocks = [Knock(role, f"/p/{word}/{tail}", method) for method in ("get", "post")]
            assert [knock.answer.status_code for knock in knocks] == [404, 404], word
