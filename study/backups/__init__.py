"""Backups: a file that holds everything, made while people play, and putting one back."""
