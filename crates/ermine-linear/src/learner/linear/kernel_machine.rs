//! The fitted kernel perceptron: a weighted sum of kernels over some training rows.

use super::fitted::FitHistory;
use super::prepare::PreparedData;
use crate::kernel::Kernel;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::matrix::{FeatureMap, Features, Schema, Task};
use ermine_core::memory;
use ermine_core::model::{Attribute, Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;

/// `f_k(x) = sum_i c_ki (kernel(x_i, x) + constant)` for each problem of two classes.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMachine {
    map: FeatureMap,
    kernel: Kernel,
    /// Constant that is added to every kernel value: 1 gives an intercept.
    constant: f64,
    /// Offsets and factors of the standardized columns; empty for none.
    scaling: Vec<(f64, f64)>,
    /// The rows with nonzero coefficients, one after the other, scaled.
    rows: Vec<f64>,
    /// The coefficients of the rows for each problem.
    counts: Matrix,
    n_classes: usize,
    used: Vec<u32>,
    course: FitHistory,
}

impl KernelMachine {
    /// Keeps the rows with a nonzero coefficient in any problem. `data` holds all (scaled) rows and the scaling, `classes` the number of classes and those that occur.
    pub fn new(
        prepared: PreparedData<'_>,
        kernel: Kernel,
        data: (Vec<f64>, Vec<(f64, f64)>),
        counts: Vec<Vec<f64>>,
        classes: (usize, Vec<u32>),
    ) -> KernelMachine {
        let ((rows, scaling), (n_classes, used)) = (data, classes);
        let n = counts.first().map_or(0, Vec::len);
        let p = prepared.map.n_columns();
        let kept: Vec<usize> = (0..n).filter(|&i| counts.iter().any(|c| c[i] != 0.0)).collect();
        KernelMachine {
            kernel,
            constant: 1.0,
            scaling,
            rows: kept.iter().flat_map(|&i| rows[i * p..(i + 1) * p].iter().copied()).collect(),
            counts: Matrix::from_fn(counts.len(), kept.len(), |k, i| counts[k][kept[i]]),
            n_classes,
            used,
            course: FitHistory::default(),
            map: prepared.map,
        }
    }

    /// With or without an intercept, and with the history of the fit.
    pub fn with(self, intercept: bool, course: FitHistory) -> KernelMachine {
        KernelMachine { constant: if intercept { 1.0 } else { 0.0 }, course, ..self }
    }

    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let map: FeatureMap = sections.json("map")?;
        map.check(header.schema.features.len())?;
        let (p, used) = (map.n_columns(), sections.u32s("used")?);
        let (rows, counts) = (sections.f64s("rows")?, sections.f64s("counts")?);
        let k = if used.len() == 2 { 1 } else { used.len() };
        let n = rows.len().checked_div(p).unwrap_or(0);
        let pairs = sections.f64s("scaling")?;
        let scaling: Vec<(f64, f64)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let n_classes = header.schema.classes.len();
        let fits = header.schema.task == Task::Classification
            && rows.len() == n * p
            && counts.len() == n * k
            && (scaling.is_empty() || scaling.len() == p)
            && used.len() >= 2
            && used.iter().all(|&c| (c as usize) < n_classes)
            && rows.iter().chain(&counts).chain(&pairs).all(|x| x.is_finite());
        if !fits {
            return Err(Error::model_file("the rows of the kernel model do not match the target"));
        }
        let mut course: FitHistory = sections.json("course")?;
        course.curve = sections.f64s("curve")?;
        let (kernel, constant) = (sections.json("kernel")?, sections.json("constant")?);
        let counts = Matrix::from_fn(k, n, |k, i| counts[k * n + i]);
        Ok(Box::new(KernelMachine { map, kernel, constant, scaling, rows, counts, n_classes, used, course }))
    }

    /// The margins of one scaled row.
    fn margins(&self, row: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.counts.n_columns()];
        self.kernel.values(row, &self.rows, &mut values);
        let sum = |k: usize| self.counts.row(k).iter().zip(&values).map(|(c, v)| c * (v + self.constant)).sum::<f64>();
        (0..self.counts.n_rows()).map(sum).collect()
    }
}

/// An error if all rows of a table, one after the other, don't fit into memory.
pub fn require_rows(x: &Design) -> Result<()> {
    let (n, p) = (x.n_rows(), x.n_columns());
    memory::require(
        || format!("a dense matrix of {n} rows and {p} columns, which the kernel needs,"),
        &[n, p, size_of::<f64>()],
        "use a linear kernel or fewer rows, or leave out columns with many categories",
    )
}

/// All rows of a table, one after the other.
pub fn dense_rows(x: &Design) -> Result<Vec<f64>> {
    require_rows(x)?;
    let (n, p) = (x.n_rows(), x.n_columns());
    let mut out = vec![0.0; n * p];
    match x {
        Design::Dense(x) => {
            let mut buffer = Vec::new();
            for (i, out) in out.chunks_exact_mut(p.max(1)).enumerate() {
                out.copy_from_slice(x.block(i..i + 1, &mut buffer).row(0, p));
            }
        }
        Design::Sparse(x) => {
            for (i, out) in out.chunks_exact_mut(p.max(1)).enumerate() {
                let (places, numbers) = x.rows().line(i);
                places.iter().zip(numbers).for_each(|(&j, &v)| out[j as usize] = v);
            }
        }
    }
    Ok(out)
}

impl Fitted for KernelMachine {
    fn output(&self) -> Output {
        if self.n_classes == 2 && self.used.len() == 2 { Output::Margin } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let numbers = self.map.numbers(features)?;
        let mut rows = dense_rows(&numbers.design()?)?;
        let p = self.map.n_columns().max(1);
        for row in rows.chunks_exact_mut(p) {
            row.iter_mut().zip(&self.scaling).for_each(|(x, (offset, factor))| *x = (*x - offset) * factor);
        }
        let margins: Vec<Vec<f64>> = parallel::map(rows.len() / p, |i| self.margins(&rows[i * p..][..p]));
        if self.output() == Output::Margin {
            return Ok(margins.into_iter().map(|m| m[0]).collect());
        }
        let mut out = vec![f64::MIN; margins.len() * self.n_classes];
        for (margins, out) in margins.iter().zip(out.chunks_exact_mut(self.n_classes)) {
            let scores = if let [z] = margins[..] { vec![-z, z] } else { margins.clone() };
            self.used.iter().zip(scores).for_each(|(&c, score)| out[c as usize] = score);
        }
        Ok(out)
    }

    fn parameters(&self) -> Vec<&[f64]> {
        vec![&self.rows, self.counts.data()]
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("map", &self.map)?;
        sections.put_json("kernel", &self.kernel)?;
        sections.put_json("constant", &self.constant)?;
        sections.put_json("course", &self.course)?;
        sections.put_u32s("used", &self.used);
        sections.put_f64s("rows", &self.rows);
        sections.put_f64s("counts", self.counts.data());
        sections.put_f64s("scaling", &self.scaling.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<_>>());
        sections.put_f64s("curve", &self.course.curve);
        Ok(())
    }

    fn text(&self, _: &Schema) -> String {
        format!("weighted sum of {:?} kernels over {} training rows\n", self.kernel, self.counts.n_columns())
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        vec![
            Attribute::n_iter(self.course.n_iter.unwrap_or(0)),
            Attribute::n_mistakes(self.course.n_mistakes.unwrap_or(0)),
            Attribute::integer(
                "n_support",
                self.counts.n_columns(),
                "Number of training rows with a nonzero coefficient.",
            ),
        ]
    }
}
