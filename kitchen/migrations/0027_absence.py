"""What becomes of the seat of a person who is gone, and what became of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0026_decisions_by_step"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="absence",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="What becomes of the seat of a person who is gone; empty: who leaves ends the "
                "episode.",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="gone",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="By seat that a co-player took over from a person: from which step on, and why.",
            ),
        ),
    ]
