"""The login of staff: name, password, and the code of a second factor for who has one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.signals import user_login_failed

from study.researchers.second_factor import code_fits


class StaffLoginForm(AdminAuthenticationForm):
    """Nobody is logged in by the password alone who has set up a second factor."""

    code = forms.CharField(
        label="Code",
        required=False,
        max_length=40,
        help_text="Only if you have set up a second factor: the six digits of your app, or a recovery code.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autocapitalize": "none"}),
    )

    def clean(self) -> dict[str, Any]:
        """The password first; then the code. A wrong code counts as a failed login."""
        cleaned: dict[str, Any] = super().clean()
        user = self.get_user()
        if user is not None and not code_fits(user, cleaned.get("code", "")):
            self.user_cache = None
            who = {"username": user.get_username()}
            user_login_failed.send(sender=__name__, credentials=who, request=self.request)
            self.add_error(
                "code",
                "Give the six digits that your app shows now, or a recovery code that you have not used yet. "
                "After a wrong one, wait some seconds.",
            )
        return cleaned
