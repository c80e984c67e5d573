"""Each mind has a claim of its own, and may decide more than once for a step: decisions have a number.

On SQLite the table of decisions is copied once, and guarded again: the rule that a mind decides once for a step
is a part of it there. Rows of before have no number. All else is added in place, so programs of the version
before go on.
"""

from django.db import migrations, models

from kitchen.infra.append_only import add_guard_triggers, remove_guard_triggers

TABLE = "kitchen_decision"
BEFORE = "id mind_id step memory note played_by fallback error milliseconds decided_at"
NOW = f"{BEFORE} number seen_step because dropped"


def guard_now(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)
    add_guard_triggers(schema_editor, TABLE, NOW.split(), unique=[["mind_id", "number"]])


def guard_before(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)
    add_guard_triggers(schema_editor, TABLE, BEFORE.split(), unique=[["mind_id", "step"]])


def nothing(apps, schema_editor):
    pass


def unguard_it(apps, schema_editor):
    remove_guard_triggers(schema_editor, TABLE)


def words(name, help_text, size=20, default="", table=TABLE, model="decision", **more):
    """A column of words with a default in the database: added in place on every database."""
    field = models.CharField(
        blank=not default, default=default, db_default=default, help_text=help_text, max_length=size, **more
    )
    return migrations.SeparateDatabaseAndState(
        database_operations=[
            migrations.RunSQL(
                f"ALTER TABLE {table} ADD COLUMN {name} varchar({size}) NOT NULL DEFAULT '{default}'",
                f"ALTER TABLE {table} DROP COLUMN {name}",
            )
        ],
        state_operations=[migrations.AddField(model, name, field)],
    )


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0020_reasoning")]
    operations = [
        words(
            "knowing",
            "Whose commands of the step that it decides a co-player is told.",
            10,
            "everybody",
            "kitchen_episode",
            "episode",
        ),
        migrations.AlterField(
            "episode",
            "deciding_by",
            models.CharField(
                blank=True,
                default="",
                help_text="The claim of a worker of before, which decides for all its co-players.",
                max_length=120,
            ),
        ),
        migrations.AddField(
            "mind",
            "deciding_step",
            models.PositiveIntegerField(
                blank=True,
                help_text="The step of the newest claim; one of another step holds nothing.",
                null=True,
            ),
        ),
        migrations.AddField(
            "mind",
            "deciding_until",
            models.DateTimeField(
                blank=True, help_text="Until then the claim holds, unless it is kept up.", null=True
            ),
        ),
        words("deciding_by", "The claim of the worker that asks it.", 120, "", "kitchen_mind", "mind"),
        migrations.RunPython(unguard_it, guard_before),
        migrations.AddField(
            "decision",
            "number",
            models.PositiveIntegerField(
                blank=True,
                help_text="1 for what the mind decided first; empty in logs of before.",
                null=True,
            ),
        ),
        migrations.AddField(
            "decision",
            "seen_step",
            models.PositiveIntegerField(
                blank=True, help_text="Steps taken when it was asked; empty in logs of before.", null=True
            ),
        ),
        words(
            "because",
            "Why it was asked: `seat`, it had something to choose; empty in logs of before.",
        ),
        words("dropped", "Why nothing came of it; empty for one whose commands were given."),
        migrations.RemoveIndex("decision", "decisions_by_player"),
        migrations.RemoveConstraint("decision", "one_decision_per_mind_and_step"),
        migrations.AddIndex(
            "decision",
            models.Index(fields=["mind", "dropped", "played_by", "fallback"], name="decisions_by_player"),
        ),
        migrations.AddConstraint(
            "decision",
            models.UniqueConstraint(
                condition=models.Q(("number__isnull", False)),
                fields=("mind", "number"),
                name="one_decision_per_mind_and_number",
            ),
        ),
        migrations.RunPython(guard_now, nothing),
    ]
