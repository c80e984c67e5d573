from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("study", "0056_warm_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="condition",
            name="hides_dots",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Dots mark the actions that advance an order, so they are close to advice. Without them, participants find out themselves what an order needs. Practice then has none, too.",
                verbose_name="hide the dots at useful actions",
            ),
        ),
    ]
