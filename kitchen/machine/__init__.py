"""The machine underneath: outages, failures, processes, health, files, rows that are only added."""
