// The page asks for an answer whenever a setting moves, and draws what comes back.
// Text goes to the page as text only, never as HTML.
(() => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const form = find("form"), plane = find("#plane"), round = find("#round");
  const play = find("[data-play]"), status = find("[data-status]"), readout = find("#readout");
  const recorded = find("#answers") ? JSON.parse(find("#answers").textContent) : null;
  const SPACE = "http://www.w3.org/2000/svg";
  let answer = null, isAsking = false, isStale = false, isPlaying = false, cross = null;

  const shown = (value) => String(Number(Number(value).toPrecision(4)));
  const cut = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
  const make = (tag, attributes, parent, text) => {
    const made = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  // ---- settings ----

  function settings() {
    const asked = {round: isAtEnd ? 0 : Number(round.value)}, columns = [];
    for (const input of form.elements) {
      if (!input.name) continue;
      if (input.name.startsWith("column-")) columns.push(input.value);
      else asked[input.name] = input.type === "range" ? Number(input.value) : input.value;
    }
    if (columns.length && asked.scene === "file") asked.columns = columns;
    return asked;
  }

  // A column that is chosen twice takes the place of the one that was chosen before.
  let chosen = all('[name^="column-"]').map((input) => input.value);

  function swapColumns() {
    const inputs = all('[name^="column-"]');
    const moved = inputs.findIndex((input, i) => input.value !== chosen[i]);
    const twin = inputs.findIndex((input, i) => i !== moved && input.value === inputs[moved]?.value);
    if (moved >= 0 && twin >= 0) {
      inputs[twin].value = chosen[moved];
      if (!inputs[twin].value) inputs[moved].value = chosen[moved];  // text cannot be an axis
      if (!inputs[twin].value) inputs[twin].value = chosen[twin];
    }
    chosen = inputs.map((input) => input.value);
  }

  function showValues() {
    for (const output of all("output")) output.textContent = find(`#${output.htmlFor.value}`).value;
    if (recorded) return;
    const usesGoss = form.elements.sampling.value === "goss";
    const usesBins = form.elements.tree_method.value !== "exact";
    for (const [name, isUsed] of [["top_rate", usesGoss], ["other_rate", usesGoss], ["max_bin", usesBins]]) {
      const input = form.elements[name];
      input.disabled = !isUsed;
      input.closest("label").classList.toggle("off", !isUsed);
    }
    const columns = find("[data-columns]");
    if (columns) columns.hidden = form.elements.scene.value !== "file";
  }

  // ---- answers ----

  let isAtEnd = true;  // whether the last round is looked at, however many there are

  async function ask() {
    showValues();
    if (recorded) { use({...recorded.common, ...recorded.answers[Number(round.value) - 1]}); return; }
    if (isAsking) { isStale = true; return; }  // the latest settings are sent when this is done
    isAsking = true;
    try {
      const sent = await fetch("answer", {method: "POST", body: JSON.stringify(settings())});
      const found = await sent.json();
      if (sent.ok) use(found); else complain(found.error);
    } catch {
      complain("The server does not answer. Is `gossamer playground` still running?");
    }
    isAsking = false;
    if (isStale) { isStale = false; ask(); } else if (isPlaying) setTimeout(step, 60);
  }

  function complain(text) {
    isPlaying = false;
    play.setAttribute("aria-pressed", "false");
    play.textContent = "Play";
    status.classList.add("problem");
    status.textContent = text;
  }

  function use(found) {
    answer = found;
    status.classList.remove("problem");
    if (!recorded) {
      round.max = found.rounds;
      round.value = found.round;
      isAtEnd = found.round === found.rounds;
    }
    showValues();
    if (recorded) find('output[for="round"]').textContent = found.round;
    draw();
  }

  function step() {
    if (!isPlaying) return;
    const next = Number(round.value) + 1;
    if (next > Number(round.max)) { stopOrPlay(); return; }
    round.value = next;
    isAtEnd = next === Number(round.max);
    ask();
    if (recorded) setTimeout(step, 500);
  }

  function stopOrPlay() {
    isPlaying = !isPlaying;
    play.setAttribute("aria-pressed", String(isPlaying));
    play.textContent = isPlaying ? "Stop" : "Play";
    if (!isPlaying) return;
    if (round.value === round.max) round.value = 0;
    step();
  }

  // ---- colours ----

  const colour = (name) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const whole = hex.length === 4 ? [...hex.slice(1)].map((c) => c + c).join("") : hex.slice(1);
    return [0, 2, 4].map((i) => parseInt(whole.slice(i, i + 2), 16));
  };
  const mix = (a, b, share) => a.map((v, i) => Math.round(v + (b[i] - v) * share));
  const css = (rgb, alpha = 1) => `rgba(${rgb.join(",")},${alpha})`;
  const share = (value) => {
    const [low, high] = answer.scene.label_range;
    return Math.min(1, Math.max(0, (value - low) / (high - low)));
  };
  // From the colour of low values over the background to the colour of high ones.
  const scale = (at, low, middle, high) =>
    at < 0.5 ? mix(low, middle, 2 * at) : mix(middle, high, 2 * at - 1);

  // ---- the plane ----

  function places() {
    const size = plane.width, [[x0, x1], [y0, y1]] = answer.scene.extent;
    return {
      x: (v) => (v - x0) / (x1 - x0) * size,
      y: (v) => size - (v - y0) / (y1 - y0) * size,
    };
  }

  function drawPlane() {
    const pen = plane.getContext("2d"), size = plane.width, n = answer.grid, at = places();
    const low = colour("--c1"), high = colour("--c2"), back = colour("--bg"), ink = colour("--fg");
    const image = new ImageData(n, n);
    answer.surface.forEach((value, i) => {
      const row = n - 1 - Math.floor(i / n), cell = 4 * (row * n + i % n);
      image.data.set([...mix(back, scale(share(value), low, back, high), 0.6), 255], cell);
    });
    const small = document.createElement("canvas");
    small.width = small.height = n;
    small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, size, size);
    const line = (x, y, x1, y1) => { pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x1, y1); pen.stroke(); };
    if (find('[name="bins"]').checked) {
      pen.strokeStyle = css(ink, 0.22);
      pen.lineWidth = 1;
      for (const bound of answer.bins[0]) line(at.x(bound), 0, at.x(bound), size);
      for (const bound of answer.bins[1]) line(0, at.y(bound), size, at.y(bound));
    }
    if (find('[name="splits"]').checked) {
      pen.strokeStyle = css(ink, 0.85);
      pen.lineWidth = 2;
      for (const [x, y, x1, y1] of splitLines()) line(at.x(x), at.y(y), at.x(x1), at.y(y1));
    }
    drawPoints(pen, at, {low, high, back, ink});
    if (cross) {
      pen.strokeStyle = css(ink, 0.9);
      pen.lineWidth = 1;
      line(at.x(cross.x), 0, at.x(cross.x), size);
      line(0, at.y(cross.y), size, at.y(cross.y));
    }
  }

  // The splits of the tree, each within the box of its node.
  function splitLines() {
    const [[x0, x1], [y0, y1]] = answer.scene.extent, lines = [];
    const walk = (i, a, b, c, d) => {
      const node = answer.tree[i];
      if (isLeaf(node) || node[2] < 0) return;
      const bound = Number(node[1]);
      if (answer.tree_columns[node[0]] === 0) {
        lines.push([bound, c, bound, d]);
        walk(node[2], a, Math.min(b, bound), c, d);
        walk(node[3], Math.max(a, bound), b, c, d);
      } else {
        lines.push([a, bound, b, bound]);
        walk(node[2], a, b, c, Math.min(d, bound));
        walk(node[3], a, b, Math.max(c, bound), d);
      }
    };
    walk(0, x0, x1, y0, y1);
    return lines;
  }

  function drawPoints(pen, at, {low, high, back, ink}) {
    const {x, y, label, held_out: heldOut} = answer.points, {prediction} = answer;
    const view = find('[name="view"]:checked').value;
    const [first, last] = answer.scene.label_range;
    const kept = new Set(answer.rows ? answer.rows.kept : []);
    const drawn = new Set(answer.rows ? answer.rows.drawn : []);
    const many = Math.min(1, Math.sqrt(700 / x.length));
    for (let i = 0; i < x.length; i++) {
      let radius = 4.5 * many, fill = css(scale(share(label[i]), low, mix(back, ink, 0.35), high));
      let edge = css(heldOut[i] ? ink : back);
      if (view === "residual") {
        const residual = (label[i] - prediction[i]) / (last - first);
        radius = (1.5 + 11 * Math.sqrt(Math.min(1, Math.abs(residual)))) * many;
        fill = css(residual > 0 ? high : low, 0.75);
        edge = css(back);
      } else if (view === "rows") {
        if (heldOut[i]) continue;
        const isDrawn = drawn.has(i), isUsed = !answer.rows || kept.has(i) || isDrawn;
        if (!isUsed) { radius = 1.8; fill = css(ink, 0.55); edge = css(ink, 0); }
        if (isDrawn) { radius = 6.5 * many; edge = css(ink); }
      }
      pen.beginPath();
      pen.arc(at.x(x[i]), at.y(y[i]), radius, 0, 2 * Math.PI);
      pen.fillStyle = fill;
      pen.fill();
      pen.lineWidth = view === "rows" && drawn.has(i) ? 2 : 1;
      pen.strokeStyle = edge;
      pen.stroke();
    }
  }

  function legend() {
    const view = find('[name="view"]:checked').value, [low, high] = answer.scene.label_names;
    const line = find("[data-legend]");
    const part = (sign, name, text) => {
      const mark = document.createElement("b");
      mark.className = name;
      mark.textContent = sign;
      line.append(mark, ` ${text} \u00a0 `);
    };
    line.replaceChildren();
    if (view === "residual") {
      part("●", "c2", "predicted too low");
      part("●", "c1", "predicted too high");
      line.append("larger: further off");
    } else if (view === "rows") {
      if (!answer.rows) {
        line.append(answer.settings.sampling === "goss"
          ? "All training rows: GOSS begins after 1 / learning rate rounds, or its shares add up to all."
          : "All training rows. Choose GOSS to see which rows it picks.");
      } else {
        const {kept, drawn, weight} = answer.rows;
        line.append(`${kept.length} rows of large gradients are kept; ${drawn.length} with an outline `
          + `are drawn at random and count ${shown(weight)} times; small dots are not used.`);
      }
    } else {
      part("●", "c1", low);
      part("●", "c2", high);
      line.append("outlined: held out");
    }
  }

  // ---- charts ----

  const BOX = {left: 48, right: 12, top: 10, bottom: 34, width: 420, height: 240};

  function axes(svg, [x0, x1], [y0, y1], xTitle, isWhole = false) {
    svg.replaceChildren();
    const x = (v) => BOX.left + (v - x0) / (x1 - x0 || 1) * (BOX.width - BOX.left - BOX.right);
    const y = (v) => BOX.height - BOX.bottom
      - (v - y0) / (y1 - y0 || 1) * (BOX.height - BOX.top - BOX.bottom);
    for (let i = 0; i <= 4; i++) {
      const v = y0 + (y1 - y0) * i / 4;
      make("line", {class: "grid-line", x1: BOX.left, x2: BOX.width - BOX.right, y1: y(v), y2: y(v)}, svg);
      make("text", {class: "tick end", x: BOX.left - 5, y: y(v) + 4}, svg, String(Number(v.toPrecision(2))));
      const u = isWhole ? Math.round(x0 + (x1 - x0) * i / 4) : x0 + (x1 - x0) * i / 4;
      make("text", {class: "tick middle", x: x(u), y: BOX.height - BOX.bottom + 15}, svg, String(Number(u.toPrecision(3))));
    }
    make("text", {class: "tick middle", x: (BOX.left + BOX.width) / 2, y: BOX.height - 4}, svg, xTitle);
    return {x, y};
  }

  function path(values) {
    return values.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  }

  function drawCurve() {
    const svg = find("[data-curve]"), curves = Object.values(answer.curves);
    const most = Math.max(...curves.flat()), least = Math.min(0, ...curves.flat());
    const at = axes(svg, [1, Math.max(2, answer.rounds)], [least, most], "round", true);
    curves.forEach((curve, i) => {
      const d = path(curve.map((v, t) => [at.x(t + 1), at.y(v)]));
      make("path", {class: `line c${i + 1}`, d}, svg);
    });
    const t = answer.round;
    make("line", {class: "rule", x1: at.x(t), x2: at.x(t), y1: BOX.top, y2: BOX.height - BOX.bottom}, svg);
    find("[data-metric]").textContent = answer.metric;
  }

  function drawResiduals() {
    const svg = find("[data-residuals]"), {label, held_out: heldOut} = answer.points;
    const residuals = label.map((v, i) => v - answer.prediction[i]), n = 31;
    const most = answer.scene.task === "binary" ? 1 : Math.max(...residuals.map(Math.abs)) || 1;
    const counts = [new Array(n).fill(0), new Array(n).fill(0)];
    residuals.forEach((v, i) => {
      const cell = Math.min(n - 1, Math.floor((v + most) / (2 * most) * n));
      counts[heldOut[i]][cell] += 1;
    });
    const shares = counts.map((c) => c.map((v) => v / Math.max(1, c.reduce((a, b) => a + b))));
    const at = axes(svg, [-most, most], [0, Math.max(...shares.flat())], "label − prediction");
    const edge = (i) => -most + 2 * most * i / n;
    shares[0].forEach((v, i) => make("rect", {
      class: "fill c1", x: at.x(edge(i)), width: at.x(edge(i + 1)) - at.x(edge(i)) - 1,
      y: at.y(v), height: at.y(0) - at.y(v),
    }, svg));
    const steps = shares[1].flatMap((v, i) => [[at.x(edge(i)), at.y(v)], [at.x(edge(i + 1)), at.y(v)]]);
    make("path", {class: "line c2", d: path(steps)}, svg);
  }

  // ---- the tree ----

  function drawTree() {
    const svg = find("[data-tree]"), nodes = answer.tree;
    const spots = layOut(nodes, new Set(nodes.keys()));
    svg.replaceChildren();
    const all = make("g", {transform: `translate(${NODE_WIDTH / 2 + GAP} ${GAP})`}, svg);
    for (const [i, at] of spots) {
      if (at.parent < 0) continue;
      const above = spots.get(at.parent), y = above.y + NODE_HEIGHT, middle = (y + at.y) / 2;
      make("path", {class: "edge", d: `M${above.x} ${y}C${above.x} ${middle} ${at.x} ${middle} ${at.x} ${at.y}`}, all);
      const isYes = nodes[at.parent][2] === i;
      if (at.parent === 0) {
        make("text", {class: "side", x: (above.x + at.x) / 2 + (isYes ? -16 : 16), y: middle - 4}, all, isYes ? "yes" : "no");
      }
    }
    let right = 0, low = 0;
    for (const [i, at] of spots) {
      const node = nodes[i], box = make("g", {class: isLeaf(node) ? "node leaf" : "node open"}, all);
      make("rect", {x: at.x - NODE_WIDTH / 2, y: at.y, width: NODE_WIDTH, height: NODE_HEIGHT, rx: 6}, box);
      const name = isLeaf(node) ? `adds ${shown(node[0])}`
        : `${cut(answer.scene.names[answer.tree_columns[node[0]]], 10)} ≤ ${shown(node[1])}`;
      make("text", {x: at.x, y: at.y + 17}, box, name);
      const rows = isLeaf(node) ? node[1] : node[6];
      make("text", {class: "small", x: at.x, y: at.y + 32}, box,
        isLeaf(node) ? `${rows} rows` : `${rows} rows, gain ${String(Number(node[4].toPrecision(2)))}`);
      right = Math.max(right, at.x);
      low = Math.max(low, at.y);
    }
    const width = right + NODE_WIDTH + 2 * GAP, height = low + NODE_HEIGHT + 2 * GAP;
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const box = svg.parentNode;  // the root in the middle
    box.scrollLeft = spots.get(0).x + NODE_WIDTH / 2 + GAP - box.clientWidth / 2;
    const leaves = nodes.filter(isLeaf).length;
    const title = `Tree of round ${answer.round}: ${leaves} ${leaves === 1 ? "leaf" : "leaves"}`;
    find("[data-tree-title]").textContent = title;
    svg.setAttribute("aria-label", title);
  }

  // ---- all of it ----

  function draw() {
    if (!answer) return;
    const {scene} = answer, [training, heldOut] = Object.values(answer.curves), t = answer.round - 1;
    find("[data-title]").textContent = `${scene.title}; across: ${scene.names[0]}, up: ${scene.names[1]}`;
    plane.setAttribute("aria-label", `Fitted surface of ${scene.title} after ${answer.round} rounds. `
      + "Arrow keys move a cross and read the prediction.");
    drawPlane();
    legend();
    drawCurve();
    drawResiduals();
    drawTree();
    readCross();
    const parts = [`Round ${answer.round} of ${answer.rounds}: ${answer.metric} ${shown(training[t])} `
      + `on training rows, ${shown(heldOut[t])} on held-out rows.`];
    const best = heldOut.indexOf(Math.min(...heldOut)) + 1;
    if (best < answer.rounds) parts.push(`Best on held-out rows: round ${best}.`);
    if (answer.milliseconds) parts.push(`Trained in ${answer.milliseconds.training} ms.`);
    if (!answer.bins[0].length && !answer.bins[1].length && find('[name="bins"]').checked) {
      parts.push("No bins are made beforehand: " + (answer.settings.tree_method === "approx"
        ? "approx proposes candidates again for each tree." : "every value is a candidate."));
    }
    if (scene.note) parts.push(scene.note);
    status.textContent = parts.join(" ");
  }

  function readCross() {
    if (!cross || !answer) return;
    const [[x0, x1], [y0, y1]] = answer.scene.extent, n = answer.grid;
    const cell = (v, low, high) => Math.min(n - 1, Math.max(0, Math.floor((v - low) / (high - low) * n)));
    const value = answer.surface[cell(cross.y, y0, y1) * n + cell(cross.x, x0, x1)];
    const [first, second] = answer.scene.names;
    const meaning = answer.scene.task === "binary"
      ? `${shown(100 * value)} % ${answer.scene.label_names[1]}` : shown(value);
    readout.textContent = `${first} ${shown(cross.x)}, ${second} ${shown(cross.y)}: predicts ${meaning}`;
  }

  function point(event) {
    if (!answer) return;
    const box = plane.getBoundingClientRect(), [[x0, x1], [y0, y1]] = answer.scene.extent;
    cross = {
      x: x0 + (event.clientX - box.left) / box.width * (x1 - x0),
      y: y1 - (event.clientY - box.top) / box.height * (y1 - y0),
    };
    drawPlane();
    readCross();
  }

  function moveCross(event) {
    const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
    const move = moves[event.key];
    if (!move || !answer) return;
    event.preventDefault();
    const [[x0, x1], [y0, y1]] = answer.scene.extent, n = answer.grid;
    cross = cross || {x: (x0 + x1) / 2, y: (y0 + y1) / 2};
    const within = (v, low, high) => Math.min(high, Math.max(low, v));
    cross = {
      x: within(cross.x + move[0] * (x1 - x0) / n, x0, x1),
      y: within(cross.y + move[1] * (y1 - y0) / n, y0, y1),
    };
    drawPlane();
    readCross();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    swapColumns();
    cross = null;
    readout.textContent = "\u00a0";
    ask();
  });
  round.addEventListener("input", () => { isAtEnd = round.value === round.max; ask(); });
  play.addEventListener("click", stopOrPlay);
  plane.addEventListener("pointermove", point);
  plane.addEventListener("pointerdown", point);
  plane.addEventListener("keydown", moveCross);
  for (const input of all(".layers input")) input.addEventListener("change", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  if (recorded) {
    for (const input of form.elements) input.disabled = true;
    form.hidden = true;
    find("[data-live]").hidden = true;
    find("[data-static]").hidden = false;
    round.min = 1;
    round.max = round.value = recorded.answers.length;
  }
  ask();
})();
