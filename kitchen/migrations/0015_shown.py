"""What people's pages had of a world: tables, as all of them had before."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns that the version before leaves as they are."""

    dependencies = [("kitchen", "0014_until")]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="asks_first",
            field=models.BooleanField(
                db_default=False, default=False, help_text="The page asked before it sent an action."
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="shown",
            field=models.CharField(
                db_default="tables",
                default="tables",
                help_text="What people's pages had of the world: tables, a drawing, or both.",
                max_length=10,
            ),
        ),
    ]
