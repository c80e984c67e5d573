"""Define recruitment platforms such as Prolific: link parameters, and where participants return at the end.

A link parameter can identify the participant on the platform. The module reads these parameters from a
request, and checks or makes signed links.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.crypto import constant_time_compare, salted_hmac

from kitchen.words.gettext_without_django import gettext, gettext_noop
from study.design.models import Study


@dataclass(frozen=True, slots=True)
class Referral:
    """The origin of a participant: the platform, the participant's label (ID) there, and the other
    parameters of the link."""

    source: str = Study.Recruitment.ANONYMOUS
    label: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    vouched: bool = False
    """True if the link is signed: this server or the platform made it for this person."""


NOBODY_SENT = Referral()


@dataclass(frozen=True, slots=True)
class RecruitmentPlace:
    """One recruitment platform.

    `label` is the name of the link parameter that identifies the participant (case-sensitive). `more` are
    further parameters to store. If a parameter has a value in `nobody`, the person only previews the
    study, as on MTurk. `complete` is the address to which participants who finish return.
    """

    label: str = ""
    more: tuple[str, ...] = ()
    needed: bool = False
    """True if a participant without a label is refused."""
    nobody: frozenset[str] = frozenset()
    complete: str = ""
    help: str = ""
    """Instructions for a researcher who sends people from the platform."""
    leaving: str = ""
    """Instructions for a participant who left: what to do on the platform."""
    placeholder: str = ""
    """The placeholder that the platform replaces by the value. NAME is the parameter name in capitals."""
    unsigned: str = ""
    """The message for a participant whose link is not signed but must be.

    It is empty if the platform signs no links.
    """

    def link(self, bare: str) -> str:
        """Return the study's link with a placeholder for each parameter that the recruitment platform fills
        in. `bare` is the link without parameters."""
        names = [name for name in (self.label, *self.more) if name and self.placeholder]
        said = "&".join(f"{name}={self.placeholder.replace('NAME', name.upper())}" for name in names)
        return f"{bare}?{said}" if said else bare


RECRUITMENT_PLACES: Mapping[str, RecruitmentPlace] = {
    "anonymous": RecruitmentPlace(),
    "label": RecruitmentPlace(
        "label",
        needed=True,
        help="Somebody who guesses a label can continue in that person's place, so do not number "
        "people (P01, P02). A label replaces {LABEL} in the link. Once recruiting by label is "
        "saved, the page on recruitment makes signed links that nobody can guess. Only with such "
        "a link, or with the personal link, can somebody leave from another browser.",
        placeholder="{NAME}",
        unsigned=gettext_noop(
            "This study opens only with a signed link. Open the complete link that you were given."
        ),
    ),
    "mturk": RecruitmentPlace(
        "workerId",
        ("assignmentId", "hitId"),
        nobody=frozenset({"ASSIGNMENT_ID_NOT_AVAILABLE"}),
        help="For MTurk make a HIT of the kind “Survey Link”: the link opens in a separate tab, and "
        "the worker pastes the completion code into the HIT. An ExternalQuestion HIT shows the "
        "page in a frame, which is not allowed here. If a script in your HIT adds workerId, "
        "assignmentId and hitId to the link, they are stored and the same worker can continue in "
        "any browser; without them only the completion code identifies the worker, and nothing "
        "keeps a worker from beginning again in another browser.",
    ),
    "prolific": RecruitmentPlace(
        "PROLIFIC_PID",
        ("STUDY_ID", "SESSION_ID"),
        needed=True,
        complete="https://app.prolific.com/submissions/complete?cc={code}",
        leaving=gettext_noop(
            "On Prolific, please return your submission, so that your place there is free again."
        ),
        help="Give Prolific the link for participants unchanged, with its braces and percent signs: "
        "Prolific fills them in for each person. If “secure external URL” is switched on there, "
        "Prolific signs the link; once the ID of your Prolific workspace is saved here, a link "
        "that was signed for it proves who the person is.",
        placeholder="{{%NAME%}}",
        unsigned=gettext_noop(
            "This study opens only from Prolific, with a link that is valid for a short time. Open the "
            "study on Prolific again. If it still does not open, please tell the researcher there."
        ),
    ),
    "sona": RecruitmentPlace(
        "survey_code",
        needed=True,
        help="SONA's codes are short numbers: somebody who guesses one can continue in that person's "
        "place. If that is too weak, recruit by label. Give SONA the link for participants "
        "unchanged, with %SURVEY_CODE%: SONA fills it in for each person.",
        placeholder="%NAME%",
    ),
}
"""The platforms by `Study.recruitment`.

Parameter names come from the documentation of Prolific, MTurk and SONA.
"""

MOST_LABELS = 500
"""The most labels to make at once."""


def new_labels(number: int) -> list[str]:
    """Return `number` different random labels that nobody can guess. The labels are not stored."""
    labels: set[str] = set()
    while len(labels) < number:
        labels.add("".join(secrets.choice(LETTERS) for _ in range(LETTERS_LONG)))
    return list(labels)


LETTERS, LETTERS_LONG = "abcdefghjkmnpqrstuvwxyz23456789", 10
"""The letters of a label, without letters that are easily confused, and its length.

Ten letters have 49 bits.
"""
LONGEST = 120
"""The most characters of one value in a link."""
UNFILLED_PLACEHOLDER = re.compile(r"\{\{|\}\}|\$\{|^\{\w+\}$|^%\w+%$").search
"""Finds a placeholder that the platform should have replaced, such as `{{%PROLIFIC_PID%}}`."""


class ReferralError(ValueError):
    """Raised when a link does not identify the participant, or has an invalid value."""


def is_only_looking(study: Study, parameters: Mapping[str, str]) -> bool:
    """Return whether the link's parameters show that the person only previews the study. On MTurk, people
    can do this before they accept a task."""
    place = RECRUITMENT_PLACES[study.recruitment]
    return bool(place.nobody & {parameters.get(name, "").strip() for name in (place.label, *place.more)})


def referral_of(study: Study, parameters: Mapping[str, str]) -> Referral:
    """Return the participant's origin, read from the link's parameters.

    Raises ReferralError if the link is invalid. The message is for the participant.
    """
    place = RECRUITMENT_PLACES[study.recruitment]
    values = {name: parameters.get(name, "").strip() for name in (place.label, *place.more) if name}
    for name, value in values.items():
        if len(value) > LONGEST or not value.isprintable():
            raise ReferralError(
                gettext(
                    "The link is damaged: {name} is too long or contains characters that cannot be shown."
                ).format(name=name)
            )
        if UNFILLED_PLACEHOLDER(value):
            raise ReferralError(
                gettext(
                    "The link is incomplete: {name} is “{value}”. Open the study from the page where you "
                    "found it."
                ).format(name=name, value=value)
            )
    if is_only_looking(study, parameters):
        raise ReferralError(gettext("Accept it where you found the study, then open the link again."))
    label = values.pop(place.label, "")
    if place.needed and not label:
        raise ReferralError(
            gettext(
                "The link lacks {name}, which identifies your place in the study. Open the study from "
                "the page where you found it."
            ).format(name=place.label)
        )
    more = {name: value for name, value in values.items() if value}
    vouched = _vouched(study, label, parameters.get(PROOF, ""))
    if study.signed_only and not vouched:
        why = place.unsigned or RECRUITMENT_PLACES["label"].unsigned
        raise ReferralError(gettext(why))
    return Referral(study.recruitment, label, more, vouched)


PROOF, PROOF_SALT = "proof", "brigade.label-link"
"""The parameter of a signed link with its signature, and the salt of that signature."""


def label_proof(study: Study, label: str) -> str:
    """Return the signature that a link with this label (the participant's ID) needs in this study. It
    depends on the server's secret key."""
    return salted_hmac(PROOF_SALT, f"{study.pk} {label}", algorithm="sha256").hexdigest()[:32]


def _vouched(study: Study, label: str, proof: str) -> bool:
    return bool(label) and constant_time_compare(label_proof(study, label), proof)
