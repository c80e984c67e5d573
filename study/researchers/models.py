"""Define the Django models of staff: memberships in studies, API tokens, and security events."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from kitchen.infra.append_only import AppendOnly
from kitchen.words.english_text import and_list
from study.design.models import Study


class Membership(models.Model):
    """The role of one researcher in one study. `permissions` defines the rights of each role."""

    class Role(models.TextChoices):
        OWNER = "owner", "owner: everything; members, freezing and deleting, too"
        COLLABORATOR = "collaborator", "collaborator: design, participants, data"
        VIEWER = "viewer", "viewer: looks, changes nothing"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role, default=Role.COLLABORATOR)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_role_per_member")]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"


class ApiToken(models.Model):
    """A token with which a program reads one researcher's studies through `/api/`.

    Only the token's hash is stored. The token gives access only to what the researcher may see.
    """

    id: int
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    user_id: int
    study = models.ForeignKey(
        Study,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="api_tokens",
        help_text="Empty: all studies that the owner of the token may see.",
    )
    name = models.CharField(max_length=80, help_text="The purpose, for example “script on my laptop”.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    hint = models.CharField(
        max_length=16, help_text="The first characters of the token, to tell it from others."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.hint}… ({self.name})"

    @property
    def works(self) -> bool:
        """Return whether the token can still be used: it is neither revoked nor expired."""
        return self.revoked_at is None and self.expires_at > timezone.now()


class StaffInvitation(models.Model):
    """A link that makes a staff login, or recovers one (`user`). It works once, until it expires. Only its
    hash is stored."""

    id: int
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the secret in the link.")
    name = models.CharField(max_length=150, help_text="For whom it is.")
    role = models.CharField(max_length=12, choices=Membership.Role, default=Membership.Role.COLLABORATOR)
    studies = models.ManyToManyField(Study, blank=True, related_name="invitations")
    user_id: int | None
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="recoveries",
        help_text="Whose login it recovers; empty for an invitation.",
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="invitations"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"

    @property
    def works(self) -> bool:
        """Return whether the link can still be used."""
        return self.used_at is None and self.revoked_at is None and self.expires_at > timezone.now()

    @property
    def what(self) -> str:
        """Return what the link gives: a recovery, or a role in studies."""
        if self.user_id:
            return "recovery"
        slugs = ", ".join(self.studies.values_list("slug", flat=True))
        return f"{self.role} in {slugs}" if slugs else "a login"

    @property
    def offer(self) -> str:
        """Return a sentence that tells the invited person what the link gives."""
        studies = list(self.studies.values_list("title", flat=True))
        if not studies:
            return "You get a login."
        article = "an" if self.role == Membership.Role.OWNER else "a"
        which = "study" if len(studies) == 1 else "studies"
        return f"You become {article} {self.role} of the {which} {and_list([f'“{one}”' for one in studies])}."


class SecurityEvent(AppendOnly):
    """A security event, such as a login. Rows are never changed.

    A row names users and studies by text, not by foreign key. So the row stays when they are deleted. It
    holds no secret.
    """

    class Kind(models.TextChoices):
        LOGIN = "login", "logged in"
        LOGIN_FAILED = "login_failed", "login failed"
        LOGOUT = "logout", "logged out"
        TOKEN_MADE = "token_made", "token made"
        TOKEN_REVOKED = "token_revoked", "token revoked"
        DATA_DOWNLOADED = "data_downloaded", "data downloaded"
        STUDY_OPENED = "study_opened", "study opened"
        STUDY_CLOSED = "study_closed", "study closed"
        PERSON_ERASED = "person_erased", "person erased"
        FACTOR_SET_UP = "factor_set_up", "second factor set up"
        FACTOR_REMOVED = "factor_removed", "second factor removed"
        CODES_MADE = "codes_made", "recovery codes made"
        PASSWORD_CHANGED = "password_changed", "password changed"
        USER_MADE = "user_made", "user made"
        USER_DELETED = "user_deleted", "user deleted"
        RIGHTS_CHANGED = "rights_changed", "rights of a user changed"
        ROLE_GIVEN = "role_given", "role in a study given"
        ROLE_TAKEN = "role_taken", "role in a study taken away"
        INVITE_MADE = "invite_made", "invitation made"
        INVITE_USED = "invite_used", "invitation used"
        INVITE_REVOKED = "invite_revoked", "invitation taken back"

    id: int
    at = models.DateTimeField(default=timezone.now, editable=False)
    kind = models.CharField(max_length=16, choices=Kind)
    user_name = models.CharField(max_length=150, help_text="The staff member's name; empty if unknown.")
    study = models.CharField(max_length=50, help_text="The study's slug.")
    what = models.CharField(max_length=200, help_text="The file or the token.")
    address = models.CharField(max_length=45, help_text="The network address of the browser or program.")
    number = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Numbers from 1 without a gap."
    )
    seal = models.CharField(max_length=64, default="", db_default="", help_text="HMAC-SHA-256 of the row.")

    class Meta(AppendOnly.Meta):
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.get_kind_display()}: {self.user_name}"


class SecurityCount(models.Model):
    """A single row with the number of the last security event. It shows whether events are missing."""

    last = models.PositiveBigIntegerField(help_text="The number of the last event.")
    erased = models.PositiveBigIntegerField(
        default=0, help_text="The app erased events up to this number because of their age."
    )
    seal = models.CharField(max_length=64, help_text="HMAC-SHA-256 of both numbers.")

    def __str__(self) -> str:
        return str(self.last)
