"""Signs of life, and the outages that they tell of, which nobody changes afterwards. A command can say `outage`."""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

OUTAGES = "kitchen_outage"
PARTS = [
    ("web", "the pages"),
    ("workers", "the workers of co-players"),
    ("redis", "Redis"),
    ("database", "the database"),
    ("clock", "the clock"),
]


def guard_outages(apps, schema_editor):
    add_guard_triggers(schema_editor, OUTAGES, ["id", "part", "since", "until", "note"])


def unguard_outages(apps, schema_editor):
    remove_guard_triggers(schema_editor, OUTAGES)


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0011_chains_and_guards")]
    operations = [
        migrations.CreateModel(
            name="Sign",
            fields=[
                (
                    "part",
                    models.CharField(choices=PARTS, max_length=10, primary_key=True, serialize=False),
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
            name="Outage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("part", models.CharField(choices=PARTS, max_length=10)),
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
        migrations.RunPython(guard_outages, unguard_outages),
        migrations.AlterField(
            "seatcommand",
            "chosen_by",
            models.CharField(
                help_text="`person`, `timeout`, `outage`, or the kind of co-player that chose.", max_length=40
            ),
        ),
        migrations.AlterField(
            "seatcommand",
            "fallback",
            models.CharField(
                blank=True,
                default="",
                help_text="Why another than the co-player chose: `timeout`, `outage`, `error`, or a model's error code.",
                max_length=20,
            ),
        ),
    ]
