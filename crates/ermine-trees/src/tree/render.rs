//! A tree as SVG, as a collapsible HTML page, and in Graphviz's DOT language.
//!
//! **Layout.** Leaves are placed from left to right, a node above the middle of its children; the width of an edge is proportional to its fraction of the rows. For a large tree only the upper levels are
//! drawn, with the number of hidden nodes.

use super::describe::{DescribedTree, legend};
use ermine_core::chart::svg::{Anchor, COLORS, Svg, escape};
use ermine_core::chart::text::number;
use ermine_core::matrix::Task;
use std::fmt::Write;

/// Maximum number of nodes of an SVG.
const PICTURE: usize = 127;
/// Maximum number of nodes of a page or a graph.
const PAGE: usize = 5000;
/// Maximum depth of a page.
const DEFAULT_MAX_DEPTH: usize = 100;

const BOX: (f64, f64) = (190.0, 74.0);
const GAP: (f64, f64) = (14.0, 56.0);
/// Height of the class legend.
const LEGEND: f64 = 26.0;

/// The nodes to show: whole sibling groups from the top, up to `most` nodes and `deepest` levels.
fn shown(tree: &impl DescribedTree, most: usize, deepest: usize) -> Vec<bool> {
    let mut shown = vec![false; tree.n_nodes()];
    shown[0] = true;
    let mut n_shown = 1;
    let mut queue = std::collections::VecDeque::from([(0usize, 0usize)]);
    while let Some((node, depth)) = queue.pop_front() {
        let children = tree.children(node);
        if children.is_empty() || depth == deepest || n_shown + children.len() > most {
            continue;
        }
        n_shown += children.len();
        for child in children {
            shown[child] = true;
            queue.push_back((child, depth + 1));
        }
    }
    shown
}

/// The number of nodes below each node.
fn below(tree: &impl DescribedTree) -> Vec<usize> {
    let mut count = vec![0; tree.n_nodes()];
    for node in (0..tree.n_nodes()).rev() {
        count[node] = tree.children(node).map(|child| count[child] + 1).sum();
    }
    count
}

/// The shown nodes in preorder, with their depths.
fn in_order(tree: &impl DescribedTree, shown: &[bool]) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    let mut stack = vec![(0usize, 0usize)];
    while let Some((node, depth)) = stack.pop() {
        order.push((node, depth));
        stack.extend(tree.children(node).rev().filter(|&child| shown[child]).map(|child| (child, depth + 1)));
    }
    order
}

/// The tree as SVG.
pub fn svg(tree: &impl DescribedTree) -> String {
    let shown = shown(tree, PICTURE, DEFAULT_MAX_DEPTH);
    let order = in_order(tree, &shown);
    let is_open = |node: usize| tree.children(node).next().is_some_and(|child| shown[child]);
    let mut center = vec![0.0; tree.n_nodes()];
    let mut n_ends = 0;
    for &(node, _) in order.iter().filter(|(node, _)| !is_open(*node)) {
        center[node] = GAP.0 + BOX.0 / 2.0 + f64::from(n_ends) * (BOX.0 + GAP.0);
        n_ends += 1;
    }
    for &(node, _) in order.iter().rev().filter(|(node, _)| is_open(*node)) {
        let children = tree.children(node);
        center[node] = (center[children.start] + center[children.end - 1]) / 2.0;
    }
    let depth = order.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    let top = |depth: usize| GAP.1 / 2.0 + depth as f64 * (BOX.1 + GAP.1);
    let (width, bottom) = (f64::from(n_ends) * (BOX.0 + GAP.0) + GAP.0, top(depth) + BOX.1 + GAP.1 / 2.0);
    let classes: &[String] = if tree.schema().task == Task::Classification { &tree.schema().classes } else { &[] };
    let lines = f64::from(u8::from(!classes.is_empty())) + f64::from(u8::from(tree.note().is_some()));
    let mut picture = Svg::new(width, bottom + lines * LEGEND);
    legend(&mut picture, classes, (GAP.0, bottom), width);
    if let Some(note) = tree.note() {
        picture.text(GAP.0, bottom + (lines - 0.6) * LEGEND, Anchor::Start, "small", note);
    }
    let count = below(tree);
    for &(node, depth) in &order {
        if is_open(node) {
            for (i, child) in tree.children(node).enumerate() {
                let share = tree.weight(child) / tree.weight(0).max(f64::MIN_POSITIVE);
                let (from, to) = ((center[node], top(depth) + BOX.1), (center[child], top(depth + 1)));
                picture.edge(from, to, 1.0 + 11.0 * share);
                let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0 + 4.0);
                picture.text(middle.0, middle.1, Anchor::Middle, "small", &short(&tree.answer(node, i), 22));
            }
        }
        let hidden = if is_open(node) { 0 } else { count[node] };
        draw_node(&mut picture, tree, node, (center[node] - BOX.0 / 2.0, top(depth)), hidden);
    }
    picture.finish()
}

fn draw_node(svg: &mut Svg, tree: &impl DescribedTree, node: usize, (x, y): (f64, f64), hidden: usize) {
    let middle = x + BOX.0 / 2.0;
    svg.rect((x, y), BOX, "box", None);
    let title = tree.title(node);
    // Keep the threshold of a long test visible.
    let title =
        if title.contains(" <= ") || title.contains(" >= ") { short_inside(&title, 24) } else { short(&title, 24) };
    svg.text(middle, y + 18.0, Anchor::Middle, "", &title);
    let more = if hidden > 0 { format!(", {hidden} nodes below") } else { String::new() };
    svg.text(middle, y + 34.0, Anchor::Middle, "small", &format!("{}{more}", rows(tree.weight(node))));
    if tree.schema().task == Task::Classification {
        let mut from = x + 8.0;
        for (k, share) in tree.value(node).iter().enumerate() {
            let part = share * (BOX.0 - 16.0);
            svg.rect((from, y + 42.0), (part, 12.0), "", Some(COLORS[k % COLORS.len()]));
            from += part;
        }
    }
    if !tree.is_leaf(node) {
        let prefix = tree.staying(node).map_or_else(String::new, |rows| format!("{rows}: "));
        svg.text(middle, y + 67.0, Anchor::Middle, "small", &short(&format!("{prefix}{}", tree.prediction(node)), 30));
    }
}

/// The number of rows as text.
fn rows(weight: f64) -> String {
    format!("{} {}", number(weight), if weight == 1.0 { "row" } else { "rows" })
}

/// Shortens text in the middle, keeping its last 13 characters.
fn short_inside(text: &str, most: usize) -> String {
    const KEPT: usize = 13;
    let n = text.chars().count();
    if n <= most {
        return text.to_string();
    }
    text.chars().take(most - KEPT - 1).chain(['…']).chain(text.chars().skip(n - KEPT)).collect()
}

/// Shortens text at its end.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The tree as an HTML page with collapsible branches.
pub fn html(tree: &impl DescribedTree) -> String {
    let shown = shown(tree, PAGE, DEFAULT_MAX_DEPTH);
    let count = below(tree);
    let mut page = String::from(concat!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>tree</title>\n<style>",
        "body{font:15px system-ui,sans-serif;margin:2em;color:#222;background:#fff}details,.leaf{margin-left:1.4em}",
        "summary{cursor:pointer}.n{color:#666;font-size:.85em}.bar{display:inline-flex;width:120px;height:.8em;",
        "margin:0 .6em;vertical-align:middle}.bar i{display:block;height:100%}.a{color:#0072b2}",
        "@media(prefers-color-scheme:dark){body{background:#1b1b1d;color:#eee}.n{color:#aaa}.a{color:#56b4e9}}",
        "</style>\n",
    ));
    if tree.schema().task == Task::Classification {
        for (k, class) in tree.schema().classes.iter().enumerate() {
            let color = COLORS[k % COLORS.len()];
            let _ = write!(page, "<span style=\"color:{color}\">■</span> {}&ensp;", escape(class));
        }
        page.push('\n');
    }
    if let Some(note) = tree.note() {
        let _ = writeln!(page, "<p class=\"n\">{}</p>", escape(note));
    }
    // A node to open, or the end of one.
    let mut stack = vec![Some((0usize, String::new(), 0usize))];
    while let Some(next) = stack.pop() {
        let Some((node, answered, depth)) = next else {
            page.push_str("</details>\n");
            continue;
        };
        let children = tree.children(node);
        let open = children.clone().next().is_some_and(|child| shown[child]);
        let label = label(tree, node, &answered, if open { 0 } else { count[node] });
        if !open {
            let _ = writeln!(page, "<div class=\"leaf\">{label}</div>");
            continue;
        }
        let unfolded = if depth < 4 { " open" } else { "" };
        let _ = writeln!(page, "<details{unfolded}><summary>{label}</summary>");
        stack.push(None);
        let child = |(i, child): (usize, usize)| Some((child, tree.answer(node, i), depth + 1));
        let children: Vec<_> = children.enumerate().map(child).collect();
        stack.extend(children.into_iter().rev());
    }
    page
}

fn label(tree: &impl DescribedTree, node: usize, answered: &str, hidden: usize) -> String {
    let mut label = String::new();
    if !answered.is_empty() {
        let _ = write!(label, "<span class=\"a\">{}:</span> ", escape(answered));
    }
    let arrow = if tree.is_leaf(node) { "→ " } else { "" };
    let _ = write!(label, "{arrow}{}", escape(&tree.title(node)));
    if tree.schema().task == Task::Classification {
        label.push_str("<span class=\"bar\">");
        for (k, share) in tree.value(node).iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let color = COLORS[k % COLORS.len()];
            let _ = write!(label, "<i style=\"width:{:.1}%;background:{color}\"></i>", 100.0 * share);
        }
        label.push_str("</span>");
    }
    let more = if hidden > 0 { format!(", {hidden} nodes below") } else { String::new() };
    let stays = tree.staying(node).map_or_else(String::new, |rows| format!("; {rows}: {}", tree.prediction(node)));
    let _ = write!(label, " <span class=\"n\">{}{more}{}</span>", rows(tree.weight(node)), escape(&stays));
    label
}

/// The tree in Graphviz's DOT language.
pub fn dot(tree: &impl DescribedTree) -> String {
    let shown = shown(tree, PAGE, usize::MAX);
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
    let mut graph = String::from("digraph tree {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    for (node, _) in in_order(tree, &shown) {
        let stays = |rows: &str| format!("\\n{rows}: {}", quoted(&tree.prediction(node)));
        let stays = tree.staying(node).map_or_else(String::new, stays);
        let (title, rows) = (quoted(&tree.title(node)), rows(tree.weight(node)));
        let _ = writeln!(graph, "  n{node} [label=\"{title}\\n{rows}{stays}\"];");
        for (i, child) in tree.children(node).enumerate().filter(|(_, child)| shown[*child]) {
            let width = 1.0 + 6.0 * tree.weight(child) / tree.weight(0).max(f64::MIN_POSITIVE);
            let branch = tree.answer(node, i);
            let _ = writeln!(graph, "  n{node} -> n{child} [label=\"{}\", penwidth={width:.2}];", quoted(&branch));
        }
    }
    if let Some(note) = tree.note() {
        let _ = writeln!(graph, "  label=\"{}\";", quoted(note));
    }
    graph.push_str("}\n");
    graph
}
