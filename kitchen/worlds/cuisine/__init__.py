"""CuisineWorld: agents cook together in one kitchen, and serve the ordered dishes. Rules, version 1.

This is the game of MindAgent (arXiv 2309.09971, section 3 and appendix B). Details follow the game program
that the authors released.

Seats and steps. One to eight agents with equal seats (places of players) play a fixed number of steps (60 by
default). In a step, each agent gives one command. The commands run one after another, in the order of the
turn. So a later agent already acts on the results of an earlier one. An agent without a command does nothing.

Places. The storage gives every base ingredient and takes waste. The serving table takes dishes. Every other
place is a tool: its contents are activated and become the product of a recipe. Agents start at the serving
table, and everything is empty.

Commands::

    goto place         always legal, unless busy
    get place [item]   with empty hands, at this place: any base ingredient from the storage (named);
                       elsewhere the single item that lies there, if the place is open and not busy
    put place          with full hands, at this place: in the storage the item disappears; on the serving
                       table only dishes of this level; into a tool only an item that, with the contents,
                       is part of a recipe of this level. An item that lies in the tool already is absorbed
    activate place     with empty hands, at this place: if the contents are exactly a recipe of this level,
                       they become the product at once, and the tool is busy for its time
    noop               always legal

A chopping board also keeps the agent that activates it busy. Busy agents can only noop. The storage and the
chopping board are always *open*; the serving table is never open. Other tools are open from their activation
until the product is taken. So an item put into a pot by mistake cannot be taken out; the recipe can only be
completed.

After the commands, everything that is busy becomes one step less busy. Orders at the end of their lifetime
fail. Dishes on the serving table then complete the remaining orders, in list order. Then the step number
grows. Whenever the step number is a multiple of the interval, a new order is drawn, unless six orders are
open.

Timing. The work W of a dish is 3 for each distinct item of its recipe tree, plus the waiting for its tools. A
tool that is busy for b steps adds b - 1. The base time of the dish is (alpha * W) * 0.3. The lifetime of an
order is ceil(beta * base time). The interval is the largest ceil(base time) of the level's dishes. `alpha`
and `beta` are settings.

Refusals. A command that cannot be carried out changes nothing and does not affect other agents' commands. Its
event lists every reason that holds: not_at_location, agent_busy, hands_full, hands_empty, location_busy,
not_open, empty, not_base_ingredient, not_a_dish_here, would_waste, at_capacity. Malformed commands have the
reasons unknown_agent, unknown_location, unknown_item, unknown_verb, wrong_arguments, duplicate_agent.

This project decides the following, because the source does not say:

- A step in which no command but noop was carried out, for whatever reason, is `all_idle`.
- Naming an item that does not lie at the place is refused as `unknown_item`; leaving the name out is allowed.
- Orders are drawn only from the episode's own random generator, `random.Random(seed)`.
- After the last step, nothing changes any more: `step` returns no events.

Score. The metrics are orders completed and failed, and completed / (completed + failed). Open orders count in
none of them.

Levels, recipes, tools and ingredients are TOML files in `data/`. To add a level, add a file.
`known_uncookable` in a level file lists dishes that cannot be cooked there on purpose (level_12).

The version is raised whenever the same seed and commands would no longer give the same states.
"""
