"use strict";
// The page: theme, the calculator's form, the audit's filters. Everything works from the keyboard.
const DATA = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const values = { ...DATA.setting };

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// ---- calculator -------------------------------------------------------------------------------------------------
const statementOf = () => DATA.live[$("bound").value];
const filled = (given) => ({ ...given, sigma2: given.sigma * given.sigma });
const holds = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };

/** The value of a live statement, or what keeps it from applying. */
function evaluate(label, given) {
  const { program, conditions, needs } = DATA.live[label];
  const all = filled(given);
  for (const name of needs) {
    const { low, strict, integer, high } = DATA.letters[name], x = given[name];
    const inside = Number.isFinite(x) && (strict ? x > low : x >= low) && (high === null || x <= high);
    if (!inside || (integer && !Number.isInteger(x))) return { problem: `${name} must be ${DATA.letters[name].range}` };
  }
  if (needs.includes("b") && given.b > given.n) return { problem: "b must not exceed n" };
  if (needs.includes("beta") && needs.includes("lam") && given.beta < given.lam) return { problem: "beta must be at least lam" };
  for (const alternatives of conditions) {
    const one = alternatives.some(({ left, relation, right }) =>
      holds[relation](Calculator.number(left, all), Calculator.number(right, all)));
    if (!one) return { problem: `needs ${alternatives.map((each) => each.text).join(" or ")}` };
  }
  const found = Calculator.number(program, all);
  return Number.isFinite(found) ? { value: found } : { problem: "outside the range of doubles" };
}

function position(letter, x) { return letter.log ? Math.log(x) : x; }

function letterRow(name) {
  const letter = DATA.letters[name], row = document.createElement("div");
  row.className = "letter";
  row.innerHTML = `<label><span>${letter.math}${name.length > 1 ? ` <span class="soft">${name}</span>` : ""}</span>
    <input type="number" id="number-${name}" step="any" title="${letter.meaning}"></label>
    <input type="range" id="slider-${name}" aria-label="${letter.meaning}">`;
  const box = row.querySelector("input[type=number]"), slider = row.querySelector("input[type=range]");
  slider.min = position(letter, letter.from);
  slider.max = position(letter, letter.to);
  slider.step = letter.integer && !letter.log ? 1 : (slider.max - slider.min) / 1000;
  const show = () => { slider.value = position(letter, values[name]); };
  box.value = values[name];
  show();
  for (const event of ["input", "change"]) {
    box.addEventListener(event, () => { values[name] = box.valueAsNumber; show(); update(); });
  }
  slider.addEventListener("input", () => {
    const x = letter.log ? Math.exp(slider.valueAsNumber) : slider.valueAsNumber;
    values[name] = letter.integer ? Math.round(x) : Number(x.toPrecision(3));
    box.value = values[name];
    update();
  });
  return row;
}

function choose() {
  const { needs, formula } = statementOf();
  $("formula").innerHTML = formula;
  $("letters").replaceChildren(...needs.map(letterRow));
  update();
}

function update() {
  const label = $("bound").value, found = evaluate(label, values);
  $("result").value = found.problem ? "—" : found.value.toPrecision(15);
  $("problem").textContent = found.problem || "";
  draw(label, found);
}

/** The bound over the epochs, as a curve. */
function draw(label, found) {
  const plot = $("curve");
  plot.replaceChildren();
  if (found.problem || !statementOf().needs.includes("K")) return;
  const last = values.K, step = Math.max(1, Math.ceil(last / 120)), points = [[0, 0]];
  for (let K = 1; K <= last; K += step) points.push([K, evaluate(label, { ...values, K }).value]);
  if (points[points.length - 1][0] !== last) points.push([last, found.value]);
  const seen = points.filter(([, y]) => Number.isFinite(y)), top = Math.max(...seen.map(([, y]) => y)) || 1;
  const x = (K) => 50 + (540 * K) / last, y = (e) => 170 - (150 * e) / top;
  const element = (kind, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, each] of Object.entries(attributes)) made.setAttribute(key, each);
    if (text) made.textContent = text;
    plot.append(made);
  };
  element("line", { x1: 50, y1: 170, x2: 590, y2: 170 });
  element("line", { x1: 50, y1: 20, x2: 50, y2: 170 });
  element("path", { d: "M" + seen.map(([K, e]) => `${x(K).toFixed(1)} ${y(e).toFixed(1)}`).join("L") });
  element("text", { x: 590, y: 186, "text-anchor": "end" }, `K = ${last}`);
  element("text", { x: 46, y: 26, "text-anchor": "end" }, top.toPrecision(3));
  element("text", { x: 46, y: 173, "text-anchor": "end" }, "0");
}

if ($("bound")) {
  $("bound").addEventListener("change", choose);
  choose();
}

// ---- audit ------------------------------------------------------------------------------------------------------
const rows = [...document.querySelectorAll("#rows .row")], chips = [...document.querySelectorAll(".chips button")];

function filter() {
  const wanted = new Set(chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.verdict));
  const text = $("search").value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    row.hidden = !wanted.has(row.dataset.verdict) || !row.textContent.toLowerCase().includes(text);
    shown += !row.hidden;
  }
  $("shown").textContent = `${shown} of ${rows.length} claims shown`;
}

for (const chip of chips) {
  chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") === "true" ? "false" : "true");
    filter();
  });
}
$("search").addEventListener("input", filter);
filter();

// A link to a claim or statement opens what hides it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden) { for (const chip of chips) chip.setAttribute("aria-pressed", "true"); $("search").value = ""; filter(); }
  for (let outer = target; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
