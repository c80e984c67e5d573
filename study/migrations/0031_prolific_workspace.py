"""A study may name the workspace on Prolific whose signed links are believed."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0030_intents"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="prolific_workspace",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The ID of your workspace on Prolific: it stands in the address of your workspace there, after /workspaces/. A link that Prolific signed is believed only if it was signed for this workspace: anybody can make a study there whose link leads here. Empty: none is believed.",
                max_length=64,
                validators=[
                    django.core.validators.RegexValidator(
                        "\\A[\\w-]+\\Z", "Letters, digits, hyphens and underscores only."
                    )
                ],
            ),
        ),
    ]
