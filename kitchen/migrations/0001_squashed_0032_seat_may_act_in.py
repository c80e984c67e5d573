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
                ("step", models.PositiveIntegerField(help_text="The step it is for; the first is 1.")),
                ("memory", models.JSONField(null=True)),
                ("note", models.JSONField(null=True)),
                (
                    "played_by",
                    models.CharField(
                        help_text="The kind that really chose (a stand-in, or itself).", max_length=40
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
                        help_text="1 for what the mind decided first; empty in logs of before.",
                        null=True,
                    ),
                ),
                (
                    "seen_step",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Steps taken when it was asked; empty in logs of before.",
                        null=True,
                    ),
                ),
                (
                    "because",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Why it was asked: `seat`, it had something to choose; empty in logs of before.",
                        max_length=20,
                    ),
                ),
                (
                    "dropped",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Why nothing came of it; empty for one whose commands were given.",
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
                        default=False, help_text="The page says what would be good to do next."
                    ),
                ),
                (
                    "until",
                    models.JSONField(
                        blank=True,
                        help_text="Figures and what each is to reach: then it is over. Empty: it lasts as long as its world says.",
                        null=True,
                    ),
                ),
                (
                    "shown",
                    models.CharField(
                        db_default="tables",
                        default="tables",
                        help_text="What people's pages had of the world: tables, a drawing, or both.",
                        max_length=10,
                    ),
                ),
                (
                    "asks_first",
                    models.BooleanField(
                        db_default=False, default=False, help_text="The page asked before it sent an action."
                    ),
                ),
                (
                    "three_dimensions",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The page offers the world as a scene, too.",
                    ),
                ),
                (
                    "shows_intents",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="The page says what teammates are about to do.",
                    ),
                ),
                (
                    "passes_by",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Seats that have nothing to choose are not waited for.",
                    ),
                ),
                (
                    "knowing",
                    models.CharField(
                        db_default="everybody",
                        default="everybody",
                        help_text="Whose commands of the step that it decides a co-player is told.",
                        max_length=10,
                    ),
                ),
                (
                    "organisation",
                    models.JSONField(
                        blank=True,
                        help_text="Its members and what they may do with one another; empty: nobody writes to anybody.",
                        null=True,
                    ),
                ),
                (
                    "messages",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="How many were sent so far."
                    ),
                ),
                (
                    "offers_plans",
                    models.BooleanField(
                        db_default=False, default=False, help_text="The page offered to choose what follows."
                    ),
                ),
                (
                    "plans",
                    models.JSONField(
                        blank=True,
                        help_text="By seat: what it does next without being asked. Empty: nothing.",
                        null=True,
                    ),
                ),
                (
                    "absence",
                    models.JSONField(
                        blank=True,
                        help_text="What becomes of the seat of a person who is gone; empty: who leaves ends the episode.",
                        null=True,
                    ),
                ),
                (
                    "gone",
                    models.JSONField(
                        blank=True,
                        help_text="By seat that a co-player took over from a person: from which step on, and why.",
                        null=True,
                    ),
                ),
                (
                    "audience",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Whom its news go to, as staff watch it.",
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
                    models.TextField(blank=True, default="", help_text="Why it was ended before its time."),
                ),
                ("step", models.PositiveIntegerField(default=0, help_text="Steps taken so far.")),
                ("state", models.JSONField(default=dict)),
                ("state_hash", models.CharField(max_length=64)),
                ("score", models.JSONField(default=dict)),
                (
                    "thinking_seconds",
                    models.FloatField(
                        default=0, help_text="Co-players of every kind take at least so long for a step."
                    ),
                ),
                (
                    "decision_seconds",
                    models.FloatField(help_text="Time for all co-players' decisions of one step."),
                ),
                (
                    "deciding_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Until then nobody else need look after the co-players' decision.",
                        null=True,
                    ),
                ),
                (
                    "deciding_by",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The claim of a worker of before, which decides for all its co-players.",
                        max_length=120,
                    ),
                ),
                (
                    "step_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Time of people for a step; empty: as long as they want.",
                        null=True,
                    ),
                ),
                (
                    "tick_ms",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Milliseconds from one step to the next, where a clock takes them; empty: turns.",
                        null=True,
                    ),
                ),
                ("turn_opened_at", models.DateTimeField()),
                (
                    "turn_closes_at",
                    models.DateTimeField(
                        blank=True, help_text="Who has not commanded then waits in this step.", null=True
                    ),
                ),
                (
                    "asked_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Since when people are to choose in it, where that is not since it opened: they talked.",
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
                        help_text="Seconds since the machine was started: no clock that anybody sets."
                    ),
                ),
                (
                    "place",
                    models.CharField(
                        blank=True, help_text="The run of the machine that they are of.", max_length=64
                    ),
                ),
                (
                    "processes",
                    models.JSONField(
                        default=list, help_text="Names of the part's processes, the newest last."
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
                        help_text="The claim of the process that does; empty: nobody's.",
                        max_length=120,
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(
                        blank=True, help_text="Until then the claim holds, unless it is kept up.", null=True
                    ),
                ),
                ("late", models.PositiveIntegerField(default=0, help_text="Steps that were taken too late.")),
                (
                    "lost_ms",
                    models.PositiveIntegerField(
                        default=0, help_text="Milliseconds in which the clock stood still."
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
                ("setup", models.JSONField(help_text="All arguments, as `Setup.to_json`.")),
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
                        help_text="US dollars that calls of models may cost; 0 where they cost nothing.",
                        max_digits=12,
                        verbose_name="limit of money",
                    ),
                ),
                (
                    "spent_elsewhere",
                    models.DecimalField(
                        db_default=0,
                        decimal_places=6,
                        default=0,
                        editable=False,
                        help_text="US dollars that calls of what was played elsewhere (`--local`) had cost.",
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
                    models.DateTimeField(blank=True, help_text="A worker plays it until then.", null=True),
                ),
                (
                    "row",
                    models.JSONField(blank=True, help_text="What came of it, as in episodes.csv.", null=True),
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
                    models.PositiveSmallIntegerField(help_text="1; more where it could not be gone on with."),
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
                ("number", models.PositiveIntegerField(help_text="In the episode; the first is 1.")),
                ("step", models.PositiveIntegerField(help_text="The step that was open; the first is 1.")),
                (
                    "sender",
                    models.PositiveSmallIntegerField(help_text="A member; empty for the house.", null=True),
                ),
                ("to", models.JSONField(help_text="Every member to whom it was sent.")),
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
                        help_text="The step of the newest claim; one of another step holds nothing.",
                        null=True,
                    ),
                ),
                (
                    "deciding_until",
                    models.DateTimeField(
                        blank=True, help_text="Until then the claim holds, unless it is kept up.", null=True
                    ),
                ),
                (
                    "deciding_by",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The claim of the worker that asks it.",
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
                    models.CharField(blank=True, help_text="As the API named it.", max_length=120),
                ),
                ("sampling", models.JSONField(help_text="Temperature, longest answer, effort, tool.")),
                (
                    "parameters",
                    models.JSONField(
                        help_text="All that was sent beside the texts of messages and tool, as the API calls it; empty in calls of before it was kept.",
                        null=True,
                    ),
                ),
                ("reply", models.TextField(blank=True)),
                ("reply_call", models.JSONField(null=True)),
                ("stop", models.CharField(blank=True, max_length=40)),
                (
                    "error",
                    models.CharField(blank=True, help_text="Code, where there was no answer.", max_length=20),
                ),
                ("error_text", models.TextField(blank=True)),
                (
                    "reasoning",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What the model thought before it answered, as far as its API gives it.",
                    ),
                ),
                (
                    "attempts",
                    models.JSONField(
                        help_text="Every try: outcome, seconds, seconds waited after it, cost; begin and end, seconds that it had, and the server's id of the request."
                    ),
                ),
                ("seconds", models.FloatField()),
                ("tokens_input", models.PositiveIntegerField(help_text="Without the cached ones.")),
                ("tokens_output", models.PositiveIntegerField()),
                ("tokens_cache_read", models.PositiveIntegerField()),
                ("tokens_cache_write", models.PositiveIntegerField()),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=6,
                        help_text="US dollars; empty where no price is known.",
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
                        blank=True, help_text="What is not certain about it, or how the clock was set."
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
                ("facts", models.JSONField(help_text="What is sealed, by name.")),
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
                        help_text="It is one of the world's; no: somebody who only leads.",
                    ),
                ),
                (
                    "may_act_in",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The last step that did not wait for it and in which it could act all the same.",
                        null=True,
                    ),
                ),
                ("key", models.CharField(default=kitchen.play.models.new_key, max_length=32, unique=True)),
                (
                    "page",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The browser's page that plays; empty before the first.",
                        max_length=32,
                    ),
                ),
                (
                    "scene",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="How it was seen in three dimensions: `screen`, or `headset`, which outdoes it; or not.",
                        max_length=8,
                    ),
                ),
                (
                    "view",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What was seen when choosing, where there are two views: `tables`, `drawn` or `both`.",
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
                ("step", models.PositiveIntegerField(help_text="The step it is for; the first is 1.")),
                ("seat", models.PositiveSmallIntegerField()),
                ("command", models.JSONField()),
                (
                    "chosen_by",
                    models.CharField(
                        help_text="`person`, `timeout`, `outage`, `clock`, `world`, or the kind of co-player that chose.",
                        max_length=40,
                    ),
                ),
                (
                    "fallback",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Why another than the co-player chose: `timeout`, `outage`, `error`, or a model's error code.",
                        max_length=20,
                    ),
                ),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "to_follow",
                    models.JSONField(
                        blank=True,
                        help_text="Commands that were to follow it without anybody being asked.",
                        null=True,
                    ),
                ),
                (
                    "planned_in",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The step whose command this one was to follow; empty: none.",
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
                        help_text="The co-player whose decision it was for; empty for experiments and erased episodes.",
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
                ("step", models.PositiveIntegerField(help_text="The step that changed it; 0: it began so.")),
                ("part", models.CharField(help_text="The key of the part in the state.", max_length=40)),
                (
                    "is_whole",
                    models.BooleanField(help_text="`changed` has all entries, not only those that changed."),
                ),
                ("changed", models.TextField(help_text="New entries and new values: a JSON object.")),
                ("removed", models.TextField(help_text="Keys that are gone: a JSON list.")),
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
                        help_text="`{seat, command, chosen_by, fallback, received_at}` in the order they ran."
                    ),
                ),
                ("events", models.JSONField()),
                ("state_hash", models.CharField(help_text="Of the state after the step.", max_length=64)),
                ("score", models.JSONField(help_text="After the step.")),
                ("opened_at", models.DateTimeField()),
                ("taken_at", models.DateTimeField()),
                (
                    "chain",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="SHA-256 of the chain before it and of this row; empty in logs of before.",
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
