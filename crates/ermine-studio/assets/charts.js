// Charts as SVG: small functions that return an element.
import { el, s, number } from "./lib.js";

/** Round values between low and high. */
export function ticks(low, high, n = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power;
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) found.push(Math.abs(x) < step * 1e-9 ? 0 : x);
  return found;
}

const extent = (values) => values.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);

/** A plot with axes. `series` have points [x, y], a kind (line, dots, steps, guide) and a color from 0 to 5. */
export function plot({ series, x, y, xRange, yRange, width = 360, height = 260, label, square = false, extra = null, xTicks = null }) {
  const margin = { left: 50, right: 12, top: 10, bottom: 40 };
  const all = series.flatMap((one) => one.points).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  let [x0, x1] = xRange ?? extent(all.map((p) => p[0]));
  let [y0, y1] = yRange ?? extent(all.map((p) => p[1]));
  if (!yRange && y1 > y0) { const pad = 0.06 * (y1 - y0); y0 -= pad; y1 += pad; }
  if (!(x1 > x0)) { x0 -= 0.5; x1 += 0.5; }
  if (!(y1 > y0)) { y0 -= 0.5; y1 += 0.5; }
  if (square) height = width;
  const w = width - margin.left - margin.right;
  const h = height - margin.top - margin.bottom;
  const X = (v) => margin.left + (w * (v - x0)) / (x1 - x0);
  const Y = (v) => margin.top + h - (h * (v - y0)) / (y1 - y0);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": label });
  svg.append(s("path", { class: "axis", d: `M${margin.left} ${margin.top}V${margin.top + h}H${margin.left + w}` }));
  for (const t of ticks(y0, y1, 4)) {
    svg.append(s("path", { class: "axis", d: `M${margin.left - 4} ${Y(t)}h${w + 4}`, opacity: ".55" }), s("text", { x: margin.left - 7, y: Y(t) + 4, "text-anchor": "end" }, number(t, 3)));
  }
  const names = xTicks ?? ticks(x0, x1, 5).map((t) => [t, number(t, 3)]);
  for (const [t, name] of names) svg.append(s("text", { x: X(t), y: margin.top + h + 16, "text-anchor": "middle" }, name));
  svg.append(s("text", { x: margin.left + w / 2, y: height - 6, "text-anchor": "middle", class: "strong" }, x));
  svg.append(s("text", { x: -(margin.top + h / 2), y: 12, transform: "rotate(-90)", "text-anchor": "middle", class: "strong" }, y));
  for (const one of series) {
    const color = one.color ?? 0;
    const points = one.points.filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
    if (one.kind === "dots") {
      const group = s("g", { class: `f${color}`, opacity: one.opacity ?? 0.55 });
      points.forEach(([a, b]) => group.append(s("circle", { cx: X(a), cy: Y(b), r: one.radius ?? 2.6 })));
      svg.append(group);
    } else if (one.kind === "band") {
      const up = one.points.map(([a, , b]) => `${X(a)} ${Y(b)}`);
      const down = one.points.map(([a, b]) => `${X(a)} ${Y(b)}`).reverse();
      svg.append(s("path", { class: `f${color}`, opacity: ".16", d: `M${[...up, ...down].join("L")}Z` }));
    } else if (points.length) {
      const d = points.map(([a, b], i) => `${i ? "L" : "M"}${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join("");
      svg.append(s("path", { class: one.kind === "guide" ? "guide" : `line s${color}`, opacity: one.opacity ?? 1, "stroke-width": one.thick ?? null, d }));
      if (one.kind === "points") points.forEach(([a, b]) => svg.append(s("circle", { class: `f${color}`, cx: X(a), cy: Y(b), r: 3 })));
    }
  }
  if (extra) extra(svg, X, Y);
  return svg;
}

/** A legend: [name, color]. */
export function legend(entries) {
  return el("ul", { class: "legend" }, entries.map(([name, color]) => el("li", {}, el("i", { class: `b${color}` }), name)));
}

/** A value of a column: a number, or the day of a date. */
function valueText(column, value) {
  return column.in_days ? new Date(value * column.in_days * 86400000).toISOString().slice(0, 10) : number(value);
}

/** The distribution of a column as small bars; stacked by class, or with the mean target as a line. */
export function columnChart(column, relation) {
  const bars = column.bars;
  const width = 240, height = 56;
  if (bars.type === "empty") return el("p", { class: "small soft" }, "no values");
  const counts = bars.type === "categories" && bars.others > 0 ? [...bars.counts, bars.others] : bars.counts;
  const most = Math.max(...counts, 1);
  const step = width / counts.length;
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height + 14}`, width: "100%", role: "img", "aria-label": `Distribution of ${column.name}` });
  counts.forEach((n, bar) => {
    const name = bars.type === "categories" ? bars.names[bar] ?? "other categories" : bars.type === "values" ? valueText(column, bars.at[bar]) : `${valueText(column, bars.edges[bar])} to ${valueText(column, bars.edges[bar + 1])}`;
    const group = s("g", {}, s("title", {}, `${name}: ${n.toLocaleString("en-US")} rows`));
    const x = bar * step + (step > 6 ? 1 : 0.25), w = step - (step > 6 ? 2 : 0.5);
    let bottom = height;
    if (relation?.by_class?.length) {
      const total = relation.by_class.reduce((sum, one) => sum + (one[bar] ?? 0), 0);
      relation.by_class.forEach((one, shade) => {
        if (!total || !one[bar]) return;
        const h = (height * n * one[bar]) / total / most;
        bottom -= h;
        group.append(s("rect", { class: `f${shade}`, x, y: bottom, width: w, height: h }));
      });
    } else {
      const h = Math.max((height * n) / most, n ? 0.75 : 0);
      group.append(s("rect", { class: "f0", opacity: relation?.means?.length ? 0.45 : 0.85, x, y: height - h, width: w, height: h }));
    }
    svg.append(group);
  });
  if (relation?.means?.length) {
    const known = relation.means.map((y, bar) => [bar, y]).filter(([bar, y]) => y !== null && counts[bar] > 0);
    const [low, high] = extent(known.map(([, y]) => y));
    const Y = (y) => height - 4 - ((height - 8) * (y - low)) / (high - low || 1);
    svg.append(s("path", { class: "line s1", d: known.map(([bar, y], i) => `${i ? "L" : "M"}${(bar + 0.5) * step} ${Y(y)}`).join("") }));
    known.forEach(([bar, y]) => svg.append(s("circle", { class: "f1", cx: (bar + 0.5) * step, cy: Y(y), r: 2 })));
  }
  const ends = bars.type === "intervals" ? [valueText(column, bars.edges[0]), valueText(column, bars.edges[bars.edges.length - 1])] : bars.type === "values" ? [valueText(column, bars.at[0]), valueText(column, bars.at[bars.at.length - 1])] : [shorten(bars.names[0]), counts.length > 1 ? shorten(bars.names[bars.names.length - 1]) : ""];
  svg.append(s("text", { x: 0, y: height + 12 }, ends[0]), s("text", { x: width, y: height + 12, "text-anchor": "end" }, ends[1]));
  return svg;
}

export const shorten = (text, n = 16) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);

/** The scores of one entry on the scale of all: a dot for each fold, the mean, and an interval of one standard deviation. */
export function interval(score, [low, high]) {
  const width = 190, height = 22;
  const X = (v) => 6 + ((width - 12) * (v - low)) / (high - low || 1);
  const clip = (v) => Math.min(Math.max(v, low), high);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${score.name} ${number(score.mean)}, standard deviation ${number(score.deviation)}` });
  svg.append(s("path", { class: "axis", d: `M6 11H${width - 6}` }));
  score.folds.forEach((v) => svg.append(s("circle", { class: "f5", opacity: ".5", cx: X(clip(v)), cy: 11, r: 2.2 })));
  svg.append(s("path", { class: "s0", "stroke-width": 3, opacity: ".55", d: `M${X(clip(score.mean - score.deviation))} 11H${X(clip(score.mean + score.deviation))}` }));
  svg.append(s("circle", { class: "f0", cx: X(clip(score.mean)), cy: 11, r: 4.5 }));
  return svg;
}

/** Horizontal bars with error bars: [name, value, deviation]. */
export function errorBars(rows, { label, unit }) {
  const height = 24 * rows.length + 34, left = 150, width = 440;
  const high = Math.max(...rows.map(([, v, d]) => v + d), 1e-12), low = Math.min(0, ...rows.map(([, v, d]) => v - d));
  const X = (v) => left + ((width - left - 14) * (v - low)) / (high - low);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": label });
  rows.forEach(([name, v, d], i) => {
    const y = 24 * i + 4;
    svg.append(s("text", { x: left - 8, y: y + 13, "text-anchor": "end", class: "strong" }, s("title", {}, name), shorten(name, 22)));
    svg.append(s("rect", { class: "f0", opacity: ".8", x: Math.min(X(0), X(v)), y, width: Math.abs(X(v) - X(0)), height: 17, rx: 2 }, s("title", {}, `${name}: ${number(v)} ± ${number(d)}`)));
    svg.append(s("path", { stroke: "var(--ink)", "stroke-width": 1.3, fill: "none", d: `M${X(v - d)} ${y + 8.5}H${X(v + d)}M${X(v - d)} ${y + 5}v7M${X(v + d)} ${y + 5}v7` }));
  });
  const y = 24 * rows.length + 6;
  svg.append(s("path", { class: "axis", d: `M${X(0)} 0V${y}` }));
  ticks(low, high, 4).forEach((t) => svg.append(s("text", { x: X(t), y: y + 12, "text-anchor": "middle" }, number(t, 3))));
  svg.append(s("text", { x: (left + width) / 2, y: y + 26, "text-anchor": "middle" }, unit));
  return svg;
}

/** SHAP values of many rows: a dot for each row, colored by the value of the column. */
export function beeswarm(columns, output, label) {
  const height = 34 * columns.length + 40, left = 140, width = 560;
  const all = columns.flatMap((column) => column.shap[output]);
  let [low, high] = extent([...all, 0]);
  const pad = 0.04 * (high - low || 1); low -= pad; high += pad;
  const X = (v) => left + ((width - left - 10) * (v - low)) / (high - low);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": label });
  svg.append(s("path", { class: "axis", d: `M${X(0)} 0V${34 * columns.length}` }));
  columns.forEach((column, k) => {
    const middle = 34 * k + 17;
    svg.append(s("text", { x: left - 8, y: middle + 4, "text-anchor": "end", class: "strong" }, shorten(column.feature, 20)));
    const present = column.values.filter((v) => v !== null);
    const sorted = [...present].sort((a, b) => a - b);
    const [a, b] = [sorted[Math.floor(0.05 * sorted.length)] ?? 0, sorted[Math.floor(0.95 * (sorted.length - 1))] ?? 1];
    const taken = new Map();
    column.shap[output].forEach((v, row) => {
      const cell = Math.round(X(v) / 3.2);
      const n = taken.get(cell) ?? 0;
      taken.set(cell, n + 1);
      const offset = Math.min(Math.ceil(n / 2), 6) * 2.2 * (n % 2 ? 1 : -1);
      const value = column.values[row];
      const share = value === null ? null : Math.min(1, Math.max(0, b > a ? (value - a) / (b - a) : 0.5));
      const color = share === null ? "var(--soft)" : `color-mix(in oklab, var(--c1) ${Math.round(100 * share)}%, var(--c0))`;
      const text = column.texts ? column.texts[row] : number(value);
      svg.append(s("circle", { cx: X(v).toFixed(1), cy: (middle + offset).toFixed(1), r: 2.3, fill: color, opacity: ".8" }, s("title", {}, `${column.feature} = ${text}: ${number(v)}`)));
    });
  });
  const y = 34 * columns.length + 4;
  ticks(low, high, 5).forEach((t) => svg.append(s("text", { x: X(t), y: y + 12, "text-anchor": "middle" }, number(t, 3))));
  svg.append(s("text", { x: (left + width) / 2, y: y + 28, "text-anchor": "middle" }, "contribution to the prediction"));
  return svg;
}

/** Contributions of columns to one prediction, the largest first: [name, value]. */
export function contributions(rows, label) {
  const height = 26 * rows.length + 22, left = 150, width = 460;
  const most = Math.max(...rows.map(([, v]) => Math.abs(v)), 1e-9);
  const zero = left + (width - left) / 2;
  const W = (v) => ((width - left) / 2 - 50) * (v / most);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, role: "img", "aria-label": label });
  svg.append(s("path", { class: "axis", d: `M${zero} 0V${26 * rows.length}` }));
  rows.forEach(([name, v], i) => {
    const y = 26 * i + 4, w = W(v);
    svg.append(s("text", { x: left - 8, y: y + 13, "text-anchor": "end", class: "strong" }, s("title", {}, name), shorten(name, 22)));
    svg.append(s("rect", { class: v >= 0 ? "f1" : "f0", x: Math.min(zero, zero + w), y, width: Math.max(Math.abs(w), 0.5), height: 18, rx: 2 }));
    svg.append(s("text", { x: zero + w + (v >= 0 ? 5 : -5), y: y + 13, "text-anchor": v >= 0 ? "start" : "end" }, `${v > 0 ? "+" : ""}${number(v, 3)}`));
  });
  svg.append(s("text", { x: zero - 8, y: height - 5, "text-anchor": "end" }, "← lowers"), s("text", { x: zero + 8, y: height - 5 }, "raises →"));
  return svg;
}
