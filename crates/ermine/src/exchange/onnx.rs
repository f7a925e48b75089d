//! Export of models as ONNX, in double precision: tree ensembles (one `TreeEnsemble`, then the link in standard operators) and, in `onnx_linear`, linear models and support vector machines.
//!
//! ```text
//! X: double [rows, columns] -> (unknown categories become NaN) -> TreeEnsemble -> (Div) -> link -> "prediction" (and "quantiles") or "probabilities" and "label"
//! ```
//!
//! A split with one branch per category becomes a chain of equality tests. A tree with a single leaf becomes a split with the same leaf on both sides, because ONNX has no such trees.
//!
//! **Reference.** ONNX operator `ai.onnx.ml.TreeEnsemble`, version 5.

use super::protobuf::ProtobufMessage;
use ermine_core::error::Result;
use ermine_core::matrix::{Schema, Task};
use ermine_core::model::{Link, Model, TreeEnsemble};
use ermine_trees::ensemble::TreeSum;
use ermine_trees::split::Test;
use ermine_trees::tree::Tree;

/// Element types of tensors.
pub(super) mod tensor {
    pub const UINT8: i64 = 2;
    pub const INT64: i64 = 7;
    pub const STRING: i64 = 8;
    pub const BOOL: i64 = 9;
    pub const DOUBLE: i64 = 11;
}

/// Comparison modes of nodes.
mod mode {
    pub const AT_MOST: u8 = 0;
    pub const EQUAL: u8 = 4;
    pub const MEMBER: u8 = 6;
}

/// Exports a model as the contents of an ONNX file.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    #[cfg(feature = "linear")]
    if let Some((graph, outputs)) = super::onnx_linear::graph(model)? {
        return finish(graph, outputs, model.schema());
    }
    let sum = TreeSum::of_model(model)?;
    let schema = model.schema();
    let k = sum.n_outputs();
    let mut graph = OnnxGraph::default();
    let input = graph.mask_unknown_categories(schema);
    graph.node("TreeEnsemble", ML, &[input], "sums", ensemble(&sum));
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
    let mut outputs = vec![value(name, tensor::DOUBLE, &[None, Some(width)])];
    if sum.link == Link::Quantiles {
        outputs.push(value(QUANTILES, tensor::DOUBLE, &[None, Some(k)]));
    }
    if classes {
        outputs.push(graph.label(name, &schema.classes));
    }
    finish(graph, outputs, schema)
}

/// The file of a graph with these outputs. Names of columns, categories and classes are in its metadata.
fn finish(graph: OnnxGraph, outputs: Vec<ProtobufMessage>, schema: &Schema) -> Result<Vec<u8>> {
    let mut message =
        graph.nodes.into_iter().fold(ProtobufMessage::new(), |all, node| all.message(1, node)).text(2, "ermine");
    message = graph.constants.into_iter().fold(message, |all, constant| all.message(5, constant));
    message = message.message(11, value("X", tensor::DOUBLE, &[None, Some(schema.features.len())]));
    message = outputs.into_iter().fold(message, |all, output| all.message(12, output));
    let opset = |domain: &str, version: i64| ProtobufMessage::new().text(1, domain).int(2, version);
    let file =
        ProtobufMessage::new().int(1, 10).text(2, "ermine").text(3, env!("CARGO_PKG_VERSION")).message(7, message);
    let file = file.message(8, opset("", 21)).message(8, opset(ML, 5));
    let entry = |(key, value): (&str, String)| ProtobufMessage::new().text(1, key).text(2, &value);
    Ok(metadata(schema).into_iter().map(entry).fold(file, |file, entry| file.message(14, entry)).into_bytes())
}

/// What a caller needs to know to fill `X`, as JSON: the names of the columns in their order, the categories of each (a category is passed as its place in the list), the target and its
/// classes.
fn metadata(schema: &Schema) -> Vec<(&'static str, String)> {
    let columns: Vec<&str> = schema.features.iter().map(|feature| feature.name.as_str()).collect();
    let categories: serde_json::Map<String, serde_json::Value> = schema
        .features
        .iter()
        .filter(|feature| !feature.levels.is_empty())
        .map(|feature| (feature.name.clone(), feature.levels.clone().into()))
        .collect();
    vec![
        ("columns", serde_json::json!(columns).to_string()),
        ("categories", serde_json::Value::Object(categories).to_string()),
        ("target", serde_json::json!(schema.target).to_string()),
        ("classes", serde_json::json!(schema.classes).to_string()),
    ]
}

/// The output with all quantiles in ascending order.
const QUANTILES: &str = "quantiles";

/// The domain of the operators for trees.
const ML: &str = "ai.onnx.ml";

/// Nodes and constants of the graph.
#[derive(Default)]
pub(super) struct OnnxGraph {
    nodes: Vec<ProtobufMessage>,
    constants: Vec<ProtobufMessage>,
}

impl OnnxGraph {
    pub(super) fn node(
        &mut self,
        kind: &str,
        domain: &str,
        inputs: &[&str],
        output: &str,
        attributes: Vec<ProtobufMessage>,
    ) {
        let node = inputs
            .iter()
            .fold(ProtobufMessage::new(), |node, input| node.text(1, input))
            .text(2, output)
            .text(3, output);
        let node = attributes.into_iter().fold(node.text(4, kind), |node, attribute| node.message(5, attribute));
        self.nodes.push(node.text(7, domain));
    }

    pub(super) fn constant(&mut self, name: &str, values: &[f64], shape: &[usize]) {
        self.constants.push(doubles(values, shape).text(8, name));
    }

    /// Adds a constant of integers.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) {
        self.constants.push(longs(values).text(8, name));
    }

    /// Adds the name of the class with the highest number, the first of several; returns the output.
    pub(super) fn label(&mut self, scores: &str, classes: &[String]) -> ProtobufMessage {
        self.node("ArgMax", "", &[scores], "class", vec![int("axis", 1), int("keepdims", 0)]);
        let keys = ints("keys_int64s", 0..classes.len() as i64);
        self.node("LabelEncoder", ML, &["class"], "label", vec![keys, strings("values_strings", classes)]);
        value("label", tensor::STRING, &[None])
    }

    /// Replaces values that are not a category of their column by NaN; returns the name of the result.
    fn mask_unknown_categories(&mut self, schema: &Schema) -> &'static str {
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

    /// Adds the link from scores, `k` per row, to the output of this name.
    pub(super) fn link(&mut self, link: Link, scores: &str, k: usize, name: &str) {
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
                // The log odds of the first class are 0; the softmax gives both probabilities.
                self.constant("odds", &[0.0, if link == Link::Vote { 2.0 } else { 1.0 }], &[1, 2]);
                self.node("Mul", "", &[scores, "odds"], "both", Vec::new());
                self.node("Softmax", "", &["both"], name, axis());
            }
            Link::Quantiles => {
                let k = k as i64;
                self.constants.push(longs(&[k]).text(8, "all"));
                self.constants.push(longs(&[(k - 1) / 2]).text(8, "from"));
                self.constants.push(longs(&[k / 2 + 1]).text(8, "to"));
                self.constants.push(longs(&[1]).text(8, "across"));
                // In ascending order, so that they don't cross.
                let node = ProtobufMessage::new()
                    .text(1, scores)
                    .text(1, "all")
                    .text(2, QUANTILES)
                    .text(2, "order")
                    .text(3, QUANTILES);
                self.nodes.push(node.text(4, "TopK").message(5, int("axis", 1)).message(5, int("largest", 0)));
                // The median: the middle one, or the mean of the two middle ones.
                self.node("Slice", "", &[QUANTILES, "from", "to", "across"], "middle", Vec::new());
                self.node("ReduceMean", "", &["middle", "across"], name, vec![int("keepdims", 1)]);
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
fn ensemble(sum: &TreeSum) -> Vec<ProtobufMessage> {
    let mut all = EnsembleArrays::default();
    let mut output = 0;
    for forest in &sum.forests {
        for t in 0..forest.n_trees() {
            // A leaf has one output in ONNX: a tree with several outputs is written once per output.
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

/// All trees, as the arrays of the `TreeEnsemble` operator.
#[derive(Default)]
struct EnsembleArrays {
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

/// The target of a branch: the index of a node or leaf, and 1 for leaves.
type NodeRef = (i64, i64);

impl EnsembleArrays {
    /// Adds a tree, whose output `k` is added to a target. Node indices are assigned first, from the root on, because parents refer to their children and the category sets
    /// must be in the order of the nodes.
    fn push(&mut self, tree: &Tree, k: usize, target: usize) {
        let base = self.mode.len();
        // Index of the first ONNX node of each node: a split with many branches becomes several nodes.
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
                self.push_split(0, mode::AT_MOST, 0.0, true, leaf, leaf);
            }
            Test::AtMost { feature, threshold, missing_left } => {
                let [yes, no] = [0, 1].map(|c| self.place(tree, child + c, k, target, first));
                self.push_split(*feature, mode::AT_MOST, *threshold, *missing_left, yes, no);
            }
            Test::InSet { feature, set, missing_left } => {
                let [yes, no] = [0, 1].map(|c| self.place(tree, child + c, k, target, first));
                let codes: Vec<f64> = set.iter().map(|code| code as f64).collect();
                if let [code] = codes[..] {
                    self.push_split(*feature, mode::EQUAL, code, *missing_left, yes, no);
                } else if codes.is_empty() {
                    // An empty set: no category equals -1.
                    self.push_split(*feature, mode::EQUAL, -1.0, *missing_left, yes, no);
                } else {
                    self.members.extend(codes.into_iter().chain([f64::NAN]));
                    self.push_split(*feature, mode::MEMBER, 0.0, *missing_left, yes, no);
                }
            }
            Test::Each { feature, n_levels, missing } => {
                let n = tree.children(node).len();
                let stop = self.leaf(tree.value(node)[k], target);
                let branches = (*n_levels as usize).max(1);
                let at = |c: usize| if c < n { Some(child + c) } else { None };
                for c in 0..n.max(1) {
                    // Missing values take the last child, if there is one for them; all other tests pass them on.
                    let yes = at(c).map_or(stop, |child| self.place(tree, child, k, target, first));
                    let last = c + 1 >= n.max(1);
                    let no = if last { stop } else { ((first[node] + c + 1) as i64, 0) };
                    let code = if c < branches { c as f64 } else { -1.0 };
                    self.push_split(*feature, mode::EQUAL, code, *missing && last, yes, no);
                }
            }
        }
    }

    fn place(&mut self, tree: &Tree, node: usize, k: usize, target: usize, first: &[usize]) -> NodeRef {
        match tree.test[node] {
            Test::Leaf => self.leaf(tree.value(node)[k], target),
            _ => (first[node] as i64, 0),
        }
    }

    fn leaf(&mut self, value: f64, target: usize) -> NodeRef {
        self.target.push(target as i64);
        self.weight.push(value);
        (self.weight.len() as i64 - 1, 1)
    }

    fn push_split(&mut self, feature: u32, mode: u8, split: f64, missing_yes: bool, yes: NodeRef, no: NodeRef) {
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

fn attribute(name: &str, kind: i64) -> ProtobufMessage {
    ProtobufMessage::new().text(1, name).int(20, kind)
}

pub(super) fn int(name: &str, value: i64) -> ProtobufMessage {
    attribute(name, 2).int(3, value)
}

fn ints(name: &str, values: impl IntoIterator<Item = i64>) -> ProtobufMessage {
    attribute(name, 7).ints(8, values)
}

fn strings(name: &str, values: &[String]) -> ProtobufMessage {
    values.iter().fold(attribute(name, 8), |message, value| message.text(9, value))
}

fn tensor_attribute(name: &str, tensor: ProtobufMessage) -> ProtobufMessage {
    attribute(name, 4).message(5, tensor)
}

fn raw(kind: i64, bytes: &[u8], n: usize) -> ProtobufMessage {
    ProtobufMessage::new().int(1, n as i64).int(2, kind).bytes(9, bytes)
}

fn doubles(values: &[f64], shape: &[usize]) -> ProtobufMessage {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    ProtobufMessage::new().ints(1, shape.iter().map(|&n| n as i64)).int(2, tensor::DOUBLE).bytes(9, &bytes)
}

fn longs(values: &[i64]) -> ProtobufMessage {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    raw(tensor::INT64, &bytes, values.len())
}

/// The description of an input or output; `None` for the number of rows.
pub(super) fn value(name: &str, kind: i64, shape: &[Option<usize>]) -> ProtobufMessage {
    let dimension = |n: &Option<usize>| match n {
        Some(n) => ProtobufMessage::new().int(1, *n as i64),
        None => ProtobufMessage::new().text(2, "rows"),
    };
    let shape = shape.iter().fold(ProtobufMessage::new(), |all, n| all.message(1, dimension(n)));
    let tensor = ProtobufMessage::new().int(1, kind).message(2, shape);
    ProtobufMessage::new().text(1, name).message(2, ProtobufMessage::new().message(1, tensor))
}
