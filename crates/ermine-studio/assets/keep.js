// Keep: save, export, report, serve.
import { $, api, attempt, bytes, codeTabs, el, modelId, modelTabs, modelTitle, notify, put, session } from "./lib.js";

const id = modelId();
const FORMATS = { ermine: "Ermine", onnx: "ONNX", c: "C", rust: "Rust", json: "JSON" };

/** Downloads through a request, so that a format that the model doesn't support gives a message and not an empty page. */
async function download(format) {
  const response = await fetch(`/api/models/${id}/export/${format}`);
  if (!response.ok) throw new Error((await response.json()).message);
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `model.${format}`;
  const link = el("a", { href: URL.createObjectURL(await response.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  notify(`Downloaded ${name}.`);
}

async function save(replace = false) {
  const path = $("path").value.trim();
  try {
    const saved = await api(`models/${id}/save`, { body: { path, replace } });
    $("saved").textContent = `Saved ${saved.path} (${bytes(saved.n_bytes)}).`;
  } catch (error) {
    if (error.kind === "exists" && confirm(`${error.message}. Replace it?`)) return save(true);
    throw error;
  }
}

function showServed(url) {
  $("stop").hidden = !url;
  $("serve").hidden = Boolean(url);
  put($("served"), url ? [el("p", { style: "margin-top:.7rem" }, "At ", el("a", { href: url, target: "_blank", rel: "noreferrer" }, url)), el("pre", { tabindex: "0" }, `curl ${url}/models/${id}-model/predict -d '${JSON.stringify({ rows: [example] })}'`)] : null);
}

let example = {};

attempt(async () => {
  await session();
  const model = await api(`models/${id}`);
  $("title").textContent = `Keep · ${modelTitle(model.origin)}`;
  put($("tabs"), modelTabs(id, "keep"));
  $("path").value = `${model.origin.data.target.replace(/[^\p{L}\p{N}_-]/gu, "_")}.ermine`;
  put($("downloads"), Object.entries(FORMATS).map(([format, title]) => el("button", { type: "button", "data-format": format, onclick: () => attempt(() => download(format)) }, title)));
  $("report").href = `/api/models/${id}/report`;
  put($("code"), codeTabs(await api(`models/${id}/code`)));
  const form = await api(`models/${id}/form`).catch(() => ({ fields: [] }));
  example = Object.fromEntries(form.fields.map((one) => [one.name, one.start]));
  showServed(model.served);
});
$("save").addEventListener("submit", (event) => { event.preventDefault(); attempt(() => save()); });
$("serve").addEventListener("click", () => attempt(async () => { showServed((await api(`models/${id}/serve`, { method: "POST" })).url); }));
$("stop").addEventListener("click", () => attempt(async () => { await api(`models/${id}/serve`, { method: "DELETE" }); showServed(null); }));
