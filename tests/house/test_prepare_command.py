"""What is done before the app is served."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def output_of(command: str) -> str:
    out = StringIO()
    call_command(command, stdout=out)
    return out.getvalue()


def test_the_first_time_an_administrator_is_made_and_the_password_is_shown() -> None:
    found = re.search(r"admin password \(shown once\): (\S+)", output_of("ensure_admin"))
    assert found
    admin = get_user_model().objects.get(username="admin")
    assert admin.check_password(found[1])
    assert admin.is_superuser


def test_where_there_is_an_administrator_nothing_is_made_or_said() -> None:
    get_user_model().objects.create_superuser(username="someone")
    assert output_of("ensure_admin") == ""
    assert get_user_model().objects.count() == 1


def test_a_name_that_is_taken_is_left_alone() -> None:
    get_user_model().objects.create_user(username="admin")
    assert "admin name: admin2" in output_of("ensure_admin")


def test_preparing_says_where_everything_is_and_can_be_done_again() -> None:
    first, second = output_of("prepare"), output_of("prepare")
    assert re.search(rf"demo study, for participants: +{settings.PUBLIC_URL}/s/demo/\n", second)
    assert re.search(rf"administration: +{settings.PUBLIC_URL}/admin/\n", second)
    assert re.search(r"admin password \(shown once\): +\S{16,}\n", first)
    assert re.search(r"manage.py changepassword admin\n", first)
    assert "password" not in second
