"""Synthetic participants: programs that walk a whole study by the doors that people use.

`person` is who somebody is, `player` how they play, `pages` and `browser` what they see and send, `play` the
websocket, `ticking` that of a clock, `patience` how long they wait, `walk` the way from the link to the
completion code, `crowd` many of them at once. All that they learn comes from pages
and messages; only the command knows the database.
"""
