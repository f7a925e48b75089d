//! Export of tree ensembles as a source file without dependencies, in C or Rust.
//!
//! The file has the trees as tables and one function that traverses them, so that it compiles quickly for models of any size. Trees are summed in the same order and precision as in this
//! crate, so that the sums are bitwise equal. (Exponentials come from the math library of the language and may differ in the last digit.)

use ermine_core::error::Result;
use ermine_core::matrix::Schema;
use ermine_core::model::{Link, Model, TreeEnsemble};
use ermine_trees::ensemble::TreeSum;
use ermine_trees::split::Test;
use std::fmt::{Display, Write};

/// The tables of a source file.
#[derive(Default)]
struct SourceTables {
    /// Kind, column, and first child (for leaves the index of the prediction) of each node.
    nodes: Vec<[u64; 3]>,
    /// The threshold, the index of the first word of a set, or the number of categories with a child.
    numbers: Vec<f64>,
    /// For sets, the number of words; for splits by category, the prediction of rows without a branch.
    seconds: Vec<u64>,
    roots: Vec<u64>,
    /// The first output of each tree.
    outputs: Vec<u64>,
    values: Vec<f64>,
    words: Vec<u64>,
    width: usize,
}

/// Kinds of nodes in the tables.
mod kind {
    pub const LEAF: u64 = 0;
    pub const AT_MOST: u64 = 1;
    pub const IN_SET: u64 = 2;
    pub const EACH: u64 = 3;
    /// Added if missing values go left or have a child.
    pub const MISSING: u64 = 4;
}

impl SourceTables {
    fn new(sum: &TreeSum) -> SourceTables {
        let mut tables =
            SourceTables { width: sum.forests.first().map_or(1, |forest| forest.width()), ..Default::default() };
        for (i, forest) in sum.forests.iter().enumerate() {
            for t in 0..forest.n_trees() {
                tables.push(&forest.tree(t), i * tables.width);
            }
        }
        tables
    }

    fn push(&mut self, tree: &ermine_trees::tree::Tree, output: usize) {
        let base = self.nodes.len() as u64;
        self.roots.push(base);
        self.outputs.push(output as u64);
        for node in 0..tree.n_nodes() {
            let child = base + u64::from(tree.child[node]);
            let missing = |there: bool| if there { kind::MISSING } else { 0 };
            let (entry, number, second) = match &tree.test[node] {
                Test::Leaf => ([kind::LEAF, 0, self.value(tree.value(node))], 0.0, 0),
                Test::AtMost { feature, threshold, missing_left } => {
                    ([kind::AT_MOST + missing(*missing_left), u64::from(*feature), child], *threshold, 0)
                }
                Test::InSet { feature, set, missing_left } => {
                    let from = self.words.len() as f64;
                    self.words.extend_from_slice(set.words());
                    (
                        [kind::IN_SET + missing(*missing_left), u64::from(*feature), child],
                        from,
                        set.words().len() as u64,
                    )
                }
                Test::Each { feature, n_levels, missing: there } => {
                    let stop = self.value(tree.value(node));
                    ([kind::EACH + missing(*there), u64::from(*feature), child], f64::from(*n_levels), stop)
                }
            };
            self.nodes.push(entry);
            self.numbers.push(number);
            self.seconds.push(second);
        }
    }

    fn value(&mut self, value: &[f64]) -> u64 {
        self.values.extend_from_slice(value);
        (self.values.len() / self.width) as u64 - 1
    }
}

/// A list of numbers, twelve per line.
fn list<T: Display>(values: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for (i, value) in values.enumerate() {
        let _ = write!(text, "{}{value},", if i % 12 == 0 { "\n    " } else { " " });
    }
    text
}

/// Comment lines that describe the inputs and outputs of the function.
fn header_comments(schema: &Schema, sum: &TreeSum) -> Vec<String> {
    let clean =
        |text: &str| text.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect::<String>();
    let mut lines = vec![
        format!("Ensemble of {} trees, exported from Ermine.", sum.n_trees()),
        "x: the values of a row; NaN for missing values, the code from the list for categories.".into(),
    ];
    for (i, feature) in schema.features.iter().enumerate() {
        let levels: Vec<String> = feature.levels.iter().enumerate().map(|(c, l)| format!("{c} {}", clean(l))).collect();
        let levels = if levels.is_empty() { String::new() } else { format!(": {}", levels.join(", ")) };
        lines.push(format!("  x[{i}] {}{levels}", clean(&feature.name)));
    }
    let names: Vec<String> = if schema.classes.is_empty() { schema.target.clone() } else { schema.classes.clone() };
    lines.push(format!("out: {}", clean(&names.join(", "))));
    lines
}

/// Exports a model as a C source file (C99).
pub fn c(model: &Model) -> Result<String> {
    let sum = TreeSum::of_model(model)?;
    let t = SourceTables::new(&sum);
    let (k, width) = (sum.n_outputs(), sum.link.width(sum.n_outputs()));
    let number = |x: &f64| match *x {
        x if x == f64::INFINITY => "INFINITY".to_string(),
        x if x == f64::NEG_INFINITY => "-INFINITY".to_string(),
        x => format!("{x:e}"),
    };
    let table = |kind: &str, name: &str, values: String| {
        let values = if values.is_empty() { "0".to_string() } else { values };
        format!("static const {kind} {name}[] = {{{values}\n}};\n")
    };
    let mut text: String = header_comments(model.schema(), &sum).iter().map(|line| format!("// {line}\n")).collect();
    text += "\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
    let _ = write!(
        text,
        "enum {{ N_FEATURES = {}, N_TREES = {}, N_SCORES = {k}, N_OUT = {width}, WIDTH = {} }};\n\n",
        model.schema().features.len(),
        t.roots.len(),
        t.width
    );
    text += &table("uint8_t", "kinds", list(t.nodes.iter().map(|n| n[0])));
    text += &table("uint32_t", "features", list(t.nodes.iter().map(|n| n[1])));
    text += &table("uint32_t", "children", list(t.nodes.iter().map(|n| n[2])));
    text += &table("double", "numbers", list(t.numbers.iter().map(number)));
    text += &table("uint32_t", "levels", list(model.schema().features.iter().map(|f| f.levels.len())));
    text += &table("uint32_t", "seconds", list(t.seconds.iter()));
    text += &table("uint32_t", "roots", list(t.roots.iter()));
    text += &table("uint32_t", "outputs", list(t.outputs.iter()));
    text += &table("double", "values", list(t.values.iter().map(number)));
    text += &table("uint64_t", "words", list(t.words.iter().map(|w| format!("{w:#x}u"))));
    text += C_WALK;
    text += if sum.link == Link::Quantiles { C_QUANTILES } else { "" };
    text += C_PREDICT;
    text += if sum.link == Link::Quantiles { "    ermine_quantiles(x, s);\n" } else { "    add_trees(x, s);\n" };
    let _ = write!(text, "{}\n}}\n", c_link(sum.link, sum.divisor));
    Ok(text)
}

const C_WALK: &str = r"
// Whether a value is a category of its column; other values count as missing.
static int is_category(double v, uint32_t feature) {
    return v >= 0 && (levels[feature] == 0 || (v < levels[feature] && v == floor(v)));
}

// The index of the prediction for a row.
static uint32_t walk(const double *x, uint32_t at) {
    for (;;) {
        const uint8_t kind = kinds[at] & 3, missing = kinds[at] >> 2;
        if (kind == 0) return children[at];
        const double v = x[features[at]];
        if (kind == 1) {
            at = children[at] + (v != v ? !missing : v > numbers[at]);
        } else if (kind == 2) {
            int left = missing;
            if (is_category(v, features[at])) {
                const size_t code = v < 4294967295.0 ? (size_t)v : 4294967295u;
                left = code / 64 < seconds[at] && (words[(size_t)numbers[at] + code / 64] >> (code % 64) & 1);
            }
            at = children[at] + !left;
        } else {
            const uint32_t n = (uint32_t)numbers[at];
            const int here = is_category(v, features[at]);
            if (here ? v >= n : !missing) return seconds[at];
            at = children[at] + (here ? (uint32_t)v : n);
        }
    }
}

// Adds up the trees.
static void add_trees(const double *x, double *s) {
    for (size_t k = 0; k < N_SCORES; k++) s[k] = 0;
    for (size_t t = 0; t < N_TREES; t++) {
        const double *value = values + (size_t)walk(x, roots[t]) * WIDTH;
        for (size_t k = 0; k < WIDTH; k++) s[outputs[t] + k] += value[k];
    }
}
";

const C_QUANTILES: &str = r"
// Writes the N_SCORES quantiles of a row of N_FEATURES values, in ascending order.
void ermine_quantiles(const double *x, double *out) {
    add_trees(x, out);
    for (size_t i = 1; i < N_SCORES; i++)
        for (size_t k = i; k > 0 && out[k] < out[k - 1]; k--) {
            const double swap = out[k];
            out[k] = out[k - 1];
            out[k - 1] = swap;
        }
}
";

const C_PREDICT: &str = r"
// Predicts one row of N_FEATURES values; writes N_OUT numbers.
void ermine_predict(const double *x, double *out) {
    double s[N_SCORES];
";

/// The end of the C function: the link from scores to predictions.
fn c_link(link: Link, divisor: f64) -> String {
    let divided = if divisor == 1.0 {
        String::new()
    } else {
        format!("    for (size_t k = 0; k < N_SCORES; k++) s[k] /= {divisor:e};\n")
    };
    let softmax = |factor: &str| {
        format!(
            "    double most = s[0], total = 0;\n    for (size_t k = 1; k < N_SCORES; k++) if (s[k] > most) most = s[k];\n    \
             for (size_t k = 0; k < N_SCORES; k++) total += out[k] = exp({factor}(s[k] - most));\n    \
             for (size_t k = 0; k < N_SCORES; k++) out[k] /= total;"
        )
    };
    let end = match link {
        Link::Identity => "    for (size_t k = 0; k < N_SCORES; k++) out[k] = s[k];".to_string(),
        Link::Exponential => "    for (size_t k = 0; k < N_SCORES; k++) out[k] = exp(s[k]);".to_string(),
        Link::Logistic => "    out[1] = 1 / (1 + exp(-s[0]));\n    out[0] = 1 - out[1];".to_string(),
        Link::Softmax => softmax(""),
        Link::Vote => format!(
            "    if (N_SCORES == 1) {{\n        out[0] = 1 / (1 + exp(2 * s[0]));\n        out[1] = 1 / (1 + exp(-2 * s[0]));\n        return;\n    }}\n{}",
            softmax("2 * ")
        ),
        Link::Quantiles => "    out[0] = (s[(N_SCORES - 1) / 2] + s[N_SCORES / 2]) / 2;".to_string(),
        Link::Certain => "    (void)s;\n    out[0] = 1;".to_string(),
    };
    divided + &end
}

/// Exports a model as a Rust source file.
pub fn rust(model: &Model) -> Result<String> {
    let sum = TreeSum::of_model(model)?;
    let t = SourceTables::new(&sum);
    let (k, width) = (sum.n_outputs(), sum.link.width(sum.n_outputs()));
    let number = |x: &f64| match *x {
        x if x == f64::INFINITY => "f64::INFINITY".to_string(),
        x if x == f64::NEG_INFINITY => "f64::NEG_INFINITY".to_string(),
        x => format!("{x:e}"),
    };
    let table = |kind: &str, name: &str, values: String| format!("static {name}: &[{kind}] = &[{values}\n];\n");
    let mut text: String = header_comments(model.schema(), &sum).iter().map(|line| format!("// {line}\n")).collect();
    let consts = [("N_FEATURES", model.schema().features.len()), ("N_SCORES", k), ("N_OUT", width), ("WIDTH", t.width)];
    text += "\n";
    consts.iter().for_each(|(name, value)| text += &format!("pub const {name}: usize = {value};\n"));
    text += "\n";
    text += &table("u8", "KINDS", list(t.nodes.iter().map(|n| n[0])));
    text += &table("u32", "FEATURES", list(t.nodes.iter().map(|n| n[1])));
    text += &table("u32", "CHILDREN", list(t.nodes.iter().map(|n| n[2])));
    text += &table("f64", "NUMBERS", list(t.numbers.iter().map(number)));
    text += &table("u32", "LEVELS", list(model.schema().features.iter().map(|f| f.levels.len())));
    text += &table("u32", "SECONDS", list(t.seconds.iter()));
    text += &table("u32", "ROOTS", list(t.roots.iter()));
    text += &table("u32", "OUTPUTS", list(t.outputs.iter()));
    text += &table("f64", "VALUES", list(t.values.iter().map(number)));
    text += &table("u64", "WORDS", list(t.words.iter().map(|w| format!("{w:#x}"))));
    text += RUST_WALK;
    text += if sum.link == Link::Quantiles { RUST_QUANTILES } else { "" };
    text += RUST_PREDICT;
    let scores = if sum.link == Link::Quantiles { "quantiles" } else { "scores" };
    let keyword = if sum.divisor == 1.0 { "let" } else { "let mut" };
    let _ = write!(text, "    {keyword} s = {scores}(x);\n{}\n}}\n", rust_link(sum.link, sum.divisor));
    Ok(text)
}

const RUST_WALK: &str = r"
/// Whether a value is a category of its column; other values count as missing.
fn is_category(v: f64, feature: u32) -> bool {
    let n = LEVELS[feature as usize];
    v >= 0.0 && (n == 0 || (v < f64::from(n) && v.fract() == 0.0))
}

/// The index of the prediction for a row.
fn walk(x: &[f64; N_FEATURES], root: u32) -> usize {
    let mut at = root as usize;
    loop {
        let (kind, missing) = (KINDS[at] & 3, KINDS[at] > 3);
        let child = CHILDREN[at] as usize;
        if kind == 0 {
            return child;
        }
        let v = x[FEATURES[at] as usize];
        at = match kind {
            1 => child + usize::from(if v.is_nan() { !missing } else { v > NUMBERS[at] }),
            2 => {
                let (code, from) = (v as usize, NUMBERS[at] as usize);
                let is_in = || code / 64 < SECONDS[at] as usize && WORDS[from + code / 64] >> (code % 64) & 1 == 1;
                child + usize::from(!if is_category(v, FEATURES[at]) { is_in() } else { missing })
            }
            _ => {
                let (n, here) = (NUMBERS[at] as usize, is_category(v, FEATURES[at]));
                if if here { v as usize >= n } else { !missing } {
                    return SECONDS[at] as usize;
                }
                child + if here { v as usize } else { n }
            }
        };
    }
}

/// The sums of the trees.
fn scores(x: &[f64; N_FEATURES]) -> [f64; N_SCORES] {
    let mut s = [0.0f64; N_SCORES];
    for (root, output) in ROOTS.iter().zip(OUTPUTS) {
        let value = &VALUES[walk(x, *root) * WIDTH..][..WIDTH];
        s[*output as usize..].iter_mut().zip(value).for_each(|(s, v)| *s += v);
    }
    s
}
";

const RUST_QUANTILES: &str = r"
/// The quantiles of one row, in ascending order.
pub fn quantiles(x: &[f64; N_FEATURES]) -> [f64; N_SCORES] {
    let mut s = scores(x);
    s.sort_unstable_by(f64::total_cmp);
    s
}
";

const RUST_PREDICT: &str = r"
/// Predicts one row.
pub fn predict(x: &[f64; N_FEATURES]) -> [f64; N_OUT] {
";

/// The end of the Rust function: the link from scores to predictions.
fn rust_link(link: Link, divisor: f64) -> String {
    let divided =
        if divisor == 1.0 { String::new() } else { format!("    s.iter_mut().for_each(|s| *s /= {divisor:e});\n") };
    let softmax = |factor: &str| {
        format!(
            "    let most = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);\n    let mut out = [0.0f64; N_OUT];\n    \
             out.iter_mut().zip(&s).for_each(|(out, s)| *out = ({factor}(s - most)).exp());\n    \
             let total: f64 = out.iter().sum();\n    out.map(|p| p / total)"
        )
    };
    let two = |odds: &str| format!("    let mut out = [0.0f64; N_OUT];\n{odds}    out");
    let end = match link {
        Link::Identity => "    let mut out = [0.0f64; N_OUT];\n    out.copy_from_slice(&s);\n    out".to_string(),
        Link::Exponential => "    let mut out = [0.0f64; N_OUT];\n    out.iter_mut().zip(&s).for_each(|(out, s)| *out = s.exp());\n    out".to_string(),
        Link::Logistic => two("    out[1] = 1.0 / (1.0 + (-s[0]).exp());\n    out[0] = 1.0 - out[1];\n"),
        Link::Softmax => softmax("1.0 * "),
        Link::Vote => format!(
            "    if N_SCORES == 1 {{\n        let mut out = [0.0f64; N_OUT];\n        out[0] = 1.0 / (1.0 + (2.0 * s[0]).exp());\n        \
             out[N_OUT - 1] = 1.0 / (1.0 + (-2.0 * s[0]).exp());\n        return out;\n    }}\n{}",
            softmax("2.0 * ")
        ),
        Link::Quantiles => "    [(s[(N_SCORES - 1) / 2] + s[N_SCORES / 2]) / 2.0; N_OUT]".to_string(),
        Link::Certain => "    let _ = s;\n    [1.0; N_OUT]".to_string(),
    };
    divided + &end
}
