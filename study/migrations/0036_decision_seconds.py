"""Teammates of a condition may have a time of their own for a decision."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0035_organisation"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="decision_seconds",
            field=models.FloatField(
                blank=True,
                null=True,
                help_text="Seconds that the teammates of this condition have for a step; then the fallback plays. "
                "Empty: as this server has it.",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(600),
                ],
                verbose_name="time for a decision",
            ),
        ),
    ]
