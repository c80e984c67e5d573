"""No token opens anything for ever: whatever has no end, or a later one, ends in a year."""

from datetime import timedelta

from django.db import migrations
from django.db.models import Q
from django.utils import timezone


def end_in_a_year(apps, schema_editor):
    """Give those an end."""
    latest = timezone.now() + timedelta(days=365)
    endless = Q(expires_at=None) | Q(expires_at__gt=latest)
    apps.get_model("study", "ApiToken").objects.filter(endless).update(expires_at=latest)


class Migration(migrations.Migration):
    dependencies = [("study", "0016_words")]

    operations = [migrations.RunPython(end_in_a_year, migrations.RunPython.noop)]
