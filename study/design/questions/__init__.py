"""Define survey items and questionnaires: fields, kinds, validation and scores."""
