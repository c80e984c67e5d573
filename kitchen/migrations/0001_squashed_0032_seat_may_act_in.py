"""Create the tables of live play, with triggers that keep logs append-only.

Replaces the migrations of versions before 0.2.0. `manage.py migrate` refuses a database that has only some of them.
"""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import kitchen.play.models
from kitchen.infra.append_only import add_guard_triggers

APPEND_ONLY = [
    "SeatCommand",
    "Decision",
    "ModelCall",
    "CallMessage",
    "Step",
    "Outage",
    "Seal",
    "Message",
    "ExperimentLog",
    "StateChange",
]


def add_guards(apps, schema_editor):
    for name in APPEND_ONLY:
        add_guard_triggers(schema_editor, apps.get_model("kitchen", name))


def leave_room_for_updates(apps, schema_editor):
    """Leave room in PostgreSQL's pages for the next state: a step is then written in place (a HOT update)."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE kitchen_episode SET (fillfactor = 70)")


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("kitchen", "0001_initial"),
        ("kitchen", "0002_models_and_money"),
        ("kitchen", "0003_experiment"),
        ("kitchen", "0004_pages_clock_and_news"),
        ("kitchen", "0005_decision_claims"),
        ("kitchen", "0006_ledger_says_what_for"),
        ("kitchen", "0007_gone_players"),
        ("kitchen", "0008_live_indexes"),
        ("kitchen", "0009_given_times"),
        ("kitchen", "0010_steps_in_place"),
        ("kitchen", "0011_chains_and_guards"),
        ("kitchen", "0012_signs_and_outages"),
        ("kitchen", "0013_seals"),
        ("kitchen", "0014_until"),
        ("kitchen", "0015_shown"),
        ("kitchen", "0016_scenes"),
        ("kitchen", "0017_intents"),
        ("kitchen", "0018_views"),
        ("kitchen", "0019_passes_by"),
        ("kitchen", "0020_reasoning"),
        ("kitchen", "0021_minds_apart"),
        ("kitchen", "0022_messages"),
        ("kitchen", "0023_experiment_logs"),
        ("kitchen", "0024_plans"),
        ("kitchen", "0025_offers_plans"),
        ("kitchen", "0026_decisions_by_step"),
        ("kitchen", "0027_absence"),
        ("kitchen", "0028_leads"),
        ("kitchen", "0029_asked_at"),
        ("kitchen", "0030_ticking"),
        ("kitchen", "0031_state_changes"),
        ("kitchen", "0032_seat_may_act_in"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("limit", models.DecimalField(decimal_places=6, default=0, max_digits=12)),
            ],
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "step",
                    models.PositiveIntegerField(help_text="The step that the row is for; the first is 1."),
                ),
                ("memory", models.JSONField(null=True)),
                ("note", models.JSONField(null=True)),
                (
                    "played_by",
                    models.CharField(
                        help_text="The kind of agent that really chose: this kind, or a stand-in.",
                        max_length=40,
                    ),
                ),
                (
                    "fallback",
                    models.CharField(blank=True, default="", help_text="As in `SeatCommand`.", max_length=20),
                ),
                ("error", models.TextField(blank=True)),
                ("milliseconds", models.FloatField()),
                ("decided_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "number",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="1 for the first decision of the mind; empty in logs of earlier versions.",
                        null=True,
                    ),
                ),
                (
                    "seen_step",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Steps taken when the mind was asked; empty in logs of earlier versions.",
                        null=True,
                    ),
                ),
                (
                    "because",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Why the mind was asked, such as `seat`: a seat had a choice. Empty in logs of earlier versions.",
                        max_length=20,
                    ),
                ),
                (
                    "dropped",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Why the decision was not used; empty if its commands were sent.",
                        max_length=20,
                    ),
                ),
            ],
            options={
                "ordering": ["step"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Episode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("world", models.CharField(max_length=40)),
                ("world_version", models.PositiveIntegerField()),
                ("settings", models.JSONField(default=dict)),
                ("seed", models.BigIntegerField()),
                ("label", models.CharField(blank=True, max_length=80)),
                ("synthetic", models.BooleanField(default=False)),
                (
                    "hints",
                    models.BooleanField(
                        default=False, help_text="The page gives hints about good next actions."
                    ),
                ),
                (
                    "until",
                    models.JSONField(
                        blank=True,
                        help_text="Metrics with the values that end the episode. Empty: the world decides when it ends.",
                        null=True,
                    ),
                ),
                (
                    "shown",
                    models.CharField(
                        db_default="tables",
                        default="tables",
                        help_text="How pages show the world: tables, a drawing, or both.",
                        max_length=10,
                    ),
                ),
                (
                    "asks_first",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The page asks for confirmation before it sends an action.",
                    ),
                ),
                (
                    "three_dimensions",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The page also offers the world as a scene in three dimensions.",
                    ),
                ),
                (
                    "shows_intents",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The page shows what teammates are about to do.",
                    ),
                ),
                (
                    "passes_by",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Steps do not wait for seats without a choice.",
                    ),
                ),
                (
                    "knowing",
                    models.CharField(
                        db_default="everybody",
                        default="everybody",
                        help_text="Whose commands a co-player knows before it decides on the same step.",
                        max_length=10,
                    ),
                ),
                (
                    "organisation",
                    models.JSONField(
                        blank=True,
                        help_text="The members, and who may command and write to whom. Empty: nobody writes to anybody.",
                        null=True,
                    ),
                ),
                (
                    "messages",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="Number of messages sent so far."
                    ),
                ),
                (
                    "offers_plans",
                    models.BooleanField(
                        db_default=False, default=False, help_text="The page offers to plan the next actions."
                    ),
                ),
                (
                    "plans",
                    models.JSONField(
                        blank=True,
                        help_text="The planned commands of each seat. Empty: none.",
                        null=True,
                    ),
                ),
                (
                    "absence",
                    models.JSONField(
                        blank=True,
                        help_text="What happens to the seat of a person who is gone. Empty: the episode ends.",
                        null=True,
                    ),
                ),
                (
                    "gone",
                    models.JSONField(
                        blank=True,
                        help_text="For each seat that a co-player took over: the first such step, and the reason.",
                        null=True,
                    ),
                ),
                (
                    "audience",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The group of staff pages that get live updates of it.",
                        max_length=80,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("playing", "playing"),
                            ("over", "over"),
                            ("cut_off", "cut off"),
                            ("reached", "its goal was reached"),
                            ("aborted", "ended by staff"),
                            ("abandoned", "ended because somebody was gone"),
                        ],
                        default="playing",
                        max_length=10,
                    ),
                ),
                (
                    "ended_because",
                    models.TextField(blank=True, default="", help_text="The reason why it ended early."),
                ),
                ("step", models.PositiveIntegerField(default=0, help_text="Steps taken so far.")),
                ("state", models.JSONField(default=dict)),
                ("state_hash", models.CharField(max_length=64)),
                ("score", models.JSONField(default=dict)),
                (
                    "thinking_seconds",
                    models.FloatField(
                        default=0, help_text="The least time that every co-player takes for a step."
                    ),
                ),
                (
                    "decision_seconds",
                    models.FloatField(help_text="The time limit for all co-players' decisions on one step."),
                ),
                (
                    "deciding_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="The claim on the co-players' decision ends at this time.",
                        null=True,
                    ),
                ),
                (
                    "deciding_by",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The claim of a worker of an earlier version, which decides for all co-players.",
                        max_length=120,
                    ),
                ),
                (
                    "step_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="The time that people have for a step. Empty: no limit.",
                        null=True,
                    ),
                ),
                (
                    "tick_ms",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Milliseconds between two steps under a clock. Empty: the game is played in turns.",
                        null=True,
                    ),
                ),
                ("turn_opened_at", models.DateTimeField()),
                (
                    "turn_closes_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Players without a command at this time wait in this step.",
                        null=True,
                    ),
                ),
                (
                    "asked_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When people began to choose, if they talked before that.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "budget",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="episodes",
                        to="kitchen.budget",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Prompt",
            fields=[
                (
                    "hash",
                    models.CharField(
                        help_text="SHA-256 of the text.", max_length=64, primary_key=True, serialize=False
                    ),
                ),
                ("text", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="Sign",
            fields=[
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("web", "the pages"),
                            ("workers", "the workers of co-players"),
                            ("redis", "Redis"),
                            ("database", "the database"),
                            ("clock", "the clock"),
                        ],
                        max_length=10,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("seen_at", models.DateTimeField()),
                (
                    "ticks",
                    models.FloatField(
                        help_text="Seconds since the machine was started; nobody can set this clock."
                    ),
                ),
                (
                    "place",
                    models.CharField(
                        blank=True,
                        help_text="The run of the machine (its boot) that these seconds belong to.",
                        max_length=64,
                    ),
                ),
                (
                    "processes",
                    models.JSONField(
                        default=list, help_text="Names of the processes of this part, the newest last."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ticking",
            fields=[
                (
                    "episode",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="ticking",
                        serialize=False,
                        to="kitchen.episode",
                    ),
                ),
                (
                    "owner",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The claim of the process that takes the steps. Empty: none.",
                        max_length=120,
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(
                        blank=True, help_text="The claim ends at this time unless it is renewed.", null=True
                    ),
                ),
                ("late", models.PositiveIntegerField(default=0, help_text="Number of steps taken too late.")),
                (
                    "lost_ms",
                    models.PositiveIntegerField(
                        default=0, help_text="Milliseconds during which the clock was stopped."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(blank=True, max_length=120)),
                (
                    "setup",
                    models.JSONField(help_text="All arguments, in the form of `ExperimentSetup.to_json`."),
                ),
                (
                    "at_once",
                    models.PositiveSmallIntegerField(
                        default=4,
                        help_text="How many workers may play at the same time.",
                        verbose_name="episodes at once",
                    ),
                ),
                (
                    "limit",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="The most that all calls of models may cost, in US dollars; 0 if they cost nothing.",
                        max_digits=12,
                        verbose_name="spending limit",
                    ),
                ),
                (
                    "spent_elsewhere",
                    models.DecimalField(
                        db_default=0,
                        decimal_places=6,
                        default=0,
                        editable=False,
                        help_text="US dollars that calls in episodes played elsewhere (`--local`) had cost.",
                        max_digits=12,
                    ),
                ),
                ("running", models.BooleanField(default=False, editable=False)),
                ("stopped_because", models.TextField(blank=True, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "budget",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="kitchen.budget",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ExperimentEpisode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("variant", models.CharField(blank=True, max_length=120)),
                ("level", models.CharField(max_length=40)),
                ("agents", models.PositiveSmallIntegerField()),
                ("alpha", models.FloatField()),
                ("episode", models.PositiveIntegerField()),
                ("seed", models.BigIntegerField()),
                (
                    "claimed_until",
                    models.DateTimeField(
                        blank=True, help_text="The worker's claim ends at this time.", null=True
                    ),
                ),
                (
                    "row",
                    models.JSONField(blank=True, help_text="The result, as in episodes.csv.", null=True),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="episodes",
                        to="kitchen.experiment",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ExperimentLog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "run",
                    models.PositiveSmallIntegerField(
                        help_text="1, or more if an attempt could not be continued."
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="1 for the run's first piece.")),
                ("data", models.BinaryField(help_text="JSON lines, gzipped.")),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="logs",
                        to="kitchen.experimentepisode",
                    ),
                ),
            ],
            options={
                "ordering": ["run", "number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(help_text="The number within the episode; the first is 1."),
                ),
                ("step", models.PositiveIntegerField(help_text="The open step; the first is 1.")),
                (
                    "sender",
                    models.PositiveSmallIntegerField(
                        help_text="The member who wrote it; empty for the program.", null=True
                    ),
                ),
                ("to", models.JSONField(help_text="The members who received it.")),
                ("kind", models.CharField(max_length=10)),
                ("text", models.TextField(blank=True)),
                ("data", models.JSONField(default=dict)),
                ("sent_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "decision",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="said",
                        to="kitchen.decision",
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sent", to="kitchen.episode"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Mind",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("kind", models.CharField(max_length=40)),
                ("settings", models.JSONField(default=dict)),
                (
                    "deciding_step",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The step of the newest claim. A claim for another step is void.",
                        null=True,
                    ),
                ),
                (
                    "deciding_until",
                    models.DateTimeField(
                        blank=True, help_text="The claim ends at this time unless it is renewed.", null=True
                    ),
                ),
                (
                    "deciding_by",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The claim of the worker that asks the agent.",
                        max_length=120,
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="minds",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.AddField(
            model_name="decision",
            name="mind",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="kitchen.mind"
            ),
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField(help_text="1 for the decision's first call.")),
                ("provider", models.CharField(max_length=40)),
                ("model_asked", models.CharField(max_length=120)),
                (
                    "model_named",
                    models.CharField(blank=True, help_text="The name that the API returned.", max_length=120),
                ),
                ("sampling", models.JSONField(help_text="Temperature, longest answer, effort, tool.")),
                (
                    "parameters",
                    models.JSONField(
                        help_text="All other parameters of the request, with the API's names; empty in calls of earlier versions.",
                        null=True,
                    ),
                ),
                ("reply", models.TextField(blank=True)),
                ("reply_call", models.JSONField(null=True)),
                ("stop", models.CharField(blank=True, max_length=40)),
                (
                    "error",
                    models.CharField(
                        blank=True, help_text="The error code if there was no answer.", max_length=20
                    ),
                ),
                ("error_text", models.TextField(blank=True)),
                (
                    "reasoning",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The model's reasoning before its answer, if its API returns it.",
                    ),
                ),
                (
                    "attempts",
                    models.JSONField(
                        help_text="Each attempt: outcome, seconds, seconds waited after it, cost, begin and end, time limit, and the server's request ID."
                    ),
                ),
                ("seconds", models.FloatField()),
                ("tokens_input", models.PositiveIntegerField(help_text="Not counting cached tokens.")),
                ("tokens_output", models.PositiveIntegerField()),
                ("tokens_cache_read", models.PositiveIntegerField()),
                ("tokens_cache_write", models.PositiveIntegerField()),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=6,
                        help_text="US dollars; empty if no price is known.",
                        max_digits=12,
                        null=True,
                    ),
                ),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="kitchen.decision",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Outage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("web", "the pages"),
                            ("workers", "the workers of co-players"),
                            ("redis", "Redis"),
                            ("database", "the database"),
                            ("clock", "the clock"),
                        ],
                        max_length=10,
                    ),
                ),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                (
                    "note",
                    models.TextField(
                        blank=True, help_text="What is uncertain about the outage, or how the clock was set."
                    ),
                ),
            ],
            options={
                "ordering": ["since", "id"],
                "abstract": False,
                "base_manager_name": "objects",
                "indexes": [models.Index(fields=["until"], name="outages_by_end")],
            },
        ),
        migrations.CreateModel(
            name="CallMessage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("role", models.CharField(max_length=10)),
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="kitchen.modelcall",
                    ),
                ),
                (
                    "prompt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="kitchen.prompt"
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Seal",
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
                        choices=[("before", "was there before there were seals"), ("end", "came to its end")],
                        max_length=6,
                    ),
                ),
                ("facts", models.JSONField(help_text="The sealed facts, by name.")),
                (
                    "mac",
                    models.CharField(
                        help_text="HMAC-SHA-256 of kind, the episode's key and facts.", max_length=64
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seals",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=40)),
                (
                    "acts",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="True for a seat of the world; false for a leader without one.",
                    ),
                ),
                (
                    "may_act_in",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The last step that did not wait for this seat, but in which it could act.",
                        null=True,
                    ),
                ),
                ("key", models.CharField(default=kitchen.play.models.new_key, max_length=32, unique=True)),
                (
                    "page",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The browser page that plays; empty before the first.",
                        max_length=32,
                    ),
                ),
                (
                    "scene",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="How the scene was seen: `screen`, `headset` (even if a screen was used, too), or empty.",
                        max_length=8,
                    ),
                ),
                (
                    "view",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The views seen while choosing, if there are two: `tables`, `drawn` or `both`.",
                        max_length=8,
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seats",
                        to="kitchen.episode",
                    ),
                ),
                (
                    "mind",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seats",
                        to="kitchen.mind",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="SeatCommand",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "step",
                    models.PositiveIntegerField(help_text="The step that the row is for; the first is 1."),
                ),
                ("seat", models.PositiveSmallIntegerField()),
                ("command", models.JSONField()),
                (
                    "chosen_by",
                    models.CharField(
                        help_text="Who chose: `person`, `timeout`, `outage`, `clock`, `world`, or the kind of co-player.",
                        max_length=40,
                    ),
                ),
                (
                    "fallback",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Why a fallback chose: `timeout`, `outage`, `error`, or a model's error code.",
                        max_length=20,
                    ),
                ),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "to_follow",
                    models.JSONField(
                        blank=True,
                        help_text="Commands planned to follow this one.",
                        null=True,
                    ),
                ),
                (
                    "planned_in",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The step with the plan that this command belongs to. Empty: none.",
                        null=True,
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="commands",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Spending",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "step",
                    models.PositiveIntegerField(
                        blank=True, help_text="The step that was decided; the first is 1.", null=True
                    ),
                ),
                ("reserved", models.DecimalField(decimal_places=6, max_digits=12)),
                ("spent", models.DecimalField(decimal_places=6, max_digits=12, null=True)),
                ("opened_at", models.DateTimeField(auto_now_add=True)),
                ("settled_at", models.DateTimeField(null=True)),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spendings",
                        to="kitchen.budget",
                    ),
                ),
                (
                    "mind",
                    models.ForeignKey(
                        blank=True,
                        help_text="The co-player that the call was for; empty for experiments and erased episodes.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="spendings",
                        to="kitchen.mind",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StateChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "step",
                    models.PositiveIntegerField(
                        help_text="The step that changed the part; 0 for the initial state."
                    ),
                ),
                ("part", models.CharField(help_text="The key of the part in the state.", max_length=40)),
                (
                    "is_whole",
                    models.BooleanField(
                        help_text="True if `changed` has all entries, not only the changed ones."
                    ),
                ),
                ("changed", models.TextField(help_text="New entries and new values: a JSON object.")),
                ("removed", models.TextField(help_text="Removed keys: a JSON list.")),
                ("root", models.CharField(help_text="Hash of the part after the step.", max_length=64)),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="state_changes",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["step"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="The first step is 1.")),
                (
                    "commands",
                    models.JSONField(
                        help_text="`{seat, command, chosen_by, fallback, received_at}` in the order of execution."
                    ),
                ),
                ("events", models.JSONField()),
                (
                    "state_hash",
                    models.CharField(help_text="The hash of the state after the step.", max_length=64),
                ),
                ("score", models.JSONField(help_text="The score after the step.")),
                ("opened_at", models.DateTimeField()),
                ("taken_at", models.DateTimeField()),
                (
                    "chain",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="SHA-256 of the previous hash and of this row; empty in logs of earlier versions.",
                        max_length=64,
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="kitchen.episode",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "abstract": False,
                "base_manager_name": "objects",
            },
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("status", "playing")), fields=["id"], name="episodes_playing"
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(fields=["audience", "ended_at"], name="episodes_of_audience"),
        ),
        migrations.AddConstraint(
            model_name="experimentepisode",
            constraint=models.UniqueConstraint(
                fields=("experiment", "variant", "level", "agents", "alpha", "episode"),
                name="one_row_per_experiment_episode",
            ),
        ),
        migrations.AddConstraint(
            model_name="experimentlog",
            constraint=models.UniqueConstraint(
                fields=("episode", "run", "number"), name="one_piece_of_a_log_per_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(fields=("episode", "number"), name="one_message_per_number"),
        ),
        migrations.AddConstraint(
            model_name="mind",
            constraint=models.UniqueConstraint(fields=("episode", "number"), name="one_mind_per_number"),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                fields=["mind", "dropped", "played_by", "fallback"], name="decisions_by_player"
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["mind", "step"], name="decisions_by_step"),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("number__isnull", False)),
                fields=("mind", "number"),
                name="one_decision_per_mind_and_number",
            ),
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=models.UniqueConstraint(fields=("decision", "number"), name="one_call_per_number"),
        ),
        migrations.AddConstraint(
            model_name="callmessage",
            constraint=models.UniqueConstraint(fields=("call", "position"), name="one_message_per_position"),
        ),
        migrations.AddConstraint(
            model_name="seal",
            constraint=models.UniqueConstraint(fields=("episode", "kind"), name="one_seal_of_a_kind"),
        ),
        migrations.AddConstraint(
            model_name="seat",
            constraint=models.UniqueConstraint(fields=("episode", "number"), name="one_seat_per_number"),
        ),
        migrations.AddConstraint(
            model_name="seatcommand",
            constraint=models.UniqueConstraint(
                fields=("episode", "step", "seat"), name="one_command_per_seat_and_step"
            ),
        ),
        migrations.AddConstraint(
            model_name="statechange",
            constraint=models.UniqueConstraint(
                fields=("episode", "step", "part"), name="one_change_per_step_and_part"
            ),
        ),
        migrations.AddConstraint(
            model_name="step",
            constraint=models.UniqueConstraint(fields=("episode", "number"), name="one_row_per_step"),
        ),
        migrations.RunPython(add_guards, migrations.RunPython.noop),
        migrations.RunPython(leave_room_for_updates, migrations.RunPython.noop),
    ]
