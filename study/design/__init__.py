"""The design of a study: conditions, questions, parts, orders, versions and preregistration."""
