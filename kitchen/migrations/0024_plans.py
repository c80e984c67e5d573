"""Seats can be commanded for several steps ahead.

The table of commands gets its triggers anew, which hold the new columns too.
"""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE = "kitchen_seatcommand"
BEFORE = "id episode_id step seat command chosen_by fallback received_at"
UNIQUE = [["episode_id", "step", "seat"]]


def unguard_all(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


def guard_all(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)
    add_guard_triggers(schema_editor, TABLE, f"{BEFORE} to_follow planned_in".split(), unique=UNIQUE)


def guard_as_before(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)
    add_guard_triggers(schema_editor, TABLE, BEFORE.split(), unique=UNIQUE)


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0023_experiment_logs"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="plans",
            field=models.JSONField(
                blank=True,
                help_text="By seat: what it does next without being asked. Empty: nothing.",
                null=True,
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, guard_as_before),
        migrations.AddField(
            model_name="seatcommand",
            name="to_follow",
            field=models.JSONField(
                blank=True,
                help_text="Commands that were to follow it without anybody being asked.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="seatcommand",
            name="planned_in",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The step whose command this one was to follow; empty: none.",
                null=True,
            ),
        ),
        migrations.RunPython(guard_all, unguard_all),
    ]
