//! Sums of trees as ONNX: one `TreeEnsemble` in double precision, then the link in standard operators.
//!
//! ```text
//! X: double [rows, columns] -> (unknown categories become NaN) -> TreeEnsemble -> (Div) -> link -> "prediction" or "probabilities" and "label"
//! ```
//!
//! A test for each category becomes a chain of equalities. A tree that is a single leaf asks a question with the same leaf on both sides, since ONNX has no such tree.
//!
//! **Reference.** ONNX operator `ai.onnx.ml.TreeEnsemble`, version 5.

use super::protobuf::Message;
use ermine_core::error::Result;
use ermine_core::matrix::{Schema, Task};
use ermine_core::model::{Link, Model, TreeEnsemble};
use ermine_trees::ensemble::TreeSum;
use ermine_trees::split::Test;
use ermine_trees::tree::Tree;

/// Types of tensors.
mod tensor {
    pub const UINT8: i64 = 2;
    pub const INT64: i64 = 7;
    pub const STRING: i64 = 8;
    pub const BOOL: i64 = 9;
    pub const DOUBLE: i64 = 11;
}

/// How a node compares.
mod mode {
    pub const AT_MOST: u8 = 0;
    pub const EQUAL: u8 = 4;
    pub const MEMBER: u8 = 6;
}

/// The model as the bytes of an ONNX file.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    let sum = TreeSum::of_model(model)?;
    let schema = model.schema();
    let (k, d) = (sum.n_outputs(), schema.features.len());
    let mut graph = Graph::default();
    let known = graph.known(schema);
    graph.node("TreeEnsemble", ML, &[known], "sums", ensemble(&sum));
    let mut scores = "sums";
    if sum.divisor != 1.0 {
        graph.constant("divisor", &[sum.divisor], &[1]);
        graph.node("Div", "", &[scores, "divisor"], "scores", Vec::new());
        scores = "scores";
    }
    let classes = schema.task == Task::Classification;
    let name = if classes { "probabilities" } else { "prediction" };
    graph.link(sum.link, scores, k, name);
    let width = sum.link.width(k);
    let mut outputs =
        vec![value("X", tensor::DOUBLE, &[None, Some(d)]), value(name, tensor::DOUBLE, &[None, Some(width)])];
    if classes {
        graph.node("ArgMax", "", &[name], "class", vec![int("axis", 1), int("keepdims", 0)]);
        let keys = ints("keys_int64s", 0..schema.classes.len() as i64);
        graph.node("LabelEncoder", ML, &["class"], "label", vec![keys, strings("values_strings", &schema.classes)]);
        outputs.push(value("label", tensor::STRING, &[None]));
    }
    let mut message = graph.nodes.into_iter().fold(Message::new(), |all, node| all.message(1, node)).text(2, "ermine");
    message = graph.constants.into_iter().fold(message, |all, constant| all.message(5, constant));
    let mut outputs = outputs.into_iter();
    message = outputs.next().into_iter().fold(message, |all, input| all.message(11, input));
    message = outputs.fold(message, |all, output| all.message(12, output));
    let opset = |domain: &str, version: i64| Message::new().text(1, domain).int(2, version);
    let file = Message::new().int(1, 10).text(2, "ermine").text(3, env!("CARGO_PKG_VERSION")).message(7, message);
    Ok(file.message(8, opset("", 21)).message(8, opset(ML, 5)).into_bytes())
}

/// The domain of the operators for trees.
const ML: &str = "ai.onnx.ml";

/// Nodes and constants.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    fn node(&mut self, kind: &str, domain: &str, inputs: &[&str], output: &str, attributes: Vec<Message>) {
        let node =
            inputs.iter().fold(Message::new(), |node, input| node.text(1, input)).text(2, output).text(3, output);
        let node = attributes.into_iter().fold(node.text(4, kind), |node, attribute| node.message(5, attribute));
        self.nodes.push(node.text(7, domain));
    }

    fn constant(&mut self, name: &str, values: &[f64], shape: &[usize]) {
        self.constants.push(doubles(values, shape).text(8, name));
    }

    /// The input with NaN for what is no category of its column.
    fn known(&mut self, schema: &Schema) -> &'static str {
        let levels: Vec<usize> = schema.features.iter().map(|feature| feature.levels.len()).collect();
        if levels.iter().all(|&n| n == 0) {
            return "X";
        }
        let (d, is_number) = (levels.len(), levels.iter().map(|&n| u8::from(n == 0)).collect::<Vec<u8>>());
        let ends = |number: f64, of: fn(usize) -> f64| -> Vec<f64> {
            levels.iter().map(|&n| if n == 0 { number } else { of(n) }).collect()
        };
        self.constants.push(raw(tensor::BOOL, &is_number, d).text(8, "is_number"));
        self.constant("least", &ends(f64::NEG_INFINITY, |_| 0.0), &[d]);
        self.constant("most", &ends(f64::INFINITY, |n| n as f64 - 1.0), &[d]);
        self.constant("missing", &[f64::NAN], &[1]);
        self.node("Floor", "", &["X"], "whole", Vec::new());
        self.node("Equal", "", &["X", "whole"], "is_whole", Vec::new());
        self.node("Or", "", &["is_whole", "is_number"], "is_code", Vec::new());
        self.node("GreaterOrEqual", "", &["X", "least"], "is_high", Vec::new());
        self.node("LessOrEqual", "", &["X", "most"], "is_low", Vec::new());
        self.node("And", "", &["is_high", "is_low"], "is_within", Vec::new());
        self.node("And", "", &["is_within", "is_code"], "is_known", Vec::new());
        self.node("Where", "", &["is_known", "X", "missing"], "known", Vec::new());
        "known"
    }

    /// The link from scores, `k` for each row, to the output of this name.
    fn link(&mut self, link: Link, scores: &str, k: usize, name: &str) {
        let axis = || vec![int("axis", 1)];
        match link {
            Link::Identity => self.node("Identity", "", &[scores], name, Vec::new()),
            Link::Exponential => self.node("Exp", "", &[scores], name, Vec::new()),
            Link::Softmax => self.node("Softmax", "", &[scores], name, axis()),
            Link::Vote if k > 1 => {
                self.constant("two", &[2.0], &[1]);
                self.node("Mul", "", &[scores, "two"], "doubled", Vec::new());
                self.node("Softmax", "", &["doubled"], name, axis());
            }
            Link::Logistic | Link::Vote => {
                // Log odds 0 for the first class: the softmax of both are their probabilities.
                self.constant("odds", &[0.0, if link == Link::Vote { 2.0 } else { 1.0 }], &[1, 2]);
                self.node("Mul", "", &[scores, "odds"], "both", Vec::new());
                self.node("Softmax", "", &["both"], name, axis());
            }
            Link::Quantiles => {
                let k = k as i64;
                self.constants.push(longs(&[k]).text(8, "all"));
                self.constants.push(longs(&[k - 1 - k / 2]).text(8, "from"));
                self.constants.push(longs(&[k - k / 2]).text(8, "to"));
                self.constants.push(longs(&[1]).text(8, "across"));
                // The largest first: the middle one from the end.
                let node =
                    Message::new().text(1, scores).text(1, "all").text(2, "sorted").text(2, "order").text(3, "sorted");
                self.nodes.push(node.text(4, "TopK").message(5, int("axis", 1)).message(5, int("largest", 1)));
                self.node("Slice", "", &["sorted", "from", "to", "across"], name, Vec::new());
            }
            Link::Certain => {
                self.constant("nothing", &[0.0], &[1]);
                self.node("Mul", "", &[scores, "nothing"], "zero", Vec::new());
                self.node("Exp", "", &["zero"], name, Vec::new());
            }
        }
    }
}

/// The attributes of the ensemble.
fn ensemble(sum: &TreeSum) -> Vec<Message> {
    let mut all = Ensemble::default();
    let mut output = 0;
    for forest in &sum.forests {
        for t in 0..forest.n_trees() {
            // A leaf has one output in ONNX: a tree of several is there once for each.
            let tree = forest.tree(t);
            (0..tree.width).for_each(|k| all.push(&tree, k, output + k));
        }
        output += forest.width();
    }
    let column = |values: &[i64]| values.to_vec();
    let mut attributes = vec![
        int("n_targets", output as i64),
        int("aggregate_function", 1),
        int("post_transform", 0),
        ints("tree_roots", column(&all.roots)),
        ints("nodes_featureids", column(&all.feature)),
        ints("nodes_truenodeids", column(&all.yes)),
        ints("nodes_trueleafs", column(&all.yes_is_leaf)),
        ints("nodes_falsenodeids", column(&all.no)),
        ints("nodes_falseleafs", column(&all.no_is_leaf)),
        ints("nodes_missing_value_tracks_true", column(&all.missing_yes)),
        ints("leaf_targetids", column(&all.target)),
        tensor_attribute("nodes_modes", raw(tensor::UINT8, &all.mode, all.mode.len())),
        tensor_attribute("nodes_splits", doubles(&all.split, &[all.split.len()])),
        tensor_attribute("leaf_weights", doubles(&all.weight, &[all.weight.len()])),
    ];
    if !all.members.is_empty() {
        attributes.push(tensor_attribute("membership_values", doubles(&all.members, &[all.members.len()])));
    }
    attributes
}

/// All trees, in the arrays of the operator.
#[derive(Default)]
struct Ensemble {
    roots: Vec<i64>,
    feature: Vec<i64>,
    mode: Vec<u8>,
    split: Vec<f64>,
    yes: Vec<i64>,
    yes_is_leaf: Vec<i64>,
    no: Vec<i64>,
    no_is_leaf: Vec<i64>,
    missing_yes: Vec<i64>,
    target: Vec<i64>,
    weight: Vec<f64>,
    /// The members of sets, a NaN after each set, in the order of the nodes.
    members: Vec<f64>,
}

/// Where a branch leads: a node or a leaf, by number.
type Place = (i64, i64);

impl Ensemble {
    /// Adds a tree, of whose predictions number `k` counts towards a target. Children are added before their parents, since those name them; sets must stand in the order of
    /// the nodes, so that numbers are given out from the root on first.
    fn push(&mut self, tree: &Tree, k: usize, target: usize) {
        let base = self.mode.len();
        // The first node in ONNX of each of ours: a test with many branches takes one for each.
        let mut first = vec![0; tree.n_nodes()];
        let mut next = base;
        for (node, first) in first.iter_mut().enumerate() {
            *first = next;
            next += match &tree.test[node] {
                Test::Leaf => usize::from(node == 0),
                Test::Each { .. } => tree.children(node).len().max(1),
                _ => 1,
            };
        }
        self.roots.push(base as i64);
        for node in 0..tree.n_nodes() {
            self.push_node(tree, node, k, target, &first);
        }
    }

    fn push_node(&mut self, tree: &Tree, node: usize, k: usize, target: usize, first: &[usize]) {
        let child = tree.child[node] as usize;
        match &tree.test[node] {
            Test::Leaf if node > 0 => {}
            Test::Leaf => {
                let leaf = self.leaf(tree.value(node)[k], target);
                self.ask(0, mode::AT_MOST, 0.0, true, leaf, leaf);
            }
            Test::AtMost { feature, threshold, missing_left } => {
                let [yes, no] = [0, 1].map(|c| self.place(tree, child + c, k, target, first));
                self.ask(*feature, mode::AT_MOST, *threshold, *missing_left, yes, no);
            }
            Test::InSet { feature, set, missing_left } => {
                let [yes, no] = [0, 1].map(|c| self.place(tree, child + c, k, target, first));
                let codes: Vec<f64> = set.iter().map(|code| code as f64).collect();
                if let [code] = codes[..] {
                    self.ask(*feature, mode::EQUAL, code, *missing_left, yes, no);
                } else if codes.is_empty() {
                    // No value is NaN's equal, and none is below all.
                    self.ask(*feature, mode::EQUAL, -1.0, *missing_left, yes, no);
                } else {
                    self.members.extend(codes.into_iter().chain([f64::NAN]));
                    self.ask(*feature, mode::MEMBER, 0.0, *missing_left, yes, no);
                }
            }
            Test::Each { feature, n_levels, missing } => {
                let n = tree.children(node).len();
                let stop = self.leaf(tree.value(node)[k], target);
                let branches = (*n_levels as usize).max(1);
                let at = |c: usize| if c < n { Some(child + c) } else { None };
                for c in 0..n.max(1) {
                    // The last child takes missing values, where they have one: every other question sends them on.
                    let yes = at(c).map_or(stop, |child| self.place(tree, child, k, target, first));
                    let last = c + 1 >= n.max(1);
                    let no = if last { stop } else { ((first[node] + c + 1) as i64, 0) };
                    let code = if c < branches { c as f64 } else { -1.0 };
                    self.ask(*feature, mode::EQUAL, code, *missing && last, yes, no);
                }
            }
        }
    }

    fn place(&mut self, tree: &Tree, node: usize, k: usize, target: usize, first: &[usize]) -> Place {
        match tree.test[node] {
            Test::Leaf => self.leaf(tree.value(node)[k], target),
            _ => (first[node] as i64, 0),
        }
    }

    fn leaf(&mut self, value: f64, target: usize) -> Place {
        self.target.push(target as i64);
        self.weight.push(value);
        (self.weight.len() as i64 - 1, 1)
    }

    fn ask(&mut self, feature: u32, mode: u8, split: f64, missing_yes: bool, yes: Place, no: Place) {
        self.feature.push(i64::from(feature));
        self.mode.push(mode);
        self.split.push(split);
        self.missing_yes.push(i64::from(missing_yes));
        self.yes.push(yes.0);
        self.yes_is_leaf.push(yes.1);
        self.no.push(no.0);
        self.no_is_leaf.push(no.1);
    }
}

fn attribute(name: &str, kind: i64) -> Message {
    Message::new().text(1, name).int(20, kind)
}

fn int(name: &str, value: i64) -> Message {
    attribute(name, 2).int(3, value)
}

fn ints(name: &str, values: impl IntoIterator<Item = i64>) -> Message {
    attribute(name, 7).ints(8, values)
}

fn strings(name: &str, values: &[String]) -> Message {
    values.iter().fold(attribute(name, 8), |message, value| message.text(9, value))
}

fn tensor_attribute(name: &str, tensor: Message) -> Message {
    attribute(name, 4).message(5, tensor)
}

fn raw(kind: i64, bytes: &[u8], n: usize) -> Message {
    Message::new().int(1, n as i64).int(2, kind).bytes(9, bytes)
}

fn doubles(values: &[f64], shape: &[usize]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Message::new().ints(1, shape.iter().map(|&n| n as i64)).int(2, tensor::DOUBLE).bytes(9, &bytes)
}

fn longs(values: &[i64]) -> Message {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    raw(tensor::INT64, &bytes, values.len())
}

/// The name and shape of an input or output; `None` for rows.
fn value(name: &str, kind: i64, shape: &[Option<usize>]) -> Message {
    let dimension = |n: &Option<usize>| match n {
        Some(n) => Message::new().int(1, *n as i64),
        None => Message::new().text(2, "rows"),
    };
    let shape = shape.iter().fold(Message::new(), |all, n| all.message(1, dimension(n)));
    let tensor = Message::new().int(1, kind).message(2, shape);
    Message::new().text(1, name).message(2, Message::new().message(1, tensor))
}
