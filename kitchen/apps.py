"""The app of live play."""

from importlib import import_module

from django.apps import AppConfig


class KitchenConfig(AppConfig):
    """Episodes, their seats and their log."""

    name = "kitchen"
    verbose_name = "Live play"

    def ready(self) -> None:
        """What is wrong with this installation is told by `manage.py check`."""
        import_module("kitchen.machine.checks")
