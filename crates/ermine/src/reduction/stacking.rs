//! Stacking: a learner that learns from the predictions of other learners.
//!
//! **Idea.** Every learner is cross-validated; its predictions for held-out rows become columns of a new table, on which the final learner is trained. The learners themselves are
//! then trained on all rows. Predictions for training rows would be too good, and the final learner would trust the learner that overfits most: so they are out of fold.
//!
//! **Columns.** One for each class (the second alone of two classes), or one for numbers; then the features themselves with `passthrough`.
//!
//! **Cost.** cv + 1 fits for each learner. **References.** Wolpert, Stacked generalization, 1992; Breiman, Stacked regressions, 1996.

use super::committee::{self, LoadFitted, Member, numeric_feature, select_columns};
use super::estimator::{Estimator, EstimatorList};
use super::out_of_fold::{folds, out_of_fold};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Certificate, Fitted, Header, Output, Proof};
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::section::Sections;
use ermine_core::{choice, params};
use serde::{Deserialize, Serialize};

choice! {
    /// Which predictions of the learners the final learner sees.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StackMethod {
        /// Probabilities, or scores from learners without them.
        Auto = "auto",
        /// Probabilities.
        PredictProba = "predict_proba",
        /// Scores: log odds or margins.
        DecisionFunction = "decision_function",
        /// The predicted class or number.
        Predict = "predict",
    }
}

params! {
    /// A learner on top of the out-of-fold predictions of other learners.
    pub struct Stacking("stacking") {
        /// Base learners: their names, with non-default parameters in parentheses.
        /// Learners of different kinds help each other most.
        estimators: EstimatorList = EstimatorList::named(&["random-forest", "extra-trees"]);
        /// Learner that combines their predictions; none for logistic regression (classification) or ridge regression with a cross-validated penalty (regression).
        final_estimator: Option<Estimator> = None;
        /// Number of cross-validation folds.
        /// More folds use more rows for training, and take longer.
        cv: usize = 5, range Range::between(2.0, 1000.0);
        /// Predictions that the final learner gets: probabilities, decision values or predicted classes; auto for probabilities, or decision values from learners without them.
        stack_method: StackMethod = StackMethod::Auto;
        /// Whether the final learner also gets the features.
        passthrough: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "stacking",
    summary: "a learner on top of the out-of-fold predictions of other learners",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        // If the learners do.
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Ensemble,
};

impl Learner for Stacking {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let estimators = &self.estimators.0;
        let learners = estimators.iter().map(|e| e.learner(context)).collect::<Result<Vec<_>>>()?;
        let combine = self.combiner(data.task());
        let final_learner = combine.learner(context)?;
        let splits = folds(data, self.cv, INFO.name, context)?;
        let total = Some(2 * learners.len() as u64 + 1);
        report(context.observer, Event::Begin { what: "estimators", total })?;
        let schema = Schema::of(data);
        let (mut members, mut held_out, mut widths, mut statuses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (i, learner) in learners.iter().enumerate() {
            let answers = |member: &Member, features: &Features| answers(member, self.stack_method, &schema, features);
            let found = out_of_fold(&**learner, data, &splits, context, &answers)?;
            report(context.observer, Event::Step { done: 2 * i as u64 + 1, score: None })?;
            statuses.extend(found.members.iter().map(|member| member.status().clone()));
            widths.push(found.width);
            held_out.push(found.values);
            members.push(Member::train(&**learner, data, None, context.seed, context)?);
            report(context.observer, Event::Step { done: 2 * i as u64 + 2, score: None })?;
        }
        let layout = StackLayout {
            estimators: estimators.iter().map(Estimator::to_string).collect(),
            final_estimator: combine.to_string(),
            method: self.stack_method,
            passthrough: self.passthrough,
            widths,
        };
        let stacked = layout.stacked(data.features(), &held_out)?;
        let table = Dataset::from_parts(stacked, data.target().clone(), data.task())?;
        let table = table.with_weight(data.weight().map(<[f64]>::to_vec))?;
        let combiner = Member::train(&*final_learner, &table, None, context.seed, context)?;
        report(context.observer, Event::End)?;
        statuses.extend(members.iter().chain([&combiner]).map(|member| member.status().clone()));
        let certificate = Certificate {
            objective: format!("the objective of {combine} on out-of-fold predictions"),
            value: None,
            status: committee::combined_status(&statuses),
            proofs: vec![Proof::Nothing { because: "each estimator minimizes its own objective".into() }],
            notes: vec![format!("{combine} on the predictions of {}, in {} folds", self.estimators, splits.len())],
        };
        let fitted = FittedStacking::new(layout, members, combiner, &schema)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl Stacking {
    /// The final learner.
    fn combiner(&self, task: Task) -> Estimator {
        let usual = if task == Task::Classification { "logistic-regression" } else { "ridge-cv" };
        self.final_estimator.clone().unwrap_or_else(|| Estimator::named(usual))
    }
}

/// What the final learner sees of a model: the same number of columns for each row.
fn answers(member: &Member, method: StackMethod, schema: &Schema, features: &Features) -> Result<Vec<f64>> {
    let n_classes = schema.classes.len();
    let unsupported = |what: &str| {
        let allowed = format!("auto, because {} predicts no {what}", member.learner());
        Error::Param { owner: INFO.name.into(), name: "stack_method".into(), value: method.as_str().into(), allowed }
    };
    let output = member.output();
    let (numbers, width) = match method {
        _ if output == Output::Values => (member.predict(features)?, schema.n_outputs),
        StackMethod::Predict => (member.classes(features, n_classes)?.into_iter().map(f64::from).collect(), 1),
        StackMethod::PredictProba if output != Output::Probabilities => return Err(unsupported("probabilities")),
        StackMethod::DecisionFunction if output == Output::Probabilities => {
            member.margins(features)?.ok_or_else(|| unsupported("scores"))?
        }
        _ => (member.predict(features)?, output.width(schema)),
    };
    // Of two classes, one number is enough.
    Ok(match (width, output) {
        (2, Output::Probabilities) if method != StackMethod::DecisionFunction => {
            numbers.chunks(2).map(|p| p[1]).collect()
        }
        (2, Output::Probabilities | Output::Scores) => numbers.chunks(2).map(|s| s[1] - s[0]).collect(),
        _ => numbers,
    })
}

/// How the table of the final learner is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StackLayout {
    estimators: Vec<String>,
    final_estimator: String,
    method: StackMethod,
    passthrough: bool,
    /// Number of columns of each estimator.
    widths: Vec<usize>,
}

impl StackLayout {
    /// The names of the columns with predictions.
    fn names(&self) -> Vec<String> {
        let of_estimator = |(i, &width): (usize, &usize)| {
            (0..width).map(move |k| if width == 1 { format!("estimator {i}") } else { format!("estimator {i}, {k}") })
        };
        self.widths.iter().enumerate().flat_map(of_estimator).collect()
    }

    /// The table of the final learner: the predictions of each estimator, then the features if they are passed through.
    fn stacked(&self, features: &Features, predictions: &[Vec<f64>]) -> Result<Features> {
        let column = |of: &[f64], width: usize, k: usize| of.iter().skip(k).step_by(width).copied().collect();
        let columns = predictions.iter().zip(&self.widths);
        let columns = columns.flat_map(|(of, &width)| (0..width).map(move |k| column(of, width, k)));
        let more: Vec<(String, Vec<f64>)> = self.names().into_iter().zip(columns).collect();
        let (n_own, n_more) = (features.n_columns() as u32, more.len() as u32);
        let both = features.with_numbers(more);
        let own = if self.passthrough { 0..n_own } else { 0..0 };
        select_columns(&both, &(n_own..n_own + n_more).chain(own).collect::<Vec<u32>>())
    }

    /// The header of the final model.
    fn final_header(&self, header: &Header) -> Header {
        let mut own = header.clone();
        let features = if self.passthrough { std::mem::take(&mut own.schema.features) } else { Vec::new() };
        own.schema.features = self.names().into_iter().map(numeric_feature).chain(features).collect();
        own
    }
}

/// Fitted learners, and the fitted learner on top of them.
pub struct FittedStacking {
    layout: StackLayout,
    members: Vec<Member>,
    combiner: Member,
    schema: Schema,
}

impl FittedStacking {
    fn new(layout: StackLayout, members: Vec<Member>, combiner: Member, schema: &Schema) -> Result<FittedStacking> {
        let n = members.len();
        let kind = |member: &Member| (member.output() == Output::Values) == (schema.task == Task::Regression);
        let most = schema.classes.len().max(schema.n_outputs).max(1);
        let counted = layout.widths.iter().all(|width| (1..=most).contains(width));
        if n == 0 || layout.estimators.len() != n || layout.widths.len() != n || !counted {
            return Err(Error::model_file("the estimators don't fit the table of the final estimator"));
        }
        if !members.iter().chain([&combiner]).all(kind) {
            return Err(Error::model_file("the estimators of the stack don't fit the target"));
        }
        let schema = Schema { features: Vec::new(), ..schema.clone() };
        Ok(FittedStacking { layout, members, combiner, schema })
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let layout: StackLayout = sections.json("layout")?;
        let texts = layout.estimators.iter().chain([&layout.final_estimator]);
        texts.into_iter().try_for_each(|text| Estimator::written(text).map(drop))?;
        let most = header.schema.classes.len().max(header.schema.n_outputs).max(1);
        if layout.widths.iter().any(|width| *width > most) {
            return Err(Error::model_file("the estimators don't fit the table of the final estimator"));
        }
        let members = committee::load(sections, header, load)?;
        let combiner = Member::load(&sections.part("final"), &layout.final_header(header), load)?;
        Ok(Box::new(FittedStacking::new(layout, members, combiner, &header.schema)?))
    }

    /// The table that the final learner sees.
    pub fn transform(&self, features: &Features) -> Result<Features> {
        let of = |(member, &width): (&Member, &usize)| {
            let numbers = answers(member, self.layout.method, &self.schema, features)?;
            let wrong = || Error::model_file("an estimator of the stack predicts more or fewer numbers than expected");
            (numbers.len() == features.n_rows() * width).then_some(numbers).ok_or_else(wrong)
        };
        let predictions = self.members.iter().zip(&self.layout.widths).map(of).collect::<Result<Vec<_>>>()?;
        self.layout.stacked(features, &predictions)
    }
}

impl Fitted for FittedStacking {
    fn output(&self) -> Output {
        self.combiner.output()
    }

    fn reads_text(&self) -> bool {
        self.members.iter().chain([&self.combiner]).any(Member::reads_text)
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.combiner.predict(&self.transform(features)?)
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        self.combiner.margins(&self.transform(features)?)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("layout", &self.layout)?;
        committee::save(&self.members, sections)?;
        sections.within("final", |sections| self.combiner.save(sections))
    }

    /// The learners, then the learner on top of them.
    fn n_parts(&self) -> usize {
        self.members.len() + 1
    }

    fn part(&self, index: usize, header: &Header) -> Result<(Header, Sections)> {
        match self.members.get(index) {
            Some(member) => member.part(header, &Estimator::written(&self.layout.estimators[index])?),
            None => {
                let estimator = Estimator::written(&self.layout.final_estimator)?;
                self.combiner.part(&self.layout.final_header(header), &estimator)
            }
        }
    }

    fn text(&self, _schema: &Schema) -> String {
        let and = if self.layout.passthrough { " and the features" } else { "" };
        let mut text =
            format!("{} on the predictions of {} models{and}\n", self.layout.final_estimator, self.members.len());
        self.layout.estimators.iter().enumerate().for_each(|(i, name)| text += &format!("  estimator {i}: {name}\n"));
        text
    }
}
