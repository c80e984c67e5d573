"""Times can be given when a row is written (the moment itself, unless they are). Nothing changes in the
database: only what the models say."""

from django.db import migrations, models
from django.utils import timezone


def given() -> models.DateTimeField:
    return models.DateTimeField(default=timezone.now, editable=False)


class Migration(migrations.Migration):
    dependencies = [("study", "0014_dry_runs")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField("participant", "entered_at", given()),
                migrations.AlterField("answer", "answered_at", given()),
            ]
        )
    ]
