"""Enter a study: the entry and consent forms, the first steps of a participant, and limits on entries from
one network address.

Entries are counted in the cache that all processes share, without the address itself.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core import signing
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from kitchen.infra.client_address import client_address, client_network
from study.design.blueprint import PartPlan
from study.design.counterbalancing import get_scheme
from study.design.models import Study, Version
from study.design.page_and_item_order import WELCOME
from study.design.recruitment_platforms import NOBODY_SENT, Referral
from study.design.study_errors import EntryPausedError, StudyClosedError, TookPartError
from study.design.study_versions import current_version
from study.design.translated_texts import translated_design
from study.design.translations import language_codes
from study.participants.end_participation import participant_end
from study.participants.entry_limits import current_pause, is_full, pause_if_too_many
from study.participants.erasure_records import completion_of
from study.participants.models import Participant
from study.participants.next_page import ParticipantProgress
from study.participants.participant_events import notify_staff
from study.participation.page_progress import lock_participant, mark_page_done, prepare_next_page
from study.participation.round_planning import is_budget_spent, plan_rounds


def is_study_open(study: Study, *, synthetic: bool = False) -> bool:
    """Whether somebody new may enter now. People and programs are counted apart."""
    return not why_study_closed(study, synthetic=synthetic)


def why_study_closed(study: Study, *, synthetic: bool = False) -> str:
    """Why nobody new may enter now: `closed`, `over` (its closing date has come), `spent` (its money, where
    it is to wait then) or `full`; empty if they may."""
    number = study.conditions.count()
    if study.status != Study.Status.OPEN or not number or get_scheme(study.orders).problem(number):
        return "closed"
    if study.closes_at and timezone.now() >= study.closes_at:
        return "over"
    if is_budget_spent(study):
        return "spent"
    return "full" if is_full(study, synthetic=synthetic) else ""


@transaction.atomic
def participant_enter(
    *,
    study_id: int,
    entry: str,
    synthetic: bool = False,
    preview: bool = False,
    referral: Referral = NOBODY_SENT,
    welcomed_at: datetime | None = None,
    beside: int = 0,
    language: str = "",
) -> Participant:
    """Someone begins. The same form sent twice, or the same label, is the same participant. `welcomed_at` is
    when the welcome page was shown to them, if it was; `beside` as for `pause_if_too_many`; `language` what
    they read it in, else the study's own.

    StudyClosedError if the study takes nobody new, EntryPausedError while so many begin at once; staff who
    preview it are let in all the same, programs in a pause. TookPartError for who was done and left.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if known := known_participant(study, entry, referral):
        return known
    if completion_of(study_id, referral.label):
        raise TookPartError(study.slug)
    if not (is_study_open(study, synthetic=synthetic) or (preview and study.conditions.exists())):
        raise StudyClosedError(study.slug)
    counts = not synthetic and not preview
    if counts and (pause := current_pause(study)):
        raise EntryPausedError(pause.until)
    study.entered += 1
    study.save(update_fields=["entered"])
    person = Participant.objects.create(
        study=study,
        version=current_version(study_id=study.pk),
        number=study.entered,
        code=secrets.token_hex(4),
        entry=entry,
        synthetic=synthetic,
        preview=preview,
        source=referral.source,
        label=referral.label,
        referral=dict(referral.more),
        language=language or language_codes(study.languages)[0],
    )
    if welcomed_at:
        now = timezone.now()
        person.visits.create(page=WELCOME, opened_at=min(welcomed_at, now), loads=1, done_at=now)
    if not person.version.blueprint.has("consent"):
        plan_rounds(person)
    prepare_next_page(ParticipantProgress(person))
    notify_staff(person)
    if counts:
        pause_if_too_many(study, beside=beside)
    return person


def known_participant(study: Study, entry: str, referral: Referral) -> Participant | None:
    """Who begins here is somebody who is in already: by the form that was sent, or by the label. Anybody may
    know a label: who shows nothing else is a guest."""
    if known := study.participants.filter(entry=entry).first():
        return known
    known = study.participants.filter(label=referral.label).first() if referral.label else None
    if known:
        known.as_guest = not referral.vouched
    return known


@transaction.atomic
def consent_given(*, participant_id: int) -> bool:
    """The participant agreed to every statement: the rounds are planned. False if nobody asked;
    StudyClosedError if others have taken the last place."""
    person = lock_participant(participant_id)
    if not mark_page_done(ParticipantProgress(person), "consent"):
        return False
    person.consented_at = timezone.now()
    person.consent_hash = consent_digest(person.version, person.language)
    person.save(update_fields=["consented_at", "consent_hash"])
    plan_rounds(person)
    prepare_next_page(ParticipantProgress(person))
    return True


def consent_digest(version: Version, language: str = "") -> str:
    """SHA-256 of the text and the statements, each on lines of its own, as they are read in this language."""
    return text_digest(translated_design(version.blueprint, language).part("consent"))


def text_digest(part: PartPlan) -> str:
    """As `consent_digest`, of one part."""
    return hashlib.sha256("\n".join([part.text, *part.settings["statements"]]).encode()).hexdigest()


@transaction.atomic
def consent_refused(*, participant_id: int) -> None:
    """The participant does not agree: the end, and nothing that tells who it was is kept."""
    person = lock_participant(participant_id)
    if mark_page_done(ParticipantProgress(person), "consent", stays=False):
        participant_end(participant_id=participant_id, status=Participant.Status.NO_CONSENT)
        Participant.objects.filter(pk=participant_id).update(label="", referral={})


INVITATION_SALT = "brigade.invitation"
ENTRY_SALT = "brigade.entry"
INVITATION_SECONDS = 24 * 3600
SYNTHETIC = "synthetic"
"""Who is invited by a link that only the server can write: a program."""


def synthetic_invitation(study: Study) -> str:
    """What marks a participant as synthetic; it needs the server's secret key."""
    return signing.dumps({"study": study.slug, "who": SYNTHETIC}, salt=INVITATION_SALT)


def entry_name(study: Study) -> tuple[str, str, float]:
    """What `EntryForm.entry` says: the study, a name of its own, and when it was made."""
    return study.slug, secrets.token_urlsafe(16), timezone.now().timestamp()


class EntryForm(forms.Form):
    """The button on the study's link. `entry` names this very form: sent twice, it is one participant, in
    this study only. It also says when the page was made (`opened_at` once it is valid)."""

    entry = forms.CharField(widget=forms.HiddenInput)
    invitation = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.opened_at: datetime | None = None
        self.initial.setdefault("entry", signing.dumps(entry_name(study), salt=ENTRY_SALT))

    def clean_entry(self) -> str:
        """The form's own name, if it is one of ours."""
        try:
            slug, name, opened_at = signing.loads(self.cleaned_data["entry"], salt=ENTRY_SALT)
        except (signing.BadSignature, ValueError) as error:
            raise forms.ValidationError(
                gettext("This form is out of date. Reload the page and try again.")
            ) from error
        if slug != self.study.slug:
            raise forms.ValidationError(
                gettext("This form belongs to another study. Reload the page and try again.")
            )
        self.opened_at = datetime.fromtimestamp(opened_at, UTC)
        return str(name)

    def clean_invitation(self) -> str:
        """Who was invited: `SYNTHETIC`, or empty for anybody."""
        given = self.cleaned_data["invitation"]
        if not given:
            return ""
        try:
            invitation = signing.loads(given, salt=INVITATION_SALT, max_age=INVITATION_SECONDS)
        except signing.BadSignature as error:
            raise forms.ValidationError(
                gettext("This invitation is not valid, or it has expired.")
            ) from error
        if invitation.get("study") != self.study.slug or invitation.get("who") != SYNTHETIC:
            raise forms.ValidationError(gettext("This invitation belongs to another study."))
        return str(invitation["who"])


class ConsentForm(forms.Form):
    """Agreeing to every statement, each with a box of its own."""

    def __init__(self, *args: Any, statements: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for number, statement in enumerate(statements):
            self.fields[f"agree_{number}"] = forms.BooleanField(
                label=statement, error_messages={"required": gettext("Tick this box if you agree.")}
            )


log = logging.getLogger(__name__)

WINDOW_SECONDS = 600
MINUTE = 60
SHARE = 5
"""As many entries of one network within a minute count towards a pause."""
NETWORK_SALT = "brigade.entries"
MOST_NAME_QUERIES = 60
"""That one network may ask about within a minute: the page tells whether somebody of this name takes part, or
did."""


def too_many_entries(request: HttpRequest, study: Study) -> bool:
    """Whether as many as the study allows have begun from where this request comes; it is counted itself.

    Programs of this machine are not counted: nobody reaches loopback from elsewhere, and behind a proxy
    people have the address that it forwards. Those whose address cannot be read are counted together. While
    the cache is away nobody is turned away.
    """
    most, name = study.entries_per_address, _network(request, study)
    return most is not None and bool(name) and _count(f"entries:{name}", WINDOW_SECONDS) > most


def too_many_name_queries(request: HttpRequest, study: Study, referral: Referral) -> bool:
    """Whether more names were asked about from where this request comes than may be; it is counted itself,
    unless the link has no name, or is signed."""
    if not referral.label or referral.vouched:
        return False
    name = _network(request, study)
    return bool(name) and _count(f"names:{name}", MINUTE) > MOST_NAME_QUERIES


def uncounted_entries(request: HttpRequest, study: Study) -> int:
    """How many entries of this minute and the one before do not count towards a pause, since their network
    had sent its share: else whoever has two addresses could keep a study shut. This entry is counted."""
    name, minute = _network(request, study), int(time.time()) // MINUTE
    if name and _count(f"share:{name}", MINUTE) > SHARE:
        _count(f"beside:{study.pk}:{minute}", 2 * MINUTE)
    return sum(_counted(f"beside:{study.pk}:{one}") for one in (minute, minute - 1))


def _network(request: HttpRequest, study: Study) -> str:
    """A name for where a request comes from, in this study only; empty for this machine."""
    address = client_address(request)
    if address is not None and address.is_loopback:
        return ""
    network = client_network(address) if address else "unknown"
    return salted_hmac(NETWORK_SALT, f"{study.pk} {network}", algorithm="sha256").hexdigest()


def _count(key: str, seconds: int) -> int:
    """One more; how many it are within the window. 0 while nobody can count."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.add(key, 0, seconds)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError) as error:  # ValueError: the window was over at this very moment
        log.warning("entries from an address are not counted: %s", type(error).__name__)
        return 0


def _counted(key: str) -> int:
    """How many it were; 0 while nobody knows."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return int(cache.get(key, 0))
    except (RedisError, OSError):
        return 0
