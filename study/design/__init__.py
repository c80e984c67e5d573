"""Define a study's design: conditions, questions, parts, orders, versions, and preregistration."""
