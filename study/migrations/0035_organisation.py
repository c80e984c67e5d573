"""Who may command whom and write to whom in a condition."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0034_knowing"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="organisation",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                help_text="Who may command whom and write to whom, and co-players of single teammates. Empty: one co-player for all, and nobody writes.",
            ),
        ),
    ]
