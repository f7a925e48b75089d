//! Target encoding: nominal columns with many categories as the mean target of each category.
//!
//! **Idea.** A column with thousands of categories lets a tree separate the training rows in ways that don't generalize. The mean target of a row's category is one number. Computed
//! over all rows it would contain the row's own target, so in training it is computed over the rows before it in a random order (ordered target statistics). New rows use the mean
//! over all training rows.
//!
//! All trees use the same order. With several orders, each tree would correct errors that are specific to other orders, and the corrections would add up for new rows. Means over other
//! folds use more rows than ordered ones, but in combination with other columns they reveal a row's own target (docs/decisions/012).
//!
//! **Formula.** (S + a p) / (N + a), with S and N the weighted sum of targets and the weight of the category, p the overall mean and a = [`PRIOR_WEIGHT`]. Missing is another category;
//! an unknown category gets p. With more than two classes, each class has a statistic (the share of the class).
//!
//! **Cost.** One pass over the rows per statistic. **Reference.** Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, 2018, section 3.

use super::dataset::{Dataset, Target};
use super::features::Features;
use super::schema::{FeatureSpec, Schema};
use crate::error::{Error, Result};
use crate::rng::{self, Purpose};
use crate::section::Sections;
use crate::table::{Column, ColumnKind, MISSING, Table};
use std::sync::Arc;

/// Weight of the overall mean in each category.
pub const PRIOR_WEIGHT: f64 = 3.0;

/// Maximum number of classes or targets; with more, columns are not encoded.
const MOST_OUTPUTS: usize = 10;

/// The mean targets of the categories of some columns. Part of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TargetStatistics {
    columns: Vec<CategoryMeans>,
}

/// The mean target of each category of a column.
#[derive(Debug, Clone, PartialEq)]
struct CategoryMeans {
    /// Index of the column.
    column: usize,
    /// Index of the class or target.
    output: usize,
    /// The statistic by category code; the last is for missing values.
    values: Vec<f64>,
}

/// Sums over the rows of a category.
#[derive(Debug, Clone, Copy, Default)]
struct CategorySums {
    target: f64,
    weight: f64,
}

impl CategorySums {
    fn statistic(self, prior: f64) -> f64 {
        (self.target + PRIOR_WEIGHT * prior) / (self.weight + PRIOR_WEIGHT)
    }

    fn add(&mut self, target: f64, weight: f64) {
        self.target += weight * target;
        self.weight += weight;
    }
}

/// The target values to average.
struct StatisticTargets {
    values: Vec<f64>,
    mean: f64,
}

/// The classes or targets that have a statistic.
fn outputs(data: &Dataset) -> Vec<usize> {
    match data.target() {
        Target::Classes { labels, .. } if labels.len() <= 2 => vec![1],
        Target::Classes { labels, .. } if labels.len() <= MOST_OUTPUTS => (0..labels.len()).collect(),
        Target::Values { n_outputs, .. } if *n_outputs <= MOST_OUTPUTS => (0..*n_outputs).collect(),
        _ => Vec::new(),
    }
}

fn answers(data: &Dataset, output: usize) -> StatisticTargets {
    let values: Vec<f64> = match data.target() {
        Target::Classes { codes, .. } => codes.iter().map(|&c| f64::from(u8::from(c as usize == output))).collect(),
        Target::Values { values, n_outputs } => values.iter().skip(output).step_by(*n_outputs).copied().collect(),
    };
    let mut all = CategorySums::default();
    values.iter().enumerate().for_each(|(row, &y)| all.add(y, data.row_weight(row)));
    StatisticTargets { mean: all.target / all.weight, values }
}

/// The codes of a nominal column; missing is an additional code.
fn codes(features: &Features, column: usize) -> Vec<usize> {
    let column = &features.columns()[column];
    let n_levels = column.levels().map_or(0, |levels| levels.len());
    let place = |code: u32| if code == MISSING { n_levels } else { code as usize };
    column.codes(features.rows()).unwrap_or_default().into_iter().map(place).collect()
}

impl TargetStatistics {
    /// Computes the statistics of the nominal columns with at least `least` categories.
    pub fn fit(data: &Dataset, least: usize) -> TargetStatistics {
        let features = data.features();
        let many = |column: &usize| {
            let levels = features.columns()[*column].levels().map_or(0, |levels| levels.len());
            if features.columns()[*column].kind != ColumnKind::Nominal || levels < least {
                return false;
            }
            let mut occurs = vec![false; levels + 1];
            codes(features, *column).into_iter().for_each(|code| occurs[code] = true);
            occurs[..levels].iter().filter(|o| **o).count() >= least
        };
        let chosen: Vec<usize> = (0..features.n_columns()).filter(many).collect();
        let mut columns = Vec::new();
        for output in if chosen.is_empty() { Vec::new() } else { outputs(data) } {
            let answers = answers(data, output);
            for &column in &chosen {
                let levels = features.columns()[column].levels().map_or(0, |levels| levels.len());
                let mut sums = vec![CategorySums::default(); levels + 1];
                for (row, code) in codes(features, column).into_iter().enumerate() {
                    sums[code].add(answers.values[row], data.row_weight(row));
                }
                let values = sums.into_iter().map(|sums| sums.statistic(answers.mean)).collect();
                columns.push(CategoryMeans { column, output, values });
            }
        }
        TargetStatistics { columns }
    }

    /// Number of statistics.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The column of a statistic.
    pub fn column(&self, statistic: usize) -> usize {
        self.columns[statistic].column
    }

    /// A statistic by category code; the last is for missing values.
    pub fn values(&self, statistic: usize) -> &[f64] {
        &self.columns[statistic].values
    }

    /// The statistics of the training rows, computed from the rows before them in a random order.
    pub fn ordered(&self, data: &Dataset, seed: u64) -> Features {
        let n = data.n_rows();
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rng::shuffle(&mut Purpose::TargetStatisticsOrder.stream(seed, &[]), &mut rows);
        let columns = self.columns.iter().map(|statistic| {
            let (answers, codes) = (answers(data, statistic.output), codes(data.features(), statistic.column));
            let mut sums = vec![CategorySums::default(); statistic.values.len()];
            let mut known = vec![0.0; n];
            for row in rows.iter().map(|&row| row as usize) {
                known[row] = sums[codes[row]].statistic(answers.mean);
                sums[codes[row]].add(answers.values[row], data.row_weight(row));
            }
            Column::numeric("", known)
        });
        Features::new(Arc::new(Table::of_columns(columns.collect(), n)))
    }

    /// The statistics of new rows.
    pub fn of(&self, features: &Features) -> Features {
        let of = |statistic: &CategoryMeans| {
            let codes = codes(features, statistic.column).into_iter();
            Column::numeric("", codes.map(|code| statistic.values[code]).collect::<Vec<f64>>())
        };
        Features::new(Arc::new(Table::of_columns(self.columns.iter().map(of).collect(), features.n_rows())))
    }

    /// Appends the statistics to the features of new rows.
    pub fn extend(&self, features: &Features) -> Result<Features> {
        if self.is_empty() {
            return Ok(features.clone());
        }
        let whole = Features::new(Arc::new(Table::of_columns(
            features.columns().to_vec(),
            features.columns().first().map_or(0, Column::len),
        )));
        let columns: Vec<Column> = features.columns().iter().chain(self.of(&whole).columns()).cloned().collect();
        let extended = Features::new(Arc::new(Table::of_columns(columns, whole.n_rows())));
        features.rows().map_or(Ok(extended.clone()), |rows| extended.select(rows))
    }

    /// The schema of the extended features.
    pub fn extend_schema(&self, schema: &Schema) -> Schema {
        let mut schema = schema.clone();
        for statistic in &self.columns {
            let column = &schema.features[statistic.column].name;
            let name = match schema.classes.get(statistic.output) {
                Some(class) => format!("share of {class} by {column}"),
                None => format!("mean target by {column}"),
            };
            schema.features.push(FeatureSpec {
                name,
                kind: ColumnKind::Numeric,
                levels: Vec::new(),
                open: false,
                notation: Default::default(),
                range: None,
            });
        }
        schema
    }

    /// Saves them, if there are any; older models have no such sections.
    pub fn save(&self, sections: &mut Sections) {
        if self.is_empty() {
            return;
        }
        let columns: Vec<u32> = self.columns.iter().flat_map(|s| [s.column as u32, s.output as u32]).collect();
        sections.put_u32s("statistic_column", &columns);
        let values: Vec<f64> = self.columns.iter().flat_map(|s| s.values.iter().copied()).collect();
        sections.put_f64s("statistic", &values);
    }

    /// Reads them.
    pub fn load(sections: &Sections, schema: &Schema) -> Result<TargetStatistics> {
        if !sections.has("statistic_column") && !sections.has("statistic") {
            return Ok(TargetStatistics::default());
        }
        let (places, values) = (sections.u32s("statistic_column")?, sections.f64s("statistic")?);
        let mut rest = values.as_slice();
        let mut columns = Vec::new();
        for place in places.chunks(2) {
            let feature = schema.features.get(place[0] as usize).filter(|f| f.kind == ColumnKind::Nominal);
            let cut = feature.and_then(|feature| rest.split_at_checked(feature.levels.len() + 1));
            let (Some((mine, others)), Some(&output)) = (cut, place.get(1)) else {
                return Err(Error::model_file("target statistics don't fit the columns"));
            };
            rest = others;
            columns.push(CategoryMeans { column: place[0] as usize, output: output as usize, values: mine.to_vec() });
        }
        if !rest.is_empty() || values.iter().any(|v| !v.is_finite()) {
            return Err(Error::model_file("target statistics don't fit the columns"));
        }
        Ok(TargetStatistics { columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Task;
    use proptest::prelude::*;

    fn dataset(rows: &[(Option<u8>, f64, f64)]) -> Dataset {
        let names: Vec<Option<String>> = rows.iter().map(|r| r.0.map(|c| format!("c{c}"))).collect();
        let features = Features::new(Arc::new(Table::new(vec![Column::nominal("city", &names)]).unwrap()));
        let target = Target::Values { values: rows.iter().map(|r| r.1).collect(), n_outputs: 1 };
        let data = Dataset::from_parts(features, target, Task::Regression).unwrap();
        data.with_weight(Some(rows.iter().map(|r| r.2).collect())).unwrap()
    }

    proptest! {
        #[test]
        fn rows_use_earlier_rows_and_new_rows_use_all(
            rows in prop::collection::vec((prop::option::of(0u8..5), -9.0f64..9.0, 0.5f64..2.0), 2..40), seed: u64,
        ) {
            let data = dataset(&rows);
            let statistics = TargetStatistics::fit(&data, 1);
            prop_assume!(!statistics.is_empty());
            let total: f64 = rows.iter().map(|r| r.2).sum();
            let mean = rows.iter().map(|r| r.1 * r.2).sum::<f64>() / total;
            let of = |part: &[(Option<u8>, f64, f64)], category: Option<u8>| {
                let (s, n) = part.iter().filter(|r| r.0 == category).fold((0.0, 0.0), |t, r| (t.0 + r.1 * r.2, t.1 + r.2));
                (s + PRIOR_WEIGHT * mean) / (n + PRIOR_WEIGHT)
            };
            let full = statistics.extend(data.features()).unwrap();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            rng::shuffle(&mut Purpose::TargetStatisticsOrder.stream(seed, &[]), &mut order);
            let shuffled: Vec<_> = order.iter().map(|&i| rows[i]).collect();
            let known = statistics.ordered(&data, seed);
            for (place, &row) in order.iter().enumerate() {
                prop_assert!((full.number(row, 1) - of(&rows, rows[row].0)).abs() < 1e-9);
                prop_assert!((known.number(row, 0) - of(&shuffled[..place], rows[row].0)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn statistics_round_trip_and_are_checked() {
        let data = dataset(&[(Some(1), 2.0, 1.0), (Some(2), 3.0, 1.0), (None, 5.0, 1.0)]);
        let (statistics, schema) = (TargetStatistics::fit(&data, 2), Schema::of(&data));
        let mut sections = Sections::default();
        statistics.save(&mut sections);
        assert_eq!(TargetStatistics::load(&sections, &schema).unwrap(), statistics);
        let other = Schema { features: Vec::new(), ..schema };
        assert!(TargetStatistics::load(&sections, &other).is_err());
        assert!(TargetStatistics::fit(&data, 3).is_empty(), "two categories occur");
    }
}
