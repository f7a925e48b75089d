//! The candidates of `auto`: a fixed, ordered list of configurations for each task, then settings of boosting drawn from its tuning ranges.
//!
//! The order is the order in which they are tried: default boosting first, since no result may be worse; then configurations that err in other ways (forests, linear models,
//! neighbors, machines), since an ensemble gains from members that disagree; then more shapes of boosting.

use super::Preset;
use ermine_core::error::Result;
use ermine_core::learner::Context;
use ermine_core::learner::estimator::Estimator;
use ermine_core::learner::fit::{can_learn, check};
use ermine_core::learner::raw_columns::standardize_by_default;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::param::Value;
use ermine_core::rng::Purpose;
use ermine_eval::evaluate::search::with_setting;
use ermine_eval::evaluate::space::SearchSpace;

/// The learner whose default fit comes first and must be beaten.
pub(super) const BOOSTING: &str = "gradient-boosting";

/// Boosting grows a tree for each class in each round: with more classes than this it is not tried.
const MOST_CLASSES_BOOSTED: usize = 100;

/// Kernel machines and neighbors need time and memory in proportion to the square of the rows, or to the rows for each prediction.
const MOST_ROWS_OF_MACHINES: usize = 5_000;
const MOST_ROWS_OF_NEIGHBORS: usize = 50_000;

/// Wide tables make polynomial terms too many.
const MOST_COLUMNS_OF_PRODUCTS: usize = 30;

const CLASSIFICATION: &[&str] = &[
    "gradient-boosting",
    "extra-trees(n_estimators=300)",
    "logistic-regression",
    "random-forest(n_estimators=300,min_samples_leaf=3)",
    "gradient-boosting(grow_policy=symmetric,learning_rate=0.05,max_depth=6)",
    "nearest-neighbors(n_neighbors=15,weights=distance)",
    "calibrated(estimator=svc(C=3.0,standardize=true),cv=3)",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=12,colsample_bytree=0.7,subsample=0.8)",
    "logistic-regression(degree=2,C=0.03)",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=64,reg_lambda=10.0,min_child_weight=5.0,colsample_bytree=0.5)",
    "extra-trees(n_estimators=300,min_samples_leaf=5,max_features=0.7)",
    "gradient-boosting(learning_rate=0.03,max_leaf_nodes=8,min_child_weight=0.1,subsample=0.7)",
];

const REGRESSION: &[&str] = &[
    "gradient-boosting",
    "extra-trees(n_estimators=300)",
    "ridge-cv(alphas=[0.01,0.1,1.0,10.0,100.0,1000.0])",
    "random-forest(n_estimators=300,max_features=0.5)",
    "gradient-boosting(grow_policy=symmetric,learning_rate=0.05,max_depth=6)",
    "nearest-neighbors(n_neighbors=8,weights=distance)",
    "svr(C=10.0)",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=12,colsample_bytree=0.7,subsample=0.8)",
    "ridge(degree=2,alpha=10.0)",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=64,reg_lambda=10.0,min_child_weight=5.0,colsample_bytree=0.5)",
    "extra-trees(n_estimators=300,min_samples_leaf=5)",
    "gradient-boosting(learning_rate=0.03,max_leaf_nodes=8,subsample=0.7)",
];

const RANKING: &[&str] = &[
    "gradient-boosting",
    "rank-svm",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=12,colsample_bytree=0.7,subsample=0.8)",
    "gradient-boosting(learning_rate=0.05,max_leaf_nodes=64,reg_lambda=10.0,min_child_weight=5.0)",
    "gradient-boosting(grow_policy=symmetric,learning_rate=0.05,max_depth=6)",
];

const INTERPRETABLE: &[&str] = &[
    "decision-tree(pruning=cost_complexity)",
    "logistic-regression",
    "ridge-cv(alphas=[0.01,0.1,1.0,10.0,100.0,1000.0])",
    "lasso-cv",
    "decision-tree(max_depth=3)",
    "decision-tree(max_depth=5,min_samples_leaf=5)",
    "logistic-regression(C=0.03)",
    "logistic-regression(C=0.1,l1_ratio=1.0)",
    "decision-stump",
    "rank-svm",
];

/// The first configurations of each preset, where no number of trials is given.
pub(super) fn usual_trials(preset: Preset) -> usize {
    match preset {
        Preset::Fast => 3,
        Preset::Balanced => 8,
        Preset::Best => 20,
    }
}

/// The candidates for this data, in their order: at most `most`. Those that can't learn from it are left out.
pub(super) fn candidates(
    data: &Dataset,
    interpretable: bool,
    most: usize,
    context: &Context<'_>,
) -> Result<Vec<Estimator>> {
    let listed = match (interpretable, data.task()) {
        (true, _) => INTERPRETABLE,
        (false, Task::Classification | Task::Multilabel) => CLASSIFICATION,
        (false, Task::Regression) => REGRESSION,
        (false, Task::Ranking) => RANKING,
    };
    let mut found: Vec<Estimator> = Vec::new();
    for text in listed {
        if found.len() == most {
            return Ok(found);
        }
        let estimator = Estimator::written(text)?;
        if let Some(estimator) = configured(&estimator, data, context).filter(|estimator| !found.contains(estimator)) {
            found.push(estimator);
        }
    }
    if !interpretable && boosts(data) {
        let missing = most.saturating_sub(found.len());
        found.extend(drawn(missing, data, context)?);
    }
    Ok(found)
}

/// Whether boosting is tried.
fn boosts(data: &Dataset) -> bool {
    data.classes().map_or(1, |(_, labels)| labels.len()) <= MOST_CLASSES_BOOSTED
}

/// The configuration with standardized columns where it needs them; `None` if it doesn't suit the data.
fn configured(estimator: &Estimator, data: &Dataset, context: &Context<'_>) -> Option<Estimator> {
    // Learners of features that this build doesn't have are no candidates.
    let mut learner = estimator.learner(context).ok()?;
    standardize_by_default(&mut *learner, data).ok()?;
    let (n, d) = (data.n_rows(), data.features().n_columns());
    let fits = match estimator.name.as_str() {
        BOOSTING => boosts(data),
        "nearest-neighbors" => n <= MOST_ROWS_OF_NEIGHBORS,
        "calibrated" | "svr" => n <= MOST_ROWS_OF_MACHINES,
        _ => learner.get("degree") != Some(Value::Int(2)) || d <= MOST_COLUMNS_OF_PRODUCTS,
    };
    (fits && can_learn(&*learner, data.task()) && check(&*learner, data).is_ok()).then(|| Estimator::of(&*learner))
}

/// Settings of boosting drawn from its tuning ranges.
fn drawn(n: usize, data: &Dataset, context: &Context<'_>) -> Result<Vec<Estimator>> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let learner = context.registry.learner(BOOSTING)?;
    let space = SearchSpace::declared(&*learner).supported_by(&*learner, data, context)?;
    let setting = |i: usize| space.draw(&mut Purpose::AutoConfigurations.stream(context.seed, &[i as u64]));
    (0..n).map(|i| Ok(Estimator::of(&*with_setting(&*learner, &setting(i), context)?))).collect()
}
