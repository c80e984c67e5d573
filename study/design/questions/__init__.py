"""Define survey items and questionnaires: fields, kinds, valid answers, and scores."""
