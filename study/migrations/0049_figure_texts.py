from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0048_allocation_to_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="figure_texts",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                editable=False,
                help_text="Titles and notes of figures of the analysis, by measure and chart. Empty: left out.",
                verbose_name="titles and notes of figures",
            ),
        ),
    ]
