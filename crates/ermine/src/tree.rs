//! Single decision trees.

/// CART decision tree for classification and regression, with cost-complexity pruning.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = DecisionTree { max_depth: Some(4), ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::decision_tree::DecisionTree;

/// Decision stump: the best single split.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = DecisionStump::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::stump::DecisionStump;

/// C4.5: multiway splits by gain ratio, missing values as fractions of a row, pruned.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = C45::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::c45::C45;

/// ID3: multiway splits by information gain.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = Id3 { max_depth: Some(3), ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::id3::Id3;

/// Tree with the smallest training error among all trees of a given depth, with a proof of optimality.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = OptimalTree { max_depth: 2, ..Default::default() }.fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::optimal_tree::OptimalTree;

/// Tree whose nodes compare weighted sums of the features with a threshold.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = ObliqueTree::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::oblique_tree::ObliqueTree;

/// Tree whose nodes test which of two training rows is nearer.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = ComparisonTree::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::comparison_tree::ComparisonTree;

/// Tree that splits each cell at a point into `2^d` cells.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = QuadTree::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::quad_tree::QuadTree;

/// Classification by one piecewise constant density per class.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = DensityTree::default().fit(&train)?;
/// println!("{}", model.evaluate(&test)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_trees::learner::density_tree::DensityTree;

#[doc(inline)]
pub use ermine_core::learner::parameters::{ClassWeight, CountOrFraction, MaxFeatures};

#[doc(inline)]
pub use ermine_trees::learner::comparison_tree::ComparisonMetric;

#[doc(inline)]
pub use ermine_trees::learner::decision_tree::{Pruning, Splitter, TreeCriterion};

#[doc(inline)]
pub use ermine_trees::learner::quad_tree::CutAt;

#[doc(inline)]
pub use ermine_trees::learner::stump::Polarity;

#[doc(inline)]
pub use ermine_trees::split::Impurity;
