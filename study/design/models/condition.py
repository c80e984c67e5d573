"""Define the Django model `Condition`: a world (game), its settings, and who plays with the participant.

The other players are agents or people.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction

from kitchen.agents.policy.agent import FILE
from kitchen.agents.policy.policy_folder import full_reference
from kitchen.contract.agent import EVERYBODY, NO_ONE, PEOPLE
from kitchen.contract.world_errors import WorldError
from kitchen.forms.setting_fields import readable_name
from kitchen.play.policies.policy_storage import KIND as POLICY
from kitchen.play.policies.policy_storage import copy_to_this_machine
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, has_3d_scene
from study.design.between_groups import group_keys
from study.design.condition_seats import (
    NOBODY,
    condition_cautions,
    condition_check,
    condition_remarks,
    drawing_warnings,
)
from study.design.models.study import Shown, Study
from study.design.naming_rules import (
    dependent_participants,
    describe_dependents,
    key_problem,
    name_problem,
)
from study.design.play_metrics import measurement_warnings
from study.design.round_plans import condition_shares
from study.design.sampled_model_calls import context_cautions
from study.design.study_errors import FrozenError

LONGEST_DECISION = 600
"""The most seconds that co-players can have for one step."""


class Knowing(models.TextChoices):
    """Choices for a condition's setting: which commands of the current step do co-players know before they
    decide?

    `kitchen.contract.agent` defines the values.
    """

    EVERYBODY = EVERYBODY, "people and the co-players before it: one decides after the other"
    PEOPLE = PEOPLE, "people: co-players decide side by side"
    NO_ONE = NO_ONE, "nobody: co-players decide side by side"


class Condition(models.Model):
    """One condition: a world, its settings, and who plays with the participant."""

    IN_DOCUMENT = "conditions"
    """The key of the list in a version's document that has the conditions."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    key = models.SlugField(help_text="The condition's name in the data, for example two_dispatched.")
    name = models.CharField(
        max_length=80, help_text="The name for you and in figures, for example “Two dispatched”."
    )
    label = models.CharField(
        max_length=80,
        help_text="What participants read. Choose a neutral name, for example “Team A”, that does not "
        "reveal who plays.",
    )
    position = models.PositiveSmallIntegerField(default=0, help_text="The position in tables and figures.")
    world = models.CharField(max_length=40, default=DEFAULT_WORLD_NAME)
    settings = models.JSONField(default=dict, blank=True)
    coplayer = models.CharField(max_length=40, default=NOBODY)
    coplayer_settings = models.JSONField(default=dict, blank=True)
    teammates = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(63)],
        help_text="The number of co-players who play with the participant.",
    )
    thinking_seconds = models.FloatField(
        "thinking time",
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="The fewest seconds that teammates of this condition take for a step. Empty: as in the "
        "study.",
    )
    step_seconds = models.FloatField(
        "step timer",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3600)],
        help_text="Seconds that participants have for a step. After that, a missing command becomes “do "
        "nothing”. Empty: the game waits for the participant.",
    )
    shown = models.CharField(
        "how the world is shown",
        max_length=10,
        blank=True,
        choices=Shown,
        default="",
        db_default="",
        help_text="Empty: as in the study.",
    )

    three_dimensions = models.BooleanField(
        "also offer it in three dimensions",
        default=False,
        db_default=False,
        help_text="A button beside the drawing opens it as a scene, on a screen or in a headset. The data "
        "show who used it.",
    )
    shows_intents = models.BooleanField(
        "show what teammates are about to do",
        default=False,
        db_default=False,
        help_text="A line beside each teammate shows its plan, if it states one. The planner always does; a"
        " language model does if it replies with a structured list. Other co-players do not.",
    )
    recommends_sound = models.BooleanField(
        "recommend sound",
        default=False,
        db_default=False,
        help_text="The page offers once to switch sound on. Without this, sound is off until somebody presses"
        " its button. The data show who had it on.",
    )
    hides_dots = models.BooleanField(
        "hide the dots at useful actions",
        default=False,
        db_default=False,
        help_text="Dots mark the actions that advance an order, so they are close to advice. Without them, "
        "participants find out themselves what an order needs. Practice then has none, too.",
    )
    order_choices = models.BooleanField(
        "offer whole parts of an order as one choice",
        default=False,
        db_default=False,
        help_text="In kitchens with orders, the menu then begins with what can be done for them, such as "
        "Make cooked rice, and all single actions are folded below. One press runs its steps. This is close "
        "to advice. It needs planning ahead.",
    )
    passes_by = models.BooleanField(
        "go on without busy players",
        default=False,
        db_default=False,
        help_text="A step does not wait for people or teammates who have nothing to choose. Off: everybody "
        "chooses in every step, even if only to wait.",
    )
    knowing = models.CharField(
        "whose commands a co-player knows before it decides",
        max_length=10,
        choices=Knowing,
        default=Knowing.EVERYBODY,
        db_default=Knowing.EVERYBODY,
        help_text="Co-players decide after the participant has chosen. Nobody: they decide as if all chose "
        "at the same time.",
    )
    organisation = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="Who may command and write to whom, and the co-players of single teammates. Empty: one "
        "co-player for all, and nobody writes.",
    )
    decision_seconds = models.FloatField(
        "time for a decision",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_DECISION)],
        help_text="Seconds that teammates of this condition have for a step. After that, the fallback "
        "plays. Empty: the default of this server.",
    )
    talk_language = models.CharField(
        "language of talk",
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="The language in which co-players write to people. Empty: the language of the reader's "
        "pages.",
    )
    offers_plans = models.BooleanField(
        "let participants plan ahead",
        default=False,
        db_default=False,
        help_text="The page has a list of planned actions, one for each step. They are carried out "
        "automatically while they are possible; otherwise participants are asked again.",
    )

    goal = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="The least values of the world's metrics at which the goal of a round is reached. Empty: "
        "no goal.",
    )
    ends_at_goal = models.BooleanField(
        "end the round at its goal",
        default=False,
        db_default=False,
        help_text="The round ends as soon as its goal is reached, and the page says so. Off: it goes on, and "
        "the data say when the goal was reached.",
    )

    star_targets = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="A metric that participants see, with its values for one, two and three stars. The page "
        "shows the targets before the round, and the stars during and after it. Empty: no stars.",
    )

    probes = models.JSONField(
        "questions during the game",
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="Short questions that hold the game. They may affect how people play and rate.",
    )
    rating_slider = models.JSONField(
        "slider beside the game",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="A slider that people may move at any time, with its text and the words of its ends.",
    )

    ready_card = models.BooleanField(
        "show a card before the round",
        default=False,
        db_default=False,
        help_text="The card says who is in the team, what has changed, and that the round counts. The game "
        "begins when the participant is ready, in a group at the latest after ten seconds.",
    )
    end_card = models.BooleanField(
        "show one's share and the best result after the round",
        default=False,
        db_default=False,
        help_text="When the game ends, a card over the board tells the team's result, the participant's "
        "share of the actions, and the participant's best result so far. It may affect ratings.",
    )
    rating_replay = models.BooleanField(
        "offer the last ten seconds while rating",
        default=False,
        db_default=False,
        help_text="The survey can show the end of the episode again, as the participant saw it.",
    )
    lobby_practice = models.BooleanField(
        "offer a kitchen while waiting for others",
        default=False,
        db_default=False,
        help_text="Participants who wait for others can practise alone. It ends when the game begins.",
    )
    lobby_practice_shared = models.BooleanField(
        "let those who wait share this kitchen",
        default=False,
        db_default=False,
        help_text="People who wait in the same study meet in one kitchen. A program plays each place that "
        "nobody has taken. They may be in the same game afterwards.",
    )

    between_group = models.SlugField(
        "played by",
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="The group between people that plays this condition. Empty: all groups.",
    )
    within_level = models.SlugField(
        "level within people",
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="For a study with groups: conditions of different groups with the same level are compared "
        "between the groups, for example level_1. Empty: the condition's own key.",
    )

    levels = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="The level of each factor of the study, by the factor's key.",
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_condition_per_key")]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the condition.

        Raises FrozenError if the condition's key or study changes while participants depend on the
        condition.
        """
        with transaction.atomic():
            stored = Condition.objects.select_for_update().filter(pk=self.pk).first() if self.pk else None
            moved = stored and (stored.key, stored.study_id) != (self.key, self.study_id)
            if stored and moved and (why := stored.why_fixed()):
                raise FrozenError(f"{stored.key}: {why}; its key and study cannot change")
            super().save(*args, **kwargs)

    def why_fixed(self) -> str:
        """Return why the condition's key cannot change. Return an empty string if it can."""
        if self.pk and self.rounds.exists():
            return "it is in the plan of participants"
        number = dependent_participants(self)
        return describe_dependents(number) if number else ""

    def clean(self) -> None:
        """Check that the condition can be played, and that the analysis can distinguish it from the other
        conditions. Raises ValidationError with a message that says what to change."""
        others = Condition.objects.filter(study=self.study_id, name=self.name).exclude(pk=self.pk)
        if self.study_id and others.exists():
            raise ValidationError("name: Another condition of this study has this name.")
        for field, problem in (("key", key_problem(self.key)), ("name", name_problem(self.name))):
            if getattr(self, field) and problem:
                raise ValidationError(f"{field}: {problem}")
        if self.coplayer == POLICY and FILE in self.coplayer_settings:
            file = full_reference(str(self.coplayer_settings[FILE]))
            self.coplayer_settings = {**self.coplayer_settings, FILE: file}
        copy_to_this_machine([self.coplayer_settings, self.organisation])
        try:
            condition_check(
                world=self.world,
                settings=self.settings,
                coplayer=self.coplayer,
                coplayer_settings=self.coplayer_settings,
                teammates=self.teammates,
                organisation=self.organisation,
                step_seconds=self.step_seconds,
                goal=self.goal,
                star_targets=self.star_targets,
                probes=self.probes,
                rating_slider=self.rating_slider,
            )
        except (WorldError, UnknownNameError) as error:
            raise ValidationError(str(error)) from error
        if self.study_id:
            self._check_group()
        self._check_switches()
        self._check_talk_language()
        if self.three_dimensions and not has_3d_scene(self.world):
            why = f"{readable_name(self.world)} has no view in three dimensions"
            raise ValidationError(f"three_dimensions: {why}.")

    def _check_switches(self) -> None:
        """Raise ValidationError if a switch is on that has no effect without another setting."""
        if self.ends_at_goal and not self.goal:
            raise ValidationError("ends_at_goal: Set a goal, or let the round go on.")
        if self.lobby_practice_shared and not self.lobby_practice:
            raise ValidationError("lobby_practice_shared: Offer a kitchen while waiting, too.")

    def _check_talk_language(self) -> None:
        """Raise ValidationError if the application does not have the language of talk."""
        known = dict(settings.LANGUAGES)
        if self.talk_language and self.talk_language not in known:
            raise ValidationError(f"talk_language: {self.talk_language} is not one of {', '.join(known)}.")

    def _check_group(self) -> None:
        """Raise ValidationError if the study does not have the condition's group."""
        groups = group_keys(self.study.between_groups)
        if self.between_group and self.between_group not in groups:
            known = ", ".join(groups) or "none"
            raise ValidationError(
                f"between_group: The study has no group {self.between_group}; its groups: {known}."
            )

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return sentences about settings that keep co-players from playing as configured, about prompts that
        do not fit into a model, and about problems of drawn levels."""
        drawn = drawing_warnings(self.world, self.settings)
        return (*condition_cautions(self), *context_cautions(self), *drawn)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Return sentences about what episodes with these settings cannot measure. For all conditions of a
        study, use `conditions_with_unmeasured`."""
        return next(told for row, told in conditions_with_unmeasured(self.study, [self]))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return sentences about co-player settings without effect, for the form."""
        return condition_remarks(self)


def conditions_with_unmeasured(
    study: Study, rows: Iterable[Condition] | None = None
) -> list[tuple[Condition, tuple[str, ...]]]:
    """Return each condition with the sentences about what episodes with its settings cannot measure. `rows`
    are the conditions to read; the default is all conditions of the study."""
    planned = study.planned_participants
    shares = {} if planned is None else condition_shares(study.round_plans())
    return [
        (
            row,
            measurement_warnings(row, None if planned is None else round(planned * shares.get(row.key, 1.0))),
        )
        for row in (study.conditions.all() if rows is None else rows)
    ]
