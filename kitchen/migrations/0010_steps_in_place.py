"""What every step changes is in no index, and PostgreSQL's pages keep room for the next state: a step is then
written in place (a HOT update)."""

from django.db import migrations, models

ROOM = "ALTER TABLE kitchen_episode SET (fillfactor = 70)"
FULL = "ALTER TABLE kitchen_episode RESET (fillfactor)"


def on_postgresql(statement):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0009_given_times")]
    operations = [
        migrations.RemoveIndex("episode", "kitchen_epi_status_88b370_idx"),
        migrations.RemoveIndex("episode", "kitchen_epi_audienc_6252a6_idx"),
        migrations.AlterField(
            "episode",
            "turn_closes_at",
            models.DateTimeField(
                blank=True, help_text="Who has not commanded then waits in this step.", null=True
            ),
        ),
        migrations.AddIndex(
            "episode",
            models.Index(condition=models.Q(status="playing"), fields=["id"], name="episodes_playing"),
        ),
        migrations.AddIndex(
            "episode", models.Index(fields=["audience", "ended_at"], name="episodes_of_audience")
        ),
        migrations.RunPython(on_postgresql(ROOM), on_postgresql(FULL)),
    ]
