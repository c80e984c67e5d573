"""The Django project: settings, addresses, the Celery application, and what starts it all."""

from brigade.celery import app as celery_app

__all__ = ["celery_app"]
