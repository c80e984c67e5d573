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

from tests.addresses import Address, addresses, is_refused
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.researchers.address_rights import filled, is_let_in
from tests.study.researchers.scene import NIGHTLY, RIGHTS, ROLES, Role, Scene

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume"),
]

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
OF_EXPERIMENTS = ("kitchen_experiment", "kitchen_modelbatch", "django_admin_log")
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
        return is_refused(self.url, self.answer.status_code, self.answer.headers.get("Location", ""))

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
