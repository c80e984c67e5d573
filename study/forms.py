"""What participants fill in."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core import signing

from study.models import Study, SurveyItem

SYNTHETIC_SALT = "brigade.synthetic"
ENTRY_SALT = "brigade.entry"
INVITATION_SECONDS = 24 * 3600


def synthetic_invitation(study: Study) -> str:
    """What makes a participant a synthetic one; only who has the server's secret key can write it."""
    return signing.dumps({"study": study.slug}, salt=SYNTHETIC_SALT)


class ConsentForm(forms.Form):
    """Agreeing to take part. `entry` names this very form, so that sending it twice is one participant."""

    agree = forms.BooleanField(
        label="I have read this and I agree to take part.",
        error_messages={"required": "Tick the box if you agree. If you do not, you can close this page."},
    )
    entry = forms.CharField(widget=forms.HiddenInput)
    invitation = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.initial.setdefault("entry", signing.dumps(secrets.token_urlsafe(16), salt=ENTRY_SALT))

    def clean_entry(self) -> str:
        """The form's own name, if it is one of ours."""
        try:
            found: str = signing.loads(self.cleaned_data["entry"], salt=ENTRY_SALT)
        except signing.BadSignature as error:
            raise forms.ValidationError("This form is out of date. Reload the page and try again.") from error
        return found

    def clean_invitation(self) -> bool:
        """Whether this is a synthetic participant."""
        given = self.cleaned_data["invitation"]
        if not given:
            return False
        try:
            found = signing.loads(given, salt=SYNTHETIC_SALT, max_age=INVITATION_SECONDS)
        except signing.BadSignature as error:
            raise forms.ValidationError("This invitation is not valid, or it has expired.") from error
        if found.get("study") != self.study.slug:
            raise forms.ValidationError("This invitation belongs to another study.")
        return True


@dataclass(frozen=True, slots=True)
class ItemField:
    """One survey item with its field and the words at its ends."""

    field: forms.BoundField
    low: str
    high: str


class SurveyForm(forms.Form):
    """The survey after one episode: one Likert scale per item."""

    def __init__(self, *args: Any, items: Iterable[SurveyItem], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.survey_items = list(items)
        for item in self.survey_items:
            self.fields[self.name_of(item)] = forms.TypedChoiceField(
                label=item.text,
                choices=[(str(point), str(point)) for point in range(1, item.points + 1)],
                coerce=int,
                empty_value=None,
                required=item.required,
                widget=forms.RadioSelect,
                error_messages={"required": "Choose one of the points of this scale."},
            )

    @staticmethod
    def name_of(item: SurveyItem) -> str:
        """The field's name: no key that a researcher gives can be one of the page's own fields."""
        return f"item_{item.key}"

    @property
    def items(self) -> list[ItemField]:
        """The fields in order, with the words at the ends of their scales."""
        return [ItemField(self[self.name_of(item)], item.low, item.high) for item in self.survey_items]

    def values(self) -> dict[SurveyItem, int]:
        """The answers given, by item."""
        found = {item: self.cleaned_data.get(self.name_of(item)) for item in self.survey_items}
        return {item: value for item, value in found.items() if value is not None}
