"""Let people enter a study: define the entry and consent forms, create participants, and limit entries.

Entries from each network address are limited. A shared cache counts them. The address itself is not stored.
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

from kitchen.infra.client_address import client_address, networks_with_shares
from study.design.models import Study, Version
from study.design.page_and_item_order import WELCOME
from study.design.readiness_checks import blocking_problems
from study.design.readiness_problem import ReadinessProblem
from study.design.recruitment_platforms import NOBODY_SENT, Referral
from study.design.study_errors import EntryPausedError, StudyClosedError, TookPartError
from study.design.study_versions import current_version
from study.design.translated_texts import translated_design
from study.design.translations import language_codes
from study.participants.end_and_erase_participation import completion_of, participant_end
from study.participants.entry_limits import current_pause, is_full, pause_if_too_many
from study.participants.models import Participant
from study.participants.next_page import ParticipantProgress
from study.participants.participant_notifications import notify_staff
from study.participation.entry_round_trip import RoundTripField, measures_round_trip
from study.participation.group_assignment import needs_answers_first
from study.participation.page_progress import lock_participant, mark_page_done, prepare_next_page
from study.participation.round_planning import is_budget_spent, plan_rounds


def is_study_open(study: Study, *, synthetic: bool = False) -> bool:
    """Return whether a new participant may enter now. Human and synthetic participants count separately."""
    return not why_study_closed(study, synthetic=synthetic)


def why_study_closed(study: Study, *, synthetic: bool = False) -> str:
    """Return why no new participant may enter now, or an empty string if entry is possible.

    Reasons: `closed`, `over` (the closing date has passed), `spent` (the budget is spent and the study
    pauses then), or `full`. Synthetic participants may also enter a closed study, and after the closing date,
    if nothing in the design blocks it.
    """
    if not study.conditions.exists() or study.orders_problem():
        return "closed"
    if study.status != Study.Status.OPEN and not (synthetic and not _problems_for_programs(study)):
        return "closed"
    if not synthetic and study.closes_at and timezone.now() >= study.closes_at:
        return "over"
    if is_budget_spent(study):
        return "spent"
    return "full" if is_full(study, synthetic=synthetic) else ""


def _problems_for_programs(study: Study) -> list[ReadinessProblem]:
    """Return the problems that keep programs out of a closed study. Recruitment concerns people only."""
    return [one for one in blocking_problems(study) if one.page != "recruitment"]


@transaction.atomic
def participant_enter(
    *,
    study_id: int,
    entry: str,
    synthetic: bool = False,
    preview: bool = False,
    referral: Referral = NOBODY_SENT,
    welcomed_at: datetime | None = None,
    uncounted: int = 0,
    language: str = "",
    round_trip_ms: int | None = None,
) -> Participant:
    """Create a participant and return it. If a participant with the same entry form or label already exists,
    return that participant.

    `welcomed_at` is the time at which the welcome page was shown, if it was. `uncounted` is passed to
    `pause_if_too_many`. `language` is the language of the pages; the default is the study's first language.
    `round_trip_ms` is the round trip measured before, if it was.

    Raises StudyClosedError if the study takes no new participant, and EntryPausedError while too many enter
    at once. Raises TookPartError if somebody with this label finished and the data were erased. Staff
    previews can enter a closed or paused study. Synthetic participants can enter a paused study, and a
    closed one whose design is ready (see `why_study_closed`).
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
        round_trip_ms=round_trip_ms,
    )
    if welcomed_at:
        now = timezone.now()
        person.visits.create(page=WELCOME, opened_at=min(welcomed_at, now), loads=1, done_at=now)
    if not person.version.blueprint.has("consent") and not needs_answers_first(person.version.blueprint):
        plan_rounds(person)
    prepare_next_page(ParticipantProgress(person))
    notify_staff(person)
    if counts:
        pause_if_too_many(study, uncounted=uncounted)
    return person


def known_participant(study: Study, entry: str, referral: Referral) -> Participant | None:
    """Return the participant who sent this entry form before, or who has the referral's label. Return None if
    there is none.

    Others may know a label. So a participant found by a label without a signature is marked as a guest
    (`as_guest`), who cannot erase data.
    """
    if known := study.participants.filter(entry=entry).first():
        return known
    known = study.participants.filter(label=referral.label).first() if referral.label else None
    if known:
        known.as_guest = not referral.vouched
    return known


@transaction.atomic
def consent_given(*, participant_id: int) -> bool:
    """Record that the participant agreed to every statement, and plan the rounds. If the rounds depend on
    answers about the person, they are planned after these.

    Return False if consent is not the current page. Raises StudyClosedError if the study has no place
    left.
    """
    person = lock_participant(participant_id)
    if not mark_page_done(ParticipantProgress(person), "consent"):
        return False
    person.consented_at = timezone.now()
    person.consent_hash = consent_digest(person.version, person.language)
    person.save(update_fields=["consented_at", "consent_hash"])
    if not needs_answers_first(person.version.blueprint):
        plan_rounds(person)
    prepare_next_page(ParticipantProgress(person))
    return True


def consent_digest(version: Version, language: str = "") -> str:
    """Return the SHA-256 of the consent text and its statements, joined by newlines. `language` selects
    the translation."""
    part = translated_design(version.blueprint, language).part("consent")
    return hashlib.sha256("\n".join([part.text, *part.settings["statements"]]).encode()).hexdigest()


@transaction.atomic
def consent_refused(*, participant_id: int) -> None:
    """Record that the participant refused consent, end the participation, and erase the label and referral
    data."""
    person = lock_participant(participant_id)
    if mark_page_done(ParticipantProgress(person), "consent", stays=False):
        participant_end(participant_id=participant_id, status=Participant.Status.NO_CONSENT)
        Participant.objects.filter(pk=participant_id).update(label="", referral={})


INVITATION_SALT = "brigade.invitation"
ENTRY_SALT = "brigade.entry"
INVITATION_SECONDS = 24 * 3600
SYNTHETIC = "synthetic"
"""The invitation value for synthetic participants. Only the server can write such a link."""


def synthetic_invitation(study: Study) -> str:
    """Return a signed text that lets a program enter as a synthetic participant. Signing needs the
    server's secret key."""
    return signing.dumps({"study": study.slug, "who": SYNTHETIC}, salt=INVITATION_SALT)


class EntryForm(forms.Form):
    """The form with the button to enter a study, on the welcome page.

    `entry` identifies one copy of the form: the study's slug, a unique name, and the time at which the
    page was made (Unix seconds). So a form that is sent twice creates only one participant. `opened_at` is
    set once the form is valid. If the study measures round trips, `trip` has the milliseconds.
    """

    entry = forms.CharField(widget=forms.HiddenInput)
    invitation = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.opened_at: datetime | None = None
        if measures_round_trip(study):
            self.fields["trip"] = RoundTripField(required=False)
        entry = study.slug, secrets.token_urlsafe(16), timezone.now().timestamp()
        self.initial.setdefault("entry", signing.dumps(entry, salt=ENTRY_SALT))

    def clean_entry(self) -> str:
        """Return the form's unique name. Raises ValidationError if the server did not sign the value for
        this study."""
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
        """Return `SYNTHETIC` for a valid invitation of a synthetic participant, or an empty string if the
        field is empty. Raises ValidationError for an invalid invitation."""
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
    """The consent form, with one required checkbox per statement."""

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
"""Entries of one household within a minute that count towards a pause."""
NETWORK_SALT = "brigade.entries"
MOST_NAME_QUERIES = 60
"""Limit of queries about labels per network and minute. The page reveals whether somebody with a label takes
or took part."""


def too_many_entries(request: HttpRequest, study: Study) -> bool:
    """Count this entry, and return whether its network made more entries than the study allows. Larger
    networks around it may make some times as many (`LARGER_NETWORKS`).

    Requests from this machine (loopback) come from programs and are not counted. Behind a proxy, the
    forwarded address is used. Requests without a readable address are counted together. While the cache is
    unavailable, no request is refused.
    """
    most = study.entries_per_address
    return most is not None and _exceeds(request, study, "entries", WINDOW_SECONDS, most)


def too_many_name_queries(request: HttpRequest, study: Study, referral: Referral) -> bool:
    """Count this request, and return whether its network tried too many labels within a minute.

    Links without a label and signed links are not counted.
    """
    if not referral.label or referral.vouched:
        return False
    return _exceeds(request, study, "names", MINUTE, MOST_NAME_QUERIES)


def uncounted_entries(request: HttpRequest, study: Study) -> int:
    """Count this entry. Return how many recent entries do not count when the study decides about a pause.

    An entry does not count if its network made more than `SHARE` entries in this minute, or a larger network
    some times as many. Otherwise one person with many addresses could keep a study paused. The result covers
    this minute and the one before.
    """
    minute = int(time.time()) // MINUTE
    if _exceeds(request, study, "share", MINUTE, SHARE):
        _count(f"beside:{study.pk}:{minute}", 2 * MINUTE)
    return sum(_counted(f"beside:{study.pk}:{one}") for one in (minute, minute - 1))


def _exceeds(request: HttpRequest, study: Study, counter: str, seconds: int, most: int) -> bool:
    """Count the request in its networks, and return whether one of them made more than it may. What a small
    network made too often does not count for the larger ones: their other clients did nothing."""
    for name, share in _networks(request, study):
        if _count(f"{counter}:{name}", seconds) > most * share:
            return True
    return False


def _networks(request: HttpRequest, study: Study) -> list[tuple[str, int]]:
    """Return keyed hashes of the networks from which the request comes, each with its share
    (`networks_with_shares`). The hashes differ between studies. Empty for requests from this machine itself
    (loopback)."""
    address = client_address(request)
    if address is not None and address.is_loopback:
        return []
    return [
        (salted_hmac(NETWORK_SALT, f"{study.pk} {network}", algorithm="sha256").hexdigest(), share)
        for network, share in networks_with_shares(address)
    ]


def _count(key: str, seconds: int) -> int:
    """Increase the counter `key` and return its new value. The counter restarts after `seconds`. Return 0
    while the cache is unavailable."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.add(key, 0, seconds)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError) as error:  # ValueError: the window has just expired
        log.warning("entries from an address are not counted: %s", type(error).__name__)
        return 0


def _counted(key: str) -> int:
    """Return the current value of the counter `key`. Return 0 while the cache is unavailable."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return int(cache.get(key, 0))
    except (RedisError, OSError):
        return 0
