"""Define Latin letters for characters that look like them, and the characters that look empty.

Blocked words are compared in these letters (`kitchen.contract.team_messages`). Imports no Django.

Source: Unicode's confusables for the letters A to Z (`confusables.txt`, Unicode Technical Standard 39), after
case folding, in the scripts below. Small capitals, letters with strokes and letters in filled circles or
squares are ours.
"""

# ruff: noqa: RUF001 - letters that look alike are what this module is about

from __future__ import annotations

from string import ascii_lowercase

_BY_SCRIPT = {
    "авьсԁеёҽԍнһіїјкӏморԛгѕтѵѡԝхуү": "abbcdeeeghhiijklmopqrstvwwxyy",
    "αβεϝηιϳκμοσρτυνχγζ": "abefhijkmooptuvxyz",
    "ᎪᏏᏴᏟᎠᏧᎬᏀᏳᎻᏂᎥᎫᏦᏞᎷᏢᎡᎱᏒᏕᏚᎢᏙᎳᏔᎩᎽᏃ": "abbcddegghhijklmprrrsstvwwyyz",
    "ⲥⲏⲓⲕⳑⲙⲛⲟⲣⲅⲧⲭⲩ": "chiklmnoprtxy",
    "ꓮꓐꓚꓒꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ": "abcddefghijklmnoprstuvwxyz",
    "քցհոռօգզտսա": "fghnnoqqsuw",
    "ɑᴀƀʙᴄđᴅᴇꜰƍɡɢħʜıɨɩɪᴊᴋłʟᴍɴøᴏꬽᴘǫꞯʀꭇƽꜱŧᴛʋᴜꞟᴠɯᴡɣʏᴢ": "aabbcddefggghhiiiijkllmnooopqqrrssttuuuvwwyyz",
}
"""Small letters that look like Latin ones: Cyrillic, Greek, Cherokee, Coptic, Lisu, Armenian and Latin."""
FILLED = (0x1F150, 0x1F170)
"""Code points of the first of 26 Latin letters in filled circles, and in filled squares."""

LOOK_ALIKES = {
    ord(letter): latin
    for letters, latins in _BY_SCRIPT.items()
    for letter, latin in zip(letters, latins, strict=True)
} | {first + number: latin for first in FILLED for number, latin in enumerate(ascii_lowercase)}
"""The Latin letter for each code point of a letter that looks like it, as `str.translate` takes it."""

BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that are no spaces but look like one, or like nothing: Hangul fillers, and the empty Braille
pattern."""
