//! The overview of a table: kind, missing values and distribution of each column, and its relation to the target.
//!
//! Everything is one pass over each column, all columns at the same time, so that a million rows take little longer than reading them. Distinct values are counted up to [`MOST_DISTINCT`].

use crate::relation::relation;
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::parallel;
use ermine_core::table::{Column, ColumnKind, MISSING, Notation, Table};
use ermine_eval::describe::DataSummary;
use ermine_eval::describe::DataWarning;
use serde::Serialize;
use std::collections::HashSet;

/// Distinct numbers are counted up to this many.
pub const MOST_DISTINCT: usize = 1000;
/// Up to this many distinct numbers have a bar each.
const FEW_VALUES: usize = 12;
/// Number of bars of other numbers.
const N_BARS: usize = 24;
/// Number of categories with a bar of their own.
const N_CATEGORIES: usize = 12;
/// Classes with a color of their own in the bars.
const N_CLASSES: usize = 6;
/// A class with a smaller share is rare.
const RARE: f64 = 0.05;
/// A column that explains more than this share of the target by itself may be a leak.
const LEAK: f64 = 0.98;

/// The columns of a table.
#[derive(Debug, Clone, Serialize)]
pub struct TableOverview {
    /// Number of rows.
    pub n_rows: usize,
    /// The columns in order.
    pub columns: Vec<ColumnOverview>,
}

/// One column of a table.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnOverview {
    /// Its name.
    pub name: String,
    /// Its kind: numeric, nominal, ordinal, boolean.
    pub kind: ColumnKind,
    /// Whether its numbers are dates or times.
    pub is_date: bool,
    /// The factor that makes days since 1970 of its numbers, for dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_days: Option<f64>,
    /// Number of missing values.
    pub n_missing: usize,
    /// Number of distinct values, at most [`MOST_DISTINCT`] for numbers.
    pub n_distinct: usize,
    /// Whether there are more distinct values than were counted.
    pub has_more: bool,
    /// The distribution of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberFacts>,
    /// The bars of its chart.
    pub bars: ColumnBars,
    /// What to look out for.
    pub warnings: Vec<String>,
}

/// The distribution of a column of numbers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NumberFacts {
    /// The minimum.
    pub min: f64,
    /// The lower quartile, up to interpolation.
    pub lower: f64,
    /// The median, up to interpolation.
    pub median: f64,
    /// The upper quartile, up to interpolation.
    pub upper: f64,
    /// The maximum.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

/// How values are counted: a bar for each value, for each category, or for each interval.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ColumnBars {
    /// A bar for each of a few numbers.
    Values {
        /// The numbers, ascending.
        at: Vec<f64>,
        /// Rows of each bar.
        counts: Vec<usize>,
    },
    /// A bar for each interval; numbers beyond the ends count in the outermost bars.
    Intervals {
        /// The bounds of the intervals, ascending.
        edges: Vec<f64>,
        /// Rows of each bar.
        counts: Vec<usize>,
    },
    /// A bar for each of the most frequent categories, and one for all others.
    Categories {
        /// Their names.
        names: Vec<String>,
        /// Their codes.
        #[serde(skip)]
        codes: Vec<u32>,
        /// Rows of each bar.
        counts: Vec<usize>,
        /// Rows of all other categories.
        others: usize,
    },
    /// A column without values.
    Empty,
}

/// The relation of a column to the target.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnRelation {
    /// The column.
    pub name: String,
    /// The share of the target's variance that the column explains by itself on held-out rows, from 0 to 1.
    pub strength: f64,
    /// For each class, the rows of each bar (the last class stands for all others).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_class: Vec<Vec<usize>>,
    /// The mean target of each bar, for regression; `null` where a bar has no rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<Option<f64>>,
}

/// The target of a data set, and how the columns relate to it.
#[derive(Debug, Clone, Serialize)]
pub struct TargetOverview {
    /// The task.
    pub task: Task,
    /// Whether the task was chosen by the target.
    pub task_is_chosen: bool,
    /// Number of rows with a target.
    pub n_rows: usize,
    /// Number of rows without a target, which are left out.
    pub n_dropped: usize,
    /// Classes with their numbers of rows, the most frequent first.
    pub classes: Vec<(String, usize)>,
    /// The classes of the colored bars, in their order; the last one stands for all others if there are more.
    pub shown_classes: Vec<String>,
    /// The range of a numeric target.
    pub range: Option<(f64, f64)>,
    /// The relation of each feature to the target.
    pub relations: Vec<ColumnRelation>,
    /// What to look out for; each with the column it is about.
    pub warnings: Vec<(Option<String>, String)>,
}

impl TableOverview {
    /// Describes all columns.
    pub fn new(table: &Table) -> TableOverview {
        let columns = table.columns();
        TableOverview {
            n_rows: table.n_rows(),
            columns: parallel::map(columns.len(), |j| ColumnOverview::new(&columns[j])),
        }
    }
}

impl ColumnOverview {
    fn new(column: &Column) -> ColumnOverview {
        let is_date = !matches!(column.notation, Notation::Plain | Notation::DecimalComma);
        let empty = ColumnOverview {
            name: column.name.clone(),
            kind: column.kind,
            is_date,
            in_days: column.notation.in_days(),
            n_missing: column.n_missing(),
            n_distinct: 0,
            has_more: false,
            numbers: None,
            bars: ColumnBars::Empty,
            warnings: Vec::new(),
        };
        let mut found = match (column.codes(None), column.levels()) {
            (Some(codes), Some(levels)) => empty.of_categories(&codes, levels.names()),
            _ => empty.of_numbers(column.numbers(None)),
        };
        found.warn(column.len());
        found
    }

    fn of_categories(mut self, codes: &[u32], names: &[String]) -> ColumnOverview {
        let mut counts = vec![0usize; names.len()];
        codes.iter().filter(|&&code| code != MISSING).for_each(|&code| counts[code as usize] += 1);
        let mut order: Vec<u32> = (0..names.len() as u32).filter(|&code| counts[code as usize] > 0).collect();
        self.n_distinct = order.len();
        if order.is_empty() {
            return self;
        }
        // Ordered categories keep their order, as long as there are few.
        if !self.kind.is_ordered() || order.len() > N_CATEGORIES {
            order.sort_by_key(|&code| std::cmp::Reverse(counts[code as usize]));
        }
        let others = order.iter().skip(N_CATEGORIES).map(|&code| counts[code as usize]).sum();
        order.truncate(N_CATEGORIES);
        self.bars = ColumnBars::Categories {
            names: order.iter().map(|&code| names[code as usize].clone()).collect(),
            counts: order.iter().map(|&code| counts[code as usize]).collect(),
            codes: order,
            others,
        };
        self
    }

    fn of_numbers(mut self, mut values: Vec<f64>) -> ColumnOverview {
        values.retain(|x| x.is_finite());
        if values.is_empty() {
            return self;
        }
        let mut distinct: HashSet<u64> = HashSet::new();
        for x in &values {
            // 0 and -0 are the same number.
            distinct.insert((x + 0.0).to_bits());
            if distinct.len() > MOST_DISTINCT {
                break;
            }
        }
        self.has_more = distinct.len() > MOST_DISTINCT;
        self.n_distinct = distinct.len().min(MOST_DISTINCT);
        let last = values.len() - 1;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut at =
            |share: f64| *values.select_nth_unstable_by((share * last as f64).round() as usize, f64::total_cmp).1;
        let facts = NumberFacts { min: at(0.0), lower: at(0.25), median: at(0.5), upper: at(0.75), max: at(1.0), mean };
        let (low, high) = (at(0.005), at(0.995));
        self.bars = if distinct.len() <= FEW_VALUES {
            let mut at: Vec<f64> = distinct.iter().map(|&bits| f64::from_bits(bits)).collect();
            at.sort_by(f64::total_cmp);
            ColumnBars::Values { counts: vec![0; at.len()], at }
        } else {
            let (low, high) = if low < high { (low, high) } else { (facts.min, facts.max) };
            let edge = |k: usize| low + (high - low) * k as f64 / N_BARS as f64;
            ColumnBars::Intervals { edges: (0..=N_BARS).map(edge).collect(), counts: vec![0; N_BARS] }
        };
        let mut counts = vec![0; self.bars.len()];
        values.iter().filter_map(|&x| self.bars.bar_of(x)).for_each(|bar| counts[bar] += 1);
        if let ColumnBars::Values { counts: own, .. } | ColumnBars::Intervals { counts: own, .. } = &mut self.bars {
            *own = counts;
        }
        self.numbers = Some(facts);
        self
    }

    fn warn(&mut self, n_rows: usize) {
        let n_present = n_rows - self.n_missing;
        if n_present == 0 {
            self.warnings.push("has no values".into());
        } else if self.n_distinct == 1 {
            self.warnings.push("has the same value in every row".into());
        } else if self.n_missing * 2 > n_rows {
            let share = 100.0 * self.n_missing as f64 / n_rows as f64;
            self.warnings.push(format!("is missing in {share:.0}% of the rows"));
        }
        if self.kind == ColumnKind::Nominal && n_present >= 20 && self.n_distinct * 10 >= n_present * 9 {
            self.warnings.push("has another category in nearly every row and may identify rows".into());
        }
        if self.is_date {
            let advice = "holds dates or times; if rows are in order of time, random folds let models see the future";
            self.warnings.push(advice.into());
        }
    }
}

impl ColumnBars {
    /// Number of bars.
    fn len(&self) -> usize {
        match self {
            ColumnBars::Values { at, .. } => at.len(),
            ColumnBars::Intervals { counts, .. } => counts.len(),
            ColumnBars::Categories { codes, .. } => codes.len() + 1,
            ColumnBars::Empty => 0,
        }
    }

    /// The bar of a value, as [`Column::number`] gives it.
    fn bar_of(&self, x: f64) -> Option<usize> {
        if !x.is_finite() {
            return None;
        }
        match self {
            ColumnBars::Values { at, .. } => at.iter().position(|&value| value == x),
            ColumnBars::Intervals { edges, counts } => {
                let (low, high) = (edges[0], edges[edges.len() - 1]);
                let place = (x - low) / (high - low) * counts.len() as f64;
                Some((place.max(0.0) as usize).min(counts.len() - 1))
            }
            ColumnBars::Categories { codes, .. } => {
                Some(codes.iter().position(|&code| f64::from(code) == x).unwrap_or(codes.len()))
            }
            ColumnBars::Empty => None,
        }
    }
}

impl TargetOverview {
    /// Describes the target, and how the columns of the table relate to it. `n_read` is the number of rows of the table.
    pub fn new(data: &Dataset, table: &TableOverview, task_is_chosen: bool) -> TargetOverview {
        let summary = DataSummary::new(data, table.n_rows, task_is_chosen);
        let classes: Vec<(String, usize)> = summary.classes.iter().map(|c| (c.name.clone(), c.n_rows)).collect();
        let shades = TargetShades::new(data);
        let columns = data.features().columns();
        let relations = parallel::map(columns.len(), |j| {
            let bars = table.columns.iter().find(|column| column.name == columns[j].name).map(|column| &column.bars);
            shades.relation(data, j, bars)
        });
        let mut warnings: Vec<(Option<String>, String)> = summary.warnings.iter().map(of_column).collect();
        for found in &relations {
            let is_known = warnings.iter().any(|(column, _)| column.as_deref() == Some(&found.name));
            if found.strength > LEAK && !is_known {
                let percent = (1000.0 * found.strength).floor() / 10.0;
                let text = format!(
                    "column '{}' explains {percent}% of the target by itself; is it known before the target?",
                    found.name
                );
                warnings.push((Some(found.name.clone()), text));
            }
        }
        if let Some((rare, n)) =
            classes.last().filter(|(_, n)| classes.len() > 1 && (*n as f64) < RARE * data.n_rows() as f64)
        {
            let share = 100.0 * *n as f64 / data.n_rows() as f64;
            let text = format!(
                "classes are imbalanced: '{rare}' has {n} rows ({share:.1}%), so accuracy says little; compare log loss or recall"
            );
            warnings.push((None, text));
        }
        TargetOverview {
            task: summary.task,
            task_is_chosen,
            n_rows: summary.n_rows,
            n_dropped: summary.n_dropped,
            shown_classes: shades.names(&classes),
            classes,
            range: summary.range,
            relations,
            warnings,
        }
    }
}

/// A warning with the column it is about.
fn of_column(warning: &DataWarning) -> (Option<String>, String) {
    let column = match warning {
        DataWarning::EmptyColumn { column }
        | DataWarning::RowIdentifier { column, .. }
        | DataWarning::EqualsTarget { column, .. } => Some(column.clone()),
        _ => None,
    };
    (column, warning.to_string())
}

/// The target as the bars show it.
enum TargetShades {
    /// The color of each row, and how many there are.
    Classes { shade: Vec<u8>, n: usize, order: Vec<String>, has_others: bool },
    /// The number of each row.
    Numbers(Vec<f64>),
    /// Neither.
    None,
}

impl TargetShades {
    fn new(data: &Dataset) -> TargetShades {
        match data.target() {
            Target::Classes { codes, labels } => {
                let mut counts = vec![0usize; labels.len()];
                codes.iter().for_each(|&code| counts[code as usize] += 1);
                let mut order: Vec<usize> = (0..labels.len()).collect();
                order.sort_by_key(|&k| std::cmp::Reverse(counts[k]));
                let has_others = labels.len() > N_CLASSES;
                let n = labels.len().min(N_CLASSES);
                let mut rank = vec![0u8; labels.len()];
                order.iter().enumerate().for_each(|(place, &k)| rank[k] = place.min(n - 1) as u8);
                let shade = codes.iter().map(|&code| rank[code as usize]).collect();
                let order = order.iter().map(|&k| labels[k].clone()).collect();
                TargetShades::Classes { shade, n, order, has_others }
            }
            Target::Values { values, n_outputs: 1 } => TargetShades::Numbers(values.clone()),
            Target::Values { .. } => TargetShades::None,
        }
    }

    fn names(&self, _classes: &[(String, usize)]) -> Vec<String> {
        match self {
            TargetShades::Classes { n, order, has_others, .. } => {
                let mut names = order[..*n].to_vec();
                if *has_others && let Some(last) = names.last_mut() {
                    *last = "other".into();
                }
                names
            }
            _ => Vec::new(),
        }
    }

    fn relation(&self, data: &Dataset, j: usize, bars: Option<&ColumnBars>) -> ColumnRelation {
        let numbers = data.features().numbers(j);
        let is_category = data.features().columns()[j].levels().is_some();
        let mut found = ColumnRelation {
            name: data.features().columns()[j].name.clone(),
            strength: relation(&numbers, is_category, data.target()),
            by_class: Vec::new(),
            means: Vec::new(),
        };
        let Some(bars) = bars.filter(|bars| bars.len() > 0) else { return found };
        match self {
            TargetShades::Classes { shade, n, .. } => {
                found.by_class = vec![vec![0; bars.len()]; *n];
                for (&x, &shade) in numbers.iter().zip(shade) {
                    if let Some(bar) = bars.bar_of(x) {
                        found.by_class[shade as usize][bar] += 1;
                    }
                }
            }
            TargetShades::Numbers(values) => {
                let mut sums = vec![(0.0, 0usize); bars.len()];
                for (&x, &y) in numbers.iter().zip(values) {
                    if let Some(bar) = bars.bar_of(x) {
                        sums[bar] = (sums[bar].0 + y, sums[bar].1 + 1);
                    }
                }
                found.means = sums.into_iter().map(|(sum, n)| (n > 0).then(|| sum / n as f64)).collect();
            }
            TargetShades::None => {}
        }
        found
    }
}
