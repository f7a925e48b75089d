// What if: change one row, see prediction, contributions and nearest training rows.
import { $, api, attempt, count, el, later, modelId, modelTabs, modelTitle, number, percent, put, session } from "./lib.js";
import { contributions } from "./charts.js";

const id = modelId();
const values = {};
let fields = [];
let last = null;
let pending = null;

const isoDate = (days) => new Date(days * 86400000).toISOString().slice(0, 10);

function field(one) {
  const name = `field-${one.name}`;
  if (one.kind === "numeric" && one.range?.[0] !== null) {
    const [low, high] = one.range;
    const step = one.is_whole ? 1 : 10 ** Math.floor(Math.log10((high - low || 1) / 200));
    const box = el("input", { type: "number", id: name, step: "any", value: one.start, "data-field": one.name });
    const slider = el("input", { type: "range", min: low, max: high, step, value: one.start, "aria-label": `${one.name}, slider` });
    const show = (x) => { box.value = x ?? ""; if (x !== null) slider.value = x; };
    slider.addEventListener("input", () => { box.value = slider.value; change(one.name, Number(slider.value)); });
    box.addEventListener("input", () => { const x = box.value === "" ? null : Number(box.value); if (x !== null) slider.value = x; change(one.name, x); });
    one.show = show;
    const hint = one.is_date ? `${isoDate(low)} to ${isoDate(high)}, as days since 1970` : `${number(low)} to ${number(high)}${one.has_missing ? "; empty for missing" : ""}`;
    return el("div", { class: "field-row" }, el("label", { for: name }, one.name, " ", el("span", { class: "small" }, hint)), slider, box);
  }
  const select = el("select", { id: name, "data-field": one.name }, el("option", { value: "" }, "missing"), one.levels.map((level) => el("option", { value: level }, level)));
  select.addEventListener("change", () => change(one.name, select.value === "" ? null : select.value));
  one.show = (x) => { select.value = x ?? ""; };
  return el("div", { class: "field-row" }, el("label", { for: name }, one.name), select);
}

const soon = later(() => attempt(ask), 60);

function change(name, value) {
  values[name] = value;
  $("truth").hidden = true;
  soon();
}

async function ask() {
  pending?.abort();
  pending = new AbortController();
  const sent = pending;
  const answer = await api(`models/${id}/what-if`, { body: { values }, signal: sent.signal });
  if (sent.signal.aborted) return;
  last = answer;
  show();
}

function show() {
  const { prediction, nearest } = last;
  const { names, values: found } = prediction;
  if (prediction.task === "classification") {
    const rows = found.map((p, k) => [names[k], p, k]).sort((a, b) => b[1] - a[1]);
    put($("prediction"), el("div", { class: "bigger" }, prediction.label ?? ""), prediction.is_probability ? el("div", { class: "bars", style: "margin-top:.6rem" }, rows.slice(0, 8).flatMap(([name, p, k]) => [el("span", {}, name), el("span", {}, el("i", { class: `b${k % 6}`, style: `width:${100 * p}%` })), el("span", {}, percent(p))])) : null);
  } else {
    put($("prediction"), el("div", { class: "bigger" }, found.map((x) => number(x, 5)).join(", ")));
  }
  showContributions();
  const columns = nearest.length ? Object.keys(nearest[0].values) : [];
  const same = (name, x) => x === values[name];
  put($("nearest"), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "row"), el("th", { scope: "col" }, "true value"), el("th", { scope: "col", class: "number" }, "distance"), columns.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, nearest.map((row) => el("tr", {}, el("th", { scope: "row" }, count(row.row)), el("td", {}, el("b", {}, row.truth)), el("td", { class: "number" }, number(row.distance, 2)), columns.map((name) => el("td", { class: same(name, row.values[name]) ? "soft" : "" }, typeof row.values[name] === "number" ? number(row.values[name]) : row.values[name] ?? "–"))))));
  document.body.dataset.ready = "true";
}

function showContributions() {
  const { contributions: found, prediction } = last;
  $("method").textContent = found.method === "exact"
    ? `Exact SHAP values: they add up to the prediction on the scale of the model before its link, starting from its mean.`
    : "Shapley values by sampling: they add up to the difference from the mean prediction of sampled training rows.";
  const names = found.names;
  const select = $("output");
  if (select.options.length !== names.length) {
    put(select, names.map((name, k) => el("option", { value: k }, name)));
    const k = names.indexOf(prediction.label);
    if (k >= 0) select.value = k;
  }
  $("output-field").hidden = names.length < 2;
  const k = Number(select.value || 0);
  const rows = found.columns.map((column) => [column.feature, column.values[k]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 12);
  const total = found.columns.reduce((sum, column) => sum + column.values[k], 0);
  put($("contributions"), contributions(rows, `Contributions to ${names[k]}`), el("p", { class: "small soft" }, `Mean ${number(found.expected[k], 3)}, sum of contributions ${number(total, 3)}, this row ${number(found.expected[k] + total, 3)}.`));
}

function set(given) {
  for (const one of fields) { values[one.name] = given[one.name] ?? null; one.show?.(values[one.name]); }
  return ask();
}

async function begin() {
  await session();
  const model = await api(`models/${id}`);
  $("title").textContent = `What if · ${modelTitle(model.origin)}`;
  put($("tabs"), modelTabs(id, "what-if"));
  const form = await api(`models/${id}/form`);
  fields = form.fields;
  $("target").textContent = `Prediction of ${form.target.join(", ")}`;
  $("row").max = form.n_rows;
  put($("fields"), fields.map(field));
  const typical = Object.fromEntries(fields.map((one) => [one.name, one.start]));
  $("typical").addEventListener("click", () => { $("truth").hidden = true; attempt(() => set(typical)); });
  $("take").addEventListener("click", () => attempt(async () => {
    const n = Number($("row").value || 1);
    const row = await api(`models/${id}/rows/${n}`);
    await set(row.values);
    $("truth").hidden = false;
    $("truth").textContent = `Training row ${count(n)}; its true value is ${row.truth}.`;
  }));
  await set(typical);
}

$("form").addEventListener("submit", (event) => { event.preventDefault(); $("take").click(); });
$("output").addEventListener("change", showContributions);
attempt(begin);
