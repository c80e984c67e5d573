from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0038_sound"),
    ]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="round_trips",
            field=models.JSONField(
                blank=True,
                help_text="How often the server answered the person's page within so many milliseconds.",
                null=True,
            ),
        ),
    ]
