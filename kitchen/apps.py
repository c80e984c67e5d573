"""The app of live play."""

from django.apps import AppConfig


class KitchenConfig(AppConfig):
    """Episodes, their seats and their log."""

    name = "kitchen"
    verbose_name = "Live play"
