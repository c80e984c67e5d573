"""What a program was told its ratings are to differ by."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0041_planned_tests"),
    ]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="known_effects",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                help_text="Of a program: by what part of an item's scale its answers were moved, by item and condition. Empty: it answered by what it went through, as people do.",
            ),
        ),
    ]
