"""Whether pages of an episode offer to choose what follows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0024_plans"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="offers_plans",
            field=models.BooleanField(
                db_default=False, default=False, help_text="The page offered to choose what follows."
            ),
        ),
    ]
