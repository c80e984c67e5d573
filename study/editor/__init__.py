"""Provide the pages, forms and services with which researchers edit a study."""
