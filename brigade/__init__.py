"""Configure the Django project: settings, URL patterns, the Celery application, and the programs that start
the app."""

from brigade.celery import app as celery_app

__all__ = ["celery_app"]
