"""Of recovery codes only a digest is stored; those of before are replaced by theirs, and go on to work."""

from typing import Any

from django.db import migrations

from study.researchers.second_factor import digest_of

CODE = 8
"""Letters of a code that is stored as it is."""


def hash_codes(apps: Any, editor: Any) -> None:
    """Each in its place."""
    tokens = apps.get_model("otp_static", "StaticToken").objects
    for token in tokens.all():
        if len(token.token) == CODE:
            tokens.filter(pk=token.pk).update(token=digest_of(token.token))


class Migration(migrations.Migration):
    """Goes forward only in effect: nobody can make a code of its digest."""

    dependencies = [
        ("study", "0021_security_events_guarded"),
        ("otp_static", "0003_add_timestamps"),
    ]

    operations = [migrations.RunPython(hash_codes, migrations.RunPython.noop)]
