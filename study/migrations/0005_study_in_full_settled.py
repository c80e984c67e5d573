"""What the new shape of a study no longer needs, and what is now never empty."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0004_study_in_full_data"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="participant",
            name="guide_read_at",
        ),
        migrations.RemoveField(
            model_name="study",
            name="consent",
        ),
        migrations.RemoveField(
            model_name="study",
            name="ending",
        ),
        migrations.RemoveField(
            model_name="study",
            name="welcome",
        ),
        migrations.AlterField(
            model_name="answer",
            name="participant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="study.participant"
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="entered_at",
            field=models.DateTimeField(auto_now_add=True),
        ),
        migrations.RemoveField(
            model_name="answer",
            name="value",
        ),
        migrations.RenameField(
            model_name="answer",
            old_name="given",
            new_name="value",
        ),
        migrations.AlterField(
            model_name="answer",
            name="value",
            field=models.JSONField(
                help_text="A number; a text; the key of a condition, for a team; a list of texts, for any of several."
            ),
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
        migrations.AlterField(
            model_name="participant",
            name="version",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="participants", to="study.version"
            ),
        ),
    ]
