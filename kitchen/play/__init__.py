"""Run live play: store episodes, run their steps, ask the agents for commands, and serve the play page over
websockets.
"""
