//! Public attributes of fitted models (`coef_`, `feature_importances_`) with their documentation.
//!
//! The Python classes and the reference pages are generated from them.

/// A named number or array of a fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name, such as "coef", "intercept", "feature_importances", "n_iter".
    pub name: &'static str,
    /// The length of each axis; empty for a single number.
    pub shape: Vec<usize>,
    /// The values, last axis fastest.
    pub values: Vec<f64>,
    /// Type of the value.
    pub kind: AttributeKind,
    /// One sentence of documentation.
    pub doc: &'static str,
}

/// Type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeKind {
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// An array, with a symbolic shape such as "(n_rounds,)".
    Array(&'static str),
}

impl Attribute {
    /// An integer.
    pub fn integer(name: &'static str, value: usize, doc: &'static str) -> Attribute {
        Attribute { name, shape: Vec::new(), values: vec![value as f64], kind: AttributeKind::Integer, doc }
    }

    /// A number.
    pub fn number(name: &'static str, value: f64, doc: &'static str) -> Attribute {
        Attribute { name, shape: Vec::new(), values: vec![value], kind: AttributeKind::Number, doc }
    }

    /// A one-dimensional array; `axes` is its symbolic shape.
    pub fn vector(name: &'static str, values: Vec<f64>, axes: &'static str, doc: &'static str) -> Attribute {
        Attribute { name, shape: vec![values.len()], values, kind: AttributeKind::Array(axes), doc }
    }

    /// An array with more than one axis.
    pub fn matrix(
        name: &'static str,
        shape: [usize; 2],
        values: Vec<f64>,
        axes: &'static str,
        doc: &'static str,
    ) -> Attribute {
        Attribute { name, shape: shape.to_vec(), values, kind: AttributeKind::Array(axes), doc }
    }

    /// The feature importances of a tree or tree ensemble.
    pub fn feature_importances(values: Vec<f64>) -> Attribute {
        let doc = "Share of each feature in the total gain of all splits.";
        Attribute::vector("feature_importances", values, "(n_features_in_,)", doc)
    }

    /// The number of leaves and the depth of one tree.
    pub fn tree_size(n_leaves: usize, depth: usize) -> [Attribute; 2] {
        [
            Attribute::integer("n_leaves", n_leaves, "Number of leaves."),
            Attribute::integer("depth", depth, "Number of splits on the longest path from the root to a leaf."),
        ]
    }

    /// The coefficients of a linear model.
    pub fn coefficients(shape: Vec<usize>, values: Vec<f64>) -> Attribute {
        let kind = AttributeKind::Array("(n_columns,) or (n_outputs, n_columns)");
        Attribute { name: "coef", shape, values, kind, doc: "Coefficients, in the units of the data." }
    }

    /// The intercepts of a linear model.
    pub fn intercepts(shape: Vec<usize>, values: Vec<f64>) -> Attribute {
        let kind = AttributeKind::Array("(n_outputs,)");
        Attribute { name: "intercept", shape, values, kind, doc: "Intercepts; a single number for a single output." }
    }

    /// The number of iterations of an iterative solver.
    pub fn n_iter(n_iter: usize) -> Attribute {
        Attribute::integer("n_iter", n_iter, "Number of iterations, or passes over the data, until the solver stopped.")
    }

    /// The number of mistakes of an online learner.
    pub fn n_mistakes(n_mistakes: u64) -> Attribute {
        Attribute::integer("n_mistakes", n_mistakes as usize, "Total number of mistakes over all passes.")
    }
}
