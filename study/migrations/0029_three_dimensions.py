"""A condition may offer the world in three dimensions, too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0028_languages"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="three_dimensions",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A button beside the drawing opens the same as a scene, on a screen or in a headset. The data say who used it.",
                verbose_name="also offer it in three dimensions",
            ),
        ),
    ]
