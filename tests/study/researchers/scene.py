"""Create two studies with people, and every kind of user that may try to open their pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.core import signing
from django.test import Client
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from kitchen.experiments.models import Experiment
from kitchen.infra.append_only import erasure_allowed
from kitchen.play.models import Episode, Seat
from kitchen.play.policies.models import UploadedPolicy
from kitchen.replay.import_trials import store_trial
from study.design.media_storage import store_media
from study.design.models import Study, SurveyItem
from study.design.preregistration import freeze_study
from study.participants.models import Answer, Participant
from study.participants.sound_recordings import SoundTake
from study.participants.stored_datasets import FINISHED, order_dataset
from study.participation.page_progress import finish_page
from study.participation.views import COOKIE_SALT
from study.pilot.models import DryRun
from study.researchers.api_tokens import token_make
from study.researchers.invitations import invitation_make
from study.researchers.models import ApiToken
from study.researchers.reauthenticate import SURE_AT
from study.researchers.staff_login import SEEN
from tests.kitchen.worlds.overcooked.test_released_trials import played
from tests.study.factories import add_factor, enter, make_study, play_round
from tests.study.media_samples import NOTES

RIGHTS = {
    "owner": {"copy", "view", "results", "edit", "own"},
    "collaborator": {"copy", "view", "results", "edit"},
    "viewer": {"copy", "view", "results"},
}
EXPERIMENT = {"levels": ["level_0"], "agents": [2], "alphas": [1.0], "episodes": 1}
"""A small experiment, because its page plays some steps for the forecast."""


@dataclass
class Role:
    """A kind of user: the browser, the user's rights in the study, and the participants whose data the user
    may read."""

    client: Client
    staff: bool = False
    superuser: bool = False
    owes: bool = False
    """True if the user must set up a second factor but has not."""
    rights: set[str] = field(default_factory=set)
    sees: tuple[str, ...] = ()
    """Slugs of the studies whose data the user may read."""
    person: Participant | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cookies: Any = None
    hidden: set[str] = field(default_factory=set)
    """Texts that no page may show the user."""

    def may_read(self, person: Participant) -> bool:
        """Return whether this role may read this participant's texts."""
        return self.person == person or person.study.slug in self.sees


class Scene:
    """Two studies, `mine` and `other`, each with people in the middle of it, and the staff."""

    def __init__(self) -> None:
        self.study, self.other = self._study("mine"), self._study("other")
        self.person, self.fellow = self._playing("entry-1"), self._playing("entry-2")
        self.stranger = self._playing("entry-3", self.other)
        self.owner, self.outside = self.staff("owner"), self.staff("outside")
        self.other.memberships.create(user=self.outside, role="owner")
        member = self.study.memberships.create(user=self.owner, role="owner")
        freeze_study(study_id=self.study.pk, user=self.owner)
        self.rows: dict[str, Any] = {
            "study": self.study,
            "r": self.study,
            "conditions": self.study.conditions.all()[0],
            "condition": self.study.conditions.all()[0],
            "items": self.study.items.all()[0],
            "flow": self.study.own_pages.create(key="pause", before="final", title="Pause"),
            "media": self.study.media.get(),
            "members": member,
            "dry-run": DryRun.objects.create(study=self.study, participants=1, at_once=1, seed=1, shares={}),
            "participant": self.person,
            "episode": self.seat(self.person).episode,
            "experiment": Experiment.objects.create(setup=EXPERIMENT),
            "policies": UploadedPolicy.objects.create(
                name="net", sha256="0" * 64, card={}, world="overcooked", milliseconds=1
            ),
            "group": Group.objects.create(name="a group"),
            "user": self.owner,
            "sound": self._recorded(),
            "imported": store_trial(played(), name="t1", file_hash="", file_name="games.csv"),
            "totpdevice": TOTPDevice.objects.create(user=self.outside, name="app"),
            "staticdevice": StaticDevice.objects.create(user=self.outside, name="recovery"),
        }
        """The object that a number in an address refers to, by the word before the number."""
        _, self.invitation = invitation_make(by=self.owner, name="Eve", role="viewer", studies=[self.study])
        self.dataset = order_dataset(self.study.pk, form="steps")
        self.dataset.note(state=FINISHED, exported=0, steps=0, left_out=[])
        self.roles = {name: make(self) for name, make in ROLES.items()}
        for role in self.roles.values():
            role.cookies, role.hidden = role.client.cookies.copy(), self._hidden_from(role)

    def role(self, name: str) -> Role:
        """Return the role with this name."""
        return self.roles[name]

    def _recorded(self) -> SoundTake:
        """Create a take of the participant's sound."""
        at = self.seat(self.person).episode
        row = {"pk": 1, "key": "a", "number": 1, "kind": "webm", "steps": [[0, 0]]}
        return SoundTake.objects.create(participant=self.person, episode=at, **row)

    def _study(self, slug: str) -> Study:
        study = make_study(slug, languages="en es")
        add_factor(study)
        study.conditions.update(end_card=True)  # of the first round, which is over
        store_media(study, "notes.txt", NOTES)
        study.parts.create(kind="debriefing", enabled=False, text="![](media:notes.txt)")
        SurveyItem.objects.create(study=study, key="why", measure="Why", text="Why?", kind="text", position=9)
        return study

    def _playing(self, entry: str, study: Study | None = None) -> Participant:
        """Create a participant in the second episode, with a name from the link and a text answer."""
        person = enter(study or self.study, entry)
        finish_page(participant_id=person.pk, page="guide")
        play_round(person)
        named: dict[str, Any] = {
            "label": f"<i>LABEL-{person.pk}-",
            "referral": {"X": f"<i>SAID-{person.pk}-"},
        }
        Participant.objects.filter(pk=person.pk).update(**named)
        with erasure_allowed():
            Answer.objects.filter(participant=person, item__key="why").update(value=f"<i>ANSWER-{person.pk}-")
        person.refresh_from_db()
        return person

    def staff(self, name: str, role: str = "") -> User:
        """Create a member of staff with this role in the study."""
        user = User.objects.create_user(name, is_staff=True)
        if role:
            self.study.memberships.create(user=user, role=role)
        return user

    def clerk(self) -> User:
        """Create a user who has every right in the admin but is a member of no study."""
        user = self.staff("clerk")
        ours = Permission.objects.filter(content_type__app_label__in=("study", "kitchen"))
        user.user_permissions.set(ours)
        return user

    def browser(self, person: Participant) -> Role:
        """Return the role of this participant, whose client has the participant's cookie."""
        client = Client()
        client.cookies[f"brigade_{person.study_id}"] = signing.dumps(person.key, salt=COOKIE_SALT)
        return Role(client, person=person)

    def outsider(self) -> Role:
        """Create the role of a user who is not staff, takes part in the other study, and sends an expired
        token."""
        client = logged_in(User.objects.create_user("outsider"))
        client.cookies.update(self.browser(self.stranger).client.cookies)
        return Role(client, headers=self.program(self.study, self.owner, ended=True).headers)

    def in_study(self, user: User, role: str) -> Role:
        """Return the role of a logged-in member of the study."""
        return Role(logged_in(user), staff=True, rights=RIGHTS[role], sees=("mine",))

    def program(self, study: Study, user: User, *, ended: bool = False) -> Role:
        """Return the role of a program that sends an API token of this user."""
        row, secret = token_make(user=user, name="a program", study=study)
        now = timezone.now()
        ends = now - timedelta(hours=1) if ended else row.expires_at
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now, expires_at=ends)
        sees = () if ended else (study.slug,)
        return Role(Client(), headers={"authorization": f"Bearer {secret}"}, sees=sees)

    def seat(self, person: Participant) -> Seat:
        """Return the participant's seat in the running episode."""
        return Seat.objects.select_related("episode").get(
            episode__rounds__participant=person, episode__status=Episode.Status.PLAYING
        )

    def _hidden_from(self, role: Role) -> set[str]:
        """Return the texts that no page may show this role: other participants' keys and texts."""
        hidden = set[str]()
        for one in (self.person, self.fellow, self.stranger):
            if one != role.person:
                hidden |= {one.key, one.guest_key, one.entry, self.seat(one).key}
            if not role.may_read(one):
                said = one.answers.get(item__key="why").value
                hidden |= {
                    one.code,
                    *(word.removeprefix("<i>") for word in (one.label, one.referral["X"], said)),
                }
        return hidden


def logged_in(user: User) -> Client:
    """Return a client that is logged in and has just confirmed the password."""
    client = Client()
    client.force_login(user)
    session = client.session
    session[SEEN], session[SURE_AT] = int(time.time()), time.time()
    session.save()
    return client


ROLES: dict[str, Callable[[Scene], Role]] = {
    "nobody": lambda _: Role(Client()),
    "participant": lambda at: at.browser(at.person),
    "another participant": lambda at: at.browser(at.fellow),
    "participant of another study": lambda at: at.browser(at.stranger),
    "outsider": lambda at: at.outsider(),
    "user who is not of the staff": lambda _: Role(logged_in(User.objects.create_user("reader"))),
    "staff of another study": lambda at: Role(logged_in(at.outside), staff=True, sees=("other",)),
    "staff with all rights in the admin": lambda at: Role(logged_in(at.clerk()), staff=True),
    "viewer": lambda at: at.in_study(at.staff("viewer", "viewer"), "viewer"),
    "collaborator": lambda at: at.in_study(at.staff("mate", "collaborator"), "collaborator"),
    "owner": lambda at: at.in_study(at.owner, "owner"),
    "owner who owes a second factor": lambda at: Role(logged_in(at.owner), staff=True, owes=True),
    "superuser": lambda _: Role(
        logged_in(User.objects.create_superuser("root")),
        staff=True,
        superuser=True,
        rights=RIGHTS["owner"],
        sees=("mine", "other"),
    ),
    "token": lambda at: at.program(at.study, at.owner),
    "token of another study": lambda at: at.program(at.other, at.outside),
    "expired token": lambda at: at.program(at.study, at.owner, ended=True),
}
"""All kinds of user, by name."""
NIGHTLY = (
    "nobody",
    "another participant",
    "participant of another study",
    "user who is not of the staff",
    "token of another study",
    "expired token",
    "collaborator",
)
"""Roles that only `make test-all` tries on every address.

Each of their rights, or the lack of it, also belongs to a role that `make test` tries on every address and
socket. The outsider carries the credentials of several of them, none of which gives access. A collaborator
has a viewer's rights and some of an owner's.
"""
