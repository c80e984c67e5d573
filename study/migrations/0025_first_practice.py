"""Who did not come to the goal of practice may practise once more: the first try is kept."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0014_until"), ("study", "0024_what_is_asked")]
    operations = [
        migrations.AddField(
            "participant",
            "first_practice",
            models.ForeignKey(
                blank=True,
                null=True,
                help_text="The first try at it, where there was a second one.",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="first_practised_by",
                to="kitchen.episode",
            ),
        ),
    ]
