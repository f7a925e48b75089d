// Models: all of the session; train one more.
import { $, api, attempt, el, modelTitle, put, session } from "./lib.js";

const STATUS = { training: ["training", "on"], ready: ["ready", "good"], failed: ["failed", "bad"], interrupted: ["interrupted", "warn"] };

function show(models) {
  if (!models.length) return put($("models"), el("tbody", {}, el("tr", {}, el("td", { class: "empty" }, "No models yet. Train one from the ", el("a", { href: "/compare" }, "leaderboard"), "."))));
  put($("models"), el("thead", {}, el("tr", {}, ["model", "data", "state", "actions"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, [...models].reverse().map((model) => {
    const [title, kind] = STATUS[model.status];
    return el("tr", {}, el("td", {}, el("a", { href: `/models/${model.id}` }, el("b", {}, modelTitle(model.origin)))), el("td", {}, model.origin.data.source.path.split("/").pop()),
      el("td", {}, el("span", { class: `pill ${kind}`, title: model.message }, title), " ", el("span", { class: "small soft" }, model.status === "ready" ? "" : model.message)),
      el("td", {}, el("div", { class: "row" },
        model.status === "ready" ? [el("a", { class: "button", href: `/models/${model.id}/what-if` }, "What if"), el("a", { class: "button", href: `/models/${model.id}/keep` }, "Keep")] : null,
        model.status === "interrupted" || model.status === "failed" ? el("button", { onclick: () => attempt(async () => { const next = await api("models", { body: { model: model.id } }); location.href = `/models/${next.id}`; }) }, "Train again") : null,
        model.status !== "training" ? el("button", { class: "danger", "aria-label": `Delete ${modelTitle(model.origin)}`, onclick: () => attempt(async () => { if (confirm("Delete this model and its files?")) { await api(`models/${model.id}`, { method: "DELETE" }); await refresh(); } }) }, "Delete") : null)));
  })));
}

async function refresh() {
  const state = await session();
  show(state.models);
  if (state.models.some((model) => model.status === "training")) setTimeout(() => attempt(refresh), 700);
  return state;
}

attempt(async () => {
  const state = await refresh();
  if (!state.choice) return;
  const { learners } = await api("learners");
  const summary = () => { $("learner-summary").textContent = `${learners.find((one) => one.name === $("learner").value)?.summary ?? ""}. Predicts ${state.choice.target} of ${state.choice.source.path.split("/").pop()}.`; };
  put($("learner"), learners.map((learner) => el("option", { value: learner.name, selected: learner.name === "gradient-boosting" }, learner.name)));
  $("learner").addEventListener("change", summary);
  summary();
  $("train").hidden = false;
  $("train").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const pairs = $("params").value.trim().split(/\s+/).filter(Boolean).map((word) => { const at = word.indexOf("="); if (at < 1) throw new Error(`'${word}' is not NAME=VALUE`); return [word.slice(0, at).replaceAll("-", "_"), word.slice(at + 1)]; });
      const model = await api("models", { body: { learner: $("learner").value, setting: Object.fromEntries(pairs) } });
      location.href = `/models/${model.id}`;
    });
  });
});
