"""Survey items and questionnaires: fields, kinds, validation and scores."""
