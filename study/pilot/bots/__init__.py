"""Let synthetic participants (programs) take part in a study through its web pages and websockets.

They use the study as people do, and do not read the database.
"""
