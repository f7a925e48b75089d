// Learn: points in the plane, a learner, its decision surface; step by step.
import { $, api, attempt, el, later, number, put, s, seconds } from "./lib.js";
import { legend, plot } from "./charts.js";

let points = [];
let learners = [];
let history = [];
let playing = null;
let cursor = [0.5, 0.5];
let latest = 0;
let support = new Set();
const CELLS = 72;

/** Random numbers that are the same every time. */
function random(seed) {
  let a = seed;
  return () => { a = (a + 0x6d2b79f5) | 0; let t = Math.imul(a ^ (a >>> 15), 1 | a); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
}

function example(kind) {
  const draw = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(draw() + 1e-12)) * Math.cos(2 * Math.PI * draw());
  const made = [];
  const add = (x, y, k) => { if (x > 0.01 && x < 0.99 && y > 0.01 && y < 0.99) made.push([x, y, k]); };
  for (let i = 0; i < 110; i += 1) {
    const k = i % 2, t = Math.PI * draw();
    if (kind === "moons") add(0.38 + 0.25 * (k ? 1 - Math.cos(t) : Math.cos(t)) + 0.03 * normal(), 0.43 + 0.32 * (k ? 0.5 - Math.sin(t) : Math.sin(t)) + 0.03 * normal(), k);
    if (kind === "circles") { const r = (k ? 0.36 : 0.15) + 0.035 * normal(); add(0.5 + r * Math.cos(2 * t), 0.5 + r * Math.sin(2 * t), k); }
    if (kind === "xor") { const x = 0.05 + 0.9 * draw(), y = 0.05 + 0.9 * draw(); if (Math.abs(x - 0.5) > 0.03 && Math.abs(y - 0.5) > 0.03) add(x, y, Number((x > 0.5) !== (y > 0.5))); }
    if (kind === "line") { const x = 0.05 + 0.9 * draw(), y = 0.05 + 0.9 * draw(), m = y - 0.6 * x - 0.2; if (Math.abs(m) > 0.05) add(x, y, Number(m > 0)); }
    if (kind === "blobs") { const c = [[0.27, 0.3], [0.72, 0.36], [0.48, 0.75]][i % 3]; add(c[0] + 0.09 * normal(), c[1] + 0.09 * normal(), i % 3); }
  }
  return made;
}

const color = (k) => getComputedStyle(document.documentElement).getPropertyValue(`--c${k % 6}`).trim();

function drawPoints() {
  const node = ([x, y, k], i) => s("circle", { cx: 100 * x, cy: 100 - 100 * y, r: support.has(i) ? 1.9 : 1.25, fill: color(k), stroke: support.has(i) ? "var(--ink)" : "var(--card)", "stroke-width": support.has(i) ? 0.6 : 0.35 });
  const cross = s("path", { d: `M${100 * cursor[0] - 2} ${100 - 100 * cursor[1]}h4M${100 * cursor[0]} ${98 - 100 * cursor[1]}v4`, stroke: "var(--ink)", "stroke-width": 0.4, opacity: document.activeElement === $("plane") ? 1 : 0 });
  put($("points"), points.map(node), cross);
}

function rgb(text) {
  const hex = text.replace("#", "");
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** Draws the surface; `present` are the classes that have points. */
function drawSurface(found, present) {
  const canvas = $("surface");
  const context = canvas.getContext("2d");
  const small = new ImageData(CELLS, CELLS);
  const base = rgb(getComputedStyle(document.documentElement).getPropertyValue("--card").trim());
  const n = found.n_classes;
  const colors = present.map((k) => rgb(color(k)));
  found.surface.forEach(([k, sure], i) => {
    const strength = 0.12 + 0.5 * Math.max(0, (sure - 1 / n) / (1 - 1 / n));
    const at = 4 * ((CELLS - 1 - Math.floor(i / CELLS)) * CELLS + (i % CELLS));
    for (let c = 0; c < 3; c += 1) small.data[at + c] = base[c] + (colors[k][c] - base[c]) * strength;
    small.data[at + 3] = 255;
  });
  const cells = new OffscreenCanvas(CELLS, CELLS);
  cells.getContext("2d").putImageData(small, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, canvas.width, canvas.height);
}

const chosen = () => learners.find((one) => one.name === $("learner").value);
const input = (name) => document.querySelector(`[data-param="${name}"]`);

/** Where stepping begins. */
const FIRST = { max_depth: 1, n_estimators: 1, max_iter: 1, n_neighbors: 1 };
const START = { "gradient-boosting": { n_estimators: 20 }, adaboost: { n_estimators: 20 }, "random-forest": { n_estimators: 20 }, "extra-trees": { n_estimators: 20 }, "decision-tree": { max_depth: 3 }, "oblique-tree": { max_depth: 3 }, "optimal-tree": { max_depth: 2 }, perceptron: { max_iter: 10 } };

function showLearner() {
  const learner = chosen();
  $("summary").textContent = `${learner.summary[0].toUpperCase()}${learner.summary.slice(1)}.`;
  put($("params"), learner.params.map((param) => {
    const value = START[learner.name]?.[param.name] ?? param.default;
    const words = param.kind?.choice ?? null;
    const box = words ? el("select", { "data-param": param.name }, words.map((word) => el("option", { selected: word === String(value) }, word))) : el("input", { type: "text", "data-param": param.name, value, size: 8 });
    box.addEventListener("input", () => { history = []; soon(); });
    return el("label", { class: "field", title: `${param.doc} Allowed: ${param.allowed}.` }, param.name, box);
  }));
  $("step").disabled = $("play").disabled = $("restart").disabled = !learner.step;
  $("step").textContent = learner.step ? `Step: ${learner.step} + 1` : "Step";
  history = [];
  attempt(fit);
}

async function fit() {
  drawPoints();
  const learner = chosen();
  const params = Object.fromEntries(learner.params.map((param) => [param.name, input(param.name).value.trim()]).filter(([, value]) => value !== ""));
  // Classes without points are left out.
  const present = [...new Set(points.map((p) => p[2]))].sort();
  const request = ++latest;
  let found;
  try {
    found = await api("playground", { body: { points: points.map(([x, y]) => [x, y]), classes: points.map((p) => present.indexOf(p[2])), learner: learner.name, params, cells: CELLS } });
  } catch (error) {
    if (request === latest) { $("error").hidden = false; $("error").textContent = error.message; stop(); }
    return;
  }
  if (request !== latest) return;
  $("error").hidden = true;
  const rows = found.attributes.find((one) => one.name === "support");
  support = new Set(rows?.values ?? []);
  drawSurface(found, present);
  drawPoints();
  const tile = (name, value) => el("div", { class: "score" }, el("span", {}, name), el("b", {}, value));
  put($("facts"), tile("training errors", `${found.n_wrong} of ${found.n_points}`), found.objective !== null ? tile("objective", number(found.objective)) : null, support.size ? tile("support vectors", String(support.size)) : null, tile("time", seconds(found.seconds)));
  put($("certificate"), el("ul", {}, found.certificate.plain.map((sentence) => el("li", {}, sentence))));
  $("text").textContent = found.text;
  if (learner.step) {
    const at = Number(input(learner.step).value);
    if (Number.isFinite(at) && at > 0) { history = [...history.filter(([x]) => x !== at), [at, found.n_wrong / found.n_points, found.objective]].sort((a, b) => a[0] - b[0]); }
    showHistory(learner.step);
  } else put($("history"));
  document.body.dataset.ready = "true";
}

function showHistory(step) {
  if (history.length < 2) return put($("history"), el("p", { class: "small soft" }, "Press Step or Play to see how training error and objective change."));
  const objective = history.filter((row) => row[2] !== null).map((row) => [row[0], row[2]]);
  put($("history"), legend([["training error", 1], ...(objective.length > 1 ? [["objective", 0]] : [])]),
    plot({ series: [{ points: history.map((row) => [row[0], row[1]]), kind: "points", color: 1 }, { points: objective, kind: "points", color: 0 }], x: step, y: "value", width: 420, height: 220, label: "Training error and objective by step" }));
}

const soon = later(() => attempt(fit), 120);

async function step() {
  const box = input(chosen().step);
  const now = Number(box.value);
  box.value = String(Number.isFinite(now) && now > 0 ? now + 1 : 1);
  await fit();
}

function stop() {
  playing = null;
  $("play").textContent = "Play";
}

async function play() {
  if (playing) return stop();
  const mine = (playing = {});
  $("play").textContent = "Pause";
  for (let i = 0; i < 60 && playing === mine; i += 1) {
    await step();
    await new Promise((done) => setTimeout(done, 160));
  }
  if (playing === mine) stop();
}

function add(x, y, remove) {
  if (remove) {
    let best = [0.05, -1];
    points.forEach(([a, b], i) => { const d = Math.hypot(a - x, b - y); if (d < best[0]) best = [d, i]; });
    if (best[1] >= 0) points.splice(best[1], 1);
  } else points.push([x, y, Number(document.querySelector("input[name=class]:checked").value)]);
  support = new Set();
  history = [];
  $("example").value = "";
  drawPoints();
  soon();
}

$("plane").addEventListener("pointerdown", (event) => {
  const box = $("plane").getBoundingClientRect();
  add((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height, event.shiftKey);
});
$("plane").addEventListener("keydown", (event) => {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (move) {
    event.preventDefault();
    cursor = cursor.map((v, i) => Math.min(0.98, Math.max(0.02, v + move[i] * (event.shiftKey ? 0.1 : 0.02))));
    drawPoints();
  } else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); add(cursor[0], cursor[1], false); }
  else if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); add(cursor[0], cursor[1], true); }
});
$("plane").addEventListener("focus", drawPoints);
$("plane").addEventListener("blur", drawPoints);
$("undo").addEventListener("click", () => { points.pop(); support = new Set(); history = []; soon(); drawPoints(); });
$("example").addEventListener("change", () => { points = example($("example").value); support = new Set(); history = []; attempt(fit); });
$("learner").addEventListener("change", () => { stop(); support = new Set(); showLearner(); });
$("step").addEventListener("click", () => attempt(step));
$("play").addEventListener("click", () => attempt(play));
$("restart").addEventListener("click", () => { stop(); const name = chosen().step; input(name).value = FIRST[name]; history = []; attempt(fit); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => attempt(fit));

attempt(async () => {
  learners = await api("playground");
  put($("learner"), learners.map((learner) => el("option", { selected: learner.name === "decision-tree" }, learner.name)));
  points = example("moons");
  showLearner();
});
