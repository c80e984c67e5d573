"""Whether an episode is offered in three dimensions, and how each seat saw it so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0015_shown"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="three_dimensions",
            field=models.BooleanField(
                db_default=False, default=False, help_text="The page offers the world as a scene, too."
            ),
        ),
        migrations.AddField(
            model_name="seat",
            name="scene",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="How it was seen in three dimensions: `screen`, or `headset`, which outdoes it; or not.",
                max_length=8,
            ),
        ),
    ]
