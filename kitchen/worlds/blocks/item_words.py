"""Translate the codes of items, blocks and animals into the participant's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache

from kitchen.words.english_text import code_to_words
from kitchen.words.gettext_without_django import gettext, gettext_noop

ITEM_NAMES: Mapping[str, str] = {
    "activator_rail": gettext_noop("activator rail"),
    "allium": gettext_noop("allium"),
    "apple": gettext_noop("apple"),
    "arrow": gettext_noop("arrow"),
    "baked_potato": gettext_noop("baked potato"),
    "barrel": gettext_noop("barrel"),
    "beef": gettext_noop("raw beef"),
    "beetroot": gettext_noop("beetroot"),
    "beetroot_soup": gettext_noop("beetroot soup"),
    "beetroots": gettext_noop("beetroot plant"),
    "blackstone": gettext_noop("blackstone"),
    "blast_furnace": gettext_noop("blast furnace"),
    "bone": gettext_noop("bone"),
    "bone_meal": gettext_noop("bone meal"),
    "book": gettext_noop("book"),
    "bookshelf": gettext_noop("bookshelf"),
    "bowl": gettext_noop("bowl"),
    "bread": gettext_noop("bread"),
    "brown_mushroom": gettext_noop("brown mushroom"),
    "cake": gettext_noop("cake"),
    "campfire": gettext_noop("campfire"),
    "carrot": gettext_noop("carrot"),
    "carrots": gettext_noop("carrot plant"),
    "charcoal": gettext_noop("charcoal"),
    "chest": gettext_noop("chest"),
    "chest_minecart": gettext_noop("cart with chest"),
    "chicken": gettext_noop("chicken"),
    "chiseled_polished_blackstone": gettext_noop("chiselled polished blackstone"),
    "clock": gettext_noop("clock"),
    "coal": gettext_noop("coal"),
    "cobbled_deepslate": gettext_noop("cobbled deepslate"),
    "cobblestone": gettext_noop("cobblestone"),
    "cocoa_beans": gettext_noop("cocoa beans"),
    "compass": gettext_noop("compass"),
    "cooked_beef": gettext_noop("cooked beef"),
    "cooked_chicken": gettext_noop("cooked chicken"),
    "cooked_mutton": gettext_noop("cooked mutton"),
    "cooked_porkchop": gettext_noop("cooked porkchop"),
    "cooked_rabbit": gettext_noop("cooked rabbit"),
    "cookie": gettext_noop("cookie"),
    "copper_block": gettext_noop("copper block"),
    "cow": gettext_noop("cow"),
    "crafting_table": gettext_noop("workbench"),
    "crossbow": gettext_noop("crossbow"),
    "cut_red_sandstone": gettext_noop("cut red sandstone"),
    "dandelion": gettext_noop("dandelion"),
    "dark_oak_door": gettext_noop("door"),
    "dark_prismarine": gettext_noop("dark prismarine"),
    "diamond": gettext_noop("diamond"),
    "diamond_pickaxe": gettext_noop("diamond pickaxe"),
    "diorite": gettext_noop("diorite"),
    "dirt": gettext_noop("dirt"),
    "egg": gettext_noop("egg"),
    "enchanting_table": gettext_noop("enchanting table"),
    "feather": gettext_noop("feather"),
    "firework_rocket": gettext_noop("firework rocket"),
    "fishing_rod": gettext_noop("fishing rod"),
    "flint": gettext_noop("flint"),
    "furnace": gettext_noop("furnace"),
    "glass": gettext_noop("glass"),
    "glowstone_dust": gettext_noop("glowing dust"),
    "gold_ingot": gettext_noop("gold ingot"),
    "gold_nugget": gettext_noop("gold nugget"),
    "golden_apple": gettext_noop("golden apple"),
    "golden_carrot": gettext_noop("golden carrot"),
    "granite": gettext_noop("granite"),
    "gunpowder": gettext_noop("gunpowder"),
    "ink_sac": gettext_noop("ink sac"),
    "iron_ingot": gettext_noop("iron ingot"),
    "iron_nugget": gettext_noop("iron nugget"),
    "iron_ore": gettext_noop("iron ore"),
    "jukebox": gettext_noop("jukebox"),
    "lapis_lazuli": gettext_noop("lapis lazuli"),
    "leather": gettext_noop("leather"),
    "lectern": gettext_noop("lectern"),
    "llama": gettext_noop("llama"),
    "map": gettext_noop("map"),
    "milk_bucket": gettext_noop("bucket of milk"),
    "minecart": gettext_noop("cart"),
    "mooshroom": gettext_noop("mushroom cow"),
    "mushroom_stew": gettext_noop("mushroom stew"),
    "mutton": gettext_noop("raw mutton"),
    "obsidian": gettext_noop("obsidian"),
    "paper": gettext_noop("paper"),
    "pig": gettext_noop("pig"),
    "polished_blackstone": gettext_noop("polished blackstone"),
    "polished_blackstone_slab": gettext_noop("polished blackstone slab"),
    "polished_granite": gettext_noop("polished granite"),
    "porkchop": gettext_noop("raw porkchop"),
    "potato": gettext_noop("potato"),
    "potatoes": gettext_noop("potato plant"),
    "prismarine_shard": gettext_noop("prismarine shard"),
    "pumpkin": gettext_noop("pumpkin"),
    "pumpkin_pie": gettext_noop("pumpkin pie"),
    "purpur_block": gettext_noop("purpur block"),
    "quartz": gettext_noop("quartz"),
    "quartz_block": gettext_noop("quartz block"),
    "rabbit": gettext_noop("rabbit"),
    "rabbit_stew": gettext_noop("rabbit stew"),
    "raw_iron": gettext_noop("raw iron"),
    "red_mushroom": gettext_noop("red mushroom"),
    "red_sandstone": gettext_noop("red sandstone"),
    "redstone": gettext_noop("redstone dust"),
    "redstone_torch": gettext_noop("redstone torch"),
    "rose_red": gettext_noop("rose red"),
    "sandstone": gettext_noop("sandstone"),
    "sheep": gettext_noop("sheep"),
    "smoker": gettext_noop("smoker"),
    "smooth_stone": gettext_noop("smooth stone"),
    "soul_campfire": gettext_noop("soul campfire"),
    "soul_sand": gettext_noop("soul sand"),
    "spectral_arrow": gettext_noop("spectral arrow"),
    "stick": gettext_noop("stick"),
    "stone": gettext_noop("stone"),
    "stone_pickaxe": gettext_noop("stone pickaxe"),
    "string": gettext_noop("string"),
    "sugar": gettext_noop("sugar"),
    "sugar_cane": gettext_noop("sugar cane"),
    "suspicious_stew": gettext_noop("suspicious stew"),
    "terracotta": gettext_noop("terracotta"),
    "tripwire_hook": gettext_noop("tripwire hook"),
    "waxed_oxidized_copper": gettext_noop("waxed oxidised copper"),
    "waxed_oxidized_cut_copper": gettext_noop("waxed oxidised cut copper"),
    "wheat": gettext_noop("wheat"),
    "wooden_pickaxe": gettext_noop("wooden pickaxe"),
    "wooden_slab": gettext_noop("wooden slab"),
    "#coals": gettext_noop("coal or charcoal"),
    "#logs": gettext_noop("any logs"),
    "#mushrooms": gettext_noop("any mushroom"),
    "#planks": gettext_noop("any planks"),
    "#slabs": gettext_noop("any slabs"),
    "#stone": gettext_noop("any cobbled stone"),
    "air": gettext_noop("nothing"),
}
"""Things with a name of their own, and tags of recipes."""
COLOURS: Mapping[str, str] = {
    "white": gettext_noop("white"),
    "orange": gettext_noop("orange"),
    "magenta": gettext_noop("magenta"),
    "light_blue": gettext_noop("light blue"),
    "yellow": gettext_noop("yellow"),
    "lime": gettext_noop("lime"),
    "pink": gettext_noop("pink"),
    "gray": gettext_noop("gray"),
    "light_gray": gettext_noop("light gray"),
    "cyan": gettext_noop("cyan"),
    "purple": gettext_noop("purple"),
    "blue": gettext_noop("blue"),
    "brown": gettext_noop("brown"),
    "green": gettext_noop("green"),
    "red": gettext_noop("red"),
    "black": gettext_noop("black"),
}
WOODS: Mapping[str, str] = {
    "oak": gettext_noop("oak"),
    "spruce": gettext_noop("spruce"),
    "birch": gettext_noop("birch"),
    "jungle": gettext_noop("jungle wood"),
    "acacia": gettext_noop("acacia"),
    "dark_oak": gettext_noop("dark oak"),
    "mangrove": gettext_noop("mangrove"),
    "cherry": gettext_noop("cherry"),
    "bamboo": gettext_noop("bamboo"),
    "crimson": gettext_noop("crimson wood"),
    "warped": gettext_noop("warped wood"),
}
KINDS: Mapping[str, str] = {
    "wool": gettext_noop("{} wool"),
    "banner": gettext_noop("{} banner"),
    "bed": gettext_noop("{} bed"),
    "dye": gettext_noop("{} dye"),
    "stained_glass": gettext_noop("{} glass"),
    "carpet": gettext_noop("{} carpet"),
    "planks": gettext_noop("{} planks"),
    "slab": gettext_noop("{} slab"),
    "log": gettext_noop("{} log"),
    "stem": gettext_noop("{} stem"),
}
"""Kinds of thing that there are in several colours or woods: `lime_wool`."""


def item_words(code: str) -> str:
    """Return the name of an item, block or animal in the participant's language, such as `lime wool` for
    `lime_wool`."""
    if code in ITEM_NAMES:
        return gettext(ITEM_NAMES[code])
    pattern, name = _kind_and_first(code)
    return gettext(pattern).format(gettext(name)) if pattern else code_to_words(code)


def has_name(code: str) -> bool:
    """Return whether an item or block has a name that is translated. Researchers' own tasks and blueprints
    may use only these."""
    return code in ITEM_NAMES or bool(_kind_and_first(code)[0])


def unknown_item(codes: Iterable[str]) -> str:
    """Return why the first item or block without a translated name is wrong, with the names that look most
    like it. Empty if all have a translated name."""
    unknown = next((code for code in codes if not has_name(code)), None)
    return "" if unknown is None else f"{unknown[:40]!r} is not a known item; {_similar_names(unknown[:40])}"


def unknown_block(code: str) -> str:
    """Return why a block without a translated name is wrong, with the names that look most like it. Empty if
    it has a translated name."""
    return "" if has_name(code) else f"{code[:40]!r} is not a known block; {_similar_names(code[:40])}"


MOST_SIMILAR = 6
"""Maximum number of names that an error message proposes in place of an unknown one."""


def _similar_names(code: str) -> str:
    """Return a text with the known names that have a word of `code`, or letters like it. Return a text with
    all names except those of colours and woods if there are none."""
    known, words = known_names(), set(code.lower().split("_"))
    alike = [name for name in known if words & set(name.split("_"))]
    alike += [name for name in get_close_matches(code.lower(), known, MOST_SIMILAR) if name not in alike]
    if alike:
        return f"similar: {', '.join(alike[:MOST_SIMILAR])}"
    own = (name for name in known if name in ITEM_NAMES)
    return f"there are {', '.join(own)}, and colours and woods such as lime_wool and oak_planks"


@cache
def known_names() -> tuple[str, ...]:
    """Return the code of every item and block with a translated name. Those in several colours come last."""
    own = (code for code in ITEM_NAMES if code.isidentifier() and code != "air")
    in_colours = (f"{first}_{kind}" for kind in KINDS for first in (*COLOURS, *WOODS))
    return (*own, *in_colours)


def _kind_and_first(code: str) -> tuple[str, str]:
    """Return (pattern, first word) of a thing that there is in several colours or woods, such as
    (`{} wool`, `lime`). Two empty texts for other things."""
    for kind, pattern in KINDS.items():
        first = code.removesuffix(f"_{kind}")
        name = COLOURS.get(first) or WOODS.get(first)
        if first != code and name:
            return pattern, name
    return "", ""
