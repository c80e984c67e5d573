/* Our own drawings of blocks, items and animals: a colour and a pattern for each, as canvases of any size.

   `blockPictures` of [data-play]: `tile(kind, size)` from above, `cube(kind, size)` and `sides(kind, size, wanted)` at an angle, `animal(kind, size)`,
   and `fill(canvas)` for one that has the kind in [data-block].
   What is not listed gets its colour from the words of its name, and letters of its code. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const COLOURS = {
    white: "#eceef0", orange: "#e5862f", magenta: "#bd58b3", light_blue: "#63b5dc", yellow: "#ecc53c", lime: "#85bd3a",
    pink: "#e79bb3", light_gray: "#a9aaa4", gray: "#5f666b", cyan: "#2f8f97", purple: "#7d45a8", blue: "#4353a6",
    brown: "#7d5636", green: "#5f7b2f", red: "#b1392f", black: "#33373b",
    oak: "#b8945f", spruce: "#7d5c36", birch: "#d3c289", jungle: "#a97b58", acacia: "#b4633a", dark_oak: "#553a1f",
    mangrove: "#7c3b35", cherry: "#deb0a8", bamboo: "#c9b354", crimson: "#7b3f55", warped: "#37837c",
    cobbled_deepslate: "#56565b", blackstone: "#3c383f", cobblestone: "#8b8d8e", red_sandstone: "#bf6a2d", sandstone: "#dccb93",
    stone: "#969a9b", dirt: "#8a6545", terracotta: "#a5664b", quartz: "#e7e2da", copper: "#c4714f", purpur: "#a87aa9",
    glass: "#bfe0e6", lit_glass: "#ffd97a", iron: "#d5cfc8", gold: "#eec94b", diamond: "#6fd3d2", coal: "#33373b", redstone: "#b1392f",
    wheat: "#d8b64a", potato: "#c7a256", carrot: "#e5862f", beetroot: "#9c3148", pumpkin: "#dc7f25", bread: "#c08a45",
    sugar: "#eceef0", egg: "#ead9bd", apple: "#c23b33", chicken: "#efe6d8", beef: "#a5453f", mutton: "#b1605a",
    porkchop: "#e0a09b", rabbit: "#b48a66", milk: "#eceef0", furnace: "#7d8183", smoker: "#6c6258", chest: "#b07a35",
    crafting_table: "#a9793f", cooked_beef: "#6f4027", cooked_chicken: "#c98a3f", cooked_mutton: "#7b4a33",
    cooked_porkchop: "#b5713f", cooked_rabbit: "#8e5a34", baked_potato: "#9c7a3a", golden_apple: "#eec94b",
    golden_carrot: "#eec94b", cookie: "#b98148", cake: "#e0685f", pumpkin_pie: "#d08a3a", bowl: "#8a5f38", stick: "#8a5f38",
    mushroom_stew: "#b98f6b", rabbit_stew: "#b5693f", beetroot_soup: "#9c3148", charcoal: "#4a4038", bucket: "#aeb6ba",
    wooden: "#8a5f38", wooden_pickaxe: "#b8945f", obsidian: "#2f2741", soul_sand: "#5a4a3c",
  };
  const PATTERNS = { // by kind, or by the end of its name
    wheat: "ears", potatoes: "plants", carrots: "plants", beetroots: "plants", sugar_cane: "canes", pumpkin: "ribs",
    red_mushroom: "cap", brown_mushroom: "cap", log: "rings", stem: "rings", planks: "boards", stone: "grain",
    cobblestone: "bricks", ore: "specks", terracotta: "bands", glass: "pane", glass_pane: "pane", door: "door", carpet: "weave",
    wool: "weave", bed: "weave", crafting_table: "grid", furnace: "mouth", smoker: "mouth", chest: "lid",
    quartz_block: "frame", copper_block: "frame", purpur_block: "grid", block: "frame", sandstone: "bands",
    dirt: "plain", soul_sand: "plain", blackstone: "grain", granite: "grain", diorite: "grain", obsidian: "grain",
    cobbled_deepslate: "bricks", pickaxe: "pickaxe", cooked_chicken: "leg", cooked_rabbit: "leg", chicken: "leg", rabbit: "leg",
    beef: "steak", mutton: "steak", porkchop: "steak", egg: "egg", bucket: "bucket", bread: "loaf", apple: "fruit",
    carrot: "root", beetroot: "root", potato: "tuber", ingot: "ingot", nugget: "lumps", raw_iron: "lumps", coal: "lump",
    charcoal: "lump", flint: "lump", diamond: "gem", quartz: "gem", lapis_lazuli: "gem", stick: "stick", arrow: "arrow",
    bowl: "bowl", stew: "soup", mushroom_stew: "soup", rabbit_stew: "soup", beetroot_soup: "soup", suspicious_stew: "soup",
    cake: "cake", pumpkin_pie: "pie", cookie: "pie", dye: "drop", banner: "flag", slab: "slab", sugar: "dust",
    redstone: "dust", glowstone_dust: "dust", gunpowder: "dust", bone_meal: "dust", redstone_torch: "torch", paper: "sheet",
    map: "sheet", book: "sheet",
  };
  const SOIL = "#7c5c3e";
  const ANIMALS = { // body, head, mark
    chicken: ["#f4f1ea", "#f4f1ea", "#d9482b"], cow: ["#6a4a35", "#5a3d2b", "#f0ece4"], llama: ["#d8bf94", "#c9ad7e", "#8d6c43"],
    mooshroom: ["#a8332d", "#a8332d", "#f0ece4"], pig: ["#eca6a4", "#e8908e", "#c46a6a"], rabbit: ["#b48a66", "#a27955", "#f0ece4"],
    sheep: ["#f1efe9", "#d9c9b8", "#ffffff"],
  };
  const made = new Map();

  /* the longest listed name that is the kind, or a part of it between its underscores */
  function named(table, kind) {
    if (kind in table) return table[kind];
    const found = Object.keys(table).filter((name) => `_${kind}_`.includes(`_${name}_`));
    return table[found.sort((one, other) => other.length - one.length)[0]];
  }

  const patternOf = (kind) => PATTERNS[kind] ?? named(PATTERNS, kind) ?? "letters";

  function colourOf(kind) {
    const known = named(COLOURS, kind) ?? named(COLOURS, kind.replace(/(e?s)$/, ""));
    if (known) return known;
    let sum = 7;
    for (const letter of kind) sum = (sum * 31 + letter.charCodeAt(0)) % 360;
    return `hsl(${sum} 28% 55%)`;
  }

  function canvas(width, height = width) {
    const made = document.createElement("canvas");
    made.width = Math.max(1, Math.round(width));
    made.height = Math.max(1, Math.round(height));
    return made;
  }

  const darker = (pen, size, share) => {
    pen.fillStyle = `rgb(0 0 0 / ${share})`;
    pen.fillRect(0, 0, size, size);
  };

  function lines(pen, style, width, ...paths) {
    pen.strokeStyle = style;
    pen.lineWidth = width;
    pen.lineCap = "round";
    pen.beginPath();
    for (const [first, ...others] of paths) {
      pen.moveTo(...first);
      for (const point of others) pen.lineTo(...point);
    }
    pen.stroke();
  }

  function dot(pen, style, x, y, r) {
    pen.fillStyle = style;
    pen.beginPath();
    pen.arc(x, y, r, 0, 7);
    pen.fill();
  }

  function oval(pen, style, x, y, wide, high, turned = 0) {
    pen.fillStyle = style;
    pen.beginPath();
    pen.ellipse(x, y, wide, high, turned, 0, 7);
    pen.fill();
    pen.strokeStyle = INK;
    pen.lineWidth = 0.04;
    pen.stroke();
  }

  function shape(pen, style, ...points) {
    pen.fillStyle = style;
    pen.strokeStyle = INK;
    pen.lineWidth = 0.04;
    pen.beginPath();
    for (const point of points) pen.lineTo(...point);
    pen.closePath();
    pen.fill();
    pen.stroke();
  }

  /* a thing that is held lies on paper, so that it is not taken for a block */
  function paper(pen) {
    pen.fillStyle = "#f4efe4";
    pen.fillRect(0, 0, 1, 1);
  }

  const INK = "#3a3330";
  const DARK = "rgb(0 0 0 / 0.35)";
  const LIGHT = "rgb(255 255 255 / 0.45)";
  const across = (...ys) => ys.map((y) => [[0, y], [1, y]]);
  const down = (...xs) => xs.map((x) => [[x, 0], [x, 1]]);

  /* each in a square of side 1, which its colour fills already */
  const DRAW = {
    plain: () => {},
    plants(pen, colour) {
      pen.fillStyle = SOIL;
      pen.fillRect(0, 0, 1, 1);
      lines(pen, "#7fae4b", 0.08, ...[0.3, 0.7].flatMap((x) => [[[x, 0.5], [x - 0.14, 0.15]], [[x, 0.5], [x + 0.14, 0.15]]]));
      for (const x of [0.3, 0.7]) dot(pen, colour, x, 0.66, 0.19);
    },
    ears(pen, colour) {
      pen.fillStyle = SOIL;
      pen.fillRect(0, 0, 1, 1);
      lines(pen, colour, 0.08, ...[0.2, 0.4, 0.6, 0.8].map((x) => [[x, 0.92], [x, 0.12]]));
      lines(pen, colour, 0.16, ...[0.2, 0.4, 0.6, 0.8].map((x) => [[x, 0.42], [x, 0.2]]));
    },
    canes(pen) {
      pen.fillStyle = SOIL;
      pen.fillRect(0, 0, 1, 1);
      lines(pen, "#8fbf57", 0.14, ...[0.22, 0.5, 0.78].map((x) => [[x, 0.9], [x, 0.1]]));
      lines(pen, "#5d8a35", 0.05, ...[0.35, 0.65].flatMap((y) => [0.22, 0.5, 0.78].map((x) => [[x - 0.06, y], [x + 0.06, y]])));
    },
    ribs(pen) {
      lines(pen, DARK, 0.06, ...down(0.25, 0.5, 0.75));
      dot(pen, "#4f7a33", 0.5, 0.5, 0.14);
    },
    cap(pen, colour) {
      pen.fillStyle = "#8aa35f";
      pen.fillRect(0, 0, 1, 1);
      dot(pen, colour, 0.5, 0.5, 0.36);
      for (const [x, y] of [[0.38, 0.4], [0.6, 0.36], [0.52, 0.62]]) dot(pen, LIGHT, x, y, 0.08);
    },
    rings(pen) {
      for (const r of [0.4, 0.26, 0.12]) {
        pen.strokeStyle = DARK;
        pen.lineWidth = 0.06;
        pen.beginPath();
        pen.arc(0.5, 0.5, r, 0, 7);
        pen.stroke();
      }
    },
    boards: (pen) => lines(pen, DARK, 0.05, ...across(0.25, 0.5, 0.75), [[0.4, 0], [0.4, 0.25]], [[0.7, 0.5], [0.7, 0.75]]),
    grain: (pen) => lines(pen, DARK, 0.05, [[0.15, 0.25], [0.4, 0.25]], [[0.55, 0.5], [0.85, 0.5]], [[0.2, 0.75], [0.5, 0.75]]),
    bricks: (pen) => lines(pen, DARK, 0.05, ...across(0.33, 0.66), [[0.5, 0], [0.5, 0.33]], [[0.25, 0.33], [0.25, 0.66]], [[0.75, 0.33], [0.75, 0.66]], [[0.5, 0.66], [0.5, 1]]),
    specks(pen) {
      pen.fillStyle = COLOURS.stone;
      pen.fillRect(0, 0, 1, 1);
      for (const [x, y] of [[0.3, 0.3], [0.65, 0.25], [0.5, 0.55], [0.25, 0.72], [0.75, 0.7]]) dot(pen, "#d49a6a", x, y, 0.11);
    },
    bands: (pen) => lines(pen, DARK, 0.05, ...across(0.3, 0.7)),
    pane: (pen) => lines(pen, "rgb(255 255 255 / 0.85)", 0.07, [[0.2, 0.6], [0.6, 0.2]], [[0.45, 0.8], [0.8, 0.45]]),
    door(pen) {
      lines(pen, LIGHT, 0.06, [[0.25, 0.1], [0.75, 0.1], [0.75, 0.9], [0.25, 0.9], [0.25, 0.1]]);
      dot(pen, "#eec94b", 0.64, 0.5, 0.07);
    },
    weave: (pen) => lines(pen, DARK, 0.04, [[0, 0.5], [0.5, 0]], [[0, 1], [1, 0]], [[0.5, 1], [1, 0.5]]),
    grid(pen) {
      lines(pen, DARK, 0.07, ...across(0.34, 0.66), ...down(0.34, 0.66));
    },
    mouth(pen) {
      pen.fillStyle = "#2b2d2f";
      pen.fillRect(0.22, 0.45, 0.56, 0.38);
      pen.fillStyle = "#e5862f";
      pen.fillRect(0.32, 0.62, 0.36, 0.21);
    },
    lid(pen) {
      lines(pen, DARK, 0.08, ...across(0.42));
      pen.fillStyle = "#e6d9a8";
      pen.fillRect(0.42, 0.34, 0.16, 0.2);
    },
    pickaxe(pen, colour) {
      paper(pen);
      lines(pen, "#6f4a2a", 0.12, [[0.22, 0.86], [0.68, 0.32]]);
      lines(pen, INK, 0.22, [[0.34, 0.16], [0.64, 0.24], [0.84, 0.44], [0.86, 0.72]]);
      lines(pen, colour, 0.15, [[0.34, 0.16], [0.64, 0.24], [0.84, 0.44], [0.86, 0.72]]);
    },
    leg(pen, colour) {
      paper(pen);
      lines(pen, INK, 0.18, [[0.5, 0.55], [0.82, 0.84]]);
      lines(pen, "#fffaf0", 0.12, [[0.5, 0.55], [0.82, 0.84]]);
      oval(pen, colour, 0.4, 0.42, 0.32, 0.25, 0.75);
    },
    steak(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.52, 0.4, 0.28, -0.3);
      lines(pen, LIGHT, 0.06, [[0.32, 0.52], [0.5, 0.38]], [[0.42, 0.64], [0.66, 0.46]]);
      dot(pen, "#fffaf0", 0.74, 0.46, 0.07);
    },
    egg(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.54, 0.26, 0.35);
      dot(pen, "#ffffff", 0.42, 0.42, 0.06);
    },
    bucket(pen) {
      paper(pen);
      lines(pen, INK, 0.05, [[0.2, 0.34], [0.34, 0.1], [0.66, 0.1], [0.8, 0.34]]);
      shape(pen, COLOURS.bucket, [0.2, 0.34], [0.8, 0.34], [0.68, 0.88], [0.32, 0.88]);
      oval(pen, "#ffffff", 0.5, 0.36, 0.28, 0.1);
    },
    loaf(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.54, 0.42, 0.24, -0.4);
      lines(pen, DARK, 0.06, [[0.3, 0.5], [0.42, 0.68]], [[0.48, 0.42], [0.58, 0.6]], [[0.66, 0.32], [0.74, 0.48]]);
    },
    fruit(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.58, 0.32, 0.3);
      lines(pen, INK, 0.06, [[0.5, 0.34], [0.54, 0.14]]);
      oval(pen, "#6f9f45", 0.66, 0.2, 0.13, 0.06, -0.4);
    },
    root(pen, colour) {
      paper(pen);
      lines(pen, "#5f8f3d", 0.08, [[0.62, 0.34], [0.66, 0.08]], [[0.66, 0.36], [0.9, 0.14]], [[0.68, 0.38], [0.94, 0.36]]);
      shape(pen, colour, [0.5, 0.3], [0.72, 0.5], [0.16, 0.9]);
    },
    tuber(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.52, 0.38, 0.26, 0.4);
      for (const [x, y] of [[0.34, 0.42], [0.54, 0.46], [0.64, 0.64]]) dot(pen, DARK, x, y, 0.04);
    },
    ingot(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.28, 0.34], [0.84, 0.34], [0.94, 0.7], [0.08, 0.7]);
      lines(pen, LIGHT, 0.07, [[0.3, 0.44], [0.78, 0.44]]);
    },
    lumps(pen, colour) {
      paper(pen);
      for (const [x, y] of [[0.34, 0.36], [0.66, 0.42], [0.46, 0.7]]) oval(pen, colour, x, y, 0.16, 0.13);
    },
    lump(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.2, 0.5], [0.36, 0.22], [0.7, 0.24], [0.86, 0.54], [0.64, 0.8], [0.3, 0.76]);
      lines(pen, LIGHT, 0.05, [[0.36, 0.4], [0.56, 0.36]]);
    },
    gem(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.3, 0.2], [0.7, 0.2], [0.9, 0.42], [0.5, 0.88], [0.1, 0.42]);
      lines(pen, LIGHT, 0.05, [[0.1, 0.42], [0.9, 0.42]], [[0.38, 0.42], [0.5, 0.86]], [[0.62, 0.42], [0.5, 0.86]]);
    },
    stick(pen, colour) {
      paper(pen);
      lines(pen, colour, 0.13, [[0.2, 0.84], [0.8, 0.16]]);
    },
    arrow(pen) {
      paper(pen);
      lines(pen, INK, 0.07, [[0.14, 0.86], [0.84, 0.16]], [[0.56, 0.16], [0.84, 0.16], [0.84, 0.44]], [[0.14, 0.66], [0.3, 0.7], [0.34, 0.86]]);
    },
    bowl(pen) {
      paper(pen);
      shape(pen, COLOURS.bowl, [0.1, 0.44], [0.9, 0.44], [0.68, 0.82], [0.32, 0.82]);
    },
    soup(pen, colour) {
      DRAW.bowl(pen);
      oval(pen, colour, 0.5, 0.44, 0.4, 0.14);
    },
    cake(pen, colour) {
      paper(pen);
      shape(pen, "#c99a63", [0.14, 0.44], [0.86, 0.44], [0.86, 0.84], [0.14, 0.84]);
      shape(pen, "#ffffff", [0.14, 0.32], [0.86, 0.32], [0.86, 0.54], [0.14, 0.54]);
      for (const x of [0.3, 0.5, 0.7]) dot(pen, colour, x, 0.28, 0.08);
    },
    pie(pen, colour) {
      paper(pen);
      oval(pen, colour, 0.5, 0.5, 0.38, 0.38);
      for (const [x, y] of [[0.36, 0.4], [0.6, 0.36], [0.44, 0.64], [0.66, 0.58]]) dot(pen, DARK, x, y, 0.06);
    },
    drop(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.5, 0.1], [0.72, 0.48], [0.74, 0.68], [0.62, 0.84], [0.38, 0.84], [0.26, 0.68], [0.28, 0.48]);
    },
    flag(pen, colour) {
      paper(pen);
      lines(pen, "#6f4a2a", 0.08, [[0.2, 0.1], [0.2, 0.94]]);
      shape(pen, colour, [0.24, 0.12], [0.86, 0.12], [0.86, 0.6], [0.55, 0.48], [0.24, 0.6]);
    },
    slab(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.06, 0.5], [0.94, 0.5], [0.94, 0.88], [0.06, 0.88]);
    },
    dust(pen, colour) {
      paper(pen);
      shape(pen, colour, [0.5, 0.3], [0.9, 0.8], [0.1, 0.8]);
      for (const [x, y] of [[0.24, 0.34], [0.76, 0.28]]) dot(pen, colour, x, y, 0.06);
    },
    torch(pen, colour) {
      paper(pen);
      lines(pen, "#6f4a2a", 0.14, [[0.5, 0.4], [0.5, 0.92]]);
      oval(pen, colour, 0.5, 0.26, 0.14, 0.17);
    },
    sheet(pen) {
      paper(pen);
      shape(pen, "#ffffff", [0.2, 0.12], [0.8, 0.12], [0.8, 0.88], [0.2, 0.88]);
      lines(pen, DARK, 0.05, [[0.32, 0.32], [0.68, 0.32]], [[0.32, 0.5], [0.68, 0.5]], [[0.32, 0.68], [0.56, 0.68]]);
    },
    letters(pen, colour, kind) {
      const words = kind.split("_");
      const text = words.length > 1 ? words[0][0] + words[1][0] : kind.slice(0, 2);
      const size = pen.canvas.width;
      pen.save();
      pen.setTransform(1, 0, 0, 1, 0, 0); // letters below one pixel are not drawn everywhere
      Object.assign(pen, { font: `700 ${Math.round(size * 0.56)}px sans-serif`, textAlign: "center", textBaseline: "middle" });
      Object.assign(pen, { fillStyle: "#1f1b18", strokeStyle: "rgb(255 255 255 / 0.75)", lineWidth: size / 8, lineJoin: "round" });
      pen.strokeText(text.toUpperCase(), size / 2, size * 0.55);
      pen.fillText(text.toUpperCase(), size / 2, size * 0.55);
      pen.restore();
    },
    frame: (pen) => lines(pen, DARK, 0.05, [[0.14, 0.14], [0.86, 0.14], [0.86, 0.86], [0.14, 0.86], [0.14, 0.14]]),
  };

  function kept(name, make) {
    if (!made.has(name)) made.set(name, make());
    return made.get(name);
  }

  /* one cell from above */
  function tile(kind, size) {
    return kept(`tile ${kind} ${size}`, () => {
      const drawn = canvas(size);
      const pen = drawn.getContext("2d");
      const colour = colourOf(kind);
      pen.scale(drawn.width, drawn.height);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      DRAW[patternOf(kind)](pen, colour, kind);
      pen.strokeStyle = "rgb(0 0 0 / 0.4)";
      pen.lineWidth = 0.05;
      pen.strokeRect(0, 0, 1, 1);
      return drawn;
    });
  }

  /* three sides of a block; the canvas is 1.2 times `size` wide and 1.3 times as high (map_camera.js: ANGLE) */
  const cube = (kind, size) => sides(kind, size, [true, true, true]);

  /* the upper, left and right side of a block, those that are wanted, on the canvas of a cube */
  function sides(kind, size, wanted) {
    return kept(`cube ${kind} ${size} ${wanted}`, () => {
      const drawn = canvas(size * 1.2, size * 1.3);
      const pen = drawn.getContext("2d");
      const face = tile(kind, size);
      const side = (shade, ...matrix) => {
        const dark = canvas(face.width);
        const on = dark.getContext("2d");
        on.drawImage(face, 0, 0);
        darker(on, dark.width, shade);
        pen.setTransform(...matrix);
        pen.drawImage(dark, 0, 0);
      };
      const [w, h, high] = [0.6, 0.35, 0.6];
      if (wanted[0]) side(0, w, h, -w, h, w * size, 0);
      if (wanted[1]) side(0.16, w, h, 0, high, 0, h * size);
      if (wanted[2]) side(0.32, w, -h, 0, high, w * size, 2 * h * size);
      return drawn;
    });
  }

  function animal(kind, size) {
    return kept(`animal ${kind} ${size}`, () => {
      const drawn = canvas(size);
      const pen = drawn.getContext("2d");
      const [body, head, mark] = ANIMALS[kind] ?? [colourOf(kind), colourOf(kind), "#ffffff"];
      pen.scale(drawn.width, drawn.height);
      pen.fillStyle = body;
      pen.strokeStyle = "#2b2d2f";
      pen.lineWidth = 0.05;
      lines(pen, "#2b2d2f", 0.08, [[0.25, 0.6], [0.25, 0.9]], [[0.55, 0.6], [0.55, 0.9]]);
      pen.lineWidth = 0.05;
      pen.beginPath();
      pen.ellipse(0.42, 0.55, 0.34, 0.22, 0, 0, 7);
      pen.fill();
      pen.stroke();
      const tall = kind === "llama" ? 0.2 : 0.36;
      if (kind === "rabbit") lines(pen, head, 0.08, [[0.7, 0.3], [0.66, 0.08]], [[0.8, 0.3], [0.82, 0.08]]);
      if (kind === "llama") lines(pen, head, 0.16, [[0.7, 0.5], [0.74, 0.25]]);
      dot(pen, "#2b2d2f", 0.75, tall, 0.18);
      dot(pen, head, 0.75, tall, 0.155);
      dot(pen, "#2b2d2f", 0.79, tall - 0.03, 0.03);
      for (const [x, y] of [[0.3, 0.5], [0.47, 0.6]]) dot(pen, mark, x, y, kind === "pig" ? 0.04 : 0.08);
      if (kind === "chicken") lines(pen, "#d9482b", 0.07, [[0.72, 0.18], [0.8, 0.18]]);
      return drawn;
    });
  }

  /* a picture beside words: a canvas with the kind in [data-block] */
  function fill(one) {
    const { block } = one.dataset;
    const pen = one.getContext("2d");
    pen.clearRect(0, 0, one.width, one.height);
    pen.drawImage((block in ANIMALS ? animal : tile)(block, one.width), 0, 0);
  }

  const fillAll = () => play.querySelectorAll("canvas[data-block]").forEach(fill);

  play.addEventListener("brigade:panels", fillAll);
  fillAll();
  play.blockPictures = { tile, cube, sides, animal, fill };
})();
