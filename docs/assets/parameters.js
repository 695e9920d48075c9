// The page of parameters: shows the rows that have the words that are typed.
const field = document.querySelector("#parameter-search");
if (field) {
  const count = document.querySelector("#parameter-count");
  const rows = [...document.querySelectorAll("article table tbody tr")].filter((row) => row.querySelector("a[id]"));
  const words = rows.map((row) => row.textContent.toLowerCase());
  // Every heading and what follows it: left out where no row of its table is shown.
  const parts = [];
  for (const heading of document.querySelectorAll("article h2")) {
    const part = [heading];
    for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
      part.push(next);
    }
    if (part.some((each) => each.querySelector("tr a[id]"))) parts.push(part);
  }
  const filter = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !wanted.every((word) => words[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    for (const part of parts) {
      const isEmpty = part.every((each) => !each.querySelector("tr:not([hidden]) a[id]"));
      for (const each of part) {
        const isExtra = wanted.length > 0 && each.tagName !== "H2" && !each.querySelector("a[id]");
        each.hidden = isEmpty || isExtra;
      }
    }
    count.textContent = wanted.length ? `${shown} of ${rows.length}` : "";
  };
  field.addEventListener("input", filter);
  field.closest("p").hidden = false;
}
