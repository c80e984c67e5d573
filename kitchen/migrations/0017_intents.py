"""Whether pages of an episode say what teammates are about to do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0016_scenes"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="shows_intents",
            field=models.BooleanField(
                db_default=False, default=False, help_text="The page says what teammates are about to do."
            ),
        ),
    ]
