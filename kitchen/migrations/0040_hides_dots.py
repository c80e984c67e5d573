from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0039_round_trips"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="hides_dots",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The page does not mark the actions that advance an order.",
            ),
        ),
    ]
