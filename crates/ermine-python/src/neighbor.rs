//! Neighbors for Python: indexes over arrays, packed codes and text, and functions of the user's own as metrics and weights.

use crate::error::python;
use crate::job;
use crate::value;
use ermine_core::atomic::write_atomically;
use ermine_core::distance::metric::{Custom, Metric};
use ermine_core::distance::rows::RowMatrix;
use ermine_core::distance::whiten::Whitening;
use ermine_core::error::Error;
use ermine_core::learner::Learner;
use ermine_core::matrix::SparseRows;
use ermine_core::parallel::run;
use ermine_core::section::Sections;
use ermine_neighbors::learner::nearest_neighbors::{CustomFunctions, NearestNeighbors};
use ermine_neighbors::search::choice::IndexKind;
use ermine_neighbors::search::codes::CodeIndex;
use ermine_neighbors::search::index::Index;
use ermine_neighbors::search::nearest::Neighbors;
use ermine_neighbors::search::sparse::SparseIndex;
use ermine_neighbors::search::strings::{StringIndex, StringMetric};
use ermine_trees::learner::comparison_forest::ComparisonForest;
use ermine_trees::learner::comparison_tree::ComparisonTree;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFunction};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What went wrong first in a function of the user's own, which runs where no exception can be raised.
#[derive(Clone, Default)]
pub struct FirstException(Arc<Mutex<Option<PyErr>>>);

impl FirstException {
    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The result of work in which such functions were called; their exception before any error.
    pub fn check<T>(&self, result: Result<T, Error>) -> PyResult<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => result.map_err(python),
        }
    }

    /// A Python function as a metric. Its attribute `triangle_inequality` states whether a tree may use it.
    fn metric(&self, function: &Bound<'_, PyAny>) -> PyResult<Custom> {
        let triangle = function.getattr("triangle_inequality").map_or(Ok(false), |vouched| vouched.is_truthy())?;
        let (trouble, function) = (self.clone(), function.clone().unbind());
        let distance = move |a: &[f64], b: &[f64]| {
            let called = Python::attach(|py| {
                let rows = (PyArray1::from_slice(py, a), PyArray1::from_slice(py, b));
                function.call1(py, rows)?.extract::<f64>(py)
            });
            called.unwrap_or_else(|error| {
                trouble.keep(error);
                f64::NAN
            })
        };
        Ok(Custom::new(distance, triangle))
    }

    fn weights(&self, function: Py<PyAny>) -> impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static {
        let trouble = self.clone();
        move |distances: &[f64]| {
            let called = Python::attach(|py| {
                function.call1(py, (PyArray1::from_slice(py, distances),))?.extract::<Vec<f64>>(py)
            });
            called.unwrap_or_else(|error| {
                trouble.keep(error);
                Vec::new()
            })
        }
    }
}

/// The learner with functions of the user's own under "metric" and "weights".
pub fn learner_with(
    name: &str,
    params: &Bound<'_, PyDict>,
    own: &Bound<'_, PyDict>,
    trouble: &FirstException,
) -> PyResult<Box<dyn Learner>> {
    let metric = own.get_item("metric")?.map(|f| trouble.metric(&f)).transpose()?;
    match (name, &metric) {
        ("comparison-tree", Some(metric)) => {
            let mut tree = ComparisonTree::default();
            value::set(&mut tree, params)?;
            return Ok(tree.with_metric(Metric::Custom(metric.clone())));
        }
        ("comparison-forest", Some(metric)) => {
            let mut forest = ComparisonForest::default();
            value::set(&mut forest, params)?;
            return Ok(forest.with_metric(Metric::Custom(metric.clone())));
        }
        _ => {}
    }
    let mut learner = NearestNeighbors::default();
    value::set(&mut learner, params)?;
    let weights = own.get_item("weights")?.map(|f| Arc::new(trouble.weights(f.unbind())) as _);
    Ok(Box::new(learner.with(CustomFunctions { metric, weights })))
}

/// Rows and distances of neighbors as arrays: of shape (queries, k) where all queries have as many, else with where each query's begin.
pub type NeighborArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Where each query's neighbors begin, their rows, their distances.
pub fn arrays<'py>(py: Python<'py>, found: &Neighbors) -> NeighborArrays<'py> {
    let mut starts = vec![0i64];
    starts.extend((0..found.len()).scan(0, |end, i| {
        *end += found.rows(i).len() as i64;
        Some(*end)
    }));
    let rows = found.all_rows().iter().map(|&row| i64::from(row)).collect();
    (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, rows), PyArray1::from_slice(py, found.all_distances()))
}

/// What is indexed.
enum IndexedRows {
    Rows(Box<Index>),
    Sparse(SparseIndex),
    Codes(CodeIndex),
    Texts(StringIndex),
}

/// What a file of an index starts with, as a model file starts with its own; then comes the version of the form, then the sections.
const MAGIC: &[u8; 8] = b"ERMINX\x1a\n";
const VERSION: u32 = 1;

/// An index over rows of numbers, dense or sparse, over packed binary codes or over strings.
#[pyclass(frozen, module = "ermine._ermine", name = "NeighborIndex")]
pub struct PyNeighborIndex {
    inner: RwLock<IndexedRows>,
    trouble: FirstException,
}

/// Rows from Python: an array of float64 or float32, of bytes, the parts of a sparse matrix in compressed-row form, or a list of strings.
enum RowInput<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    Codes(PyReadonlyArray2<'py, u8>),
    Sparse(SparseRows),
    Texts(Vec<String>),
}

/// The same, seen from where Python doesn't run.
enum RowInputView<'a> {
    Rows(RowMatrix<'a>),
    Sparse(&'a SparseRows),
    Codes(&'a [u8], usize),
    Texts(&'a [String]),
}

/// Where rows begin, the columns of entries, their values, and how many columns there are.
type CsrParts<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>, usize);

fn sparse_rows(
    starts: &PyReadonlyArray1<'_, i64>,
    columns: &PyReadonlyArray1<'_, u32>,
    values: &PyReadonlyArray1<'_, f64>,
    n_columns: usize,
) -> PyResult<SparseRows> {
    let broken = || PyValueError::new_err("not a sparse matrix in compressed-row form");
    let starts: Option<Vec<usize>> = starts.as_array().iter().map(|&start| usize::try_from(start).ok()).collect();
    let starts = starts.filter(|starts| !starts.is_empty()).ok_or_else(broken)?;
    let (columns, values) = (columns.as_array().to_vec(), values.as_array().to_vec());
    Ok(SparseRows { n_columns, starts, columns, values })
}

fn slice<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|e| PyValueError::new_err(e.to_string()))
}

impl<'py> RowInput<'py> {
    fn new(object: &Bound<'py, PyAny>) -> PyResult<RowInput<'py>> {
        if let Ok(array) = object.cast::<PyArray2<f64>>() {
            return Ok(RowInput::F64(array.try_readonly()?));
        }
        if let Ok(array) = object.cast::<PyArray2<f32>>() {
            return Ok(RowInput::F32(array.try_readonly()?));
        }
        if let Ok(array) = object.cast::<PyArray2<u8>>() {
            return Ok(RowInput::Codes(array.try_readonly()?));
        }
        if let Ok((starts, columns, values, n_columns)) = object.extract::<CsrParts<'py>>() {
            return sparse_rows(&starts, &columns, &values, n_columns).map(RowInput::Sparse);
        }
        let texts =
            object.extract().map_err(|_| PyTypeError::new_err("expected an array of numbers or bytes, or strings"))?;
        Ok(RowInput::Texts(texts))
    }

    fn seen(&self) -> PyResult<RowInputView<'_>> {
        Ok(match self {
            RowInput::F64(array) => {
                RowInputView::Rows(RowMatrix::row_major(slice(array)?, array.shape()[1]).map_err(python)?)
            }
            RowInput::F32(array) => {
                RowInputView::Rows(RowMatrix::row_major_f32(slice(array)?, array.shape()[1]).map_err(python)?)
            }
            RowInput::Sparse(rows) => RowInputView::Sparse(rows),
            RowInput::Codes(array) => RowInputView::Codes(slice(array)?, array.shape()[1]),
            RowInput::Texts(texts) => RowInputView::Texts(texts),
        })
    }
}

impl IndexedRows {
    fn mismatch() -> Error {
        Error::data("the index holds rows of another sort than those that were given")
    }

    fn kneighbors(&self, queries: Option<&RowInputView<'_>>, k: usize) -> Result<Neighbors, Error> {
        match (self, queries) {
            (IndexedRows::Rows(index), None) => index.own_kneighbors(k),
            (IndexedRows::Sparse(index), None) => index.own_kneighbors(k),
            (IndexedRows::Texts(index), None) => index.own_kneighbors(k),
            (IndexedRows::Codes(index), None) => index.own_kneighbors(k),
            (IndexedRows::Rows(index), Some(RowInputView::Rows(rows))) => index.kneighbors(rows, k),
            (IndexedRows::Sparse(index), Some(RowInputView::Sparse(rows))) => index.kneighbors(rows, k),
            (IndexedRows::Texts(index), Some(RowInputView::Texts(texts))) => index.kneighbors(texts, k),
            (IndexedRows::Codes(index), Some(RowInputView::Codes(codes, width))) if *width == index.n_bytes() => {
                index.kneighbors(codes, k)
            }
            _ => Err(IndexedRows::mismatch()),
        }
    }

    fn radius_neighbors(&self, queries: Option<&RowInputView<'_>>, radius: f64) -> Result<Neighbors, Error> {
        match (self, queries) {
            (IndexedRows::Rows(index), None) => index.own_radius_neighbors(radius),
            (IndexedRows::Sparse(index), None) => index.own_radius_neighbors(radius),
            (IndexedRows::Texts(index), None) => index.own_radius_neighbors(radius),
            (IndexedRows::Codes(index), None) => index.own_radius_neighbors(radius),
            (IndexedRows::Rows(index), Some(RowInputView::Rows(rows))) => index.radius_neighbors(rows, radius),
            (IndexedRows::Sparse(index), Some(RowInputView::Sparse(rows))) => index.radius_neighbors(rows, radius),
            (IndexedRows::Texts(index), Some(RowInputView::Texts(texts))) => index.radius_neighbors(texts, radius),
            (IndexedRows::Codes(index), Some(RowInputView::Codes(codes, width))) if *width == index.n_bytes() => {
                index.radius_neighbors(codes, radius)
            }
            _ => Err(IndexedRows::mismatch()),
        }
    }

    fn add(&mut self, rows: &RowInputView<'_>) -> Result<(), Error> {
        match (self, rows) {
            (IndexedRows::Rows(index), RowInputView::Rows(rows)) => index.add(rows),
            (IndexedRows::Sparse(index), RowInputView::Sparse(rows)) => index.add(rows),
            (IndexedRows::Texts(index), RowInputView::Texts(texts)) => index.add(texts.iter().cloned()),
            (IndexedRows::Codes(index), RowInputView::Codes(codes, width)) if *width == index.n_bytes() => {
                index.add(codes)
            }
            _ => Err(IndexedRows::mismatch()),
        }
    }
}

#[pymethods]
impl PyNeighborIndex {
    /// An index. `metric` is a name or a function; of the options each metric takes its own. Of an approximate index it is measured how many of the
    /// nearest `n_neighbors` it finds.
    #[new]
    #[pyo3(signature = (rows, metric, *, p, covariance, algorithm, search_width, n_neighbors, n_jobs))]
    #[expect(clippy::too_many_arguments, reason = "keywords of one call")]
    fn new(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        metric: &Bound<'_, PyAny>,
        p: f64,
        covariance: Option<Vec<f64>>,
        algorithm: &str,
        search_width: usize,
        n_neighbors: usize,
        n_jobs: Option<i64>,
    ) -> PyResult<PyNeighborIndex> {
        let given = RowInput::new(rows)?;
        let seen = given.seen()?;
        let threads = job::threads(n_jobs)?;
        let trouble = FirstException::default();
        let own = (metric.is_instance_of::<PyFunction>() || metric.is_callable())
            .then(|| trouble.metric(metric))
            .transpose()?;
        let name: String = if own.is_some() { String::new() } else { metric.extract()? };
        let kind = kind(algorithm, search_width)?;
        let only = match &seen {
            RowInputView::Codes(..) | RowInputView::Sparse(_) => Some(IndexKind::Scan),
            RowInputView::Texts(_) => Some(IndexKind::VantageTree),
            RowInputView::Rows(_) => None,
        };
        if let (Some(only), Some(requested)) = (only, kind)
            && only != requested
        {
            let (requested, only) = (requested.name(), only.name());
            let what = if matches!(seen, RowInputView::Sparse(_)) {
                "sparse rows".into()
            } else {
                format!("the metric '{name}'")
            };
            return Err(PyValueError::new_err(format!(
                "algorithm = '{requested}' does not support {what}: expected auto or {only}"
            )));
        }
        let build = || match &seen {
            RowInputView::Codes(codes, width) => CodeIndex::build(codes, *width).map(IndexedRows::Codes),
            RowInputView::Texts(texts) => {
                StringIndex::build(texts.to_vec(), text_metric(&name)?).map(IndexedRows::Texts)
            }
            RowInputView::Sparse(rows) => {
                let metric = match own {
                    Some(own) => Metric::Custom(own),
                    None if name == "mahalanobis" => return Err(dense_only()),
                    None => row_metric(&name, p, None, &RowMatrix::row_major(&[], rows.n_columns.max(1))?)?,
                };
                SparseIndex::build(SparseRows::clone(rows), metric).map(IndexedRows::Sparse)
            }
            RowInputView::Rows(rows) => {
                let metric = own
                    .map_or_else(|| row_metric(&name, p, covariance.as_deref(), rows), |own| Ok(Metric::Custom(own)))?;
                let mut index = Index::build_as(rows, metric, kind)?;
                index.state_recall(n_neighbors)?;
                Ok(IndexedRows::Rows(Box::new(index)))
            }
        };
        let built = py.detach(|| run(Some(threads), build).and_then(|inner| inner));
        let inner = RwLock::new(trouble.check(built)?);
        Ok(PyNeighborIndex { inner, trouble })
    }

    /// Where each query's neighbors begin, their rows, their distances; of the rows themselves (each without itself) where none are given.
    fn kneighbors<'py>(
        &self,
        py: Python<'py>,
        rows: Option<&Bound<'py, PyAny>>,
        k: usize,
        n_jobs: Option<i64>,
    ) -> PyResult<NeighborArrays<'py>> {
        let given = rows.map(RowInput::new).transpose()?;
        let seen = given.as_ref().map(RowInput::seen).transpose()?;
        self.search(py, n_jobs, |inner| inner.kneighbors(seen.as_ref(), k))
    }

    /// The same for all rows within a radius.
    fn radius_neighbors<'py>(
        &self,
        py: Python<'py>,
        rows: Option<&Bound<'py, PyAny>>,
        radius: f64,
        n_jobs: Option<i64>,
    ) -> PyResult<NeighborArrays<'py>> {
        let given = rows.map(RowInput::new).transpose()?;
        let seen = given.as_ref().map(RowInput::seen).transpose()?;
        self.search(py, n_jobs, |inner| inner.radius_neighbors(seen.as_ref(), radius))
    }

    /// Adds rows after those that are there.
    fn add(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = RowInput::new(rows)?;
        let seen = given.seen()?;
        let added = py.detach(|| self.inner.write().unwrap_or_else(PoisonError::into_inner).add(&seen));
        self.trouble.check(added)
    }

    /// How many rows.
    fn __len__(&self) -> usize {
        match &*self.inner.read().unwrap_or_else(PoisonError::into_inner) {
            IndexedRows::Rows(index) => index.len(),
            IndexedRows::Sparse(index) => index.len(),
            IndexedRows::Codes(index) => index.len(),
            IndexedRows::Texts(index) => index.len(),
        }
    }

    /// The kind of index, why, and for an approximate one the share of neighbors that it found (none after rows were added).
    fn choice(&self) -> (String, String, Option<f64>) {
        match &*self.inner.read().unwrap_or_else(PoisonError::into_inner) {
            IndexedRows::Rows(index) => {
                let choice = index.choice();
                (choice.kind.name().into(), choice.reason.clone(), choice.recall)
            }
            IndexedRows::Codes(_) => {
                (IndexKind::Scan.name().into(), "codes are compared faster than a tree is climbed".into(), None)
            }
            IndexedRows::Sparse(_) => (IndexKind::Scan.name().into(), "rows are sparse".into(), None),
            IndexedRows::Texts(_) => {
                (IndexKind::VantageTree.name().into(), "the triangle inequality holds".into(), None)
            }
        }
    }

    /// Bytes held, the rows included.
    fn bytes(&self) -> usize {
        match &*self.inner.read().unwrap_or_else(PoisonError::into_inner) {
            IndexedRows::Rows(index) => index.bytes(),
            IndexedRows::Sparse(index) => index.bytes(),
            IndexedRows::Codes(index) => index.bytes(),
            IndexedRows::Texts(index) => index.bytes(),
        }
    }

    /// The index as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.sections().and_then(|sections| sections.to_bytes()).map_err(python)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// An index from bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<PyNeighborIndex> {
        let read = Sections::from_bytes(bytes).and_then(|sections| IndexedRows::load(&sections));
        Ok(PyNeighborIndex { inner: RwLock::new(read.map_err(python)?), trouble: FirstException::default() })
    }

    /// Writes the index and a note to a file. What is there already is replaced only by a whole new one.
    fn save(&self, py: Python<'_>, path: PathBuf, note: String) -> PyResult<()> {
        let write = || {
            let mut sections = self.sections()?;
            sections.put_json("note", &note)?;
            let bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &sections.to_bytes()?].concat();
            write_atomically(&path, &bytes)
        };
        py.detach(write).map_err(python)
    }

    /// The index and the note of a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(PyNeighborIndex, String)> {
        let read = || {
            let bytes = ermine_core::memory::read_file(&path)?;
            let head = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
            let body = bytes.strip_prefix(&head[..]).ok_or_else(|| {
                let what = "it doesn't start as an index of neighbors does, or is of another version";
                Error::model_file(format!("'{}': {what}", path.display()))
            })?;
            let sections = Sections::from_bytes(body)?;
            Ok((IndexedRows::load(&sections)?, sections.json("note")?))
        };
        let (inner, note) = py.detach(read).map_err(python)?;
        Ok((PyNeighborIndex { inner: RwLock::new(inner), trouble: FirstException::default() }, note))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }
}

impl IndexedRows {
    fn load(sections: &Sections) -> Result<IndexedRows, Error> {
        match sections.u8s("sort")?.as_slice() {
            [0] => Index::load(sections).map(|index| IndexedRows::Rows(Box::new(index))),
            [1] => CodeIndex::load(sections).map(IndexedRows::Codes),
            [2] => StringIndex::load(sections).map(IndexedRows::Texts),
            [3] => SparseIndex::load(sections).map(IndexedRows::Sparse),
            _ => Err(Error::model_file("not an index of neighbors")),
        }
    }
}

impl PyNeighborIndex {
    /// All that a file holds.
    fn sections(&self) -> Result<Sections, Error> {
        let mut sections = Sections::default();
        let sort = match &*self.inner.read().unwrap_or_else(PoisonError::into_inner) {
            IndexedRows::Rows(index) => index.save(&mut sections).map(|()| 0u8)?,
            IndexedRows::Codes(index) => index.save(&mut sections).map(|()| 1)?,
            IndexedRows::Texts(index) => index.save(&mut sections).map(|()| 2)?,
            IndexedRows::Sparse(index) => index.save(&mut sections).map(|()| 3)?,
        };
        sections.put_u8s("sort", &[sort]);
        Ok(sections)
    }

    fn search<'py>(
        &self,
        py: Python<'py>,
        n_jobs: Option<i64>,
        work: impl Fn(&IndexedRows) -> Result<Neighbors, Error> + Send + Sync,
    ) -> PyResult<NeighborArrays<'py>> {
        let threads = job::threads(n_jobs)?;
        let found = py.detach(|| {
            let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
            run(Some(threads), || work(&inner)).and_then(|found| found)
        });
        Ok(arrays(py, &self.trouble.check(found)?))
    }
}

fn dense_only() -> Error {
    let need = "the mahalanobis metric, which needs dense rows".into();
    Error::Unsupported { learner: "neighbors among sparse rows".into(), need }
}

fn kind(algorithm: &str, search_width: usize) -> PyResult<Option<IndexKind>> {
    match algorithm {
        "auto" => Ok(None),
        "kd_tree" => Ok(Some(IndexKind::BoxTree)),
        "ball_tree" => Ok(Some(IndexKind::VantageTree)),
        "brute" => Ok(Some(IndexKind::Scan)),
        "hnsw" => Ok(Some(IndexKind::Graph { width: search_width })),
        other => Err(PyValueError::new_err(format!(
            "algorithm = '{other}': expected auto, kd_tree, ball_tree, brute or hnsw"
        ))),
    }
}

fn text_metric(name: &str) -> Result<StringMetric, Error> {
    match name {
        "edit" => Ok(StringMetric::Edit),
        "hamming_text" => Ok(StringMetric::Hamming),
        other => Err(Error::data(format!("metric = '{other}' for text: expected edit or hamming_text"))),
    }
}

fn row_metric(name: &str, p: f64, covariance: Option<&[f64]>, rows: &RowMatrix<'_>) -> Result<Metric, Error> {
    Ok(match name {
        "euclidean" => Metric::Euclidean,
        "manhattan" => Metric::Manhattan,
        "chebyshev" => Metric::Chebyshev,
        "minkowski" if p == f64::INFINITY => Metric::Chebyshev,
        "minkowski" => Metric::Minkowski { p },
        "cosine" => Metric::Cosine,
        "hamming" => Metric::Hamming,
        "mahalanobis" => Metric::Mahalanobis(match covariance {
            Some(covariance) => Whitening::given(covariance, &vec![0.0; rows.n_features()])?,
            None => Whitening::estimated(rows)?,
        }),
        other => {
            let known = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine", "mahalanobis", "hamming"];
            return Err(Error::unknown("metric", other, known));
        }
    })
}
