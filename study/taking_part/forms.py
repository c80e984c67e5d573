"""What participants fill in before they are asked anything: the way in and the consent."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core import signing
from django.utils import timezone
from django.utils.translation import gettext

from study.design.models import Study

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
