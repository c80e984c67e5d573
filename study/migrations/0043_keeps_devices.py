"""A study may keep device, window and times away of each page."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0042_known_effects"),
    ]

    operations = [
        migrations.AddField(
            model_name="pagevisit",
            name="away_ms",
            field=models.PositiveIntegerField(blank=True, help_text="For how long, all together.", null=True),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="browser",
            field=models.CharField(blank=True, db_default="", default="", max_length=20),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="browser_version",
            field=models.PositiveSmallIntegerField(blank=True, help_text="The major one.", null=True),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="device",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Empty where none is kept.", max_length=10
            ),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="system",
            field=models.CharField(blank=True, db_default="", default="", max_length=10),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="times_away",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="How often the page went out of sight; empty if it told nothing.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="window_height",
            field=models.PositiveSmallIntegerField(blank=True, help_text="CSS pixels.", null=True),
        ),
        migrations.AddField(
            model_name="pagevisit",
            name="window_width",
            field=models.PositiveSmallIntegerField(blank=True, help_text="CSS pixels.", null=True),
        ),
        migrations.AddField(
            model_name="study",
            name="keeps_devices",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Of every page after the consent: phone, tablet, computer or headset; browser and system; the size of the window; how often and how long the page was out of sight. These are personal data: say so in the consent.",
                verbose_name="keep device, window and times away of each page",
            ),
        ),
    ]
