"use strict";
// Confusion matrices that follow a threshold.
for (const box of document.querySelectorAll("[data-threshold]")) {
  const facts = JSON.parse(box.querySelector("script").textContent);
  const slider = box.querySelector("input");
  const set = (name, text) => { box.querySelector(`[data-out="${name}"]`).textContent = text; };
  const percent = (part, whole) => {
    if (!whole) return "\u2013";
    const share = part / whole;
    if (share > 0 && share < 0.001) return "< 0.1 %";
    return `${(100 * share).toFixed(1).replace(".0", "")} %`;
  };
  const count = (n) => n.toLocaleString("en-US");
  const show = () => {
    const i = Number(slider.value);
    const tp = facts.truePositives[i], fp = facts.falsePositives[i];
    const fn = facts.positives - tp, tn = facts.negatives - fp;
    set("threshold", String(facts.thresholds[i]));
    set("tp", count(tp)); set("fp", count(fp)); set("fn", count(fn)); set("tn", count(tn));
    set("precision", percent(tp, tp + fp));
    set("recall", percent(tp, facts.positives));
    set("specificity", percent(tn, facts.negatives));
    set("F1", percent(2 * tp, 2 * tp + fp + fn));
    set("accuracy", percent(tp + tn, facts.positives + facts.negatives));
  };
  slider.addEventListener("input", show);
  box.querySelector("[data-slider]").hidden = false;
  box.querySelector("[data-static]").hidden = true;
}
