"""A condition may keep from its co-players what others chose in the same step."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0033_passes_by"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="knowing",
            field=models.CharField(
                choices=[
                    ("everybody", "people and the co-players before it: one decides after the other"),
                    ("people", "people: co-players decide side by side"),
                    ("nobody", "nobody: co-players decide side by side"),
                ],
                db_default="everybody",
                default="everybody",
                help_text="Co-players are asked once the participant has chosen. Nobody: they choose as if all chose at once.",
                max_length=10,
                verbose_name="whose choice of the step a co-player knows",
            ),
        ),
    ]
