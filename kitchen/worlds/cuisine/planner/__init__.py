"""The planner: MindAgent's Equation 2 solved by search (arXiv 2309.09971, section 4), no key needed.

The paper chooses assignments of agents to subtasks of orders that maximise the value done in time. Here a
plan is a list of dishes wished for, in order; a light kitchen (`rollout`) plays it ahead, each agent taking
the first trip that needs no long wait; its worth (`worth`) is the orders served in time, dishes that orders
to come will want, and work begun. The search changes the plan under way and keeps what is better.

    book      what never changes     scene   one moment        work     what the wishes leave to do
    trips     what agents do         choice  who does what     pickup   what is under way already
    rollout   playing ahead          worth   what it is worth  search   the best plan
    mates     the others, people     telling why, in words     planner  the co-player
    manner    how to look and weigh
"""
