"""Define the Django model `Study`: the settings of one study with participants, and their validation."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.urls import reverse

from kitchen.contract.page_view import DRAWING_AND_TABLES, DRAWING_ONLY, DRAWING_TABLES
from kitchen.money.models import Budget
from kitchen.words.foreign_text import foreign_text
from kitchen.words.gettext_without_django import current_language
from study.design.analysis_plan import CORRECTIONS, DEFAULT_PLAN, MAIN_TESTS
from study.design.between_groups import group_keys, group_keys_problem
from study.design.bonus_rule import bonus_problem
from study.design.factors import LONGEST_KEY, factors_problem_in, parse_factors
from study.design.group_allocation import allocation_problem_in
from study.design.naming_rules import RESERVED_SLUGS
from study.design.own_pages import rule_problem
from study.design.part_order import FREE_PARTS, is_part_order
from study.design.round_plans import RoundPlan, plan_problem, round_plan
from study.design.translations import ORIGINAL_LANGUAGE, language_codes, language_names, languages_problem

MOST_PEOPLE = 1_000_000
"""The most people that a study can plan or take. A larger number is a typing error."""
SHORTEST_LIMIT_MS, LONGEST_LIMIT_MS = 20, 10_000
"""The bounds of the longest round trip with which people may enter, in milliseconds."""
YEAR_MINUTES = 365 * 24 * 60
"""The longest time to wait for a participant's action, in minutes."""


def new_seed() -> int:
    """Return a random seed, the default for a new study."""
    return secrets.randbelow(2**31)


class Shown(models.TextChoices):
    """The choices for how participants see a world. `kitchen.contract.page` defines the values."""

    BOTH = DRAWING_AND_TABLES, "both: the drawing, and the tables one click away"
    DRAWN = DRAWING_ONLY, "drawn: as a picture, without the tables"
    TABLES = DRAWING_TABLES, "tables: without the picture"


class Study(models.Model):
    """One study with participants, and its settings. Each participant plays several conditions, with a
    survey after every episode."""

    class Status(models.TextChoices):
        OPEN = "open", "open: the link takes participants"
        CLOSED = "closed", "closed: nobody new; those who play can finish"

    class Orders(models.TextChoices):
        BALANCED = "balanced", "balanced: each condition follows each other equally often (Williams)"
        PERMUTATIONS = "permutations", "all permutations"
        RANDOM = "random", "random: drawn anew for each participant"
        FIXED = "fixed", "fixed: everybody in the order of the table"

    class ThinkAloud(models.TextChoices):
        OFF = "", "no"
        OPTIONAL = "optional", "yes; people without a microphone go on without"
        REQUIRED = "required", "yes; people without a microphone cannot take part"

    class Recruitment(models.TextChoices):
        ANONYMOUS = "anonymous", "anonymous: anybody with the link"
        LABEL = "label", "a label: the link ends in ?label=…"
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Amazon Mechanical Turk"
        SONA = "sona", "SONA"

    id: int
    slug = models.SlugField(unique=True, help_text="Part of the participants' link, after /s/.")
    title = models.CharField(
        max_length=120, help_text="Participants read this title. Do not reveal the hypotheses."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    seed = models.BigIntegerField(
        default=new_seed,
        validators=[MinValueValidator(0)],
        help_text="All random choices in the study (orders of conditions, episodes) follow from this number.",
    )
    orders = models.CharField(
        "orders of conditions",
        max_length=12,
        choices=Orders,
        default=Orders.BALANCED,
    )
    between_groups = models.CharField(
        "groups between people",
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="Keys with spaces between them, for example “chef assistant”. Each participant is put into "
        "one group at random and plays its conditions only; the groups stay equally large. A condition says "
        "which group plays it. Empty: everybody plays every condition.",
    )
    factors = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        editable=False,
        help_text="The manipulated variables with their levels. Each combination of levels is a condition.",
    )
    one_round_per = models.SlugField(
        "one round for each level of",
        max_length=LONGEST_KEY,
        blank=True,
        default="",
        db_default="",
        help_text="Each participant plays one condition of each level of this factor, so that all conditions "
        "are played equally often. Empty: all conditions.",
    )
    blocked_by = models.SlugField(
        "keep together the rounds with one level of",
        max_length=LONGEST_KEY,
        blank=True,
        default="",
        db_default="",
        help_text="Rounds with the same level of this factor follow one another. Empty: conditions are "
        "mixed.",
    )
    rounds_per_person = models.PositiveSmallIntegerField(
        "rounds for each participant",
        null=True,
        blank=True,
        validators=[MinValueValidator(2)],
        help_text="Each participant plays so many of the conditions, in balanced subsets. Empty: all.",
    )
    allocation = models.JSONField(
        "allocation to groups",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="How people get their group. Empty: in blocks, without quotas.",
    )
    conceals_allocation = models.BooleanField(
        "conceal conditions from staff who do not own the study",
        default=False,
        db_default=False,
        help_text="Until an owner switches this off, only owners see conditions, groups and results of "
        "participants. Collaborators and viewers see everything else.",
    )
    same_dishes = models.BooleanField(
        "the same random events for everybody",
        default=False,
        help_text="In one condition, random events are the same for all participants. Teammates that act at"
        " random use the same seed for everybody, too.",
    )
    shuffle_items = models.BooleanField(
        "items in random order",
        default=False,
        help_text="Each participant gets the survey in a random order, which is the same after each "
        "episode. Items of one sub-scale stay together.",
    )
    scores_above_surveys = models.BooleanField(
        "scores above the survey",
        default=False,
        db_default=True,  # existing studies kept showing the scores
        help_text="The survey after an episode begins with its scores. They can influence the answers, "
        "especially those about workload.",
    )
    remind_teams = models.BooleanField(
        "remind participants of their teams",
        default=True,
        db_default=False,  # existing studies kept their final page as it was
        help_text="The final questions show for each team when the participant played with it, its size and"
        " its scores. They do not show the names of conditions.",
    )
    recruitment = models.CharField(
        max_length=10,
        choices=Recruitment,
        default=Recruitment.ANONYMOUS,
        help_text="Where participants come from. This decides which parameters of the link identify a "
        "participant.",
    )
    signed_only = models.BooleanField(
        "only signed links",
        default=False,
        db_default=False,
        help_text="Only signed links open the study: links that Prolific signed (secure external URL), or "
        "the links by label that this server makes. So nobody can pass as somebody else.",
    )
    prolific_workspace = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator(r"\A[\w-]+\Z", "Letters, digits, hyphens and underscores only.")],
        help_text="The ID of your workspace on Prolific. You find it in the address of your workspace "
        "there, after /workspaces/. A signed link is accepted as proof only if it was signed for "
        "this workspace, because anybody can create a study on Prolific whose link leads here. "
        "Empty: no signature is accepted.",
    )
    prolific_study = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The ID of the study on Prolific, for its API.",
    )
    max_participants = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="When this many people are taking part or complete, nobody new can enter. People who have"
        " not yet agreed, or have dropped out, do not count. Empty: no limit.",
    )
    closes_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="From this time on, nobody new can enter. People who are playing can finish.",
    )
    entries_per_address = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="The number of people who can begin from one network address within ten minutes. Others "
        "are asked to come back later. A class or a laboratory often shares one address. Empty: "
        "no limit.",
    )
    entries_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="When this many people have begun within one minute, entry pauses for ten minutes, or "
        "until you end the pause: they may be a script. Empty: never.",
    )
    max_round_trip_ms = models.PositiveIntegerField(
        "longest round trip",
        null=True,
        blank=True,
        validators=[MinValueValidator(SHORTEST_LIMIT_MS), MaxValueValidator(LONGEST_LIMIT_MS)],
        help_text="The longest time in milliseconds that the server may need to answer somebody who "
        "wants to enter. It is measured on the first page. People with a longer one are told so and "
        "cannot enter. 150 is good for games under a clock. Empty: no limit, and nothing is measured.",
    )
    idle_warning_minutes = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(YEAR_MINUTES)],
        help_text="After this many minutes without any action, the page asks whether the participant is "
        "still there. Empty: never.",
    )
    idle_minutes = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(YEAR_MINUTES)],
        help_text="After this many minutes without any action, a participant is timed out and no longer "
        "counts. Empty: never.",
    )
    planned_participants = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)],
        help_text="The number of complete participants that you plan to analyse. Part of the "
        "preregistration.",
    )
    shown = models.CharField(
        "how the world is shown",
        max_length=10,
        choices=Shown,
        default=Shown.BOTH,
        db_default=Shown.BOTH,
        help_text="A world without a drawing is shown in tables. A condition can choose differently.",
    )
    asks_first = models.BooleanField(
        "ask before an action is sent",
        default=False,
        db_default=False,
        help_text="If off, one click on a place or an action sends it.",
    )
    blocked_words = models.TextField(
        "words that are not shown",
        blank=True,
        default="",
        db_default="",
        max_length=4000,
        help_text="In messages between people and co-players, each of these words or phrases is shown as "
        "***. Write one on each line; capital letters do not matter. The data have the original "
        "message.",
    )
    hypotheses = models.TextField(blank=True, help_text="Part of the preregistration. Markdown.")
    exclusions = models.TextField(
        "planned exclusions", blank=True, help_text="Part of the preregistration. Markdown."
    )
    failed_checks_allowed = models.PositiveSmallIntegerField(
        "attention checks that a participant may fail",
        null=True,
        blank=True,
        help_text="Participants who fail more are left out of the analysis. Empty: nobody is left out for "
        "this reason.",
    )
    planned_tests = models.TextField(blank=True, help_text="Part of the preregistration. Markdown.")
    main_test = models.CharField(
        "test that decides whether conditions differ",
        max_length=20,
        choices=list(MAIN_TESTS.items()),
        default=DEFAULT_PLAN.main,
        db_default=DEFAULT_PLAN.main,
        help_text="The analysis also shows the other tests, as exploratory.",
    )
    measures_correction = models.CharField(
        "correction over measures",
        max_length=20,
        choices=list(CORRECTIONS.items()),
        default=DEFAULT_PLAN.correction,
        db_default=DEFAULT_PLAN.correction,
        help_text="The correction over the main tests of all measures.",
    )
    planned_contrasts = models.TextField(
        blank=True,
        default="",
        db_default="",
        max_length=4000,
        help_text="One on each line: a name, a colon, and the keys of conditions with weights that add up "
        "to 0, for example “H1: alone -1, dispatched_1 1/2, dispatched_2 1/2”. Holm's correction is over "
        "the contrasts of a measure. To test some measures only, name them: “H1 [trust, fun]: …”.",
    )
    measure_roles = models.JSONField(
        "roles of measures",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="The role of each measure by its key: primary, secondary or exploratory.",
    )
    figure_texts = models.JSONField(
        "titles and notes of figures",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="Titles and notes of figures of the analysis, by measure and chart. Empty: left out.",
    )
    thinking_seconds = models.FloatField(
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="The fewest seconds that all teammates take for a step, so that their speed does not "
        "reveal what they are.",
    )
    budget_limit = models.DecimalField(
        "budget",
        max_digits=9,
        decimal_places=2,
        default=10,
        validators=[MinValueValidator(0)],
        help_text="The most that language models may cost in this study, in US dollars. The money for an "
        "episode is set aside before it begins. While the rest does not suffice, rounds with a paid model "
        "wait.",
    )
    pauses_when_spent = models.BooleanField(
        "take nobody new when the budget is spent",
        default=False,
        db_default=False,
        help_text="When the budget is spent, nobody new can enter until you raise it. Without this setting, "
        "they enter, and wait before their first round with a paid model.",
    )
    keeps_devices = models.BooleanField(
        "store device, window and times away for each page",
        default=False,
        db_default=False,
        help_text="For every page after the consent: phone, tablet, computer or headset; browser and "
        "system; the size of the window; how often and how long the page was hidden. These are "
        "personal data: name them in the consent.",
    )
    think_aloud = models.CharField(
        "record what people say while they play",
        max_length=8,
        choices=ThinkAloud,
        blank=True,
        default=ThinkAloud.OFF,
        db_default=ThinkAloud.OFF,
        help_text="Before the first round, people test their microphone. While they play, the page says that "
        "it records, and they can pause. A voice identifies a person: name the recording in the consent.",
    )
    part_order = models.CharField(
        "order of the parts before the rounds",
        max_length=60,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The parts' names, separated by spaces. Empty: the usual order.",
    )
    survey_show_if = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="The rule that decides who answers the survey after a round. Empty: everybody.",
    )
    budget_id: int | None
    budget = models.OneToOneField(
        Budget, null=True, editable=False, on_delete=models.PROTECT, related_name="study"
    )
    shared = models.BooleanField(
        "shown to all researchers",
        default=False,
        help_text="Every researcher on this server may see and copy the design, but not see participants.",
    )
    bonus_rule = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="How the bonus of a participant is computed. Empty: no bonus.",
    )
    languages = models.CharField(
        max_length=60,
        default=ORIGINAL_LANGUAGE,
        db_default=ORIGINAL_LANGUAGE,
        help_text="The languages that participants can choose, as codes separated by spaces: “en es "
        "zh-hans”. The first one is the language of your own texts. Participants see the one that"
        " their browser asks for, and can change it.",
    )
    texts = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="Translations of your own texts, by language and text.",
    )
    entered = models.PositiveIntegerField(
        default=0,
        editable=False,
        help_text="The number of participants who ever entered: the last number given.",
    )
    withdrawn = models.PositiveIntegerField(
        default=0, editable=False, help_text="The number of people who withdrew; their data are erased."
    )
    withdrawn_synthetic = models.PositiveIntegerField(
        default=0, editable=False, help_text="The number of programs that withdrew in a dry run."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the study, and apply its budget limit from the next call of a language model."""
        super().save(*args, **kwargs)
        Budget.objects.filter(study=self).update(limit=self.budget_limit)

    def get_absolute_url(self) -> str:
        """Return the address at which participants enter the study."""
        return reverse("study:enter", args=[self.slug])

    @property
    def languages_offered(self) -> list[tuple[str, str]]:
        """Return the (code, name) pair of each language that the study offers. Each name is in its own
        language."""
        return language_names(self.languages)

    @property
    def shown_title(self) -> str:
        """Return the title in the current language. Without a translation, it is the original title, marked
        with its language."""
        own = language_codes(self.languages)[0]
        there = self.texts.get(current_language(), {}).get(self.title)
        return (
            str(there)
            if there
            else self.title
            if own == current_language()
            else foreign_text(self.title, own)
        )

    def unique_error_message(self, model_class: Any, unique_check: Any) -> ValidationError:
        """Return the error for a value that another study has, in the words of the forms."""
        if tuple(unique_check) == ("slug",):
            return ValidationError("Another study has this name in its link.", code="unique")
        return super().unique_error_message(model_class, unique_check)

    def clean_fields(self, exclude: Any = None) -> None:
        """Check each field, then all fields together.

        Raises ValidationError with messages at the submitted fields.
        """
        super().clean_fields(exclude)
        if why := factors_problem_in(self.factors):
            raise ValidationError({"factors": why})
        if why := allocation_problem_in(self.allocation):
            raise ValidationError({"allocation": why})
        if not is_part_order(self.part_order):
            raise ValidationError({"part_order": f"Name each of these once: {' '.join(FREE_PARTS)}."})
        if why := rule_problem(self.survey_show_if):
            raise ValidationError({"survey_show_if": why})
        if why := bonus_problem(self.bonus_rule):
            raise ValidationError({"bonus_rule": why})
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
        both = bool(self.one_round_per and self.blocked_by)
        chosen = bool(self.rounds_per_person and (self.one_round_per or self.blocked_by))
        anybodys = self.signed_only and self.recruitment == signs[0] and not self.prolific_workspace
        return {
            "slug": "This name is taken by a page of the console. Choose another." if taken else "",
            "orders": self.orders_problem() if self.pk else "",
            "between_groups": self._groups_problem(),
            "one_round_per": self._factor_problem(self.one_round_per),
            "blocked_by": self._factor_problem(self.blocked_by)
            or ("Leave this empty, or “one round for each level of”." if both else ""),
            "rounds_per_person": "Leave this empty, or “one round for each level of”." if chosen else "",
            "signed_only": "Only Prolific, and links by label, can be signed." if unsignable else "",
            "prolific_workspace": NO_WORKSPACE if anybodys else "",
            "languages": languages_problem(self.languages),
            "idle_warning_minutes": f"Warn earlier: after {out} minutes they are timed out." if late else "",
        }

    def orders_problem(self) -> str:
        """Return why the participants of a group cannot play the conditions in orders of this scheme. Return
        an empty string if they can, or if there are no conditions."""
        return next(filter(None, map(plan_problem, self.round_plans())), "")

    def round_plans(self) -> list[RoundPlan]:
        """Return the plan of rounds of each between-subjects group that plays any condition. Without groups,
        it is one plan."""
        conditions, factors = list(self.conditions.all()), parse_factors(self.factors)
        plans = [
            round_plan(
                conditions,
                factors,
                scheme=self.orders,
                seed=self.seed,
                group=group,
                one_round_per=self.one_round_per,
                blocked_by=self.blocked_by,
                rounds=self.rounds_per_person,
            )
            for group in group_keys(self.between_groups) or ("",)
        ]
        return [plan for plan in plans if plan.conditions]

    def _factor_problem(self, key: str) -> str:
        """Return why rounds cannot follow the levels of this factor. Return an empty string if they can, or
        if `key` is empty."""
        within = [one.key for one in parse_factors(self.factors) if not one.between]
        if not key or key in within:
            return ""
        known = ", ".join(within) or "none"
        return f"The study has no factor {key} within participants; its factors: {known}."

    def _groups_problem(self) -> str:
        """Return why the between-subjects groups are invalid. Return an empty string if they are valid.

        Reasons are invalid keys, and a condition of a group that does not exist.
        """
        if (problem := group_keys_problem(self.between_groups)) or not self.pk:
            return problem
        named = self.conditions.exclude(between_group="").values_list("name", "between_group")
        left = [name for name, group in named if group not in group_keys(self.between_groups)]
        return f"{left[0]} is played by a group that is not in the list. Change it first." if left else ""


NO_WORKSPACE = (
    "Say whose signed links are taken: without the ID of your workspace, anybody with an account on Prolific "
    "could have one signed."
)
