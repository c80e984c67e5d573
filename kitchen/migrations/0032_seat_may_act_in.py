from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("kitchen", "0031_state_changes"),
    ]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="may_act_in",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The last step that did not wait for it and in which it could act all the same.",
                null=True,
            ),
        ),
    ]
