//! Preparation of the data for linear learners: encoding of the features, signs of the classes, scaling of the columns.

use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::linalg::dense::{BLOCK, add_in_order};
use ermine_core::linalg::{Design, chunks};
use ermine_core::matrix::{Dataset, DesignOptions, FeatureMap, NumericFeatures};
use ermine_core::parallel;
use std::borrow::Cow;

/// The data as linear learners use them.
pub struct PreparedData<'d> {
    /// Encoding of the features.
    pub map: FeatureMap,
    /// Names of the encoded columns.
    pub names: Vec<String>,
    /// Row weights, multiplied by the class weights; all 1 if `None`.
    pub weights: Option<Cow<'d, [f64]>>,
    numbers: NumericFeatures<'d>,
    unchecked: bool,
}

impl<'d> PreparedData<'d> {
    /// Encodes the features of the data.
    pub fn new(data: &'d Dataset, options: DesignOptions, class_weight: &ClassWeight) -> Result<PreparedData<'d>> {
        let (map, numbers) = FeatureMap::fit(data.features(), options, data.weight())?;
        PreparedData::assemble(data, map, numbers, class_weight)
    }

    /// The features in place, without checking their values; see [`FeatureMap::unchecked`].
    pub fn unchecked(data: &'d Dataset, options: DesignOptions) -> Option<PreparedData<'d>> {
        let (map, numbers) = FeatureMap::unchecked(data.features(), options)?;
        let prepared = PreparedData::assemble(data, map, numbers, &ClassWeight::Equal).ok()?;
        Some(PreparedData { unchecked: true, ..prepared })
    }

    /// Whether the values have not been checked yet; the encoding then still needs the means of the columns.
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Encodes the features like earlier data.
    pub fn with_map(data: &'d Dataset, map: FeatureMap, class_weight: &ClassWeight) -> Result<PreparedData<'d>> {
        let numbers = map.numbers(data.features())?;
        PreparedData::assemble(data, map, numbers, class_weight)
    }

    fn assemble(
        data: &'d Dataset,
        map: FeatureMap,
        numbers: NumericFeatures<'d>,
        class_weight: &ClassWeight,
    ) -> Result<PreparedData<'d>> {
        let names = map.names(data.features());
        let weights = match class_weight.apply(data)? {
            Some(weights) => Some(Cow::Owned(weights)),
            None => data.weight().map(Cow::Borrowed),
        };
        Ok(PreparedData { map, names, weights, numbers, unchecked: false })
    }

    /// The encoded columns.
    pub fn design(&self) -> Result<Design<'_>> {
        self.numbers.design()
    }

    /// The row weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The sum of the row weights.
    pub fn total_weight(&self, n_rows: usize) -> f64 {
        self.weights().map_or(n_rows as f64, |w| w.iter().sum())
    }
}

/// The target values, one vector per output.
pub fn outputs(data: &Dataset) -> Result<Vec<Cow<'_, [f64]>>> {
    let (values, k) = data.values()?;
    if k == 1 {
        return Ok(vec![Cow::Borrowed(values)]);
    }
    Ok((0..k).map(|o| values.iter().skip(o).step_by(k).copied().collect()).collect())
}

/// The classes that occur in the data.
pub struct ObservedClasses {
    /// Class codes in the target.
    pub used: Vec<u32>,
    /// For each row, the index of its class in `used`.
    pub places: Vec<u32>,
}

impl ObservedClasses {
    /// Finds the classes that occur; an error if there are fewer than two.
    pub fn of(data: &Dataset) -> Result<ObservedClasses> {
        let (codes, labels) = data.classes()?;
        let mut place = vec![None; labels.len()];
        codes.iter().for_each(|&c| place[c as usize] = Some(0));
        place.iter_mut().flatten().enumerate().for_each(|(i, p)| *p = i as u32);
        let used: Vec<u32> = (0..labels.len() as u32).filter(|&c| place[c as usize].is_some()).collect();
        if used.len() < 2 {
            let name = used.first().map_or("", |&c| labels[c as usize].as_str());
            return Err(Error::data(format!(
                "the training set has only one class, '{name}': classification needs at least two"
            )));
        }
        Ok(ObservedClasses { places: codes.iter().map(|&c| place[c as usize].unwrap_or(0)).collect(), used })
    }

    /// Number of binary problems: one for two classes, else one per class (one-vs-rest).
    pub fn n_problems(&self) -> usize {
        if self.used.len() == 2 { 1 } else { self.used.len() }
    }

    /// The target of problem `k`: -1 or +1 for each row.
    pub fn signs(&self, k: usize) -> Vec<f64> {
        let positive = if self.used.len() == 2 { 1 } else { k as u32 };
        self.places.iter().map(|&p| if p == positive { 1.0 } else { -1.0 }).collect()
    }
}

/// Offsets and factors that standardize columns to mean 0 and standard deviation 1; sparse columns are not centered and stay sparse.
pub struct Scaling(Vec<(f64, f64)>);

impl Scaling {
    /// Computes the scaling of the columns.
    pub fn of(x: &Design, weights: Option<&[f64]>) -> Scaling {
        let (n, p) = (x.n_rows(), x.n_columns());
        let total: f64 = weights.map_or(n as f64, |w| w.iter().sum());
        let share = |i: usize| weights.map_or(1.0, |w| w[i]) / total;
        let means = x.transposed_times(&(0..n).map(share).collect::<Vec<f64>>());
        let squares = match x {
            Design::Dense(x) => {
                let parts = parallel::map_items(&chunks(n, 16, 4 * BLOCK), |rows| {
                    let (mut sums, mut buffer) = (vec![0.0; p], Vec::new());
                    for start in rows.clone().step_by(BLOCK) {
                        let range = start..(start + BLOCK).min(rows.end);
                        let block = x.block(range.clone(), &mut buffer);
                        for (r, i) in range.enumerate() {
                            let terms = sums.iter_mut().zip(block.row(r, p)).zip(&means);
                            terms.for_each(|((sum, x), m)| *sum += share(i) * (x - m) * (x - m));
                        }
                    }
                    sums
                });
                add_in_order(parts, p)
            }
            Design::Sparse(x) => {
                let mut sums = vec![0.0; p];
                for i in 0..n {
                    let (places, numbers) = x.rows().line(i);
                    places.iter().zip(numbers).for_each(|(&j, &v)| sums[j as usize] += share(i) * v * v);
                }
                sums.iter().zip(&means).map(|(s, m)| s - m * m).collect()
            }
        };
        let centered = matches!(x, Design::Dense(_));
        let of = |(mean, square): (&f64, f64)| {
            // A constant column (up to rounding) is not scaled.
            let varied = square > (64.0 * f64::EPSILON * mean).powi(2) && square > 0.0;
            (if centered { *mean } else { 0.0 }, if varied { 1.0 / square.sqrt() } else { 1.0 })
        };
        Scaling(means.iter().zip(squares).map(of).collect())
    }

    /// The same without offsets, for models without an intercept.
    pub fn without_offsets(self) -> Scaling {
        Scaling(self.0.into_iter().map(|(_, factor)| (0.0, factor)).collect())
    }

    /// The scaled columns; dense columns are scaled while they are read.
    pub fn apply<'a>(&self, x: &Design<'a>) -> Result<Design<'a>> {
        Ok(match x {
            Design::Dense(x) => x.standardized(self.0.clone())?.into(),
            Design::Sparse(x) => x.scaled(&self.0.iter().map(|s| s.1).collect::<Vec<f64>>()).into(),
        })
    }

    /// Offset and factor of each column.
    pub fn pairs(&self) -> &[(f64, f64)] {
        &self.0
    }

    /// The scaling with these offsets and factors.
    pub fn from_pairs(pairs: Vec<(f64, f64)>) -> Scaling {
        Scaling(pairs)
    }

    /// Converts coefficients of scaled columns to the original units; returns what must be added to the intercept.
    pub fn restore(&self, coefficients: &mut [f64]) -> f64 {
        coefficients.iter_mut().zip(&self.0).for_each(|(w, (_, factor))| *w *= factor);
        -coefficients.iter().zip(&self.0).map(|(w, (offset, _))| w * offset).sum::<f64>()
    }
}

/// Approximately centers the columns whose means are large relative to their standard deviations, for methods that would lose digits otherwise; a sample of the rows decides which.
pub fn centered<'a>(x: Design<'a>) -> Result<(Design<'a>, Option<Scaling>)> {
    const LARGE: f64 = 1e3;
    if matches!(x, Design::Sparse(_)) {
        return Ok((x, None));
    }
    let sample = x.every((x.n_rows() / 64).max(1));
    let (n, p) = (sample.n_rows(), sample.n_columns());
    let mean = sample.transposed_times(&vec![1.0 / n as f64; n]);
    let (mut buffer, mut row, mut squares) = (Vec::new(), vec![0.0; p], vec![0.0; p]);
    for i in 0..n {
        sample.row_into(i, &mut buffer, &mut row);
        squares.iter_mut().zip(row.iter().zip(&mean)).for_each(|(s, (x, m))| *s += (x - m) * (x - m) / n as f64);
    }
    let is_large = |j: &usize| squares[*j] > 0.0 && mean[*j].abs() > LARGE * squares[*j].sqrt();
    if !(0..p).any(|j| is_large(&j)) {
        return Ok((x, None));
    }
    let scaling = Scaling((0..p).map(|j| (if is_large(&j) { mean[j] } else { 0.0 }, 1.0)).collect());
    Ok((scaling.apply(&x)?, Some(scaling)))
}

/// The columns in the original units, or scaled if `standardize`, and how to convert back.
pub fn scaled<'a>(
    x: Design<'a>,
    weights: Option<&[f64]>,
    standardize: bool,
    intercept: bool,
) -> Result<(Design<'a>, Option<Scaling>)> {
    if !standardize {
        return Ok((x, None));
    }
    let scaling = Scaling::of(&x, weights);
    let scaling = if intercept { scaling } else { scaling.without_offsets() };
    Ok((scaling.apply(&x)?, Some(scaling)))
}
