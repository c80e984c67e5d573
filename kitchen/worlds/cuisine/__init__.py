"""CuisineWorld: a kitchen in which agents cook together what is ordered. Rules, version 1.

The game of MindAgent (arXiv 2309.09971, section 3 and appendix B), made exact by the authors' released game.

Seats and steps. One to eight agents with equal seats play a fixed number of steps (60). In a step each agent
gives one command; they are run one after another, in the order of the turn, so a later agent already meets
what an earlier one has just done. An agent without a command does nothing.

Places. The storage gives every base ingredient and takes waste. The serving table takes dishes. Everything
else is a tool: what lies inside is activated and becomes the product of a recipe. Agents start at the serving
table, everything is empty.

Commands::

    goto place         always, unless busy
    get place [item]   with empty hands, where one stands: any base ingredient from the storage (named);
                       elsewhere the single item that lies there, if the place is open and not busy
    put place          with full hands, where one stands: into the storage it is gone; on the serving table
                       only dishes of this level; into a tool only what, with the contents, is part of a
                       recipe of this level. What lies in the tool already is absorbed
    activate place     with empty hands, where one stands: the contents are exactly a recipe of this level;
                       they become the product at once, and the tool is busy for its time
    noop               always

A chopping board keeps whoever activates it busy too; busy agents can only noop. *Open* are storage and
chopping board always, the serving table never, and other tools from their activation until the product is
taken: what was put into a pot by mistake can only be completed.

After the commands everything that is busy becomes one step less busy. Orders whose life is over fail. The
others are met, in list order, by what lies on the serving table. Then the step number grows; whenever it is a
multiple of the interval a new order is drawn, unless six stand.

Timing. W of a dish is 3 for each distinct item of its recipe tree plus the waiting for its tools; base time
(alpha * W) * 0.3; life of an order ceil(beta * base); interval the largest ceil(base) of the level.

Refusals. A command that cannot be carried out changes nothing and stops nobody else's. Its event lists every
reason that holds: not_at_location, agent_busy, hands_full, hands_empty, location_busy, not_open, empty,
not_base_ingredient, not_a_dish_here, would_waste, at_capacity; and where it makes no sense at all
unknown_agent, unknown_location, unknown_item, unknown_verb, wrong_arguments, duplicate_agent.

Decided here, where the source is silent:

- A step in which no command but noop was carried out, for whatever reason, is `all_idle`.
- Naming an item that does not lie at the place is refused as `unknown_item`; leaving the name out is allowed.
- Orders are drawn from a generator of the episode's own, `random.Random(seed)`, and from nothing else.
- After the last step nothing happens any more: `step` returns no events.

Score. Orders completed and failed, and completed / (completed + failed); standing orders count in neither.

Levels, recipes, tools and ingredients are TOML files in `data/`; a level is added by adding a file.
`known_uncookable` in a level file says that a dish cannot be cooked there, and that this is meant (level_12).

The version is raised whenever the same seed and commands would no longer give the same states.
"""
