// Where the nodes of a tree stand. Nodes are breadth first: children come after their parents.
const SLOT = 138, LEVEL = 92, NODE_WIDTH = 126, NODE_HEIGHT = 40;
const isLeaf = (node) => node.length < 8;

function layOut(nodes, open) {
  const places = new Map();  // visible node -> {x, y, parent}
  let slot = 0;
  const stack = [[0, -1, 0]];
  while (stack.length) {  // leaves from left to right; deep trees would exhaust recursion
    const [i, parent, depth] = stack.pop();
    places.set(i, {x: 0, y: depth * LEVEL, parent});
    const node = nodes[i];
    if (isLeaf(node) || node[2] < 0 || !open.has(i)) {
      places.get(i).x = slot++ * SLOT;
    } else {
      stack.push([node[3], i, depth + 1], [node[2], i, depth + 1]);
    }
  }
  for (const i of [...places.keys()].sort((a, b) => b - a)) {
    const node = nodes[i];
    if (!isLeaf(node) && open.has(i) && node[2] >= 0) {
      places.get(i).x = (places.get(node[2]).x + places.get(node[3]).x) / 2;
    }
  }
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
