"""Configure and start the web app: Django settings, URLs, the Celery application, and server processes."""

from brigade.celery import app as celery_app

__all__ = ["celery_app"]
