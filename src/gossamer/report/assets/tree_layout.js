// Where the nodes of a tree are. Nodes are breadth first: children come after their parents.
const GAP = 12, LEVEL = 92, NODE_WIDTH = 126, NODE_HEIGHT = 40;
const isLeaf = (node) => node.length < 8;

// The drawing of gossamer/plot/tidy.py, of the nodes that are open: a parent is over the middle of
// its children, and two subtrees are as close together as their outlines allow.
function layOut(nodes, open) {
  const below = (i) =>
    isLeaf(nodes[i]) || nodes[i][2] < 0 || !open.has(i) ? [] : [nodes[i][2], nodes[i][3]];
  const places = new Map([[0, {x: 0, y: 0, parent: -1}]]);  // visible node -> {x, y, parent}
  for (const [i, at] of places) {  // reaches what is added on the way
    for (const child of below(i)) places.set(child, {x: 0, y: at.y + LEVEL, parent: i});
  }
  // Outlines of the subtrees, by depth below their root and relative to it: [left, right].
  const offset = new Map(), outline = new Map();
  for (const i of [...places.keys()].reverse()) {
    let joined = [];
    const children = below(i);
    for (const child of children) {
      const own = outline.get(child);
      const common = Math.min(joined.length, own.length);
      let far = common ? -Infinity : 0;
      for (let d = 0; d < common; d++) far = Math.max(far, joined[d][1] + GAP - own[d][0]);
      offset.set(child, far);
      const moved = own.map(([left, right]) => [left + far, right + far]);
      joined = [
        ...joined.slice(0, common).map(([left], d) => [left, moved[d][1]]),
        ...joined.slice(common), ...moved.slice(common),
      ];
      outline.delete(child);
    }
    const middle = children.length ? (offset.get(children[0]) + offset.get(children[1])) / 2 : 0;
    for (const child of children) offset.set(child, offset.get(child) - middle);
    const rest = joined.map(([left, right]) => [left - middle, right - middle]);
    outline.set(i, [[-NODE_WIDTH / 2, NODE_WIDTH / 2], ...rest]);
  }
  let first = 0;
  for (const [i, at] of places) {
    if (at.parent >= 0) at.x = places.get(at.parent).x + offset.get(i);
    first = Math.min(first, at.x);
  }
  for (const at of places.values()) at.x -= first;
  return places;
}

function wayTo(nodes, end) {
  const parent = new Map();
  nodes.forEach((node, i) => {
    if (!isLeaf(node) && node[2] >= 0) { parent.set(node[2], i); parent.set(node[3], i); }
  });
  const way = new Set();
  for (let i = end; i !== undefined; i = parent.get(i)) way.add(i);
  return way;
}
