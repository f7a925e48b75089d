// Data: open a table, look at its columns, choose the target.
import { $, api, attempt, bytes, count, el, notify, number, percent, put, session } from "./lib.js";
import { columnChart, legend } from "./charts.js";

/** Columns shown at first; more on request. */
const SHOWN = 60;
let table = null;
let target = null;
let shown = SHOWN;
const NONE = "—";

async function listFiles(folder = "") {
  const { files } = await api(`files?folder=${encodeURIComponent(folder)}`);
  const parent = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "";
  const up = folder ? [el("li", {}, el("button", { type: "button", onclick: () => attempt(() => listFiles(parent)) }, "↑ up"))] : [];
  put($("files"), up, files.map((file) => el("li", {}, el("button", {
    type: "button", onclick: () => attempt(() => (file.is_folder ? listFiles(file.path) : openPath(file.path))),
  }, el("span", {}, file.is_folder ? `${file.name}/` : file.name), el("span", { class: "soft small" }, file.is_folder ? "" : bytes(file.n_bytes))))));
  if (!files.length && !folder) put($("files"), el("li", { class: "soft small" }, "There are no tables in this folder."));
}

async function openPath(path, types = {}) {
  document.body.setAttribute("aria-busy", "true");
  try {
    await api("open", { body: { path, types } });
    await load();
    $("opener").open = false;
  } finally {
    document.body.removeAttribute("aria-busy");
  }
}

async function upload(file) {
  $("uploading").hidden = false;
  try {
    await api(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    await load();
    $("opener").open = false;
  } finally {
    $("uploading").hidden = true;
  }
}

async function load() {
  await session();
  table = await api("table");
  target = await api("target").catch((error) => { notify(error.message, "bad"); return null; });
  shown = SHOWN;
  show();
}

function options(select, names, chosen) {
  put(select, el("option", { value: "" }, NONE), names.map((name) => el("option", { value: name, selected: name === chosen }, name)));
}

function show() {
  const { overview, source, notes } = table;
  const names = overview.columns.map((column) => column.name);
  const choice = target?.choice;
  $("title").textContent = source.path.split("/").pop();
  const missing = overview.columns.reduce((sum, column) => sum + column.n_missing, 0);
  $("lead").textContent = `${count(overview.n_rows)} rows, ${count(names.length)} columns, ${missing ? `${count(missing)} missing values` : "no missing values"}.`;
  options($("target"), names, choice?.target);
  options($("weight"), names, choice?.weight);
  options($("group"), names, choice?.group);
  $("task").value = choice?.task ?? "";
  $("table").hidden = false;
  $("next").hidden = !target;
  $("columns-title").textContent = `${count(names.length)} columns`;
  const about = target?.overview;
  $("summary").textContent = about ? targetText(about) : "Choose a target to see how each column relates to it.";
  put($("legend"), ...(about?.shown_classes.length ? legend(about.shown_classes.map((name, k) => [name, k])).children : []));
  const own = overview.columns.flatMap((column) => column.warnings.map((text) => `Column '${column.name}' ${text}.`));
  const texts = [...notes, ...(about?.warnings ?? []).map(([, text]) => text[0].toUpperCase() + text.slice(1) + (text.endsWith("?") ? "" : ".")), ...own];
  const list = [...new Set(texts)].map((text) => el("li", {}, text));
  put($("warnings"), list.slice(0, 6), list.length > 6 ? el("li", {}, `and ${list.length - 6} more, at the columns.`) : null);
  showColumns();
}

function targetText(about) {
  const dropped = about.n_dropped ? ` ${count(about.n_dropped)} rows without a target are left out.` : "";
  if (about.classes.length) {
    const listed = about.classes.slice(0, 6).map(([name, n]) => `${name} ${percent(n / about.n_rows)}`).join(", ");
    return `${about.task} of ${about.classes.length} classes: ${listed}${about.classes.length > 6 ? ", …" : ""}.${dropped}`;
  }
  return `${about.task} of a number from ${number(about.range?.[0])} to ${number(about.range?.[1])}.${dropped}`;
}

function showColumns() {
  const relations = new Map((target?.overview.relations ?? []).map((relation) => [relation.name, relation]));
  const columns = [...table.overview.columns];
  const order = $("order").value;
  if (order === "relation") columns.sort((a, b) => (relations.get(b.name)?.strength ?? -1) - (relations.get(a.name)?.strength ?? -1));
  if (order === "missing") columns.sort((a, b) => b.n_missing - a.n_missing);
  put($("columns"), columns.slice(0, shown).map((column) => card(column, relations.get(column.name))));
  $("more").hidden = columns.length <= shown;
}

function card(column, relation) {
  const choice = target?.choice;
  const role = choice?.target === column.name ? "target" : choice?.weight === column.name ? "weight" : choice?.group === column.name ? "group" : null;
  const off = choice?.ignore.includes(column.name);
  const kinds = ["numeric", "nominal", "ordinal", "boolean", "date", "ignored"];
  const now = table.source.types[column.name] ?? (column.is_date ? "date" : column.kind);
  const kind = el("select", { "aria-label": `Type of ${column.name}`, onchange: (event) => attempt(() => changeType(column.name, event.target.value)) },
    kinds.map((name) => el("option", { value: name, selected: name === now }, name)));
  const use = el("input", { type: "checkbox", checked: !off, disabled: !choice || role !== null, "aria-label": `Use ${column.name} as a feature`, onchange: () => attempt(() => toggle(column.name)) });
  const numbers = column.numbers;
  const facts = numbers && !column.is_date ? `median ${number(numbers.median)}` : "";
  const rows = table.overview.n_rows;
  return el("article", { class: `column${role === "target" ? " is-target" : ""}${off ? " off" : ""}`, "data-column": column.name },
    el("header", {}, role ? el("span", { class: "pill on" }, role) : use, el("b", { title: column.name }, column.name), kind),
    columnChart(column, role === "target" ? null : relation),
    el("div", { class: "facts" }, el("span", {}, column.n_missing ? `${percent(column.n_missing / rows)} missing` : "none missing"), el("span", {}, facts), el("span", {}, `${count(column.n_distinct)}${column.has_more ? "+" : ""} distinct`)),
    relation ? el("div", { class: "meter", title: "Share of the target's variance that this column explains by itself, on held-out rows" }, el("span", {}, "relation"), el("span", {}, el("i", { style: `width:${100 * relation.strength}%` })), el("span", {}, percent(relation.strength, 0))) : null,
    column.warnings.map((text) => el("div", { class: "warn" }, `⚠ ${text}`)),
    (target?.overview.warnings ?? []).filter(([name]) => name === column.name).map(([, text]) => el("div", { class: "warn" }, `⚠ ${text.replace(`column '${column.name}' `, "")}`)));
}

async function changeType(name, kind) {
  const types = { ...table.source.types, [name]: kind };
  if (kind === "ignored" && target?.choice.target === name) return notify("The target can't be ignored.", "bad");
  await openPath(table.source.path, types);
}

async function toggle(name) {
  const ignore = new Set(target.choice.ignore);
  if (!ignore.delete(name)) ignore.add(name);
  await choose([...ignore]);
}

async function choose(ignore) {
  const name = $("target").value;
  if (!name) return;
  const special = [name, $("weight").value, $("group").value];
  const left = (ignore ?? target?.choice.ignore ?? []).filter((column) => !special.includes(column));
  target = await api("target", { body: { target: name, task: $("task").value || null, weight: $("weight").value || null, group: $("group").value || null, ignore: left } });
  show();
}

let start = 0;
async function showRows() {
  const page = await api(`rows?start=${start}`);
  put($("rows-table"), el("caption", {}, "Values as they were read; empty cells are missing."), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "row"), page.names.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, page.rows.map((row, i) => el("tr", {}, el("th", { scope: "row" }, count(page.start + i + 1)), row.map((cell) => el("td", {}, cell))))));
  $("rows-place").textContent = `${count(page.start + 1)}–${count(page.start + page.rows.length)} of ${count(page.n_rows)}`;
  $("before").disabled = start === 0;
  $("after").disabled = page.start + page.rows.length >= page.n_rows;
}

$("open-form").addEventListener("submit", (event) => { event.preventDefault(); attempt(() => openPath($("path").value.trim())); });
$("file").addEventListener("change", (event) => { const [file] = event.target.files; if (file) attempt(() => upload(file)); event.target.value = ""; });
for (const id of ["target", "task", "weight", "group"]) $(id).addEventListener("change", () => attempt(async () => { try { await choose(); } catch (error) { await load(); throw error; } }));
$("roles").addEventListener("submit", (event) => event.preventDefault());
$("order").addEventListener("change", showColumns);
$("more").addEventListener("click", () => { shown += SHOWN; showColumns(); });
$("rows").addEventListener("toggle", () => { if ($("rows").open) attempt(showRows); });
$("before").addEventListener("click", () => { start = Math.max(0, start - 50); attempt(showRows); });
$("after").addEventListener("click", () => { start += 50; attempt(showRows); });
const drop = document.body;
drop.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
drop.addEventListener("dragleave", () => $("drop").classList.remove("over"));
drop.addEventListener("drop", (event) => { event.preventDefault(); $("drop").classList.remove("over"); const [file] = event.dataTransfer.files; if (file) attempt(() => upload(file)); });

attempt(async () => {
  const state = await session();
  $("folder").textContent = `Folder: ${state.folder}`;
  await listFiles();
  if (state.source) await load();
  else $("opener").open = true;
});
