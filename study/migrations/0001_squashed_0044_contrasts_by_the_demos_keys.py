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
                (
                    "key",
                    models.SlugField(
                        help_text="The condition's name in the data, for example two_dispatched."
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="The name for you and in figures, for example “Two dispatched”.",
                        max_length=80,
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        help_text="What participants read. Choose a neutral name, for example “Team A”, that does not reveal who plays.",
                        max_length=80,
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="The position in tables and figures."
                    ),
                ),
                ("world", models.CharField(default="cuisine", max_length=40)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("coplayer", models.CharField(default="none", max_length=40)),
                ("coplayer_settings", models.JSONField(blank=True, default=dict)),
                (
                    "teammates",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="The number of co-players who play with the participant.",
                        validators=[django.core.validators.MaxValueValidator(63)],
                    ),
                ),
                (
                    "thinking_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="The fewest seconds that teammates of this condition take for a step. Empty: as in the study.",
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
                        help_text="Seconds that participants have for a step. After that, a missing command becomes “do nothing”. Empty: the game waits for the participant.",
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
                        help_text="A button beside the drawing opens it as a scene, on a screen or in a headset. The data show who used it.",
                        verbose_name="also offer it in three dimensions",
                    ),
                ),
                (
                    "shows_intents",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A line beside each teammate shows its plan, if it states one. The planner always does; a language model does if it replies with a structured list. Other co-players do not.",
                        verbose_name="show what teammates are about to do",
                    ),
                ),
                (
                    "passes_by",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A step does not wait for people or teammates who have nothing to choose. Off: everybody chooses in every step, even if only to wait.",
                        verbose_name="go on without busy players",
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
                        help_text="Co-players decide after the participant has chosen. Nobody: they decide as if all chose at the same time.",
                        max_length=10,
                        verbose_name="whose commands a co-player knows before it decides",
                    ),
                ),
                (
                    "organisation",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="Who may command and write to whom, and the co-players of single teammates. Empty: one co-player for all, and nobody writes.",
                    ),
                ),
                (
                    "decision_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Seconds that teammates of this condition have for a step. After that, the fallback plays. Empty: the default of this server.",
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
                        help_text="The page has a list of planned actions, one for each step. They are carried out automatically while they are possible; otherwise participants are asked again.",
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
                        help_text="The app erased events up to this number because of their age.",
                    ),
                ),
                ("seal", models.CharField(help_text="HMAC-SHA-256 of both numbers.", max_length=64)),
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
                    models.CharField(help_text="The staff member's name; empty if unknown.", max_length=150),
                ),
                ("study", models.CharField(help_text="The study's slug.", max_length=50)),
                ("what", models.CharField(help_text="The file or the token.", max_length=200)),
                (
                    "address",
                    models.CharField(
                        help_text="The network address of the browser or program.", max_length=45
                    ),
                ),
                (
                    "number",
                    models.PositiveBigIntegerField(
                        db_default=0, default=0, help_text="Numbers from 1 without a gap."
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
                ("number", models.PositiveIntegerField(help_text="1 for the first one in the study.")),
                (
                    "code",
                    models.CharField(
                        help_text="The name in the data. It opens no page.", max_length=32, unique=True
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        default=kitchen.play.models.new_key,
                        help_text="The secret part of the link.",
                        max_length=32,
                        unique=True,
                    ),
                ),
                (
                    "entry",
                    models.CharField(
                        help_text="The key of the consent form that was sent.", max_length=32, unique=True
                    ),
                ),
                (
                    "completion_code",
                    models.CharField(
                        default=study.participants.models.new_completion_code,
                        help_text="For complete participants, if the outcome has no code.",
                        max_length=16,
                        verbose_name="own code",
                    ),
                ),
                (
                    "given_code",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="The code that the person received at the end, even if the outcome's code has changed since.",
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
                (
                    "preview",
                    models.BooleanField(
                        default=False, help_text="A member of staff who tried the study out."
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        db_default="en",
                        default="en",
                        help_text="The language in which the person reads the pages.",
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
                        help_text="The name that the recruiter gave this person, for example a Prolific ID.",
                        max_length=120,
                    ),
                ),
                (
                    "referral",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Other parameters of the link, for example STUDY_ID and SESSION_ID.",
                    ),
                ),
                (
                    "sequence",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The number of the sequence in the order scheme, from 1; empty for random orders.",
                        null=True,
                    ),
                ),
                ("entered_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("consented_at", models.DateTimeField(blank=True, null=True)),
                (
                    "consent_hash",
                    models.CharField(
                        blank=True,
                        help_text="SHA-256 of the consent text and statements that the person agreed to.",
                        max_length=64,
                    ),
                ),
                (
                    "active_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="The time of the person's last action."
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "end_reason",
                    models.CharField(
                        blank=True,
                        help_text="The reason, if the person did not complete the study.",
                        max_length=200,
                    ),
                ),
                ("excluded_at", models.DateTimeField(blank=True, null=True)),
                ("excluded_reason", models.CharField(blank=True, max_length=200)),
                (
                    "known_effects",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="For a program: by how much of an item's scale its answers were shifted, by item and condition. Empty: the answers depend on what happened in play, as with people.",
                    ),
                ),
                (
                    "first_practice",
                    models.ForeignKey(
                        blank=True,
                        help_text="The first attempt, if there was a second one.",
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
                        default=0, help_text="The participant's seat in the episode."
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
                        help_text="Several people may play one episode.",
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
                        help_text="Participants read this title. Do not reveal the hypotheses.",
                        max_length=120,
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
                        help_text="All random choices in the study (orders of conditions, episodes) follow from this number.",
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
                        help_text="In one condition, random events are the same for all participants. Teammates that act at random use the same seed for everybody, too.",
                        verbose_name="the same random events for everybody",
                    ),
                ),
                (
                    "shuffle_items",
                    models.BooleanField(
                        default=False,
                        help_text="Each participant gets the survey in a random order, which is the same after each episode. Items of one sub-scale stay together.",
                        verbose_name="items in random order",
                    ),
                ),
                (
                    "scores_above_surveys",
                    models.BooleanField(
                        db_default=True,
                        default=False,
                        help_text="The survey after an episode begins with its scores. They can influence the answers, especially those about workload.",
                        verbose_name="scores above the survey",
                    ),
                ),
                (
                    "remind_teams",
                    models.BooleanField(
                        db_default=False,
                        default=True,
                        help_text="The final questions show for each team when the participant played with it, its size and its scores. They do not show the names of conditions.",
                        verbose_name="remind participants of their teams",
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
                        help_text="Where participants come from. This decides which parameters of the link identify a participant.",
                        max_length=10,
                    ),
                ),
                (
                    "signed_only",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Only signed links open the study: links that Prolific signed (secure external URL), or the links by label that this server makes. So nobody can pass as somebody else.",
                        verbose_name="only signed links",
                    ),
                ),
                (
                    "prolific_workspace",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The ID of your workspace on Prolific. You find it in the address of your workspace there, after /workspaces/. A signed link is accepted as proof only if it was signed for this workspace, because anybody can create a study on Prolific whose link leads here. Empty: no signature is accepted.",
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
                        help_text="When this many people are taking part or complete, nobody new can enter. People who have not yet agreed, or have dropped out, do not count. Empty: no limit.",
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
                        help_text="From this time on, nobody new can enter. People who are playing can finish.",
                        null=True,
                    ),
                ),
                (
                    "entries_per_address",
                    models.PositiveIntegerField(
                        blank=True,
                        default=30,
                        help_text="The number of people who can begin from one network address within ten minutes. Others are asked to come back later. A class or a laboratory often shares one address. Empty: no limit.",
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
                        help_text="When this many people have begun within one minute, entry pauses for ten minutes, or until you end the pause: they may be a script. Empty: never.",
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
                        help_text="After this many minutes without any action, the page asks whether the participant is still there. Empty: never.",
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
                        help_text="After this many minutes without any action, a participant is timed out and no longer counts. Empty: never.",
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
                        help_text="The number of complete participants that you plan to analyse. Part of the preregistration.",
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
                        help_text="A world without a drawing is shown in tables. A condition can choose differently.",
                        max_length=10,
                        verbose_name="how the world is shown",
                    ),
                ),
                (
                    "asks_first",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="If off, one click on a place or an action sends it.",
                        verbose_name="ask before an action is sent",
                    ),
                ),
                (
                    "blocked_words",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="In messages between people and co-players, each of these words or phrases is shown as ***. Write one on each line; capital letters do not matter. The data have the original message.",
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
                        help_text="Participants who fail more are left out of the analysis. Empty: nobody is left out for this reason.",
                        null=True,
                        verbose_name="attention checks that a participant may fail",
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
                        help_text="The analysis also shows the other tests, as exploratory.",
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
                        help_text="The correction over the main tests of all measures.",
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
                        help_text="One on each line: a name, a colon, and the keys of conditions with weights that add up to 0, for example “H1: alone -1, dispatched_1 1/2, dispatched_2 1/2”. Every measure is tested, with Holm's correction.",
                        max_length=4000,
                    ),
                ),
                (
                    "thinking_seconds",
                    models.FloatField(
                        default=0,
                        help_text="The fewest seconds that all teammates take for a step, so that their speed does not reveal what they are.",
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
                        help_text="The most that language models may cost in this study, in US dollars. When it is spent, no model is asked any more, and the condition's fallback plays.",
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
                        help_text="When the budget is spent, nobody new can enter until you raise it. Participants finish their current round with the fallback. Their next round with a model waits, and its page says so.",
                        verbose_name="take nobody new when the budget is spent",
                    ),
                ),
                (
                    "keeps_devices",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="For every page after the consent: phone, tablet, computer or headset; browser and system; the size of the window; how often and how long the page was hidden. These are personal data: name them in the consent.",
                        verbose_name="store device, window and times away for each page",
                    ),
                ),
                (
                    "shared",
                    models.BooleanField(
                        default=False,
                        help_text="Every researcher on this server may see and copy the design, but not see participants.",
                        verbose_name="shown to all researchers",
                    ),
                ),
                (
                    "languages",
                    models.CharField(
                        db_default="en",
                        default="en",
                        help_text="The languages that participants can choose, as codes separated by spaces: “en es zh-hans”. The first one is the language of your own texts. Participants see the one that their browser asks for, and can change it.",
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
                        help_text="Translations of your own texts, by language and text.",
                    ),
                ),
                (
                    "entered",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="The number of participants who ever entered: the last number given.",
                    ),
                ),
                (
                    "withdrawn",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="The number of people who withdrew; their data are erased.",
                    ),
                ),
                (
                    "withdrawn_synthetic",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="The number of programs that withdrew in a dry run.",
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
                ("user_name", models.CharField(help_text="The name at that time.", max_length=150)),
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
                        help_text="The same code for everybody. Empty: each complete participant gets their own code, and others get none.",
                        max_length=80,
                    ),
                ),
                (
                    "url",
                    models.CharField(
                        blank=True,
                        help_text="The address that the button on the last page leads to. {code} and {label} are filled in.",
                        max_length=500,
                        verbose_name="address",
                    ),
                ),
                ("text", models.TextField(blank=True, help_text="The text on this page. Markdown.")),
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
                        help_text="The code is still valid for payment.",
                        max_length=80,
                        verbose_name="completion code",
                    ),
                ),
                (
                    "mark",
                    models.CharField(
                        blank=True,
                        help_text="A mark of the name in the link. The name cannot be read from it.",
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
                    models.DateTimeField(
                        help_text="The time when the pause ends, by itself or because staff ended it."
                    ),
                ),
                (
                    "entries",
                    models.PositiveIntegerField(
                        help_text="The number of people who had begun within a minute."
                    ),
                ),
                (
                    "ended_by",
                    models.CharField(
                        blank=True,
                        help_text="The name of the staff member who ended it early.",
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
                ("user_name", models.CharField(help_text="The name at that time.", max_length=150)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("participants", models.PositiveSmallIntegerField()),
                ("at_once", models.PositiveSmallIntegerField()),
                ("seed", models.BigIntegerField()),
                ("shares", models.JSONField(help_text="Percentages by name.")),
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
                        help_text="The name of the staff member who stopped it.",
                        max_length=150,
                    ),
                ),
                (
                    "done",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="The number of programs that came to any end."
                    ),
                ),
                (
                    "line",
                    models.CharField(blank=True, help_text="The result, after it has ended.", max_length=300),
                ),
                (
                    "news_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="The time of its last sign of life."
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
                        help_text="The purpose, for example “script on my laptop”.", max_length=80
                    ),
                ),
                ("digest", models.CharField(help_text="SHA-256 of the token.", max_length=64, unique=True)),
                (
                    "hint",
                    models.CharField(
                        help_text="The first characters of the token, to tell it from others.", max_length=16
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
                        help_text="Empty: all studies that the owner of the token may see.",
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
                        blank=True,
                        help_text="Empty: the default heading.",
                        max_length=120,
                        verbose_name="heading",
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
                    models.CharField(
                        help_text="The name in tables and figures, for example “Trust”.", max_length=80
                    ),
                ),
                ("text", models.CharField(help_text="What participants read.", max_length=300)),
                (
                    "points",
                    models.PositiveSmallIntegerField(default=5, help_text="For a scale: 3 to 11 points."),
                ),
                ("low", models.CharField(blank=True, default="Strongly disagree", max_length=60)),
                ("high", models.CharField(blank=True, default="Strongly agree", max_length=60)),
                (
                    "scale",
                    models.CharField(
                        blank=True,
                        help_text="The sub-scale that the question belongs to, for example nasa_tlx.",
                        max_length=40,
                    ),
                ),
                (
                    "reversed",
                    models.BooleanField(
                        default=False, help_text="The answer is reversed before the sub-scale is scored."
                    ),
                ),
                (
                    "options",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="The options, as a list of texts.",
                    ),
                ),
                ("minimum", models.FloatField(blank=True, help_text="For a number.", null=True)),
                ("maximum", models.FloatField(blank=True, help_text="For a number.", null=True)),
                (
                    "step",
                    models.FloatField(blank=True, help_text="For a number: 1 for whole numbers.", null=True),
                ),
                (
                    "correct",
                    models.JSONField(
                        blank=True,
                        help_text="The correct answer of an attention check or of a comprehension question.",
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
                        help_text="Participants can say that the question does not apply. The data show this; means and tests leave it out.",
                        verbose_name="may not apply",
                    ),
                ),
                (
                    "enabled",
                    models.BooleanField(
                        default=True, help_text="The question is asked. Earlier answers stay in the data."
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
                    models.PositiveSmallIntegerField(
                        default=1, help_text="The number of the attempt at a comprehension question."
                    ),
                ),
                (
                    "value",
                    models.JSONField(
                        help_text="A number, a text, the key of a condition (for a team), or a list of texts (for any of several)."
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
                ("document", models.JSONField(help_text="The design as one document.")),
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
                        help_text="The preregistration: the document and its prompts.",
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
                ("number", models.PositiveIntegerField(help_text="1 for the first one in the study.")),
                (
                    "size",
                    models.PositiveSmallIntegerField(
                        help_text="The number of people that the group has seats for."
                    ),
                ),
                (
                    "order",
                    models.JSONField(help_text="Keys of the conditions that the group's members will play."),
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
                    models.CharField(
                        default="en", help_text="The language that all members read.", max_length=16
                    ),
                ),
                (
                    "formed_at",
                    models.DateTimeField(
                        blank=True, help_text="The time at which the group began to play.", null=True
                    ),
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
                ("page", models.CharField(help_text="The name of the page.", max_length=12)),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="The position of the round; 0 outside of rounds."
                    ),
                ),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "loads",
                    models.PositiveIntegerField(
                        default=0, help_text="The number of times the page was loaded."
                    ),
                ),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "device",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Empty if the study does not store devices.",
                        max_length=10,
                    ),
                ),
                ("browser", models.CharField(blank=True, db_default="", default="", max_length=20)),
                (
                    "browser_version",
                    models.PositiveSmallIntegerField(blank=True, help_text="The major version.", null=True),
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
                        help_text="The number of times the page was hidden; empty if it did not report this.",
                        null=True,
                    ),
                ),
                (
                    "away_ms",
                    models.PositiveIntegerField(
                        blank=True, help_text="The total time, in milliseconds.", null=True
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
                        help_text="Which of the people's seats is theirs; 0 for the first."
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="The position of the round that they wait for; 0: none."
                    ),
                ),
                (
                    "came_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="The time at which they entered the lobby.",
                    ),
                ),
                (
                    "seen_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="The time of the last sign of their page in the lobby.",
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
