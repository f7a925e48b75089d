// Understand: scores, curves with a movable threshold, importances, dependence, SHAP values, structure, certificate.
import { $, api, attempt, codeTabs, count, el, modelId, modelTabs, modelTitle, number, percent, put, s, seconds, session } from "./lib.js";
import { beeswarm, errorBars, legend, plot, shorten } from "./charts.js";

const id = modelId();

async function load() {
  const model = await api(`models/${id}`);
  $("title").textContent = modelTitle(model.origin);
  const waiting = model.status !== "ready";
  $("waiting").hidden = !waiting;
  if (waiting) {
    $("state").textContent = model.status[0].toUpperCase() + model.status.slice(1);
    $("state").className = `pill ${model.status === "training" ? "on" : "bad"}`;
    $("message").textContent = model.message;
    $("progress").hidden = model.status !== "training";
    $("again").hidden = model.status === "training";
    if (model.status === "training") setTimeout(() => attempt(load), 400);
    return;
  }
  put($("tabs"), modelTabs(id, "understand"));
  show(model);
}

function show(model) {
  const facts = model.facts;
  const report = facts.report;
  const left = Math.round(100 * facts.n_test / facts.n_rows);
  $("lead").textContent = `The scores are those of a model trained on ${100 - left}% of the ${count(facts.n_rows)} rows and evaluated on the other ${count(facts.n_test)}. The model that is explained, kept and exported is trained on all rows (${seconds(facts.seconds)}).`;
  put($("content"), scores(report), threshold(facts), confusion(report), regression(report), el("div", { class: "grid wide" }, importances(report), shap(facts)), dependences(report, facts), picture(model, facts), path(facts), rounds(facts), certificate(facts), worst(report), again(), text(facts));
  document.body.dataset.ready = "true";
}

const card = (title, about, ...children) => el("section", { class: "card", "aria-label": title }, el("h2", {}, title), about ? el("p", { class: "small soft" }, about) : null, ...children);

function scores(report) {
  const one = (score) => el("div", { class: "score", title: score.explanation }, el("span", {}, score.name), el("b", {}, number(score.score.value)), el("span", {}, score.score.low === null ? "" : `${number(score.score.low, 3)} to ${number(score.score.high, 3)}`));
  const differences = report.differences.map((sentence) => el("li", {}, sentence));
  return card("Scores on held-out rows", "Each with its 95% interval.", el("div", { class: "scores" }, report.evaluation.scores.map(one)), differences.length ? el("ul", { class: "warnings" }, differences) : null);
}

function threshold(facts) {
  const scored = facts.scored;
  if (!scored) return null;
  const names = scored.classes;
  const binary = names.length === 2;
  const chosen = el("select", { id: "positive" }, names.map((name, k) => el("option", { value: k, selected: k === names.length - 1 }, name)));
  const slider = el("input", { type: "range", id: "threshold", min: 0, max: 1, step: 0.005, value: 0.5 });
  const shown = el("output", { for: "threshold" }, "0.500");
  const costs = { fp: el("input", { type: "number", id: "cost-fp", min: 0, step: "any", value: 1, style: "width:6rem" }), fn: el("input", { type: "number", id: "cost-fn", min: 0, step: "any", value: 1, style: "width:6rem" }) };
  const cheapest = el("button", { type: "button" }, "Cheapest threshold");
  const facts2 = el("div", { class: "scores", id: "at-threshold" });
  const charts = el("div", { class: "grid charts", style: "margin-top:1rem" });
  const table = el("div", {});
  let p = [], y = [], roc = [], pr = [];

  function recompute() {
    const k = Number(chosen.value);
    p = scored.probabilities[k];
    y = scored.truth.map((code) => code === k);
    const order = p.map((_, i) => i).sort((a, b) => p[b] - p[a]);
    const n1 = y.filter(Boolean).length, n0 = y.length - n1;
    let tp = 0, fp = 0;
    roc = [[0, 0]]; pr = [];
    order.forEach((row, place) => {
      if (y[row]) tp += 1; else fp += 1;
      if (place + 1 < order.length && p[order[place + 1]] === p[row]) return;
      roc.push([n0 ? fp / n0 : 0, n1 ? tp / n1 : 0]);
      pr.push([n1 ? tp / n1 : 0, tp / (tp + fp)]);
    });
    draw();
  }

  function at(t) {
    const c = { tp: 0, fp: 0, fn: 0, tn: 0 };
    p.forEach((v, i) => { c[(v >= t ? (y[i] ? "tp" : "fp") : (y[i] ? "fn" : "tn"))] += 1; });
    return c;
  }

  const cost = (c) => (c.fp * Number(costs.fp.value || 0) + c.fn * Number(costs.fn.value || 0)) / p.length;

  function draw() {
    const t = Number(slider.value);
    shown.textContent = t.toFixed(3);
    slider.setAttribute("aria-valuetext", `threshold ${t.toFixed(3)}`);
    const c = at(t);
    const recall = c.tp / (c.tp + c.fn || 1), precision = c.tp + c.fp ? c.tp / (c.tp + c.fp) : NaN, alarm = c.fp / (c.fp + c.tn || 1);
    const tile = (name, value) => el("div", { class: "score" }, el("span", {}, name), el("b", {}, value));
    put(facts2, tile("precision", number(precision, 3)), tile("recall", number(recall, 3)), tile("false-positive rate", number(alarm, 3)), tile("accuracy", number((c.tp + c.tn) / p.length, 3)), tile("cost per row", number(cost(c), 3)));
    const name = names[Number(chosen.value)];
    const other = binary ? names[1 - Number(chosen.value)] : "other classes";
    const shade = (n) => `background: color-mix(in oklab, var(--c0) ${Math.round(45 * n / p.length)}%, var(--card))`;
    const cells = (...numbers) => numbers.map((n) => el("td", { style: shade(n) }, count(n)));
    put(table, el("table", { class: "confusion", style: "width:auto" }, el("caption", {}, `At this threshold, on ${count(p.length)} held-out rows`), el("thead", {}, el("tr", {}, el("th", {}, el("span", { class: "soft" }, "true \\ predicted")), el("th", { scope: "col" }, shorten(name)), el("th", { scope: "col" }, shorten(other)))),
      el("tbody", {}, el("tr", {}, el("th", { scope: "row" }, shorten(name)), cells(c.tp, c.fn)), el("tr", {}, el("th", { scope: "row" }, shorten(other)), cells(c.fp, c.tn)))));
    const mark = (x0, y0) => (svg, X, Y) => svg.append(s("circle", { cx: X(x0), cy: Y(y0), r: 6, fill: "var(--card)", "stroke-width": 3, class: "s1" }));
    const unit = [0, 1];
    const curve = Array.from({ length: 101 }, (_, i) => [i / 100, cost(at(i / 100))]);
    put(charts,
      el("div", {}, el("h3", {}, "ROC"), plot({ series: [{ points: roc, kind: "steps" }, { points: [[0, 0], [1, 1]], kind: "guide" }], x: "false-positive rate", y: "recall", xRange: unit, yRange: unit, label: `ROC curve of ${name}`, extra: mark(alarm, recall) })),
      el("div", {}, el("h3", {}, "Precision and recall"), plot({ series: [{ points: pr }], x: "recall", y: "precision", xRange: unit, yRange: unit, label: `Precision-recall curve of ${name}`, extra: Number.isFinite(precision) ? mark(recall, precision) : null })),
      el("div", {}, el("h3", {}, "Calibration"), plot({ series: [{ points: [[0, 0], [1, 1]], kind: "guide" }, { points: calibration(), kind: "points", color: 2 }], x: "predicted probability", y: "observed share", xRange: unit, yRange: unit, label: `Calibration of ${name}` })),
      el("div", {}, el("h3", {}, "Cost"), plot({ series: [{ points: curve, color: 3 }], x: "threshold", y: "cost per row", xRange: unit, label: "Cost by threshold", extra: mark(t, cost(c)) })));
  }

  function calibration() {
    const bins = Array.from({ length: 10 }, () => [0, 0, 0]);
    p.forEach((v, i) => { const bin = bins[Math.min(9, Math.floor(v * 10))]; bin[0] += v; bin[1] += y[i]; bin[2] += 1; });
    return bins.filter((bin) => bin[2]).map(([sum, hits, n]) => [sum / n, hits / n]);
  }

  chosen.addEventListener("change", recompute);
  let frame = 0;
  const soon = () => { cancelAnimationFrame(frame); frame = requestAnimationFrame(draw); };
  slider.addEventListener("input", soon);
  costs.fp.addEventListener("input", soon);
  costs.fn.addEventListener("input", soon);
  cheapest.addEventListener("click", () => {
    let best = [Infinity, 0.5];
    for (let i = 0; i <= 200; i += 1) { const value = cost(at(i / 200)); if (value < best[0] - 1e-12) best = [value, i / 200]; }
    slider.value = best[1];
    draw();
  });
  recompute();
  return card("Decision threshold", binary ? "A row counts as the chosen class if its probability is at least the threshold. Move it and see what the two kinds of mistakes cost." : "One class against all others: a row counts as the class if its probability is at least the threshold.",
    el("div", { class: "row" }, el("label", { class: "field" }, "Class", chosen), el("div", { class: "field", style: "flex:1;min-width:14rem" }, el("label", { for: "threshold" }, "Threshold"), " ", shown, slider), el("label", { class: "field" }, "Cost of a false positive", costs.fp), el("label", { class: "field" }, "Cost of a false negative", costs.fn), cheapest),
    el("div", { class: "grid", style: "margin-top:1rem;align-items:center" }, facts2, table), charts);
}

function confusion(report) {
  const matrix = report.evaluation.confusion;
  if (!matrix || matrix.classes.length > 25) return null;
  const totals = matrix.counts.map((row) => row.reduce((a, b) => a + b, 0));
  const cell = (n, k, j) => el("td", { style: `background: color-mix(in oklab, var(${k === j ? "--c0" : "--c1"}) ${Math.round(45 * n / (totals[k] || 1))}%, var(--card))`, title: `${percent(n / (totals[k] || 1))} of ${matrix.classes[k]}` }, number(n));
  const head = el("thead", {}, el("tr", {}, el("th", {}, el("span", { class: "soft" }, "true \\ predicted")), matrix.classes.map((name) => el("th", { scope: "col", title: name }, shorten(name, 12)))));
  const rate = (score) => el("td", { class: "number", title: `95% interval: ${number(score.low, 3)} to ${number(score.high, 3)}` }, number(score.value, 3), el("span", { class: "soft small" }, ` ${number(score.low, 2)}–${number(score.high, 2)}`));
  const rates = el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class"), ["rows", "precision", "recall", "F1"].map((name) => el("th", { scope: "col", class: "number" }, name)))),
    el("tbody", {}, report.evaluation.classes.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name), el("td", { class: "number" }, number(one.rows)), rate(one.precision), rate(one.recall), rate(one.f1)))));
  return card("Confusion matrix", "Rows are true classes, columns are predictions; the color is the share of the row. Right: scores of each class with 95% intervals.", el("div", { class: "grid" },
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix, table" }, el("table", { class: "confusion", style: "width:auto" }, head, el("tbody", {}, matrix.counts.map((row, k) => el("tr", {}, el("th", { scope: "row", title: matrix.classes[k] }, shorten(matrix.classes[k], 18)), row.map((n, j) => cell(n, k, j))))))),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores of each class" }, rates)));
}

function regression(report) {
  const points = report.scatter;
  if (!points.length) return null;
  const all = points.flat();
  const range = [Math.min(...all), Math.max(...all)];
  return card("Predictions and residuals", "On held-out rows.", el("div", { class: "grid" },
    el("div", {}, el("h3", {}, "Truth against prediction"), plot({ series: [{ points: [[range[0], range[0]], [range[1], range[1]]], kind: "guide" }, { points, kind: "dots" }], x: "predicted", y: "true", label: "True values against predictions" })),
    el("div", {}, el("h3", {}, "Residuals"), plot({ series: [{ points: [[range[0], 0], [range[1], 0]], kind: "guide" }, { points: points.map(([p, y]) => [p, y - p]), kind: "dots", color: 1 }], x: "predicted", y: "true − predicted", label: "Residuals against predictions" }))));
}

function importances(report) {
  const rows = report.importances.slice(0, 20).map((one) => [one.feature, one.loss, one.deviation]);
  if (!rows.length) return null;
  return card("Importances", "How much worse the first score becomes when a column is shuffled, on held-out rows: mean and standard deviation over repeats.", errorBars(rows, { label: "Permutation importances", unit: `increase of the loss (${report.evaluation.scores[0]?.name ?? ""})` }));
}

function dependences(report, facts) {
  if (!report.dependences.length) return null;
  const one = (d) => {
    const width = d.means[0]?.length ?? 0;
    const names = facts.classes.length === width ? facts.classes : facts.target;
    const outputs = width === 2 && facts.classes.length === 2 ? [1] : Array.from({ length: Math.min(width, 6) }, (_, k) => k);
    const unit = facts.task === "regression" ? "mean prediction" : width === 2 ? `probability of ${names[1]}` : "mean probability";
    const at = d.categories ? d.values.map((_, i) => i) : d.values;
    const xTicks = d.categories ? d.categories.map((name, i) => [i, shorten(name, 9)]).filter((_, i) => d.categories.length <= 6 || i % Math.ceil(d.categories.length / 6) === 0) : null;
    const series = outputs.map((k, color) => ({ points: at.map((x, i) => [x, d.means[i][k]]), kind: d.categories ? "points" : "line", color }));
    if (outputs.length === 1 && !d.categories) d.rows.slice(0, 30).forEach((row) => series.unshift({ points: at.map((x, i) => [x, row[i]]), color: 5, opacity: 0.2, thick: 1 }));
    return el("div", {}, el("h3", {}, d.feature), outputs.length > 1 ? legend(outputs.map((k, color) => [names[k], color])) : null, plot({ series, x: d.feature, y: unit, label: `Partial dependence on ${d.feature}`, xTicks }));
  };
  return card("Partial dependence", "What the model predicts on average when a column is set to a value in every row. Thin lines: single rows.", el("div", { class: "grid charts" }, report.dependences.map(one)));
}

function shap(facts) {
  if (!facts.shap || !facts.shap.columns.length) return null;
  const outputs = facts.shap.outputs;
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "SHAP values, plot" });
  const choice = el("select", {}, outputs.map((name, k) => el("option", { value: k }, name)));
  const draw = () => put(box, beeswarm(facts.shap.columns, Number(choice.value), `SHAP values for ${outputs[Number(choice.value)]}`));
  choice.addEventListener("change", draw);
  draw();
  return card("SHAP values", `Exact contributions of each column to ${count(facts.shap.n_rows)} predictions, on the scale of the model before its link. Blue: a low value of the column, orange: a high one.`, outputs.length > 1 ? el("label", { class: "field", style: "max-width:16rem;margin-bottom:.6rem" }, "Contributions to", choice) : null, box);
}

function picture(model, facts) {
  if (!model.has_picture && !facts.n_members) return null;
  const image = el("img", { alt: `Picture of the model; the text below has the same content` });
  const frame = el("div", { class: "zoom", tabindex: "0", role: "region", "aria-label": "Picture of the model, scrollable" }, image);
  let zoom = 1, natural = 0;
  const apply = () => { if (natural) image.style.width = `${natural * zoom}px`; };
  image.addEventListener("load", () => { natural = image.naturalWidth; zoom = Math.min(1, Math.max(0.35, (frame.clientWidth - 4) / natural)); apply(); });
  const by = (factor) => { zoom = Math.min(6, Math.max(0.1, zoom * factor)); apply(); };
  frame.addEventListener("wheel", (event) => { if (!event.ctrlKey && !event.shiftKey) return; event.preventDefault(); by(event.deltaY < 0 ? 1.15 : 1 / 1.15); }, { passive: false });
  frame.addEventListener("keydown", (event) => { if (event.key === "+" || event.key === "=") by(1.25); if (event.key === "-") by(0.8); });
  const whole = model.has_picture ? `/api/models/${id}/picture.svg` : `/api/models/${id}/member/1`;
  image.src = whole;
  const member = el("input", { type: "number", min: 1, max: facts.n_members, value: 1, style: "width:6rem" });
  const show = () => { image.src = `/api/models/${id}/member/${member.value}`; };
  image.addEventListener("error", () => { if (!image.dataset.failed) { image.dataset.failed = "true"; put(frame, el("p", { class: "soft", style: "padding:1rem" }, "This part has no picture.")); } });
  member.addEventListener("change", show);
  return card("The model itself", null, el("div", { class: "row center", style: "margin-bottom:.6rem" }, el("button", { type: "button", onclick: () => by(1.25), "aria-label": "Zoom in" }, "+"), el("button", { type: "button", onclick: () => by(0.8), "aria-label": "Zoom out" }, "−"),
    facts.n_members ? [model.has_picture ? el("button", { type: "button", onclick: () => { image.src = whole; } }, "Whole model") : null, el("label", { class: "field", style: "flex-direction:row;align-items:center" }, `Member (1 to ${count(facts.n_members)})`, member), el("button", { type: "button", onclick: show }, "Show member")] : null), frame);
}

function path(facts) {
  const found = facts.path;
  if (!found) return null;
  const series = found.columns.slice(0, 6).map((column, color) => ({ points: found.alphas.map((a, i) => [Math.log10(a), column.values[i]]), color }));
  return card("Regularization path", `Coefficients as the penalty ${found.parameter} grows; the dashed line is this model's.`, legend(found.columns.slice(0, 6).map((column, color) => [column.name, color])), plot({ series, x: `log10 ${found.parameter}`, y: "coefficient", width: 560, label: "Regularization path", extra: (svg, X) => svg.append(s("path", { class: "guide", d: `M${X(Math.log10(found.chosen))} 10V220` })) }));
}

function rounds(facts) {
  const curves = facts.attributes.filter((one) => one.shape.length === 1 && one.values.length > 2 && /errors|loss|curve|weights$/.test(one.name)).slice(0, 4);
  const list = curves.map((one) => el("div", {}, el("h3", {}, one.name.replaceAll("_", " ")), el("p", { class: "small soft" }, one.doc), plot({ series: [{ points: one.values.map((v, i) => [i + 1, v]) }], x: "round", y: one.name.replaceAll("_", " "), label: one.doc })));
  const numbers = facts.attributes.filter((one) => !one.shape.length);
  if (!list.length && !numbers.length) return null;
  return card("Training", null, list.length ? el("div", { class: "grid" }, list) : null, numbers.length ? el("table", { style: "width:auto;margin-top:.6rem" }, el("tbody", {}, numbers.map((one) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, one.name)), el("td", { class: "number" }, number(one.values[0])), el("td", { class: "soft small" }, one.doc))))) : null);
}

function certificate(facts) {
  const found = facts.certificate;
  return card("Certificate", null, el("div", { class: "certificate" }, el("ul", {}, found.plain.map((sentence) => el("li", {}, sentence)))), el("details", {}, el("summary", {}, "As the command line prints it"), el("pre", { tabindex: "0" }, found.lines.map((line) => line.text).join("\n"))));
}

function worst(report) {
  if (!report.worst.length) return null;
  const names = report.worst[0].values.map(([name]) => name);
  return card("Worst predictions", "Held-out rows that are predicted worst.", el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Worst predictions, table" }, el("table", {}, el("thead", {}, el("tr", {}, ["true", "predicted", report.task === "regression" ? "error" : "probability of the truth", ...names].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, report.worst.map((row) => el("tr", {}, el("td", {}, row.truth), el("td", {}, row.predicted), el("td", { class: "number" }, number(row.badness, 3)), row.values.map(([, value]) => el("td", {}, value))))))));
}

function again() {
  const box = el("div", {});
  attempt(async () => put(box, codeTabs(await api(`models/${id}/code`))));
  return card("Do it again", null, box);
}

function text(facts) {
  return el("details", { class: "card" }, el("summary", {}, "The model as text"), el("pre", { tabindex: "0", style: "max-height:30rem;overflow:auto" }, facts.text + (facts.text_is_cut ? "\n…" : "")));
}

$("train-again").addEventListener("click", () => attempt(async () => { const next = await api("models", { body: { model: id } }); location.href = `/models/${next.id}`; }));
attempt(session);
attempt(load);
