"""Prepare what attacks need in the database of a running app, and tell what they changed there.

The functions run in the process of `tests.live.books`.
"""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any

from django.apps import apps
from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Model

from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.world_errors import WorldError
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Message, Seat
from study.participation.idle_timeout import time_out_idle_participants
from study.participation.page_progress import finish_page
from study.participation.views import COOKIE_SALT
from tests.addresses import addresses
from tests.live.books import staff_study, table_laid
from tests.study.factories import enter, make_shared_study
from tests.study.researchers.address_rights import filled, is_let_in
from tests.study.researchers.scene import ROLES, Role, Scene

APPS = ("auth", "otp_static", "otp_totp", "study")
EXPERIMENTS = "kitchen.Experiment"
NOTES = frozenset({"study.ApiToken", "study.PageVisit", "study.SecurityCount", "study.SecurityEvent"})
"""Models in which the app may record that somebody came: visits, failed logins, and the last use of a
token."""
SEEN = frozenset({"active_at", "last_login"})
"""Fields that may record it."""
OWES = "owner who owes a second factor"
"""The role that only a server with compulsory second factors has."""


def stored_rows() -> dict[str, str]:
    """Return a digest of the rows of studies, participants and users, by model and field. Nobody who only
    plays or attacks may change them."""
    models = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    models.append(apps.get_model(EXPERIMENTS))
    return {
        f"{model._meta.label}.{name}": digest
        for model in models
        if model._meta.label not in NOTES
        for name, digest in _digests(model).items()
    }


def _digests(model: type[Model]) -> dict[str, str]:
    names = [field.attname for field in model._meta.concrete_fields if field.name not in SEEN]
    digests = [hashlib.sha256() for _ in names]
    for row in model._base_manager.order_by("pk").values_list(*names).iterator():
        for digest, value in zip(digests, row, strict=True):
            digest.update(repr(value).encode())
    return {name: digest.hexdigest() for name, digest in zip(names, digests, strict=True)}


def study_at_rest(participants: int) -> dict[str, str]:
    """Return `books.staff_study`, in which nobody is left to be timed out by the app itself."""
    study = staff_study(participants)
    time_out_idle_participants()
    return study


def seat_states(keys: list[str]) -> list[tuple[int, str, int]]:
    """Return the step, the state's hash and the number of messages in the episodes of these seats."""
    episodes = [Seat.objects.select_related("episode").get(key=key).episode for key in keys]
    return [
        (episode.step, episode.state_hash, Message.objects.filter(episode=episode).count())
        for episode in episodes
    ]


def talk_tables(count: int) -> list[str]:
    """Create episodes in which a person may write to a program at any time. Return the people's keys."""
    members = [Member(0, (0,), is_person=True), Member(1, (1,), is_person=False)]
    return [
        create_episode(
            world="collab_overcooked",
            settings={"task": "boiled_egg"},
            seats=2,
            seed=number,
            minds=(MindPlan("recipe_partner", (1,), {}),),
            organisation=make_organisation("pair", members, seats=2),
        )
        .seats.get(number=0)
        .key
        for number in range(count)
    ]


def model_tables(models: list[str], extra: list[str]) -> list[str]:
    """Create episodes with a co-player that asks each of these models, also with the model in each `extra`
    setting. Return the people's keys of the episodes whose settings were accepted."""
    chosen = [{"model": model} for model in models]
    chosen += [{"model": "openai-compatible:m", name: model} for name in extra for model in models[:1]]
    keys = []
    for settings in chosen:
        try:
            keys += table_laid(mates=1, kind="dispatcher", settings=settings, steps=40)
        except (WorldError, ValidationError, TypeError, ValueError):
            continue
    return keys


def lobby_people(count: int) -> list[dict[str, str]]:
    """Create a study with groups of one more person than `count`, and participants in its lobby. Return the
    path and cookie of each."""
    study = make_shared_study("crowded", people=count + 1)
    people = [enter(study, f"lobby-{number}") for number in range(count)]
    for person in people:
        finish_page(participant_id=person.pk, page="guide")
    return [
        {
            "path": f"/p/{person.key}/",
            "cookie": f"brigade_{study.pk}={signing.dumps(person.key, salt=COOKIE_SALT)}",
        }
        for person in people
    ]


def visits() -> list[dict[str, Any]]:
    """Create a scene of two studies and every kind of user. Return a request with each role to each
    address, and a form without the token of its page, with what is allowed."""
    scene = Scene()
    made = [
        visit_of(scene, name, address, method)
        for name in ROLES
        if name != OWES
        for address in addresses()
        for method in ("GET", "POST")
    ]
    Random(7).shuffle(made)
    return made


def visit_of(scene: Scene, name: str, address: Any, method: str) -> dict[str, Any]:
    """Return the request of a role to an address. `allowed` is None if it depends on more than the role."""
    role = scene.role(name)
    url = filled(scene, address, role)
    return {
        "role": name,
        "method": method,
        "path": url,
        "headers": headers_of(role),
        "allowed": is_let_in(role, address, url, method.lower()),
        "hidden": sorted(role.hidden),
    }


def headers_of(role: Role) -> dict[str, str]:
    """Return the HTTP headers with the cookies and the token of this role."""
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in role.cookies.items())
    return {**role.headers, **({"Cookie": cookies} if cookies else {})}
