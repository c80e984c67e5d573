"""What each seat's person saw when they chose, where a world is shown in two ways."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0017_intents"),
    ]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="view",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="What was seen when choosing, where there are two views: `tables`, `drawn` or `both`.",
                max_length=8,
            ),
        ),
    ]
