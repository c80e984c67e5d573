"""PettingZoo games as worlds: tic-tac-toe by turns, cooperative pong and knights-archers-zombies by a clock.

They are offered if `make open` has installed PettingZoo and pygame.
"""
