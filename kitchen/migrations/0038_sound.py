from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0037_guard_deletes"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="recommends_sound",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The page offers once to switch sound on.",
            ),
        ),
        migrations.AddField(
            model_name="seat",
            name="sound",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Whether the person had sound: `on`, `part` (switched during the episode), or empty.",
                max_length=8,
            ),
        ),
    ]
