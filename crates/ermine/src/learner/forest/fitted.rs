//! The fitted forest.

use crate::chart::text::number;
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Features, Schema, Target, Task};
use crate::model::{Attribute, Fitted, Header, Output};
use crate::section::Sections;
use crate::tree::Forest;
use serde::{Deserialize, Serialize};

/// A fitted random forest or extra-trees.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedForest {
    pub(super) forest: Forest,
    pub(super) output: Output,
    pub(super) importances: Vec<f64>,
    pub(super) out_of_bag: Option<OutOfBag>,
}

/// How good the forest is on rows that trees didn't see in training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfBag {
    /// The accuracy, or for numbers the share of variance explained (R^2), by weight.
    pub score: f64,
    /// The rows that at least one tree didn't see.
    pub n_judged: usize,
    /// What the trees that didn't see a row say, row by row; NaN where all have seen it. Not kept in a file.
    #[serde(skip)]
    pub prediction: Vec<f64>,
}

impl OutOfBag {
    /// Judges out-of-bag predictions; `None` where there are none.
    pub fn new(prediction: Vec<f64>, width: usize, data: &Dataset) -> Option<OutOfBag> {
        let judged: Vec<usize> = (0..data.n_rows()).filter(|&row| prediction[row * width].is_finite()).collect();
        let said = |row: usize| &prediction[row * width..(row + 1) * width];
        let weight: f64 = judged.iter().map(|&row| data.row_weight(row)).sum();
        let score = match data.target() {
            Target::Classes { codes, .. } => {
                let class = |p: &[f64]| (1..p.len()).fold(0, |best, k| if p[k] > p[best] { k } else { best });
                let right = judged.iter().filter(|&&row| class(said(row)) == codes[row] as usize);
                right.map(|&row| data.row_weight(row)).sum::<f64>() / weight
            }
            Target::Values { values, n_outputs } => {
                let explained = (0..*n_outputs).map(|k| {
                    let y = |row: usize| values[row * n_outputs + k];
                    let mean = judged.iter().map(|&row| data.row_weight(row) * y(row)).sum::<f64>() / weight;
                    let sum = |f: &dyn Fn(usize) -> f64| -> f64 {
                        judged.iter().map(|&row| data.row_weight(row) * f(row).powi(2)).sum()
                    };
                    let (rest, all) = (sum(&|row| y(row) - said(row)[k]), sum(&|row| y(row) - mean));
                    if all > 0.0 { 1.0 - rest / all } else { 0.0 }
                });
                explained.sum::<f64>() / *n_outputs as f64
            }
        };
        score.is_finite().then_some(OutOfBag { score, n_judged: judged.len(), prediction })
    }

    /// What the score is.
    pub fn measure(&self, task: Task) -> &'static str {
        if task == Task::Classification { "accuracy" } else { "R^2" }
    }

    /// The score under the name that users know.
    pub fn attribute(&self) -> Attribute {
        Attribute { name: "oob_score", shape: Vec::new(), values: vec![self.score] }
    }
}

impl FittedForest {
    /// The trees.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The share of each column in what all splits gained; they add up to 1 where there are any splits.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// How good the forest is on rows that trees didn't see, where that was asked for.
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// How alike rows are to the forest: the share of trees in which two rows end in the same leaf, for all pairs, row by row.
    pub fn proximity(&self, features: &Features) -> Vec<f64> {
        let (n, n_trees) = (features.n_rows(), self.forest.n_trees());
        let leaves = self.forest.apply(features);
        let of = |row: usize| &leaves[row * n_trees..(row + 1) * n_trees];
        let alike =
            |a: usize, b: usize| of(a).iter().zip(of(b)).filter(|(a, b)| a == b).count() as f64 / n_trees as f64;
        (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).map(|(a, b)| alike(a, b)).collect()
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let output: Output = sections.json("output")?;
        let n_features = header.schema.features.len();
        let forest = Forest::load(sections, n_features, output.width(&header.schema))?;
        let importances = sections.f64s("importance")?;
        if forest.n_trees() == 0 || importances.len() != n_features {
            return Err(Error::model_file("a forest without trees, or with importances of other columns"));
        }
        let out_of_bag = sections.json("out_of_bag")?;
        Ok(Box::new(FittedForest { forest, output, importances, out_of_bag }))
    }
}

impl Fitted for FittedForest {
    fn output(&self) -> Output {
        self.output
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut means = self.forest.sum(features);
        let n_trees = self.forest.n_trees() as f64;
        means.iter_mut().for_each(|mean| *mean /= n_trees);
        Ok(means)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.forest.save(sections)?;
        sections.put_f64s("importance", &self.importances);
        sections.put_json("output", &self.output)?;
        sections.put_json("out_of_bag", &self.out_of_bag)
    }

    fn text(&self, schema: &Schema) -> String {
        const SHOWN: usize = 20;
        let mut text =
            format!("the mean of {} trees with {} nodes in all\n", self.forest.n_trees(), self.forest.n_nodes());
        if let Some(oob) = &self.out_of_bag {
            let measure = oob.measure(schema.task);
            text.push_str(&format!("out-of-bag {measure}: {} on {} rows\n", number(oob.score), oob.n_judged));
        }
        let mut order: Vec<usize> = (0..self.importances.len()).collect();
        order.sort_by(|&a, &b| self.importances[b].total_cmp(&self.importances[a]).then(a.cmp(&b)));
        text.push_str("share of each column in what the splits gained:\n");
        for &column in order.iter().take(SHOWN) {
            let share = self.importances[column];
            let bar = "█".repeat((share * 40.0).round().clamp(0.0, 40.0) as usize);
            text.push_str(&format!("  {:<24} {share:>7.4} {bar}\n", schema.features[column].name));
        }
        text
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let importances = self.importances.clone();
        let mut all =
            vec![Attribute { name: "feature_importances", shape: vec![importances.len()], values: importances }];
        all.extend(self.out_of_bag.as_ref().map(OutOfBag::attribute));
        all
    }
}
