// Compare: start a comparison, see its entries come in, stop and continue it.
import { $, api, attempt, codeTabs, el, number, put, seconds, session } from "./lib.js";
import { interval, legend, plot } from "./charts.js";

let run = null;
let stream = null;
let seen = new Set();
const open = new Map();

async function begin() {
  const state = await session();
  const choice = state.choice;
  $("no-target").hidden = Boolean(choice);
  $("settings").hidden = !choice;
  if (choice) {
    const left = choice.ignore.length ? `, without ${choice.ignore.join(", ")}` : "";
    $("about").textContent = `Predict ${choice.target} of ${choice.source.path.split("/").pop()}${left}.`;
    await attempt(listLearners);
  }
  listRuns(state.runs);
  const asked = Number(new URLSearchParams(location.search).get("run"));
  const latest = state.runs.find((one) => one.id === asked) ?? state.runs[state.runs.length - 1];
  if (latest) follow(latest.id);
}

async function listLearners() {
  const { learners, measures } = await api("learners");
  put($("learners"), $("learners").querySelector("legend"), learners.map((learner) => el("label", { class: "small", title: learner.summary },
    el("input", { type: "checkbox", name: "learner", value: learner.name }), ` ${learner.name} `, learner.usual ? el("span", { class: "pill" }, "usual") : null, el("br"), el("span", { class: "soft" }, learner.summary))));
  put($("measure"), el("option", { value: "" }, "that of the task"), measures.map((measure) => el("option", { value: measure.name }, measure.title)));
}

function listRuns(runs) {
  $("run-field").hidden = runs.length < 2;
  put($("run-choice"), [...runs].reverse().map((one) => el("option", { value: one.id }, `${one.id}: ${one.data.target}, ${one.n_entries} entries`)));
}

function follow(id) {
  stream?.close();
  $("run-choice").value = id;
  seen = new Set();
  open.clear();
  run = null;
  stream = new EventSource(`/api/runs/${id}/events`);
  stream.addEventListener("run", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("progress", (event) => showProgress(JSON.parse(event.data)));
  attempt(async () => put($("code"), codeTabs(await api(`runs/${id}/code`))));
}

const STATUS = { running: ["Running", "on"], stopped: ["Stopped", "warn"], interrupted: ["Interrupted", "warn"], finished: ["Finished", "good"], failed: ["Failed", "bad"] };

function show(view) {
  const first = run === null;
  run = view;
  $("run").hidden = false;
  const [title, kind] = STATUS[view.status];
  $("status").textContent = title;
  $("status").className = `pill ${kind}`;
  const running = view.status === "running";
  $("stop").hidden = !running;
  $("stop").disabled = false;
  $("continue").hidden = running || view.status === "finished";
  $("start").disabled = running;
  $("progress").hidden = !running;
  $("failed").hidden = !view.failed;
  $("failed").textContent = view.failed ?? "";
  if (!running) $("doing").textContent = `${view.entries.length} entries`;
  $("verdict").textContent = verdict(view);
  $("skipped-box").hidden = !view.skipped.length;
  put($("skipped"), view.skipped.map((one) => el("li", {}, el("b", {}, one.learner), `: ${one.reason}`)));
  showBoard(view, first);
}

function showProgress(doing) {
  if (run?.status !== "running") return;
  $("doing").textContent = `${doing.what || "preparing"}${doing.total ? ` (${doing.done} of ${doing.total})` : ""}, ${seconds(doing.seconds ?? 0)}`;
  const bar = $("progress");
  if (doing.total) { bar.max = doing.total; bar.value = doing.done; } else bar.removeAttribute("value");
}

function verdict(view) {
  const [best, ...others] = view.entries;
  if (!best) return view.status === "running" ? "The first results come in a moment." : "No learner has a score.";
  const score = best.scores[0];
  const alike = others.filter((entry) => entry.p_value !== null && entry.p_value >= 0.05 && entry.learner !== "baseline").map((entry) => entry.title);
  const baseline = view.entries.find((entry) => entry.learner === "baseline");
  let text = `Best${view.status === "running" ? " so far" : ""}: ${best.title}, ${score.name} ${number(score.mean)} ± ${number(score.deviation, 2)}`;
  if (baseline && baseline !== best) text += ` (baseline ${number(baseline.scores[0].mean)})`;
  text += ".";
  if (alike.length) text += ` Not significantly worse: ${alike.slice(0, 5).join(", ")}${alike.length > 5 ? `, and ${alike.length - 5} more` : ""}.`;
  if (Object.keys(best.setting).length) text += " Its parameters were chosen on the same folds, so its score is slightly optimistic.";
  return text;
}

function showBoard(view, first) {
  if (!view.entries.length) return put($("board"), el("tbody", {}, el("tr", {}, el("td", { class: "empty" }, "No results yet."))));
  const names = view.entries.reduce((most, entry) => (entry.scores.length > most.length ? entry.scores.map((score) => score.name) : most), []);
  const folds = view.entries.flatMap((entry) => (entry.learner === "baseline" ? [entry.scores[0].mean] : entry.scores[0].folds)).filter(Number.isFinite);
  const better = view.entries[0].scores[0].higher_is_better;
  const means = view.entries.map((entry) => entry.scores[0].mean).sort((a, b) => (better ? b - a : a - b));
  // The scale leaves out learners that are far worse than most.
  const cut = means[Math.min(means.length - 1, Math.ceil(means.length * 0.75))];
  const kept = folds.filter((v) => (better ? v >= cut : v <= cut) || means.length < 5);
  const range = [Math.min(...kept), Math.max(...kept)];
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "#"), el("th", { scope: "col" }, "learner"), el("th", { scope: "col" }, `${names[0]} by fold`),
    names.map((name) => el("th", { scope: "col", class: "number" }, name)), el("th", { scope: "col", class: "number", title: "p-value of the difference from the best (paired corrected t-test)" }, "p"), el("th", { scope: "col", class: "number" }, "time"), el("th", { scope: "col" }, el("span", { class: "soft" }, "actions"))));
  const rows = view.entries.flatMap((entry, place) => {
    const fresh = !first && !seen.has(entry.title);
    seen.add(entry.title);
    const score = (name) => entry.scores.find((one) => one.name === name);
    const cell = (name, k) => {
      const one = score(name);
      if (!one) return el("td", {});
      const spread = one.folds.length > 1 ? ` ± ${number(one.deviation, 2)}` : "";
      return el("td", { class: "number", title: `${name} ${number(one.mean)}${spread}` }, number(one.mean), k === 0 ? el("span", { class: "soft" }, spread) : null);
    };
    const row = el("tr", { class: `${place === 0 ? "best" : ""}${fresh ? " new" : ""}`, "data-learner": entry.title }, el("td", {}, String(place + 1)),
      el("td", { class: "name", title: Object.entries(entry.setting).map(([k, v]) => `${k} = ${v}`).join(", ") }, entry.title, entry.not_converged ? el("span", { class: "pill warn", title: `did not converge in ${entry.not_converged} folds` }, "not converged") : null),
      el("td", {}, interval(entry.scores[0], range)), names.map(cell),
      el("td", { class: "number" }, entry.p_value === null ? "" : entry.p_value < 0.001 ? "<0.001" : entry.p_value.toFixed(3)), el("td", { class: "number" }, seconds(entry.seconds)),
      el("td", {}, el("div", { class: "row", style: "flex-wrap:nowrap" }, el("button", { class: place === 0 ? "primary" : null, onclick: () => attempt(() => train(entry)), "aria-label": `Train ${entry.title}` }, "Train"), el("button", { "aria-expanded": String(open.has(entry.title)), onclick: () => attempt(() => toggle(entry)), "aria-label": `Details of ${entry.title}` }, "Details"))));
    return open.has(entry.title) ? [row, el("tr", { class: "detail" }, el("td", { colspan: names.length + 6 }, open.get(entry.title)))] : [row];
  });
  const focused = document.activeElement?.getAttribute("aria-label");
  put($("board"), head, el("tbody", {}, rows));
  if (focused) [...$("board").querySelectorAll("button")].find((button) => button.getAttribute("aria-label") === focused)?.focus();
}

async function toggle(entry) {
  if (open.delete(entry.title)) return showBoard(run, false);
  const box = el("div", {}, el("p", { class: "soft" }, "Computing the learning curve…"));
  open.set(entry.title, box);
  showBoard(run, false);
  const params = Object.entries(entry.setting);
  const found = await api(`runs/${run.id}/entries/${entry.index}/curve`).catch((error) => ({ error }));
  if (found.error) return put(box, el("p", { class: "notice bad" }, found.error.message));
  const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const tested = found.points.map((point) => [point.at, point.score.mean]);
  const band = found.points.map((point) => [point.at, point.score.mean - point.score.deviation, point.score.mean + point.score.deviation]);
  const trained = found.points.map((point) => [point.at, mean(point.score.train)]);
  put(box, el("div", { class: "grid" }, el("div", {}, el("h3", {}, "Learning curve"), legend([["held-out rows", 0], ["training rows", 1]]),
    plot({ series: [{ kind: "band", points: band, color: 0 }, { kind: "points", points: tested, color: 0 }, { kind: "points", points: trained, color: 1 }], x: "rows learned from", y: found.measure, label: `Learning curve of ${entry.title}` })),
  el("div", { style: "min-width:0" }, el("h3", {}, "Parameters"), params.length ? el("ul", {}, params.map(([k, v]) => el("li", {}, el("code", {}, `${k} = ${v}`)))) : el("p", { class: "soft" }, entry.standardized ? "Defaults; columns are standardized." : "Defaults."), codeTabs(found.code))));
}

async function train(entry) {
  const model = await api("models", { body: { run: run.id, index: entry.index } });
  location.href = `/models/${model.id}`;
}

$("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const learners = [...document.querySelectorAll("input[name=learner]:checked")].map((box) => box.value);
    const body = { folds: Number($("folds").value), trials: Number($("trials").value), budget: $("budget").value ? Number($("budget").value) : null, seed: Number($("seed").value), measure: $("measure").value || null, learners };
    const view = await api("runs", { body });
    const state = await session();
    listRuns(state.runs);
    history.replaceState(null, "", `?run=${view.id}`);
    follow(view.id);
  });
});
$("stop").addEventListener("click", () => attempt(async () => { $("stop").disabled = true; $("doing").textContent = "stopping…"; await api(`runs/${run.id}/stop`, { method: "POST" }); }));
$("continue").addEventListener("click", () => attempt(() => api(`runs/${run.id}/continue`, { method: "POST" })));
$("run-choice").addEventListener("change", () => { history.replaceState(null, "", `?run=${$("run-choice").value}`); follow(Number($("run-choice").value)); });
addEventListener("pagehide", () => stream?.close());
addEventListener("pageshow", (event) => { if (event.persisted && run) follow(run.id); });
attempt(begin);
