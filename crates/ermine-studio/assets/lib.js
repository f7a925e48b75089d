// What all pages share: elements, requests, numbers, messages.

/** An element with attributes and children. Attributes that begin with "on" are listeners. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const $ = (id) => document.getElementById(id);

/** Replaces the children of an element. */
export function put(node, ...children) {
  node.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A request to the studio; its answer as JSON. Errors have the message of the studio. */
export async function api(path, options = {}) {
  const { body, ...rest } = options;
  const init = { ...rest };
  if (body !== undefined) {
    init.method ??= "POST";
    init.body = body instanceof Blob ? body : JSON.stringify(body);
    if (!(body instanceof Blob)) init.headers = { "content-type": "application/json" };
  }
  let response;
  try {
    response = await fetch("/api/" + path, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The studio doesn't answer. Is the program still running?");
  }
  const text = await response.text();
  const value = text ? JSON.parse(text) : null;
  if (!response.ok) {
    const error = new Error(value?.message ?? response.statusText);
    error.kind = value?.error;
    throw error;
  }
  return value;
}

/** Shows a message; errors stay until they are closed. */
export function notify(message, kind = "") {
  const box = el("div", { class: kind }, el("span", {}, String(message)));
  box.append(el("button", { class: "quiet", "aria-label": "Close the message", onclick: () => box.remove() }, "×"));
  $("messages").append(box);
  if (kind !== "bad") setTimeout(() => box.remove(), 6000);
}

/** Runs something, with a message if it fails. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") notify(error.message, "bad");
    return undefined;
  }
}

/** A number for people: four digits, thousands apart. */
export function number(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(2).replaceAll("-", "−");
  const text = Number.isInteger(x) ? x.toLocaleString("en-US") : Number(x.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 8 });
  return text.replace("-", "−");
}

export const count = (n) => n.toLocaleString("en-US");
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;

export function seconds(t) {
  if (t < 0.001) return "<1 ms";
  if (t < 1) return `${Math.round(t * 1000)} ms`;
  return t < 60 ? `${t.toFixed(1)} s` : `${Math.floor(t / 60)} min ${Math.round(t % 60)} s`;
}

export function bytes(n) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (n >= 1000 && unit < 3) { n /= 1000; unit += 1; }
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

/** Calls a function a little later, once for many calls. */
export function later(work, milliseconds) {
  let timer;
  return (...args) => { clearTimeout(timer); timer = setTimeout(() => work(...args), milliseconds); };
}

/** Tabs over code: shell, Python, Rust; each can be copied. */
export function codeTabs(code) {
  const names = { shell: "Command line", python: "Python", rust: "Rust" };
  const id = `code-${Math.random().toString(36).slice(2)}`;
  const text = el("pre", { id, tabindex: "0", role: "tabpanel", "aria-label": "Code" });
  const buttons = Object.keys(names).map((key) => el("button", {
    role: "tab", type: "button", "aria-controls": id, "aria-selected": "false", tabindex: "-1", onclick: () => show(key), onkeydown: (event) => move(event, key),
  }, names[key]));
  const keys = Object.keys(names);
  function show(key) {
    text.textContent = code[key];
    buttons.forEach((button, i) => { button.setAttribute("aria-selected", keys[i] === key); button.tabIndex = keys[i] === key ? 0 : -1; });
  }
  function move(event, key) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (keys.indexOf(key) + step + keys.length) % keys.length;
    show(keys[next]);
    buttons[next].focus();
  }
  const copy = el("button", { class: "quiet", type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text.textContent); notify("Copied."); } catch { notify("The browser doesn't allow copying; select the text instead.", "bad"); }
  } }, "Copy");
  show("shell");
  return el("div", {}, el("div", { class: "row center spread" }, el("div", { class: "tabs", role: "tablist", "aria-label": "Language" }, buttons), copy), text);
}

/** The session, and the open table at the top of the page. */
export async function session() {
  const state = await api("session");
  if (state.source) $("where").textContent = state.source.path.replace(/^\.ermine-studio\/uploads\//, "");
  return state;
}

/** The title of a model. */
export function modelTitle(origin) {
  const changed = Object.keys(origin.setting ?? {}).length;
  return `${origin.learner}${changed ? " (tuned)" : ""} · ${origin.data.target}`;
}

/** The tabs of the pages of a model. */
export function modelTabs(id, page) {
  const link = (path, title, key) => el("a", { href: `/models/${id}${path}`, "aria-current": key === page ? "page" : null }, title);
  return el("nav", { class: "tabs", "aria-label": "Model" }, link("", "Understand", "understand"), link("/what-if", "What if", "what-if"), link("/keep", "Keep", "keep"));
}

/** The number of the model in the address. */
export const modelId = () => Number(location.pathname.split("/")[2]);
