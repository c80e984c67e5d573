"""Define the Django models of participants and their data: rounds, groups, page visits, answers, and others.

A round is an episode (one game) with its survey. Other models record pauses of entry, and the actions of
staff on participants.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from kitchen.infra.append_only import AppendOnly
from kitchen.play.models import Episode, new_key
from study.design.blueprint import Blueprint
from study.design.condition_seats import people_in
from study.design.models import Condition, Study, SurveyItem, Version
from study.design.own_pages import PREFIX
from study.design.translated_texts import translated_design
from study.design.translations import ORIGINAL_LANGUAGE, best_language


def new_completion_code() -> str:
    """Return a random completion code: eight characters that cannot be confused with each other."""
    return "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(8))


GUEST_SALT = "brigade.guest"
AWAY_SECONDS = timedelta(seconds=75)
"""A member of a group whose page in the lobby sent no signal for this long is not present. Browsers may limit
a background page to one signal a minute. A page that is closed reports it at once (`leave_lobby`)."""


class Participant(models.Model):
    """One person in one study.

    A browser that has `key` can open this participant's pages and erase the data. A person who only knows the
    label is a guest. A guest can continue the study but cannot erase.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", "taking part"
        COMPLETE = "complete", "complete"
        NO_CONSENT = "no_consent", "did not agree"
        FAILED_CHECK = "failed_check", "failed the check of understanding"
        TIMED_OUT = "timed_out", "timed out"
        TECHNICAL = "technical", "ended for a technical reason"
        UNMATCHED = "unmatched", "nobody to play with"
        NO_PLACE = "no_place", "no group with a place"
        SCREENED_OUT = "screened_out", "screened out"
        LATE_RETURN = "late_return", "did not come back in time"

    as_guest = False
    """True if the current request showed no more than the label. Never stored."""
    reported_visit: PageVisit | None = None
    """The visit about which the current page reports its device, if the study records devices. Never stored.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    number = models.PositiveIntegerField(help_text="1 for the first one in the study.")
    code = models.CharField(max_length=32, unique=True, help_text="The name in the data. It opens no page.")
    key = models.CharField(
        max_length=32, unique=True, default=new_key, help_text="The secret part of the link."
    )
    entry = models.CharField(
        max_length=32, unique=True, help_text="The key of the consent form that was sent."
    )
    completion_code = models.CharField(
        "own code",
        max_length=16,
        default=new_completion_code,
        help_text="For complete participants, if the outcome has no code.",
    )
    given_code = models.CharField(
        "completion code",
        max_length=80,
        blank=True,
        editable=False,
        help_text="The code that the person received at the end, even if the outcome's code has changed "
        "since.",
    )
    status = models.CharField(max_length=12, choices=Status, default=Status.ACTIVE)
    synthetic = models.BooleanField(default=False, help_text="A program, not a person.")
    preview = models.BooleanField(default=False, help_text="A member of staff who tried the study out.")
    language = models.CharField(
        max_length=16,
        default=ORIGINAL_LANGUAGE,
        db_default=ORIGINAL_LANGUAGE,
        help_text="The language in which the person reads the pages.",
    )
    version_id: int
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="participants")
    source = models.CharField(max_length=10, default=Study.Recruitment.ANONYMOUS, choices=Study.Recruitment)
    label = models.CharField(
        max_length=120,
        blank=True,
        help_text="The name that the recruiter gave this person, for example a Prolific ID.",
    )
    referral = models.JSONField(
        default=dict,
        blank=True,
        help_text="Other parameters of the link, for example STUDY_ID and SESSION_ID.",
    )
    sequence = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The number of the sequence in the order scheme, from 1; empty for random orders.",
    )
    between_group = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Key of the group between people; empty before the rounds are planned, or without groups.",
    )
    allocation = models.JSONField(
        default=dict,
        blank=True,
        db_default=models.Value({}, models.JSONField()),
        help_text="Why the person got this group: the method, the answers used, and the counts at that time.",
    )
    practice = models.ForeignKey(
        Episode, null=True, blank=True, on_delete=models.PROTECT, related_name="practised_by"
    )
    first_practice = models.ForeignKey(
        Episode,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="first_practised_by",
        help_text="The first attempt, if there was a second one.",
    )
    warm_up = models.ForeignKey(
        Episode,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="warmed_up_by",
        help_text="The episode that the person played while waiting for others, alone or with other people.",
    )
    warm_up_seat = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="The person's seat in that episode."
    )
    round_trip_ms = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Milliseconds that the server took to answer before the person entered; empty if it "
        "was not measured.",
    )
    microphone = models.BooleanField(
        null=True, blank=True, help_text="Whether the person's microphone works; empty if it was not tested."
    )
    entered_at = models.DateTimeField(default=timezone.now, editable=False)
    consented_at = models.DateTimeField(null=True, blank=True)
    consent_hash = models.CharField(
        max_length=64,
        blank=True,
        help_text="SHA-256 of the consent text and statements that the person agreed to.",
    )
    active_at = models.DateTimeField(default=timezone.now, help_text="The time of the person's last action.")
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(
        max_length=200, blank=True, help_text="The reason, if the person did not complete the study."
    )
    excluded_at = models.DateTimeField(null=True, blank=True)
    excluded_reason = models.CharField(max_length=200, blank=True)
    unread_messages = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="The number of messages of staff that the person has not read."
    )
    known_effects = models.JSONField(
        default=dict,
        blank=True,
        db_default=models.Value({}, models.JSONField()),
        help_text="For a program: by how much of an item's scale its answers were shifted, by item and "
        "condition. Empty: the answers depend on what happened in play, as with people.",
    )

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_participant_per_number"),
            models.UniqueConstraint(
                fields=["study", "label"], condition=~models.Q(label=""), name="one_participant_per_label"
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        """Return the address of the participant's pages, which always shows the current page. It is the
        personal link, or the guest link if the current request is a guest's."""
        return reverse("study:participant", args=[self.shown_key])

    @property
    def blueprint(self) -> Blueprint:
        """Return the design of the version under which the participant entered. It has only the conditions
        of the participant's group."""
        return self.version.blueprint.for_group(self.between_group)

    @property
    def practice_seat(self) -> int:
        """Return the participant's seat in the practice episode."""
        return people_in(self.blueprint.practice)[0]

    @property
    def practised_ids(self) -> tuple[int, ...]:
        """Return the ids of the episodes outside of the rounds: the practice episodes, and the one that the
        person played while waiting."""
        found = (self.first_practice_id, self.practice_id, self.warm_up_id)
        return tuple(each for each in found if each)

    @property
    def design(self) -> Blueprint:
        """Return the participant's design in the participant's language. If the study no longer offers
        that language, the best offered one is used."""
        return translated_design(self.blueprint, best_language(self.study.languages, [self.language]))

    @property
    def shown_key(self) -> str:
        """Return the key for addresses in the current request: `guest_key` for a guest, else `key`."""
        return self.guest_key if self.as_guest else self.key

    @property
    def guest_key(self) -> str:
        """Return a key that opens the participant's pages, but does not allow erasing data. It becomes
        invalid when `key` changes, and does not reveal `key`."""
        mark = salted_hmac(GUEST_SALT, f"{self.pk} {self.key}", algorithm="sha256").hexdigest()
        return f"{self.pk}-{mark[:32]}"


class Round(models.Model):
    """One participant's round in one condition: the episode, then the survey."""

    id: int
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="rounds")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="rounds")
    position = models.PositiveSmallIntegerField(help_text="1 for the condition played first.")
    episode = models.ForeignKey(
        Episode,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rounds",
        help_text="Several people may play one episode.",
    )
    seat = models.PositiveSmallIntegerField(default=0, help_text="The participant's seat in the episode.")
    answered_at = models.DateTimeField(null=True, blank=True)
    left_out_at = models.DateTimeField(
        null=True, blank=True, help_text="When staff left the round out of the analysis."
    )
    left_out_because = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "position"], name="one_round_per_position"),
            models.UniqueConstraint(fields=["participant", "condition"], name="one_round_per_condition"),
        ]

    def __str__(self) -> str:
        return f"{self.participant} {self.position}: {self.condition}"

    @property
    def is_given_up(self) -> bool:
        """Return whether a co-player took over the seat because the participant was absent."""
        return self.episode is not None and str(self.seat) in (self.episode.gone or {})


class Group(models.Model):
    """People who play together, from the lobby of their first shared round on.

    All members play the conditions in the first member's order. The group takes no new member once its
    first episode has begun.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="groups")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="groups")
    version_id: int
    number = models.PositiveIntegerField(help_text="1 for the first one in the study.")
    size = models.PositiveSmallIntegerField(help_text="The number of people that the group has seats for.")
    order = models.JSONField(help_text="Keys of the conditions that the group's members will play.")
    sequence = models.PositiveIntegerField(null=True, blank=True, help_text="As `Participant.sequence`.")
    synthetic = models.BooleanField(default=False)
    preview = models.BooleanField(default=False)
    language = models.CharField(
        max_length=16, default=ORIGINAL_LANGUAGE, help_text="The language that all members read."
    )
    formed_at = models.DateTimeField(
        null=True, blank=True, help_text="The time at which the group began to play."
    )

    class Meta:
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_group_per_number")]

    def __str__(self) -> str:
        return f"{self.study}: group {self.number}"


class GroupMember(models.Model):
    """A member of a group, and the last time at which their lobby page was open."""

    id: int
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="members")
    group_id: int
    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="membership")
    participant_id: int
    place = models.PositiveSmallIntegerField(
        help_text="Which of the people's seats is theirs; 0 for the first."
    )
    position = models.PositiveSmallIntegerField(
        default=0, help_text="The position of the round that they wait for; 0: none."
    )
    came_at = models.DateTimeField(
        default=timezone.now, help_text="The time at which they entered the lobby."
    )
    seen_at = models.DateTimeField(
        default=timezone.now, help_text="The time of the last sign of their page in the lobby."
    )

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["group", "place"], name="one_member_per_place")]

    def __str__(self) -> str:
        return f"{self.group}: {self.participant}"


class PageVisit(models.Model):
    """One page of one participant: when it was first opened, and when it was done.

    `next_page` computes the current page from these rows.
    """

    id: int
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="visits")
    page = models.CharField(max_length=40, help_text="The name of the page.")
    position = models.PositiveSmallIntegerField(
        default=0, help_text="The position of the round; 0 outside of rounds."
    )
    opened_at = models.DateTimeField(default=timezone.now)
    loads = models.PositiveIntegerField(default=0, help_text="The number of times the page was loaded.")
    done_at = models.DateTimeField(null=True, blank=True)
    device = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="Empty if the study does not store devices.",
    )
    browser = models.CharField(max_length=20, blank=True, default="", db_default="")
    browser_version = models.PositiveSmallIntegerField(null=True, blank=True, help_text="The major version.")
    system = models.CharField(max_length=10, blank=True, default="", db_default="")
    window_width = models.PositiveSmallIntegerField(null=True, blank=True, help_text="CSS pixels.")
    window_height = models.PositiveSmallIntegerField(null=True, blank=True, help_text="CSS pixels.")
    times_away = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The number of times the page was hidden; empty if it did not report this.",
    )
    away_ms = models.PositiveIntegerField(null=True, blank=True, help_text="The total time, in milliseconds.")

    class Meta:
        ordering = ["opened_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "page", "position"], name="one_visit_per_page")
        ]

    def __str__(self) -> str:
        return f"{self.participant} {self.page} {self.position}"

    @property
    def was_left_out(self) -> bool:
        """Return whether the page was never shown, because its rule did not hold. Only pages that researchers
        wrote have rules. The visit of a break begins before the page is loaded."""
        return self.page.startswith(PREFIX) and not self.loads and self.done_at is not None


class Answer(AppendOnly):
    """One answer to one item. It was given after an episode, or on a page outside of the rounds. It is never
    changed; free texts can be erased."""

    erasable = ("value",)

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="answers")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey(SurveyItem, on_delete=models.PROTECT, related_name="answers")
    attempt = models.PositiveSmallIntegerField(
        default=1, help_text="The number of the attempt at a comprehension question."
    )
    value = models.JSONField(
        help_text="A number, a text, the key of a condition (for a team), or a list of texts (for any of "
        "several)."
    )
    answered_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(AppendOnly.Meta):
        ordering = ["item__position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "item"], condition=models.Q(round__isnull=False), name="one_answer_per_item"
            ),
            models.UniqueConstraint(
                fields=["participant", "item", "attempt"],
                condition=models.Q(round__isnull=True),
                name="one_answer_per_item_and_attempt",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}: {self.value}"


class LeftComplete(models.Model):
    """Record of a participant who finished and whose data were erased. It does not lead to other data.

    It holds a hash of the label, so that the person is recognised. It holds the completion code if the
    participant must still be paid.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="left_complete")
    code = models.CharField(
        "completion code", max_length=80, blank=True, help_text="The code is still valid for payment."
    )
    mark = models.CharField(
        max_length=64,
        blank=True,
        help_text="A mark of the name in the link. The name cannot be read from it.",
    )
    left_on = models.DateField()

    class Meta:
        ordering = ["-left_on", "code"]

    def __str__(self) -> str:
        return f"{self.study}: {self.code}"


class EntryPause(models.Model):
    """A period in which no new participant may enter, because too many began at once."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="entry_pauses")
    began_at = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(
        help_text="The time when the pause ends, by itself or because staff ended it."
    )
    entries = models.PositiveIntegerField(help_text="The number of people who had begun within a minute.")
    ended_by = models.CharField(
        max_length=150, blank=True, help_text="The name of the staff member who ended it early."
    )

    class Meta:
        ordering = ["-began_at", "-id"]

    def __str__(self) -> str:
        return f"{self.study}: {self.began_at:%Y-%m-%d %H:%M}"


class StaffAction(AppendOnly):
    """An action of staff on a participant, with the reason. Rows are never changed, and are erased with
    the participant's data."""

    class Action(models.TextChoices):
        EXCLUDE = "exclude", "excluded from the analysis"
        INCLUDE = "include", "taken back into the analysis"
        REISSUE = "reissue", "gave a new link"
        END_EPISODE = "end_episode", "ended an episode"
        END_WAY = "end_way", "ended the way through the study"
        NOTE = "note", "wrote a note"
        MESSAGE = "message", "sent a message"
        BONUS = "bonus", "confirmed a bonus"
        PAID = "paid", "recorded a payment"
        REVIEW = "review", "reviewed a submission"
        LEAVE_OUT = "leave_out", "left an episode out of the analysis"
        TAKE_BACK = "take_back", "took an episode back into the analysis"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="staff_actions")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="staff_actions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="The name at that time.")
    action = models.CharField(max_length=12, choices=Action)
    reason = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now, editable=False)
    seal = models.CharField(max_length=64, default="", db_default="", help_text="HMAC-SHA-256 of the row.")

    class Meta(AppendOnly.Meta):
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.participant}: {self.get_action_display()}"


RESULT_ACTIONS = (StaffAction.Action.BONUS, StaffAction.Action.PAID)
"""Actions whose reason is an amount, which shows how well somebody played."""
PRIVATE_ACTIONS = (StaffAction.Action.NOTE,)
"""Actions that no data file has. Only staff of the study read them."""
