import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0056_warm_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="max_round_trip_ms",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The longest time in milliseconds that the server may need to answer somebody who "
                "wants to enter. It is measured on the first page. People with a longer one are told so and "
                "cannot enter. 150 is good for games under a clock. Empty: no limit, and nothing is measured.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(20),
                    django.core.validators.MaxValueValidator(10000),
                ],
                verbose_name="longest round trip",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="round_trip_ms",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Milliseconds that the server took to answer before the person entered; empty if it "
                "was not measured.",
                null=True,
            ),
        ),
    ]
