"""Views of the pages behind a participant's personal link."""
