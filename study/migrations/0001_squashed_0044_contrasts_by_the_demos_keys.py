"""Create the tables of studies, with triggers that keep logs append-only.

Replaces the migrations of versions before 0.2.0. `manage.py migrate` refuses a database that has only some of them.
"""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import kitchen.play.models
import study.design.models.study
import study.participants.models
from kitchen.infra.append_only import add_guard_triggers

APPEND_ONLY = ["StaffAction", "SecurityEvent"]


def add_guards(apps, schema_editor):
    for name in APPEND_ONLY:
        add_guard_triggers(schema_editor, apps.get_model("study", name))


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("study", "0001_initial"),
        ("study", "0002_models_and_money"),
        ("study", "0003_study_in_full"),
        ("study", "0004_study_in_full_data"),
        ("study", "0005_study_in_full_settled"),
        ("study", "0006_researchers"),
        ("study", "0007_staff_actions"),
        ("study", "0008_api_tokens"),
        ("study", "0009_given_code"),
        ("study", "0010_words_of_ends"),
        ("study", "0011_withdrawn_synthetic"),
        ("study", "0012_one_rule_for_items"),
        ("study", "0013_needs_teammates"),
        ("study", "0014_dry_runs"),
        ("study", "0015_given_times"),
        ("study", "0016_words"),
        ("study", "0017_tokens_expire"),
        ("study", "0018_security_events"),
        ("study", "0019_staff_actions_guarded"),
        ("study", "0020_entry_limits"),
        ("study", "0021_security_events_guarded"),
        ("study", "0022_recovery_codes_hashed"),
        ("study", "0023_sealed_events"),
        ("study", "0024_what_is_asked"),
        ("study", "0025_first_practice"),
        ("study", "0026_shown"),
        ("study", "0027_signed_only"),
        ("study", "0028_languages"),
        ("study", "0029_three_dimensions"),
        ("study", "0030_intents"),
        ("study", "0031_prolific_workspace"),
        ("study", "0032_texts_by_wording"),
        ("study", "0033_passes_by"),
        ("study", "0034_knowing"),
        ("study", "0035_organisation"),
        ("study", "0036_decision_seconds"),
        ("study", "0037_offers_plans"),
        ("study", "0038_pauses_when_spent"),
        ("study", "0039_blocked_words"),
        ("study", "0040_groups"),
        ("study", "0041_planned_tests"),
        ("study", "0042_known_effects"),
        ("study", "0043_keeps_devices"),
        ("study", "0044_contrasts_by_the_demos_keys"),
    ]

    dependencies = [
        ("kitchen", "0001_squashed_0032_seat_may_act_in"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Condition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.SlugField(help_text="Its name in the data, for example two_dispatched.")),
                (
                    "name",
                    models.CharField(
                        help_text="For you and the figures, for example “Two dispatched”.", max_length=80
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        help_text="What participants read. Neutral, for example “Team A”: no hint at who plays.",
                        max_length=80,
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(default=0, help_text="Place in tables and figures."),
                ),
                ("world", models.CharField(default="cuisine", max_length=40)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("coplayer", models.CharField(default="none", max_length=40)),
                ("coplayer_settings", models.JSONField(blank=True, default=dict)),
                (
                    "teammates",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="Co-players beside the participant.",
                        validators=[django.core.validators.MaxValueValidator(63)],
                    ),
                ),
                (
                    "thinking_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Seconds that the teammates of this condition take at least. Empty: as in the study.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(60),
                        ],
                        verbose_name="thinking time",
                    ),
                ),
                (
                    "step_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Seconds for a step, after which a missing command becomes “do nothing”. Empty: the kitchen waits for the participant.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(3600),
                        ],
                        verbose_name="step timer",
                    ),
                ),
                (
                    "shown",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("both", "both: the drawing, and the tables one click away"),
                            ("drawn", "drawn: as a picture, without the tables"),
                            ("tables", "tables: without the picture"),
                        ],
                        db_default="",
                        default="",
                        help_text="Empty: as in the study.",
                        max_length=10,
                        verbose_name="how the world is shown",
                    ),
                ),
                (
                    "three_dimensions",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A button beside the drawing opens the same as a scene, on a screen or in a headset. The data say who used it.",
                        verbose_name="also offer it in three dimensions",
                    ),
                ),
                (
                    "shows_intents",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A line beside each teammate that has told its plan: the planner always, a language model where it replies with a structured list. Others show nothing.",
                        verbose_name="show what teammates are about to do",
                    ),
                ),
                (
                    "passes_by",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Who has nothing to choose in a step is not asked, person or teammate: it goes on without them. Off: everybody chooses in every step, if only to wait.",
                        verbose_name="go on without who is busy",
                    ),
                ),
                (
                    "knowing",
                    models.CharField(
                        choices=[
                            ("everybody", "people and the co-players before it: one decides after the other"),
                            ("people", "people: co-players decide side by side"),
                            ("nobody", "nobody: co-players decide side by side"),
                        ],
                        db_default="everybody",
                        default="everybody",
                        help_text="Co-players are asked once the participant has chosen. Nobody: they choose as if all chose at once.",
                        max_length=10,
                        verbose_name="whose choice of the step a co-player knows",
                    ),
                ),
                (
                    "organisation",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="Who may command whom and write to whom, and co-players of single teammates. Empty: one co-player for all, and nobody writes.",
                    ),
                ),
                (
                    "decision_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Seconds that the teammates of this condition have for a step; then the fallback plays. Empty: as this server has it.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="time for a decision",
                    ),
                ),
                (
                    "offers_plans",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A list on the page in which they choose what is to follow, step by step. It is done by itself as long as it is possible; else they are asked again.",
                        verbose_name="let participants plan ahead",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        migrations.CreateModel(
            name="SecurityCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("last", models.PositiveBigIntegerField(help_text="The number of the last event.")),
                (
                    "erased",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="Up to this number the app has erased events itself, because they were old.",
                    ),
                ),
                ("seal", models.CharField(help_text="HMAC-SHA-256 of both.", max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="SecurityEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("login", "logged in"),
                            ("login_failed", "login failed"),
                            ("logout", "logged out"),
                            ("token_made", "token made"),
                            ("token_revoked", "token revoked"),
                            ("data_downloaded", "data downloaded"),
                            ("study_opened", "study opened"),
                            ("study_closed", "study closed"),
                            ("person_erased", "person erased"),
                            ("factor_set_up", "second factor set up"),
                            ("factor_removed", "second factor removed"),
                            ("codes_made", "recovery codes made"),
                            ("password_changed", "password changed"),
                            ("user_made", "user made"),
                            ("user_deleted", "user deleted"),
                            ("rights_changed", "rights of a user changed"),
                            ("role_given", "role in a study given"),
                            ("role_taken", "role in a study taken away"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "user_name",
                    models.CharField(help_text="Of the staff; empty for nobody known.", max_length=150),
                ),
                ("study", models.CharField(help_text="The study's slug.", max_length=50)),
                ("what", models.CharField(help_text="The file or the token.", max_length=200)),
                ("address", models.CharField(help_text="Where the browser or program was.", max_length=45)),
                (
                    "number",
                    models.PositiveBigIntegerField(
                        db_default=0, default=0, help_text="From 1 on, without a gap."
                    ),
                ),
                (
                    "seal",
                    models.CharField(
                        db_default="", default="", help_text="HMAC-SHA-256 of the row.", max_length=64
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the first of the study.")),
                (
                    "code",
                    models.CharField(
                        help_text="Name in the data; opens nothing.", max_length=32, unique=True
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        default=kitchen.play.models.new_key,
                        help_text="Secret part of the link.",
                        max_length=32,
                        unique=True,
                    ),
                ),
                (
                    "entry",
                    models.CharField(
                        help_text="Of the consent form that was sent.", max_length=32, unique=True
                    ),
                ),
                (
                    "completion_code",
                    models.CharField(
                        default=study.participants.models.new_completion_code,
                        help_text="Given to those who are complete where the outcome has no code.",
                        max_length=16,
                        verbose_name="own code",
                    ),
                ),
                (
                    "given_code",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="What the person was given at the end to hand in, whatever the outcome's code is now.",
                        max_length=80,
                        verbose_name="completion code",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "taking part"),
                            ("complete", "complete"),
                            ("no_consent", "did not agree"),
                            ("failed_check", "failed the check of understanding"),
                            ("timed_out", "timed out"),
                            ("technical", "ended for a technical reason"),
                            ("unmatched", "nobody to play with"),
                        ],
                        default="active",
                        max_length=12,
                    ),
                ),
                ("synthetic", models.BooleanField(default=False, help_text="A program, not a person.")),
                ("preview", models.BooleanField(default=False, help_text="Staff who tried the study out.")),
                (
                    "language",
                    models.CharField(
                        db_default="en",
                        default="en",
                        help_text="In which the person reads the pages.",
                        max_length=16,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("anonymous", "anonymous: anybody with the link"),
                            ("label", "a label: the link ends in ?label=…"),
                            ("prolific", "Prolific"),
                            ("mturk", "Amazon Mechanical Turk"),
                            ("sona", "SONA"),
                        ],
                        default="anonymous",
                        max_length=10,
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        blank=True,
                        help_text="Name given by whoever sent this person, for example a Prolific ID.",
                        max_length=120,
                    ),
                ),
                (
                    "referral",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What else the link said, for example STUDY_ID and SESSION_ID.",
                    ),
                ),
                (
                    "sequence",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Which sequence of the order scheme, from 1; empty for random orders.",
                        null=True,
                    ),
                ),
                ("entered_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("consented_at", models.DateTimeField(blank=True, null=True)),
                (
                    "consent_hash",
                    models.CharField(
                        blank=True,
                        help_text="SHA-256 of the consent text and statements that were agreed to.",
                        max_length=64,
                    ),
                ),
                (
                    "active_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When the person last did anything."
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "end_reason",
                    models.CharField(blank=True, help_text="Why, if it was no usual end.", max_length=200),
                ),
                ("excluded_at", models.DateTimeField(blank=True, null=True)),
                ("excluded_reason", models.CharField(blank=True, max_length=200)),
                (
                    "known_effects",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="Of a program: by what part of an item's scale its answers were moved, by item and condition. Empty: it answered by what it went through, as people do.",
                    ),
                ),
                (
                    "first_practice",
                    models.ForeignKey(
                        blank=True,
                        help_text="The first try at it, where there was a second one.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="first_practised_by",
                        to="kitchen.episode",
                    ),
                ),
                (
                    "practice",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="practised_by",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["study", "number"],
            },
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(help_text="1 for the condition played first.")),
                (
                    "seat",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Where the participant sits in it."
                    ),
                ),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "condition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="study.condition",
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        blank=True,
                        help_text="Several people may play in one episode.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rounds",
                        to="kitchen.episode",
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rounds",
                        to="study.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "slug",
                    models.SlugField(help_text="Part of the participants' link, after /s/.", unique=True),
                ),
                (
                    "title",
                    models.CharField(
                        help_text="Participants read it; do not give away the hypotheses.", max_length=120
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "open: the link takes participants"),
                            ("closed", "closed: nobody new; those who play can finish"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "seed",
                    models.BigIntegerField(
                        default=study.design.models.new_seed,
                        help_text="All chance in the study (orders of conditions, episodes) follows from it.",
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "orders",
                    models.CharField(
                        choices=[
                            (
                                "balanced",
                                "balanced: each condition follows each other equally often (Williams)",
                            ),
                            ("permutations", "all permutations"),
                            ("random", "random: drawn anew for each participant"),
                            ("fixed", "fixed: everybody in the order of the table"),
                        ],
                        default="balanced",
                        max_length=12,
                        verbose_name="orders of conditions",
                    ),
                ),
                (
                    "same_dishes",
                    models.BooleanField(
                        default=False,
                        help_text="In one condition all participants get the same by chance. Teammates who act by chance draw from the same seed for everybody, too.",
                        verbose_name="the same chance for everybody",
                    ),
                ),
                (
                    "shuffle_items",
                    models.BooleanField(
                        default=False,
                        help_text="Each participant gets the survey in an order of chance, the same after each episode; items of one sub-scale stay together.",
                        verbose_name="items in an order of chance",
                    ),
                ),
                (
                    "scores_above_surveys",
                    models.BooleanField(
                        db_default=True,
                        default=False,
                        help_text="The survey after an episode begins with what was achieved in it. That can colour the answers, those about workload above all.",
                        verbose_name="scores above the survey",
                    ),
                ),
                (
                    "remind_teams",
                    models.BooleanField(
                        db_default=False,
                        default=True,
                        help_text="The last questions say of each team when it was played with, how large it was and what was achieved. Names of conditions are not told.",
                        verbose_name="remind who the teams were",
                    ),
                ),
                (
                    "recruitment",
                    models.CharField(
                        choices=[
                            ("anonymous", "anonymous: anybody with the link"),
                            ("label", "a label: the link ends in ?label=…"),
                            ("prolific", "Prolific"),
                            ("mturk", "Amazon Mechanical Turk"),
                            ("sona", "SONA"),
                        ],
                        default="anonymous",
                        help_text="Where participants come from: it says which names in the link tell who somebody is.",
                        max_length=10,
                    ),
                ),
                (
                    "signed_only",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Nobody comes in by a link that is not signed: by Prolific, with its secure external URL, or by this server, with the links to hand out by label. So nobody can pass for somebody else.",
                        verbose_name="only signed links",
                    ),
                ),
                (
                    "prolific_workspace",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The ID of your workspace on Prolific: it stands in the address of your workspace there, after /workspaces/. A link that Prolific signed is believed only if it was signed for this workspace: anybody can make a study there whose link leads here. Empty: none is believed.",
                        max_length=64,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[\\w-]+\\Z", "Letters, digits, hyphens and underscores only."
                            )
                        ],
                    ),
                ),
                (
                    "max_participants",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="When so many people are in or done, nobody new is taken. Who has not agreed to take part yet, or has dropped out, does not count. Empty: no limit.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000000),
                        ],
                    ),
                ),
                (
                    "closes_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="From then on nobody new is taken; those who play can finish.",
                        null=True,
                    ),
                ),
                (
                    "entries_per_address",
                    models.PositiveIntegerField(
                        blank=True,
                        default=30,
                        help_text="So many people can begin from one network address within ten minutes; others are asked to come back. A class or a laboratory often shares one address. Empty: no limit.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000000),
                        ],
                    ),
                ),
                (
                    "entries_per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        default=60,
                        help_text="When so many people have begun within one minute, nobody new is let in for ten minutes, or until you let them: it may be a script. Empty: never.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000000),
                        ],
                    ),
                ),
                (
                    "idle_warning_minutes",
                    models.PositiveIntegerField(
                        blank=True,
                        default=10,
                        help_text="After so long without any action the page asks whether somebody is there. Empty: never.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(525600),
                        ],
                    ),
                ),
                (
                    "idle_minutes",
                    models.PositiveIntegerField(
                        blank=True,
                        default=60,
                        help_text="After so long without any action a participant is timed out and counted no more. Empty: never.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(525600),
                        ],
                    ),
                ),
                (
                    "planned_participants",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="How many complete participants you plan to analyse. Part of the preregistration.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000000),
                        ],
                    ),
                ),
                (
                    "shown",
                    models.CharField(
                        choices=[
                            ("both", "both: the drawing, and the tables one click away"),
                            ("drawn", "drawn: as a picture, without the tables"),
                            ("tables", "tables: without the picture"),
                        ],
                        db_default="both",
                        default="both",
                        help_text="A world that has no drawing is shown in tables. A condition can have it otherwise.",
                        max_length=10,
                        verbose_name="how the world is shown",
                    ),
                ),
                (
                    "asks_first",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Otherwise one click on a place or an action sends it.",
                        verbose_name="ask before an action is sent",
                    ),
                ),
                (
                    "blocked_words",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="In what people and co-players write to one another, *** stands for each of these words or phrases. One on each line; small or capital letters are the same. The data have what was written.",
                        max_length=4000,
                        verbose_name="words that are not shown",
                    ),
                ),
                (
                    "hypotheses",
                    models.TextField(blank=True, help_text="Part of the preregistration. Markdown."),
                ),
                (
                    "exclusions",
                    models.TextField(
                        blank=True,
                        help_text="Part of the preregistration. Markdown.",
                        verbose_name="planned exclusions",
                    ),
                ),
                (
                    "failed_checks_allowed",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Who fails more is left out of the analysis. Empty: nobody is left out for that.",
                        null=True,
                        verbose_name="attention checks that may be failed",
                    ),
                ),
                (
                    "planned_tests",
                    models.TextField(blank=True, help_text="Part of the preregistration. Markdown."),
                ),
                (
                    "main_test",
                    models.CharField(
                        choices=[
                            (
                                "repeated",
                                "Repeated-measures ANOVA (corrected after Greenhouse and Geisser, or Huynh and Feldt)",
                            ),
                            ("mixed", "Linear mixed model (condition, order position, carry-over)"),
                            ("friedman", "Friedman's test (ranks)"),
                            ("one_way", "One-way ANOVA (the replication: rows as if independent)"),
                        ],
                        db_default="repeated",
                        default="repeated",
                        help_text="The analysis shows the others as well, as exploratory.",
                        max_length=20,
                        verbose_name="test that decides whether conditions differ",
                    ),
                ),
                (
                    "measures_correction",
                    models.CharField(
                        choices=[
                            ("none", "no correction over measures"),
                            ("holm", "Holm over measures"),
                            ("fdr", "Benjamini and Hochberg over measures (false discovery rate)"),
                        ],
                        db_default="none",
                        default="none",
                        help_text="Of the main tests of all measures together.",
                        max_length=20,
                        verbose_name="correction over measures",
                    ),
                ),
                (
                    "planned_contrasts",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="One on each line: a name, a colon, and conditions by key with weights that add up to 0, for example “H1: alone -1, dispatched_1 1/2, dispatched_2 1/2”. Tested in every measure, corrected after Holm.",
                        max_length=4000,
                    ),
                ),
                (
                    "thinking_seconds",
                    models.FloatField(
                        default=0,
                        help_text="Teammates of every kind take at least so long for a step, so that nobody is known by being quick.",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(60),
                        ],
                    ),
                ),
                (
                    "budget_limit",
                    models.DecimalField(
                        decimal_places=2,
                        default=10,
                        help_text="US dollars that language models may cost in this study. When they are spent, no model is asked any more and the condition's fallback plays.",
                        max_digits=9,
                        validators=[django.core.validators.MinValueValidator(0)],
                        verbose_name="budget",
                    ),
                ),
                (
                    "pauses_when_spent",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Nobody new is let in from then on, until you raise the budget. Who is in finishes their round, with the fallback where no model can be asked any more; their next one that would ask a model waits, and its page says so.",
                        verbose_name="take nobody new when the budget is spent",
                    ),
                ),
                (
                    "keeps_devices",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Of every page after the consent: phone, tablet, computer or headset; browser and system; the size of the window; how often and how long the page was out of sight. These are personal data: say so in the consent.",
                        verbose_name="keep device, window and times away of each page",
                    ),
                ),
                (
                    "shared",
                    models.BooleanField(
                        default=False,
                        help_text="Every researcher here may look at the design and make a copy of it; not at participants.",
                        verbose_name="shown to all researchers",
                    ),
                ),
                (
                    "languages",
                    models.CharField(
                        db_default="en",
                        default="en",
                        help_text="In which languages participants can read it, by their codes with spaces between: “en es zh-hans”. The first is the one in which you write; each participant reads what the browser asks for among them, and can change it.",
                        max_length=60,
                    ),
                ),
                (
                    "texts",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        editable=False,
                        help_text="What you wrote, in the other languages: by language and text.",
                    ),
                ),
                (
                    "entered",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="Participants who ever entered: the last number given.",
                    ),
                ),
                (
                    "withdrawn",
                    models.PositiveIntegerField(
                        default=0, editable=False, help_text="People who withdrew; their data are erased."
                    ),
                ),
                (
                    "withdrawn_synthetic",
                    models.PositiveIntegerField(
                        default=0, editable=False, help_text="Programs that withdrew in a dry run."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "budget",
                    models.OneToOneField(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="study",
                        to="kitchen.budget",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ["title"],
            },
        ),
        migrations.CreateModel(
            name="StaffAction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("user_name", models.CharField(help_text="As it was then.", max_length=150)),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("exclude", "excluded from the analysis"),
                            ("include", "taken back into the analysis"),
                            ("reissue", "gave a new link"),
                            ("end_episode", "ended an episode"),
                            ("end_way", "ended the way through the study"),
                        ],
                        max_length=12,
                    ),
                ),
                ("reason", models.CharField(max_length=200)),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "seal",
                    models.CharField(
                        db_default="", default="", help_text="HMAC-SHA-256 of the row.", max_length=64
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="staff_actions",
                        to="study.participant",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="staff_actions",
                        to="study.study",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "id"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.AddField(
            model_name="participant",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="participants", to="study.study"
            ),
        ),
        migrations.CreateModel(
            name="Outcome",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("complete", "complete"),
                            ("no_consent", "no consent"),
                            ("failed_check", "failed the check of understanding"),
                            ("timed_out", "timed out"),
                            ("technical", "ended for a technical reason"),
                            ("unmatched", "nobody to play with"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        blank=True,
                        help_text="The same for everybody. Empty: an own code for each who is complete, none for others.",
                        max_length=80,
                    ),
                ),
                (
                    "url",
                    models.CharField(
                        blank=True,
                        help_text="Where the last page's button leads. {code} and {label} are filled in.",
                        max_length=500,
                        verbose_name="address",
                    ),
                ),
                ("text", models.TextField(blank=True, help_text="Words beside it. Markdown.")),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="outcomes", to="study.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "owner: everything; members, freezing and deleting, too"),
                            ("collaborator", "collaborator: design, participants, data"),
                            ("viewer", "viewer: looks, changes nothing"),
                        ],
                        default="collaborator",
                        max_length=12,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="study.study",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="LeftComplete",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        blank=True,
                        help_text="Still good for payment.",
                        max_length=80,
                        verbose_name="completion code",
                    ),
                ),
                (
                    "mark",
                    models.CharField(
                        blank=True,
                        help_text="Of the name in their link, which cannot be read from it.",
                        max_length=64,
                    ),
                ),
                ("left_on", models.DateField()),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="left_complete",
                        to="study.study",
                    ),
                ),
            ],
            options={
                "ordering": ["-left_on", "code"],
            },
        ),
        migrations.CreateModel(
            name="EntryPause",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "until",
                    models.DateTimeField(help_text="When it is over: of itself, or because staff said so."),
                ),
                ("entries", models.PositiveIntegerField(help_text="How many had begun within a minute.")),
                (
                    "ended_by",
                    models.CharField(
                        blank=True,
                        help_text="Name of who of the staff ended it before its time.",
                        max_length=150,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entry_pauses",
                        to="study.study",
                    ),
                ),
            ],
            options={
                "ordering": ["-began_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="DryRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("user_name", models.CharField(help_text="As it was then.", max_length=150)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("participants", models.PositiveSmallIntegerField()),
                ("at_once", models.PositiveSmallIntegerField()),
                ("seed", models.BigIntegerField()),
                ("shares", models.JSONField(help_text="Percent by name.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waits for a worker"),
                            ("running", "on"),
                            ("finished", "finished"),
                            ("stopped", "stopped"),
                            ("failed", "failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                (
                    "stopped_by",
                    models.CharField(
                        blank=True,
                        help_text="Who asked to send nobody more, as they were called then.",
                        max_length=150,
                    ),
                ),
                (
                    "done",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="How many came to an end, good or bad."
                    ),
                ),
                (
                    "line",
                    models.CharField(
                        blank=True, help_text="What became of it, once it has ended.", max_length=300
                    ),
                ),
                (
                    "news_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When something was heard of it last."
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="dry_runs", to="study.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-asked_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="condition",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="conditions", to="study.study"
            ),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="What it is for, for example “script on my laptop”.", max_length=80
                    ),
                ),
                ("digest", models.CharField(help_text="SHA-256 of the token.", max_length=64, unique=True)),
                (
                    "hint",
                    models.CharField(
                        help_text="How the token begins, to tell it from others.", max_length=16
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: all studies that the researcher may see.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to="study.study",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="StudyPart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("welcome", "welcome, on the study's link"),
                            ("consent", "consent"),
                            ("about", "questions about the person"),
                            ("guide", "guide"),
                            ("practice", "practice episode"),
                            ("check", "check of understanding"),
                            ("final", "final comparison"),
                            ("debriefing", "debriefing"),
                            ("end", "last page"),
                        ],
                        max_length=12,
                    ),
                ),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                (
                    "title",
                    models.CharField(
                        blank=True, help_text="Empty: the usual one.", max_length=120, verbose_name="heading"
                    ),
                ),
                ("text", models.TextField(blank=True, help_text="Markdown.")),
                ("settings", models.JSONField(blank=True, default=dict)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="study.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="SurveyItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.SlugField(help_text="The measure's name in the data, for example trust.")),
                (
                    "place",
                    models.CharField(
                        choices=[
                            ("about", "about the person, before the guide"),
                            ("check", "check of understanding"),
                            ("survey", "after each episode"),
                            ("final", "final comparison"),
                        ],
                        default="survey",
                        help_text="Where it is asked.",
                        max_length=8,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("likert", "scale with points"),
                            ("single", "one of several"),
                            ("multiple", "any of several"),
                            ("number", "number"),
                            ("text", "text"),
                            ("team", "one of the teams played with"),
                        ],
                        default="likert",
                        max_length=8,
                    ),
                ),
                (
                    "measure",
                    models.CharField(help_text="For tables and figures, for example “Trust”.", max_length=80),
                ),
                ("text", models.CharField(help_text="What participants read.", max_length=300)),
                ("points", models.PositiveSmallIntegerField(default=5, help_text="Of a scale: 3 to 11.")),
                ("low", models.CharField(blank=True, default="Strongly disagree", max_length=60)),
                ("high", models.CharField(blank=True, default="Strongly agree", max_length=60)),
                (
                    "scale",
                    models.CharField(
                        blank=True,
                        help_text="Name of the sub-scale that it belongs to, for example nasa_tlx.",
                        max_length=40,
                    ),
                ),
                (
                    "reversed",
                    models.BooleanField(
                        default=False, help_text="Turned around before the sub-scale is scored."
                    ),
                ),
                (
                    "options",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="What can be chosen: a list of texts, for “of several”.",
                    ),
                ),
                ("minimum", models.FloatField(blank=True, help_text="Of a number.", null=True)),
                ("maximum", models.FloatField(blank=True, help_text="Of a number.", null=True)),
                (
                    "step",
                    models.FloatField(blank=True, help_text="Of a number: 1 for whole numbers.", null=True),
                ),
                (
                    "correct",
                    models.JSONField(
                        blank=True,
                        help_text="The right answer of an attention check or of a question of understanding.",
                        null=True,
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("required", models.BooleanField(default=True)),
                (
                    "needs_teammates",
                    models.BooleanField(
                        default=False,
                        help_text="Not asked after episodes in which the participant plays alone.",
                        verbose_name="only with teammates",
                    ),
                ),
                (
                    "may_not_apply",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Participants can say that it does not apply. That is in the data by itself, and in no mean or test.",
                        verbose_name="or “does not apply”",
                    ),
                ),
                (
                    "enabled",
                    models.BooleanField(
                        default=True, help_text="Asked. What has been asked once stays in the data."
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="study.study"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        migrations.CreateModel(
            name="Answer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "attempt",
                    models.PositiveSmallIntegerField(default=1, help_text="Of a question of understanding."),
                ),
                (
                    "value",
                    models.JSONField(
                        help_text="A number; a text; the key of a condition, for a team; a list of texts, for any of several."
                    ),
                ),
                ("answered_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="study.participant",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="study.round",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="study.surveyitem",
                    ),
                ),
            ],
            options={
                "ordering": ["item__position", "id"],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the first.")),
                ("document", models.JSONField(help_text="The blueprint.")),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 of the document in canonical JSON.", max_length=64),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "frozen_at",
                    models.DateTimeField(blank=True, help_text="When it was preregistered.", null=True),
                ),
                (
                    "bundle",
                    models.JSONField(
                        blank=True,
                        help_text="The preregistration: the document, and the prompts that follow from it.",
                        null=True,
                    ),
                ),
                ("bundle_digest", models.CharField(blank=True, max_length=64)),
                (
                    "frozen_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="study.study"
                    ),
                ),
            ],
            options={
                "ordering": ["study", "number"],
            },
        ),
        migrations.AddField(
            model_name="participant",
            name="version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="participants", to="study.version"
            ),
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the first of the study.")),
                ("size", models.PositiveSmallIntegerField(help_text="People that there are seats for.")),
                (
                    "order",
                    models.JSONField(help_text="Keys of the conditions that its members play from there on."),
                ),
                (
                    "sequence",
                    models.PositiveIntegerField(
                        blank=True, help_text="As `Participant.sequence`.", null=True
                    ),
                ),
                ("synthetic", models.BooleanField(default=False)),
                ("preview", models.BooleanField(default=False)),
                (
                    "language",
                    models.CharField(default="en", help_text="In which all of them read.", max_length=16),
                ),
                (
                    "formed_at",
                    models.DateTimeField(blank=True, help_text="When it began to play.", null=True),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="study.study"
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="study.version"
                    ),
                ),
            ],
            options={
                "ordering": ["study", "number"],
            },
        ),
        migrations.CreateModel(
            name="PageVisit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("page", models.CharField(help_text="Its name.", max_length=12)),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Of the round; 0 outside of the rounds."
                    ),
                ),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("loads", models.PositiveIntegerField(default=0, help_text="How often the page was loaded.")),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "device",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Empty where none is kept.",
                        max_length=10,
                    ),
                ),
                ("browser", models.CharField(blank=True, db_default="", default="", max_length=20)),
                (
                    "browser_version",
                    models.PositiveSmallIntegerField(blank=True, help_text="The major one.", null=True),
                ),
                ("system", models.CharField(blank=True, db_default="", default="", max_length=10)),
                (
                    "window_width",
                    models.PositiveSmallIntegerField(blank=True, help_text="CSS pixels.", null=True),
                ),
                (
                    "window_height",
                    models.PositiveSmallIntegerField(blank=True, help_text="CSS pixels.", null=True),
                ),
                (
                    "times_away",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="How often the page went out of sight; empty if it told nothing.",
                        null=True,
                    ),
                ),
                (
                    "away_ms",
                    models.PositiveIntegerField(
                        blank=True, help_text="For how long, all together.", null=True
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="visits",
                        to="study.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["opened_at", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("participant", "page", "position"), name="one_visit_per_page"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GroupMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "place",
                    models.PositiveSmallIntegerField(
                        help_text="0 for the first: which of the people's seats is theirs."
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Of the round that they wait for; 0: none."
                    ),
                ),
                (
                    "came_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When they came to that lobby."
                    ),
                ),
                (
                    "seen_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="When their page was last heard of there.",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="study.group"
                    ),
                ),
                (
                    "participant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="membership",
                        to="study.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["place"],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "place"), name="one_member_per_place")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(
                fields=("participant", "position"), name="one_round_per_position"
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(
                fields=("participant", "condition"), name="one_round_per_condition"
            ),
        ),
        migrations.AddConstraint(
            model_name="outcome",
            constraint=models.UniqueConstraint(fields=("study", "kind"), name="one_outcome_per_kind"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("study", "user"), name="one_role_per_member"),
        ),
        migrations.AddConstraint(
            model_name="dryrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("waiting", "running"))),
                fields=("study",),
                name="one_dry_run_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="condition",
            constraint=models.UniqueConstraint(fields=("study", "key"), name="one_condition_per_key"),
        ),
        migrations.AddConstraint(
            model_name="studypart",
            constraint=models.UniqueConstraint(fields=("study", "kind"), name="one_part_per_kind"),
        ),
        migrations.AddConstraint(
            model_name="surveyitem",
            constraint=models.UniqueConstraint(fields=("study", "key"), name="one_item_per_key"),
        ),
        migrations.AddConstraint(
            model_name="answer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("round__isnull", False)),
                fields=("round", "item"),
                name="one_answer_per_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="answer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("round__isnull", True)),
                fields=("participant", "item", "attempt"),
                name="one_answer_per_item_and_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="version",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="one_version_per_number"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="one_participant_per_number"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(
                condition=models.Q(("label", ""), _negated=True),
                fields=("study", "label"),
                name="one_participant_per_label",
            ),
        ),
        migrations.AddConstraint(
            model_name="group",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="one_group_per_number"),
        ),
        migrations.RunPython(add_guards, migrations.RunPython.noop),
    ]
