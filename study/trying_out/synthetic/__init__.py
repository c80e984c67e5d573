"""Many synthetic participants at once, written through the models: to try exports and analyses at full size.

A few episodes of each condition are really played, by the kitchen's own services with the condition's
co-players (a model is always the stand-in: nothing is spent). Everybody's episodes are copies of these, with
the seed they were played with, so that each still replays to its hashes; only keys and times are new. Answers
are drawn for everybody anew. `study.trying_out.walk` is what walks the real pages instead.
"""
