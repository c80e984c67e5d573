"""Coming in: by the study's link, then by agreeing to take part."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from study.design.blueprint import PartPlan
from study.design.errors import EntryPausedError, StudyClosedError, TookPartError
from study.design.languages import codes
from study.design.models import Study, Version
from study.design.orders.registry import get_scheme
from study.design.page_order import WELCOME
from study.design.recruitment import NOBODY_SENT, Referral
from study.design.texts import told_in
from study.design.version_writing import version_current
from study.people.flow import Way
from study.people.leaving import participant_end
from study.people.models import Participant
from study.people.news import tell
from study.people.pauses import pause_if_many, pause_on
from study.people.places import is_full
from study.people.took_part import left_before
from study.taking_part.going_on import go_on, locked, mark_done
from study.taking_part.money import waits_for_money
from study.taking_part.rounds import rounds_plan


def study_takes(study: Study, *, synthetic: bool = False) -> bool:
    """Whether somebody new may enter now. People and programs are counted apart."""
    return not why_closed(study, synthetic=synthetic)


def why_closed(study: Study, *, synthetic: bool = False) -> str:
    """Why nobody new may enter now: `closed`, `over` (its closing date has come), `spent` (its money, where
    it is to wait then) or `full`; empty if they may."""
    number = study.conditions.count()
    if study.status != Study.Status.OPEN or not number or get_scheme(study.orders).problem(number):
        return "closed"
    if study.closes_at and timezone.now() >= study.closes_at:
        return "over"
    if waits_for_money(study):
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
    when the welcome page was shown to them, if it was; `beside` as for `pause_if_many`; `language` what they
    read it in, else the study's own.

    StudyClosedError if the study takes nobody new, EntryPausedError while so many begin at once; staff who
    preview it are let in all the same, programs in a pause. TookPartError for who was done and left.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if known := known_already(study, entry, referral):
        return known
    if left_before(study_id, referral.label):
        raise TookPartError(study.slug)
    if not (study_takes(study, synthetic=synthetic) or (preview and study.conditions.exists())):
        raise StudyClosedError(study.slug)
    counts = not synthetic and not preview
    if counts and (pause := pause_on(study)):
        raise EntryPausedError(pause.until)
    study.entered += 1
    study.save(update_fields=["entered"])
    person = Participant.objects.create(
        study=study,
        version=version_current(study_id=study.pk),
        number=study.entered,
        code=secrets.token_hex(4),
        entry=entry,
        synthetic=synthetic,
        preview=preview,
        source=referral.source,
        label=referral.label,
        referral=dict(referral.more),
        language=language or codes(study.languages)[0],
    )
    if welcomed_at:
        now = timezone.now()
        person.visits.create(page=WELCOME, opened_at=min(welcomed_at, now), loads=1, done_at=now)
    if not person.version.blueprint.has("consent"):
        rounds_plan(person)
    go_on(Way(person))
    tell(person)
    if counts:
        pause_if_many(study, beside=beside)
    return person


def known_already(study: Study, entry: str, referral: Referral) -> Participant | None:
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
    person = locked(participant_id)
    if not mark_done(Way(person), "consent"):
        return False
    person.consented_at = timezone.now()
    person.consent_hash = consent_digest(person.version, person.language)
    person.save(update_fields=["consented_at", "consent_hash"])
    rounds_plan(person)
    go_on(Way(person))
    return True


def consent_digest(version: Version, language: str = "") -> str:
    """SHA-256 of the text and the statements, each on lines of its own, as they are read in this language."""
    return text_digest(told_in(version.blueprint, language).part("consent"))


def text_digest(part: PartPlan) -> str:
    """As `consent_digest`, of one part."""
    return hashlib.sha256("\n".join([part.text, *part.settings["statements"]]).encode()).hexdigest()


@transaction.atomic
def consent_refused(*, participant_id: int) -> None:
    """The participant does not agree: the end, and nothing that tells who it was is kept."""
    person = locked(participant_id)
    if mark_done(Way(person), "consent", stays=False):
        participant_end(participant_id=participant_id, status=Participant.Status.NO_CONSENT)
        Participant.objects.filter(pk=participant_id).update(label="", referral={})
