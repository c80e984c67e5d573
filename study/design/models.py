"""Django models of a study's design: Study, Condition, SurveyItem, StudyPart, Outcome and Version."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.urls import reverse
from django.utils.functional import cached_property

from kitchen.contract.agent import EVERYBODY, NO_ONE, PEOPLE
from kitchen.contract.page import DRAWING_AND_TABLES, DRAWING_ONLY, DRAWING_TABLES
from kitchen.contract.world import WorldError
from kitchen.forms.setting_fields import readable_name
from kitchen.money.models import Budget
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, has_3d_scene
from kitchen.words.translation import current_language
from study.design.analysis_plan import CORRECTIONS, DEFAULT_PLAN, MAIN_TESTS
from study.design.blueprint import Blueprint
from study.design.condition_plan import (
    NOBODY,
    condition_cautions,
    condition_check,
    condition_remarks,
    drawing_warnings,
)
from study.design.counterbalancing import get_scheme
from study.design.naming_rules import (
    RESERVED_SLUGS,
    dependent_participants,
    describe_dependents,
    item_key_problem,
    key_problem,
    measure_name_problem,
    name_problem,
)
from study.design.play_metrics import measurement_warnings
from study.design.questions.item_fields import LONGEST, FixedWhen, ItemPlan, fixed_fields
from study.design.questions.item_kinds import item_problems
from study.design.study_parts import PARTS, part_problems
from study.design.translated_texts import foreign_text
from study.design.translations import ORIGINAL_LANGUAGE, language_codes, language_names, languages_problem

MOST_PEOPLE = 1_000_000
"""The most people that a study can plan or take. A larger number is a typing error."""
YEAR_MINUTES = 365 * 24 * 60
"""The longest time to wait for a participant's action, in minutes."""
LONGEST_DECISION = 600
"""The most seconds that co-players can have for one step."""


def new_seed() -> int:
    """Return a random seed for a study whose researcher names none."""
    return secrets.randbelow(2**31)


class Shown(models.TextChoices):
    """How participants see a world. The values are those of `kitchen.contract.page`."""

    BOTH = DRAWING_AND_TABLES, "both: the drawing, and the tables one click away"
    DRAWN = DRAWING_ONLY, "drawn: as a picture, without the tables"
    TABLES = DRAWING_TABLES, "tables: without the picture"


class Knowing(models.TextChoices):
    """Which commands of a step co-players know when they decide.

    The values are those of `kitchen.contract.agent`.
    """

    EVERYBODY = EVERYBODY, "people and the co-players before it: one decides after the other"
    PEOPLE = PEOPLE, "people: co-players decide side by side"
    NO_ONE = NO_ONE, "nobody: co-players decide side by side"


class Study(models.Model):
    """One experiment: conditions within each participant, and a survey after every episode."""

    class Status(models.TextChoices):
        OPEN = "open", "open: the link takes participants"
        CLOSED = "closed", "closed: nobody new; those who play can finish"

    class Orders(models.TextChoices):
        BALANCED = "balanced", "balanced: each condition follows each other equally often (Williams)"
        PERMUTATIONS = "permutations", "all permutations"
        RANDOM = "random", "random: drawn anew for each participant"
        FIXED = "fixed", "fixed: everybody in the order of the table"

    class Recruitment(models.TextChoices):
        ANONYMOUS = "anonymous", "anonymous: anybody with the link"
        LABEL = "label", "a label: the link ends in ?label=…"
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Amazon Mechanical Turk"
        SONA = "sona", "SONA"

    id: int
    slug = models.SlugField(unique=True, help_text="Part of the participants' link, after /s/.")
    title = models.CharField(
        max_length=120, help_text="Participants read it; do not give away the hypotheses."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    seed = models.BigIntegerField(
        default=new_seed,
        validators=[MinValueValidator(0)],
        help_text="All chance in the study (orders of conditions, episodes) follows from it.",
    )
    orders = models.CharField(
        "orders of conditions",
        max_length=12,
        choices=Orders,
        default=Orders.BALANCED,
    )
    same_dishes = models.BooleanField(
        "the same chance for everybody",
        default=False,
        help_text="In one condition all participants get the same by chance. Teammates who act by chance "
        "draw from the same seed for everybody, too.",
    )
    shuffle_items = models.BooleanField(
        "items in an order of chance",
        default=False,
        help_text="Each participant gets the survey in an order of chance, the same after each episode; "
        "items of one sub-scale stay together.",
    )
    scores_above_surveys = models.BooleanField(
        "scores above the survey",
        default=False,
        db_default=True,  # existing studies kept showing the scores
        help_text="The survey after an episode begins with what was achieved in it. That can colour the "
        "answers, those about workload above all.",
    )
    remind_teams = models.BooleanField(
        "remind who the teams were",
        default=True,
        db_default=False,  # existing studies kept their final page as it was
        help_text="The last questions say of each team when it was played with, how large it was and what "
        "was achieved. Names of conditions are not told.",
    )
    recruitment = models.CharField(
        max_length=10,
        choices=Recruitment,
        default=Recruitment.ANONYMOUS,
        help_text="Where participants come from: it says which names in the link tell who somebody is.",
    )
    signed_only = models.BooleanField(
        "only signed links",
        default=False,
        db_default=False,
        help_text="Nobody comes in by a link that is not signed: by Prolific, with its secure external URL, "
        "or by this server, with the links to hand out by label. So nobody can pass for somebody else.",
    )
    prolific_workspace = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator(r"\A[\w-]+\Z", "Letters, digits, hyphens and underscores only.")],
        help_text="The ID of your workspace on Prolific: it stands in the address of your workspace there, "
        "after /workspaces/. A link that Prolific signed is believed only if it was signed for this "
        "workspace: anybody can make a study there whose link leads here. Empty: none is believed.",
    )
    max_participants = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="When so many people are in or done, nobody new is taken. Who has not agreed to take part "
        "yet, or has dropped out, does not count. Empty: no limit.",
    )
    closes_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nobody new is taken; those who play can finish."
    )
    entries_per_address = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="So many people can begin from one network address within ten minutes; others are asked to "
        "come back. A class or a laboratory often shares one address. Empty: no limit.",
    )
    entries_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="When so many people have begun within one minute, nobody new is let in for ten minutes, "
        "or until you let them: it may be a script. Empty: never.",
    )
    idle_warning_minutes = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(YEAR_MINUTES)],
        help_text="After so long without any action the page asks whether somebody is there. Empty: never.",
    )
    idle_minutes = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(YEAR_MINUTES)],
        help_text="After so long without any action a participant is timed out and counted no more. "
        "Empty: never.",
    )
    planned_participants = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="How many complete participants you plan to analyse. Part of the preregistration.",
    )
    shown = models.CharField(
        "how the world is shown",
        max_length=10,
        choices=Shown,
        default=Shown.BOTH,
        db_default=Shown.BOTH,
        help_text="A world that has no drawing is shown in tables. A condition can have it otherwise.",
    )
    asks_first = models.BooleanField(
        "ask before an action is sent",
        default=False,
        db_default=False,
        help_text="Otherwise one click on a place or an action sends it.",
    )
    blocked_words = models.TextField(
        "words that are not shown",
        blank=True,
        default="",
        db_default="",
        max_length=4000,
        help_text="In what people and co-players write to one another, *** stands for each of these words or "
        "phrases. One on each line; small or capital letters are the same. The data have what was written.",
    )
    hypotheses = models.TextField(blank=True, help_text="Part of the preregistration. Markdown.")
    exclusions = models.TextField(
        "planned exclusions", blank=True, help_text="Part of the preregistration. Markdown."
    )
    failed_checks_allowed = models.PositiveSmallIntegerField(
        "attention checks that may be failed",
        null=True,
        blank=True,
        help_text="Who fails more is left out of the analysis. Empty: nobody is left out for that.",
    )
    planned_tests = models.TextField(blank=True, help_text="Part of the preregistration. Markdown.")
    main_test = models.CharField(
        "test that decides whether conditions differ",
        max_length=20,
        choices=list(MAIN_TESTS.items()),
        default=DEFAULT_PLAN.main,
        db_default=DEFAULT_PLAN.main,
        help_text="The analysis shows the others as well, as exploratory.",
    )
    measures_correction = models.CharField(
        "correction over measures",
        max_length=20,
        choices=list(CORRECTIONS.items()),
        default=DEFAULT_PLAN.correction,
        db_default=DEFAULT_PLAN.correction,
        help_text="Of the main tests of all measures together.",
    )
    planned_contrasts = models.TextField(
        blank=True,
        default="",
        db_default="",
        max_length=4000,
        help_text="One on each line: a name, a colon, and conditions by key with weights that add up to 0, "
        "for example “H1: alone -1, dispatched_1 1/2, dispatched_2 1/2”. Tested in every measure, corrected "
        "after Holm.",
    )
    thinking_seconds = models.FloatField(
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="Teammates of every kind take at least so long for a step, so that nobody is known by "
        "being quick.",
    )
    budget_limit = models.DecimalField(
        "budget",
        max_digits=9,
        decimal_places=2,
        default=10,
        validators=[MinValueValidator(0)],
        help_text="US dollars that language models may cost in this study. When they are spent, no model is "
        "asked any more and the condition's fallback plays.",
    )
    pauses_when_spent = models.BooleanField(
        "take nobody new when the budget is spent",
        default=False,
        db_default=False,
        help_text="Nobody new is let in from then on, until you raise the budget. Who is in finishes their "
        "round, with the fallback where no model can be asked any more; their next one that would ask a "
        "model waits, and its page says so.",
    )
    keeps_devices = models.BooleanField(
        "keep device, window and times away of each page",
        default=False,
        db_default=False,
        help_text="Of every page after the consent: phone, tablet, computer or headset; browser and system; "
        "the size of the window; how often and how long the page was out of sight. These are personal data: "
        "say so in the consent.",
    )
    budget_id: int | None
    budget = models.OneToOneField(
        Budget, null=True, editable=False, on_delete=models.PROTECT, related_name="study"
    )
    shared = models.BooleanField(
        "shown to all researchers",
        default=False,
        help_text="Every researcher here may look at the design and make a copy of it; not at participants.",
    )
    languages = models.CharField(
        max_length=60,
        default=ORIGINAL_LANGUAGE,
        db_default=ORIGINAL_LANGUAGE,
        help_text="In which languages participants can read it, by their codes with spaces between: "
        "“en es zh-hans”. The first is the one in which you write; each participant reads what the "
        "browser asks "
        "for among them, and can change it.",
    )
    texts = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="What you wrote, in the other languages: by language and text.",
    )
    entered = models.PositiveIntegerField(
        default=0, editable=False, help_text="Participants who ever entered: the last number given."
    )
    withdrawn = models.PositiveIntegerField(
        default=0, editable=False, help_text="People who withdrew; their data are erased."
    )
    withdrawn_synthetic = models.PositiveIntegerField(
        default=0, editable=False, help_text="Programs that withdrew in a dry run."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the study. A changed budget applies from the next language model call."""
        super().save(*args, **kwargs)
        Budget.objects.filter(study=self).update(limit=self.budget_limit)

    def get_absolute_url(self) -> str:
        """Return the participants' link."""
        return reverse("study:enter", args=[self.slug])

    @property
    def languages_offered(self) -> list[tuple[str, str]]:
        """(code, name) of each language that the study offers. Each name is in its own language."""
        return language_names(self.languages)

    @property
    def shown_title(self) -> str:
        """The title in the current language. It falls back to the original, marked with its language."""
        own = language_codes(self.languages)[0]
        there = self.texts.get(current_language(), {}).get(self.title)
        return (
            str(there)
            if there
            else self.title
            if own == current_language()
            else foreign_text(self.title, own)
        )

    def clean_fields(self, exclude: Any = None) -> None:
        """Check each field, then all fields together.

        Raises ValidationError with messages at the submitted fields.
        """
        super().clean_fields(exclude)
        problems = {
            name: said for name, said in self._problems().items() if said and name not in (exclude or ())
        }
        if problems:
            raise ValidationError(problems)

    def _problems(self) -> dict[str, str]:
        warned, out = self.idle_warning_minutes, self.idle_minutes
        late = warned is not None and out is not None and warned >= out
        taken = self.slug in RESERVED_SLUGS
        signs = self.Recruitment.PROLIFIC, self.Recruitment.LABEL
        unsignable = self.signed_only and self.recruitment not in signs
        anybodys = self.signed_only and self.recruitment == signs[0] and not self.prolific_workspace
        return {
            "slug": "This name is taken by a page of the console. Choose another." if taken else "",
            "orders": get_scheme(self.orders).problem(self.conditions.count()) if self.pk else "",
            "signed_only": "Only Prolific, and links by label, can be signed." if unsignable else "",
            "prolific_workspace": NO_WORKSPACE if anybodys else "",
            "languages": languages_problem(self.languages),
            "idle_warning_minutes": f"Warn earlier: after {out} minutes they are timed out." if late else "",
        }


NO_WORKSPACE = (
    "Say whose signed links are taken: without the ID of your workspace, anybody with an account on Prolific "
    "could have one signed."
)


class FrozenError(TypeError):
    """Raised when a change would alter something that stored data or active participants depend on."""


class Condition(models.Model):
    """One condition: a world, its settings, and who plays beside the participant."""

    IN_DOCUMENT = "conditions"
    """The key of the list in a version's document that has the conditions."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    key = models.SlugField(help_text="Its name in the data, for example two_dispatched.")
    name = models.CharField(max_length=80, help_text="For you and the figures, for example “Two dispatched”.")
    label = models.CharField(
        max_length=80,
        help_text="What participants read. Neutral, for example “Team A”: no hint at who plays.",
    )
    position = models.PositiveSmallIntegerField(default=0, help_text="Place in tables and figures.")
    world = models.CharField(max_length=40, default=DEFAULT_WORLD_NAME)
    settings = models.JSONField(default=dict, blank=True)
    coplayer = models.CharField(max_length=40, default=NOBODY)
    coplayer_settings = models.JSONField(default=dict, blank=True)
    teammates = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(63)], help_text="Co-players beside the participant."
    )
    thinking_seconds = models.FloatField(
        "thinking time",
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="Seconds that the teammates of this condition take at least. Empty: as in the study.",
    )
    step_seconds = models.FloatField(
        "step timer",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3600)],
        help_text="Seconds for a step, after which a missing command becomes “do nothing”. Empty: the "
        "kitchen waits for the participant.",
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
        help_text="A button beside the drawing opens the same as a scene, on a screen or in a headset. The "
        "data say who used it.",
    )
    shows_intents = models.BooleanField(
        "show what teammates are about to do",
        default=False,
        db_default=False,
        help_text="A line beside each teammate that has told its plan: the planner always, a language model "
        "where it replies with a structured list. Others show nothing.",
    )
    passes_by = models.BooleanField(
        "go on without who is busy",
        default=False,
        db_default=False,
        help_text="Who has nothing to choose in a step is not asked, person or teammate: it goes on without "
        "them. Off: everybody chooses in every step, if only to wait.",
    )
    knowing = models.CharField(
        "whose choice of the step a co-player knows",
        max_length=10,
        choices=Knowing,
        default=Knowing.EVERYBODY,
        db_default=Knowing.EVERYBODY,
        help_text="Co-players are asked once the participant has chosen. Nobody: they choose as if all chose "
        "at once.",
    )
    organisation = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="Who may command whom and write to whom, and co-players of single teammates. Empty: one "
        "co-player for all, and nobody writes.",
    )
    decision_seconds = models.FloatField(
        "time for a decision",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_DECISION)],
        help_text="Seconds that the teammates of this condition have for a step; then the fallback plays. "
        "Empty: as this server has it.",
    )
    offers_plans = models.BooleanField(
        "let participants plan ahead",
        default=False,
        db_default=False,
        help_text="A list on the page in which they choose what is to follow, step by step. It is done by "
        "itself as long as it is possible; else they are asked again.",
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_condition_per_key")]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the condition.

        Raises FrozenError if its key or study changes while participants depend on it.
        """
        with transaction.atomic():
            stored = Condition.objects.select_for_update().filter(pk=self.pk).first() if self.pk else None
            moved = stored and (stored.key, stored.study_id) != (self.key, self.study_id)
            if stored and moved and (why := stored.why_fixed()):
                raise FrozenError(f"{stored.key}: {why}; its key and study cannot change")
            super().save(*args, **kwargs)

    def why_fixed(self) -> str:
        """Return why the key cannot change. Return an empty string if it can."""
        if self.pk and self.rounds.exists():
            return "it is in the plan of participants"
        number = dependent_participants(self)
        return describe_dependents(number) if number else ""

    def clean(self) -> None:
        """Check that the condition can be played and that the analysis can tell it from the others.

        Raises ValidationError with a message that says what to change.
        """
        others = Condition.objects.filter(study=self.study_id, name=self.name).exclude(pk=self.pk)
        if self.study_id and others.exists():
            raise ValidationError("name: Another condition of this study has this name.")
        for field, problem in (("key", key_problem(self.key)), ("name", name_problem(self.name))):
            if getattr(self, field) and problem:
                raise ValidationError(f"{field}: {problem}")
        try:
            condition_check(
                world=self.world,
                settings=self.settings,
                coplayer=self.coplayer,
                coplayer_settings=self.coplayer_settings,
                teammates=self.teammates,
                organisation=self.organisation,
                step_seconds=self.step_seconds,
            )
        except (WorldError, UnknownNameError) as error:
            raise ValidationError(str(error)) from error
        if self.three_dimensions and not has_3d_scene(self.world):
            why = f"{readable_name(self.world)} has no view in three dimensions"
            raise ValidationError(f"three_dimensions: {why}.")

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences about settings that keep co-players from playing as configured, and about drawings to
        check."""
        return (*condition_cautions(self), *drawing_warnings(self.world, self.settings))

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Sentences about what the episodes cannot measure, by the settings alone."""
        return measurement_warnings(self, self.study.planned_participants)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about co-player settings without effect, for the form."""
        return condition_remarks(self)


class SurveyItem(models.Model):
    """One question to participants, asked before the guide, as a check of understanding, after an episode, or
    at the end."""

    class Place(models.TextChoices):
        ABOUT = "about", "about the person, before the guide"
        CHECK = "check", "check of understanding"
        SURVEY = "survey", "after each episode"
        FINAL = "final", "final comparison"

    class Kind(models.TextChoices):
        LIKERT = "likert", "scale with points"
        SINGLE = "single", "one of several"
        MULTIPLE = "multiple", "any of several"
        NUMBER = "number", "number"
        TEXT = "text", "text"
        TEAM = "team", "one of the teams played with"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    key = models.SlugField(
        max_length=LONGEST["key"], help_text="The measure's name in the data, for example trust."
    )
    place = models.CharField(
        max_length=8, choices=Place, default=Place.SURVEY, help_text="Where it is asked."
    )
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.LIKERT)
    measure = models.CharField(
        max_length=LONGEST["measure"], help_text="For tables and figures, for example “Trust”."
    )
    text = models.CharField(max_length=LONGEST["text"], help_text="What participants read.")
    points = models.PositiveSmallIntegerField(default=5, help_text="Of a scale: 3 to 11.")
    low = models.CharField(max_length=LONGEST["low"], blank=True, default="Strongly disagree")
    high = models.CharField(max_length=LONGEST["high"], blank=True, default="Strongly agree")
    scale = models.CharField(
        max_length=LONGEST["scale"],
        blank=True,
        help_text="Name of the sub-scale that it belongs to, for example nasa_tlx.",
    )
    reversed = models.BooleanField(default=False, help_text="Turned around before the sub-scale is scored.")
    options = models.JSONField(
        default=list, blank=True, help_text="What can be chosen: a list of texts, for “of several”."
    )
    minimum = models.FloatField(null=True, blank=True, help_text="Of a number.")
    maximum = models.FloatField(null=True, blank=True, help_text="Of a number.")
    step = models.FloatField(null=True, blank=True, help_text="Of a number: 1 for whole numbers.")
    correct = models.JSONField(
        null=True,
        blank=True,
        help_text="The right answer of an attention check or of a question of understanding.",
    )
    position = models.PositiveSmallIntegerField(default=0)
    required = models.BooleanField(default=True)
    needs_teammates = models.BooleanField(
        "only with teammates",
        default=False,
        help_text="Not asked after episodes in which the participant plays alone.",
    )
    may_not_apply = models.BooleanField(
        "or “does not apply”",
        default=False,
        db_default=False,
        help_text="Participants can say that it does not apply. That is in the data by itself, and in no "
        "mean or test.",
    )
    enabled = models.BooleanField(
        default=True, help_text="Asked. What has been asked once stays in the data."
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_item_per_key")]

    IN_DOCUMENT = "items"
    """The key of the list in a version's document that has the items."""
    FROZEN = fixed_fields(FixedWhen.BY_PEOPLE)
    """Fields that cannot change once people answered the item, or while active participants entered with it.

    The data depend on them.
    """

    VALUES = fixed_fields(FixedWhen.BY_VALUES)
    """Fields that cannot change while programs' or previews' answers exist.

    The stored values have this form.
    """
    TRIED = "synthetic participants or previews answered it; erase them first"

    def __str__(self) -> str:
        return self.measure

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the item.

        Raises FrozenError if a field changes that answers or active participants depend on.
        """
        with transaction.atomic():
            if changed := self._frozen_changes(SurveyItem.objects.select_for_update()):
                raise FrozenError(
                    f"{self.key}: {self.why_fixed() or self.TRIED}; {', '.join(changed)} cannot change"
                )
            super().save(*args, **kwargs)

    @property
    def plan(self) -> ItemPlan:
        """The item as rules and documents use it."""
        return ItemPlan.of(self)

    def why_fixed(self) -> str:
        """Return why the item's question cannot change.

        Return an empty string if it can. Only people fix it.
        """
        if self.pk and self.answers.filter(participant__synthetic=False, participant__preview=False).exists():
            return "there are answers to it"
        number = dependent_participants(self)
        return describe_dependents(number) if number else ""

    def fixed_fields(self) -> tuple[str, ...]:
        """Return the names of the fields that cannot change now, judged by the stored row."""
        if not self.pk:
            return ()
        if self.why_fixed():
            return self.FROZEN
        return self.VALUES if self.answers.exists() else ()

    def clean(self) -> None:
        """Check that the analysis can tell the item apart, that it can be asked, and that fixed fields are
        unchanged.

        Raises ValidationError with a message at each wrong field.
        """
        changed = self._frozen_changes(SurveyItem.objects.all())
        problems = dict.fromkeys(changed, f"Fixed: {self.why_fixed() or self.TRIED}.") if changed else {}
        if not problems:
            named = {"key": self._key_problem(), "measure": self._measure_problem()}
            problems = {name: said for name, said in named.items() if said and getattr(self, name)}
            problems |= item_problems(self.plan)
        if problems and not changed and self.why_fixed():
            problems = {name: said for name, said in problems.items() if name not in self.FROZEN}
        if problems:
            raise ValidationError(problems)

    def _key_problem(self) -> str:
        others = SurveyItem.objects.filter(study=self.study_id, key=self.key).exclude(pk=self.pk)
        if self.study_id and others.exists():
            return "Another item of this study has this key."
        return item_key_problem(self.key)

    def _measure_problem(self) -> str:
        others = SurveyItem.objects.filter(study=self.study_id, measure=self.measure).exclude(pk=self.pk)
        if self.study_id and others.exists():
            return "Another item of this study has this measure."
        return measure_name_problem(self.measure)

    def _frozen_changes(self, items: models.QuerySet[SurveyItem]) -> list[str]:
        """Return the names of fixed fields whose value differs from the stored one."""
        stored = items.filter(pk=self.pk).first() if self.pk else None
        if stored is None:
            return []
        changed = [name for name in self.FROZEN if getattr(stored, name) != getattr(self, name)]
        fixed = stored.fixed_fields() if changed else ()
        return [name for name in changed if name in fixed]


class StudyPart(models.Model):
    """One part of a study beside the rounds: on or off, with its heading, text and settings.

    A study has a row only for parts that differ from `study.design.study_parts.PARTS`. The others are as
    defined there.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=12, choices=[(kind.name, kind.words) for kind in PARTS.values()])
    enabled = models.BooleanField("on", default=True)
    title = models.CharField("heading", max_length=120, blank=True, help_text="Empty: the usual one.")
    text = models.TextField(blank=True, help_text="Markdown.")
    settings = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="one_part_per_kind")]

    def __str__(self) -> str:
        return self.kind

    def clean(self) -> None:
        """Check that the settings are known and of the right form.

        Raises ValidationError with a message that says what to change.
        """
        if self.kind in PARTS and (
            problems := part_problems(self.kind, self.text, self.enabled, self.settings)
        ):
            raise ValidationError(problems)


class Outcome(models.Model):
    """What a participant gets at one kind of end: a code, an address to go to, and a text."""

    class Kind(models.TextChoices):
        COMPLETE = "complete", "complete"
        NO_CONSENT = "no_consent", "no consent"
        FAILED_CHECK = "failed_check", "failed the check of understanding"
        TIMED_OUT = "timed_out", "timed out"
        TECHNICAL = "technical", "ended for a technical reason"
        UNMATCHED = "unmatched", "nobody to play with"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="outcomes")
    kind = models.CharField(max_length=12, choices=Kind)
    code = models.CharField(
        max_length=80,
        blank=True,
        help_text="The same for everybody. Empty: an own code for each who is complete, none for others.",
    )
    url = models.CharField(
        "address",
        max_length=500,
        blank=True,
        help_text="Where the last page's button leads. {code} and {label} are filled in.",
    )
    text = models.TextField(blank=True, help_text="Words beside it. Markdown.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="one_outcome_per_kind")]

    def __str__(self) -> str:
        return self.get_kind_display()

    def clean(self) -> None:
        """Check that the address is a web address whose only placeholders are {code} and {label}.

        Raises ValidationError.
        """
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValidationError({"url": "An address begins with https://"})
        rest = self.url.replace("{code}", "").replace("{label}", "")
        if "{" in rest or "}" in rest:
            raise ValidationError({"url": "Only {code} and {label} may stand in braces, spelt just so."})


class Version(models.Model):
    """The design of a study at one time. Participants are bound to the version under which they entered.

    A version's document never changes. Versions are told apart by their digest.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(help_text="1 for the first.")
    document = models.JSONField(help_text="The blueprint.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the document in canonical JSON.")
    created_at = models.DateTimeField(auto_now_add=True)
    frozen_at = models.DateTimeField(null=True, blank=True, help_text="When it was preregistered.")
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    bundle = models.JSONField(
        null=True,
        blank=True,
        help_text="The preregistration: the document, and the prompts that follow from it.",
    )
    bundle_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number}"

    @cached_property
    def blueprint(self) -> Blueprint:
        """The document as a blueprint."""
        return Blueprint.from_json(self.document)
