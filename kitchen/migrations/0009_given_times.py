"""Times can be given when a row is written (the moment itself, unless they are). Nothing changes in the
database: only what the models say."""

from django.db import migrations, models
from django.utils import timezone


def given() -> models.DateTimeField:
    return models.DateTimeField(default=timezone.now, editable=False)


class Migration(migrations.Migration):
    dependencies = [("kitchen", "0008_live_indexes")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField("episode", "created_at", given()),
                migrations.AlterField("seatcommand", "received_at", given()),
                migrations.AlterField("decision", "decided_at", given()),
            ]
        )
    ]
