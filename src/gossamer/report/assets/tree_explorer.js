// Trees to explore: text goes to the page as text only, never as HTML.
for (const box of document.querySelectorAll("[data-explorer]")) {
  const SPACE = "http://www.w3.org/2000/svg";
  const find = (name) => box.querySelector(`[data-${name}]`);
  const data = JSON.parse(box.querySelector("script").textContent);
  const picture = find("picture"), facts = find("facts");
  const treeChoice = find("tree"), rowChoice = find("row");
  const state = {tree: 0, open: new Set(), way: new Set(), x: 0, y: 0, zoom: 1};

  const make = (tag, attributes, parent, text) => {
    const found = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
    if (text !== undefined) found.textContent = text;
    if (parent) parent.append(found);
    return found;
  };
  const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
  const count = (n) => n.toLocaleString("en-US");
  const shown = (value) => {
    const one = (v) => typeof v === "number" ? String(Number(v.toPrecision(4))) : v;
    return Array.isArray(value) ? `[${value.map(one).join(", ")}]` : one(value);
  };
  const test = (node) => {
    if (!Array.isArray(node[1])) return `\u2264 ${shown(node[1])}`;
    const [goLeft, words, n] = node[1];
    const more = n > words.length ? `, \u2026 ${n - words.length} more` : "";
    return `${goLeft ? "in" : "not in"} {${words.join(", ")}${more}}`;
  };
  const missing = [
    "missing values go right", "missing values go left", "missing values and zeros go right",
    "missing values and zeros go left", "missing values count as zero",
  ];
  const nodes = () => data.trees[state.tree].nodes;

  function describe(i) {
    const node = nodes()[i], row = data.rows[rowChoice.value];
    if (isLeaf(node)) {
      const formula = node[2] ? `, with all values known ${node[2]}` : "";
      return `Leaf: adds ${shown(node[0])}${formula}; ${count(node[1])} training rows.`;
    }
    const value = row ? ` The row has ${row.values[node[0]] || "no value shown"}.` : "";
    const rest = node[2] < 0 ? " What is below is not on this page." : "";
    return `${data.names[node[0]]} ${test(node)} goes left; ${missing[node[7]]}. `
      + `${count(node[6])} training rows, gain ${shown(node[4])}, value ${shown(node[5])} as a `
      + `leaf.${value}${rest}`;
  }

  function draw() {
    const places = layOut(nodes(), state.open);
    const focused = document.activeElement && document.activeElement.dataset
      ? document.activeElement.dataset.node : undefined;
    picture.replaceChildren();
    const all = make("g", {"data-all": ""}, picture);
    const most = nodes()[0].length < 8 ? nodes()[0][1] : nodes()[0][6];
    for (const [i, at] of places) {
      if (at.parent < 0) continue;
      const above = places.get(at.parent), node = nodes()[i];
      const y = above.y + NODE_HEIGHT, middle = (y + at.y) / 2;
      const rows = isLeaf(node) ? node[1] : node[6];
      const on = state.way.has(i) ? " on" : "";
      make("path", {
        class: `edge${on}`,
        d: `M${above.x} ${y}C${above.x} ${middle} ${at.x} ${middle} ${at.x} ${at.y}`,
        "stroke-width": on ? 4 : 1 + 5 * rows / Math.max(most, 1),
      }, all);
      if (nodes()[at.parent][2] === i && at.parent === 0) {
        make("text", {class: "side", x: (above.x + at.x) / 2 - 16, y: middle - 4}, all, "yes");
        const right = places.get(nodes()[0][3]);
        make("text", {class: "side", x: (above.x + right.x) / 2 + 16, y: middle - 4}, all, "no");
      }
    }
    for (const [i, at] of places) drawNode(all, i, at);
    if (focused !== undefined) {
      const again = picture.querySelector(`[data-node="${focused}"]`);
      if (again) again.focus({preventScroll: true});
    }
    move();
  }

  function drawNode(all, i, at) {
    const node = nodes()[i], leaf = isLeaf(node);
    const canOpen = !leaf && node[2] >= 0, open = canOpen && state.open.has(i);
    const kind = [leaf ? "leaf" : open ? "open" : "", state.way.has(i) ? "on" : ""].join(" ");
    const group = make("g", {
      class: `node ${kind}`, transform: `translate(${at.x} ${at.y})`, tabindex: 0, "data-node": i,
      "aria-label": describe(i),
    }, all);
    if (canOpen) {
      group.setAttribute("role", "button");
      group.setAttribute("aria-expanded", String(open));
    }
    make("rect", {
      x: -NODE_WIDTH / 2, width: NODE_WIDTH, height: NODE_HEIGHT, rx: leaf ? 18 : 5,
    }, group);
    const title = leaf ? shown(node[0]) : `${cut(data.names[node[0]], 12)} ${test(node)}`;
    const rows = `${count(leaf ? node[1] : node[6])} rows`;
    make("text", {y: 16}, group, cut(title, 19));
    make("text", {class: "small", y: 32}, group, canOpen && !open ? `${rows} \u25be` : rows);
    const tell = () => { facts.textContent = describe(i); };
    group.addEventListener("mouseenter", tell);
    group.addEventListener("focus", tell);
    const toggle = () => {
      if (!canOpen) return;
      if (open) state.open.delete(i); else state.open.add(i);
      draw();
      facts.textContent = describe(i);
    };
    group.addEventListener("click", () => { if (!state.moved) toggle(); });
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }

  function move() {
    const all = picture.firstElementChild;
    all.setAttribute("transform", `translate(${state.x} ${state.y}) scale(${state.zoom})`);
  }

  const readable = () => picture.getBoundingClientRect().width < 500 ? 0.7 : 0.55;

  // Fit to the drawing, but no smaller than can be read; then the root is in the middle.
  function fit(least) {
    const places = layOut(nodes(), state.open);
    const x = [...places.values()].map((at) => at.x), y = [...places.values()].map((at) => at.y);
    const left = x.reduce((a, b) => Math.min(a, b)) - (NODE_WIDTH + GAP) / 2;
    const width = x.reduce((a, b) => Math.max(a, b)) + (NODE_WIDTH + GAP) / 2 - left;
    const height = y.reduce((a, b) => Math.max(a, b)) + NODE_HEIGHT + 24;
    const room = picture.getBoundingClientRect();
    const wanted = Math.min(room.width / width, room.height / height, 1.2);
    state.zoom = Math.max(wanted, least);
    const middle = wanted < least ? places.get(0).x : left + width / 2;
    state.x = room.width / 2 - middle * state.zoom;
    state.y = 12;
    move();
  }

  function zoomAt(factor, x, y) {
    const zoom = Math.min(Math.max(state.zoom * factor, 0.03), 4);
    state.x = x - (x - state.x) * zoom / state.zoom;
    state.y = y - (y - state.y) * zoom / state.zoom;
    state.zoom = zoom;
    move();
  }

  function openTo(depth) {
    state.open.clear();
    let level = nodes().length && !isLeaf(nodes()[0]) ? [0] : [];
    for (let d = 0; d < depth && level.length; d++) {
      const next = [];
      for (const i of level) {
        state.open.add(i);
        for (const child of [nodes()[i][2], nodes()[i][3]]) {
          if (child >= 0 && !isLeaf(nodes()[child])) next.push(child);
        }
      }
      level = next;
    }
  }

  function follow() {
    const row = data.rows[rowChoice.value];
    state.way = row ? wayTo(nodes(), row.ends[state.tree]) : new Set();
    for (const i of state.way) if (!isLeaf(nodes()[i]) && nodes()[i][2] >= 0) state.open.add(i);
  }

  function start() {
    state.tree = Number(treeChoice.value);
    openTo(picture.getBoundingClientRect().width < 500 ? 2 : 3);
    follow();
    draw();
    fit(readable());
    facts.textContent = describe(0);
  }

  data.trees.forEach((tree, i) => {
    const option = document.createElement("option");
    const output = tree.output >= 0 ? `, ${data.outputs[tree.output]}` : "";
    option.value = i;
    option.textContent = `${tree.tree} (round ${tree.round + 1}${output})`;
    treeChoice.append(option);
  });
  const none = document.createElement("option");
  none.value = -1;
  none.textContent = "no row";
  rowChoice.append(none);
  data.rows.forEach((row, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = row.name;
    rowChoice.append(option);
  });
  find("row-choice").hidden = !data.rows.length;
  treeChoice.addEventListener("change", start);
  rowChoice.addEventListener("change", () => { follow(); draw(); fit(readable()); });
  const actions = {
    open: () => { openTo(Infinity); draw(); fit(0.2); },
    close: () => { openTo(0); draw(); fit(readable()); },
    in: () => zoomAt(1.3, picture.clientWidth / 2, picture.clientHeight / 2),
    out: () => zoomAt(1 / 1.3, picture.clientWidth / 2, picture.clientHeight / 2),
    fit: () => fit(0.03),
  };
  for (const button of box.querySelectorAll("[data-do]")) {
    button.addEventListener("click", actions[button.dataset.do]);
  }
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const room = picture.getBoundingClientRect();
    zoomAt(Math.exp(-event.deltaY / 300), event.clientX - room.left, event.clientY - room.top);
  }, {passive: false});
  picture.addEventListener("pointerdown", (event) => {
    state.from = {x: event.clientX - state.x, y: event.clientY - state.y};
    state.begin = {x: event.clientX, y: event.clientY};
    state.moved = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!state.from) return;
    const far = Math.hypot(event.clientX - state.begin.x, event.clientY - state.begin.y);
    if (!state.moved && far < 5) return;
    state.moved = true;
    picture.classList.add("moving");
    state.x = event.clientX - state.from.x;
    state.y = event.clientY - state.from.y;
    move();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => { state.from = null; picture.classList.remove("moving"); });
  }
  find("controls").hidden = false;
  picture.toggleAttribute("hidden", false);
  find("no-script").hidden = true;
  start();
}
