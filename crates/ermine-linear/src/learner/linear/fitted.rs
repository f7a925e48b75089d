//! The fitted linear model: coefficients over the encoded columns, and how margins become predictions.

use super::inference::Inference;
use super::prepare::{PreparedData, Scaling};
use super::show;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::Matrix;
use ermine_core::loss::softmax::softmax;
use ermine_core::matrix::{Dataset, FeatureMap, Features, Schema, Task};
use ermine_core::model::{Attribute, Fitted, Header, Output};
use ermine_core::section::Sections;
use ermine_core::simd::exp::sigmoid;
use serde::{Deserialize, Serialize};

/// How margins `x'w + b` become predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinearLink {
    /// Margins are the predicted values.
    Identity,
    /// The class with the highest margin is predicted; a single margin is positive for the second class.
    Scores,
    /// A single margin: the log odds of the second class.
    Logistic,
    /// Log probabilities, up to a constant (softmax).
    Softmax,
}

/// Added to the objective if the penalty is on the coefficients of standardized columns.
pub const DEVIATION_1: &str = " of standardized columns";

/// History of the fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FitHistory {
    /// Number of iterations (passes, steps).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_iter: Option<usize>,
    /// The chosen penalty strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The chosen elastic-net mixing parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1_ratio: Option<f64>,
    /// The estimated scale of the residuals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// The same for each of several targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<f64>,
    /// Number of mistakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_mistakes: Option<u64>,
    /// The penalty strengths that were tried, each with its cross-validation error.
    #[serde(skip)]
    pub choices: Vec<(f64, f64)>,
    /// The error of each penalty strength on each fold, strength by strength.
    #[serde(skip)]
    pub fold_errors: Vec<f64>,
    /// The objective (or loss) after each pass.
    #[serde(skip)]
    pub curve: Vec<f64>,
}

/// A fitted linear model.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// How margins become predictions.
    pub link: LinearLink,
    /// Encoding of the features.
    pub map: FeatureMap,
    /// Names of the encoded columns.
    pub names: Vec<String>,
    /// Number of classes; 0 for regression.
    pub n_classes: usize,
    /// The classes that the margins are for; empty for regression.
    pub used: Vec<u32>,
    /// Coefficients, one row per margin.
    pub coefficients: Matrix,
    /// Intercepts, one per margin.
    pub intercepts: Vec<f64>,
    /// Standard errors and tests of each target; may be empty.
    pub inference: Vec<Inference>,
    /// History of the fit.
    pub course: FitHistory,
}

impl LinearModel {
    /// A regression model over prepared columns. Coefficients of scaled columns are converted back to the original units.
    pub fn new(
        prepared: &PreparedData<'_>,
        scaling: Option<&Scaling>,
        mut coefficients: Matrix,
        mut intercepts: Vec<f64>,
        course: FitHistory,
    ) -> LinearModel {
        if let Some(scaling) = scaling {
            for (k, intercept) in intercepts.iter_mut().enumerate() {
                *intercept += scaling.restore(coefficients.row_mut(k));
            }
        }
        LinearModel {
            link: LinearLink::Identity,
            map: prepared.map.clone(),
            names: prepared.names.clone(),
            n_classes: 0,
            used: Vec::new(),
            coefficients,
            intercepts,
            inference: Vec::new(),
            course,
        }
    }

    /// The same as a classification model, where `used` are the classes that the margins are for; if there are none, it stays a regression model.
    pub fn for_classes(self, link: LinearLink, data: &Dataset, used: Vec<u32>) -> Result<LinearModel> {
        if used.is_empty() {
            return Ok(self);
        }
        Ok(LinearModel { link, n_classes: data.classes()?.1.len(), used, ..self })
    }

    /// The margins of each row, margin by margin.
    pub fn margin_columns(&self, features: &Features) -> Result<Vec<Vec<f64>>> {
        let numbers = self.map.numbers(features)?;
        let design = numbers.design()?;
        Ok((0..self.intercepts.len()).map(|k| design.times(self.coefficients.row(k), self.intercepts[k])).collect())
    }

    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        LinearModel::read(sections, header).map(|linear| Box::new(linear) as Box<dyn Fitted>)
    }

    /// Loads the concrete type from a model file.
    pub fn read(sections: &Sections, header: &Header) -> Result<LinearModel> {
        let map: FeatureMap = sections.json("map")?;
        map.check(header.schema.features.len())?;
        let (p, intercepts) = (map.n_columns(), sections.f64s("intercepts")?);
        let coefficients = sections.f64s("coefficients")?;
        if intercepts.is_empty() || coefficients.len() != p * intercepts.len() {
            return Err(Error::model_file(
                "the number of coefficients of the linear model is not the number of columns times the number of margins",
            ));
        }
        let mut course: FitHistory = sections.json("course")?;
        let pairs = sections.f64s("choices")?;
        course.choices = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        course.curve = sections.f64s("curve")?;
        if sections.has("fold_errors") {
            course.fold_errors = sections.f64s("fold_errors")?;
            if course.choices.is_empty() || !course.fold_errors.len().is_multiple_of(course.choices.len()) {
                return Err(Error::model_file(
                    "the number of cross-validation errors is not the number of penalty strengths times the number of folds",
                ));
            }
        }
        let inference = sections.f64s("inference")?;
        let inference: Vec<Inference> =
            inference.chunks(p + 5).map(Inference::from_numbers).collect::<Option<_>>().unwrap_or_default();
        let linear = LinearModel {
            link: sections.json("link")?,
            names: sections.json("names")?,
            n_classes: header.schema.classes.len(),
            used: sections.u32s("used")?,
            coefficients: Matrix::from_fn(intercepts.len(), p, |k, j| coefficients[k * p + j]),
            intercepts,
            inference,
            course,
            map,
        };
        linear.check(&header.schema)?;
        Ok(linear)
    }

    fn check(&self, schema: &Schema) -> Result<()> {
        let (k, classes) = (self.intercepts.len(), schema.classes.len());
        let margins = match (self.link, schema.task) {
            (LinearLink::Identity, Task::Regression | Task::Ranking) => k == schema.n_outputs && self.used.is_empty(),
            (LinearLink::Logistic, Task::Classification) => k == 1 && self.used.len() == 2,
            (LinearLink::Softmax, Task::Classification) => k == self.used.len(),
            (LinearLink::Scores, Task::Classification) => k == self.used.len() || (k == 1 && self.used.len() == 2),
            _ => false,
        };
        let finite = self.coefficients.data().iter().chain(&self.intercepts).all(|w| w.is_finite());
        let known = self.used.iter().all(|&c| (c as usize) < classes);
        let counted = self.inference.is_empty() || self.inference.len() == k;
        let errors = self.inference.iter().all(|i| i.is_sound(self.names.len()));
        if margins && finite && known && counted && errors && self.names.len() == self.map.n_columns() {
            return Ok(());
        }
        Err(Error::model_file("the coefficients of the linear model do not match the target"))
    }

    /// Writes the output of one row, one number per class of the schema, to `out`, given its margins.
    fn of_classes(&self, margins: &[f64], out: &mut [f64]) {
        let mut scores: Vec<f64> = match margins {
            [z] if self.link == LinearLink::Logistic => vec![1.0 - sigmoid(*z), sigmoid(*z)],
            [z] => vec![-z, *z],
            _ => margins.to_vec(),
        };
        if self.link == LinearLink::Softmax {
            softmax(&mut scores);
        }
        // A class without training rows is never predicted.
        out.fill(if self.output() == Output::Probabilities { 0.0 } else { f64::MIN });
        self.used.iter().zip(scores).for_each(|(&c, score)| out[c as usize] = score);
    }

    /// Whether a single signed score decides between two classes.
    fn is_margin(&self) -> bool {
        self.link == LinearLink::Scores && self.n_classes == 2 && self.intercepts.len() == 1
    }

    /// The shape of the coefficients, as in scikit-learn: a vector for a single output, one row per class for classification.
    fn output_shape(&self, width: Option<usize>) -> Vec<usize> {
        let k = self.intercepts.len();
        let mut shape = if k == 1 && self.link == LinearLink::Identity { Vec::new() } else { vec![k] };
        shape.extend(width);
        shape
    }
}

impl Fitted for LinearModel {
    fn output(&self) -> Output {
        match self.link {
            LinearLink::Identity => Output::Values,
            LinearLink::Scores if self.is_margin() => Output::Margin,
            LinearLink::Scores => Output::Scores,
            LinearLink::Logistic | LinearLink::Softmax => Output::Probabilities,
        }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut margins = self.margin_columns(features)?;
        if margins.len() == 1 && (self.link == LinearLink::Identity || self.is_margin()) {
            return Ok(margins.swap_remove(0));
        }
        let (n, k) = (features.n_rows(), margins.len());
        let mut row = vec![0.0; k];
        let width = if self.link == LinearLink::Identity { k } else { self.n_classes };
        let mut out = vec![0.0; n * width];
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            row.iter_mut().zip(&margins).for_each(|(r, m)| *r = m[i]);
            match self.link {
                LinearLink::Identity => out.copy_from_slice(&row),
                _ => self.of_classes(&row, out),
            }
        }
        Ok(out)
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        if self.link == LinearLink::Identity {
            return Ok(None);
        }
        let (margins, n) = (self.margin_columns(features)?, features.n_rows());
        let k = if margins.len() == 1 && self.n_classes == 2 { 1 } else { self.n_classes };
        let mut out = vec![f64::MIN; n * k];
        for (i, out) in out.chunks_exact_mut(k.max(1)).enumerate() {
            match (&margins[..], k) {
                ([z], 1) => out[0] = z[i],
                ([z], _) => self.used.iter().zip([-z[i], z[i]]).for_each(|(&c, z)| out[c as usize] = z),
                _ => self.used.iter().zip(&margins).for_each(|(&c, z)| out[c as usize] = z[i]),
            }
        }
        Ok(Some((out, k)))
    }

    fn parameters(&self) -> Vec<&[f64]> {
        vec![self.coefficients.data(), &self.intercepts]
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("map", &self.map)?;
        sections.put_json("link", &self.link)?;
        sections.put_json("names", &self.names)?;
        sections.put_json("course", &self.course)?;
        sections.put_u32s("used", &self.used);
        sections.put_f64s("coefficients", self.coefficients.data());
        sections.put_f64s("intercepts", &self.intercepts);
        sections.put_f64s("inference", &self.inference.iter().flat_map(Inference::to_numbers).collect::<Vec<_>>());
        sections.put_f64s("choices", &self.course.choices.iter().flat_map(|(a, e)| [*a, *e]).collect::<Vec<_>>());
        sections.put_f64s("curve", &self.course.curve);
        if !self.course.fold_errors.is_empty() {
            sections.put_f64s("fold_errors", &self.course.fold_errors);
        }
        Ok(())
    }

    fn text(&self, schema: &Schema) -> String {
        show::text(self, schema)
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        show::svg(self, schema)
    }

    fn html(&self, schema: &Schema) -> Option<String> {
        Some(show::html(self, schema))
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        show::explain_row(self, schema, features, row)
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let p = self.names.len();
        let mut all = vec![
            Attribute::coefficients(self.output_shape(Some(p)), self.coefficients.data().to_vec()),
            Attribute::intercepts(self.output_shape(None), self.intercepts.clone()),
        ];
        let number = |name, value: Option<f64>, doc| value.map(|value| Attribute::number(name, value, doc));
        let course = &self.course;
        all.extend(course.n_iter.map(Attribute::n_iter));
        all.extend(number("alpha", course.alpha, "Penalty strength that was chosen by cross-validation."));
        all.extend(number(
            "l1_ratio",
            course.l1_ratio,
            "Elastic-net mixing parameter that was chosen by cross-validation.",
        ));
        all.extend(number("scale", course.scale, "Scale of the residuals."));
        if !course.scales.is_empty() {
            let doc = "Scale of the residuals of each target.";
            all.push(Attribute::vector("scale", course.scales.clone(), "(n_outputs,)", doc));
        }
        all.extend(course.n_mistakes.map(Attribute::n_mistakes));
        if !course.choices.is_empty() {
            let (alphas, errors): (Vec<f64>, Vec<f64>) = course.choices.iter().copied().unzip();
            let doc = "Cross-validation error of each penalty strength.";
            all.push(Attribute::vector("alphas", alphas, "(n_alphas,)", "Penalty strengths that were tried."));
            all.push(Attribute::vector("cv_errors", errors, "(n_alphas,)", doc));
        }
        if !course.fold_errors.is_empty() {
            let shape = [course.choices.len(), course.fold_errors.len() / course.choices.len()];
            let doc = "Mean squared error of each penalty strength on each fold.";
            all.push(Attribute::matrix("mse_path", shape, course.fold_errors.clone(), "(n_alphas, n_folds)", doc));
        }
        if !course.curve.is_empty() {
            let doc = "Loss, objective or number of mistakes after each pass.";
            all.push(Attribute::vector("loss_curve", course.curve.clone(), "(n_iter_,)", doc));
        }
        if let [one] = &self.inference[..] {
            let doc = "Number of linearly independent columns.";
            all.push(Attribute::integer("rank", one.rank as usize, doc));
            all.push(Attribute::number(
                "r_squared",
                one.r_squared,
                "Coefficient of determination R^2 on the training set.",
            ));
            let (errors, doc) = (one.errors[..p].to_vec(), "Standard errors of the coefficients.");
            all.extend((p > 0).then(|| Attribute::vector("std_errors", errors, "(n_columns,)", doc)));
        }
        all
    }
}
