"""Let questions be asked on pages that researchers wrote: the place may be the page's name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("study", "0085_part_order")]

    operations = [
        migrations.AlterField(
            model_name="surveyitem",
            name="place",
            field=models.CharField(default="survey", help_text="Where it is asked.", max_length=40),
        ),
    ]
