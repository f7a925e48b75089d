//! What is mutated: golden files of the tests, the corpus in this folder, and small models and indexes made here.

use crate::IMPORTS;
use ermine::prelude::*;
use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::RowMatrix;
use ermine_core::learner::fit::can_learn;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::section::Sections;
use ermine_neighbors::search::choice::IndexKind;
use ermine_neighbors::search::index::Index;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a folder whose names end so, in the order of their names.
fn files(folder: &Path, endings: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    found.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fits = |path: &PathBuf| endings.is_empty() || endings.iter().any(|ending| name(path).ends_with(ending));
    found.into_iter().filter(fits).filter_map(|path| Some((name(&path), std::fs::read(&path).ok()?))).collect()
}

/// Larger files take long and are mutated in the same places.
const LARGEST: usize = 20_000;

/// A few rows for a task: two columns of numbers, and one of categories where the learner takes such.
fn small_data(learner: &dyn Learner, task: Task) -> Result<Dataset> {
    const N: usize = 14;
    let number = |row: usize, factor: usize| ((row * factor) % 11) as f64 / 2.0;
    let mut columns = [3, 7]
        .map(|factor| Column::numeric(format!("x{factor}"), (0..N).map(|row| number(row, factor)).collect::<Vec<_>>()))
        .to_vec();
    if learner.info().capabilities.nominal {
        columns
            .push(Column::nominal("c", &(0..N).map(|row| Some(["red", "green", "blue"][row % 3])).collect::<Vec<_>>()));
    }
    let grade = |row: usize| (number(row, 3) + number(row, 7)) as usize;
    let classes = if learner.info().capabilities.binary_only { 2 } else { 3 };
    let target = match task {
        Task::Classification => Target::Classes {
            codes: (0..N).map(|row| (grade(row) % classes) as u32).collect(),
            labels: ["no", "yes", "perhaps"].iter().take(classes).map(ToString::to_string).collect(),
        },
        Task::Multilabel => {
            let marks = (0..N).flat_map(|row| [grade(row) > 4, grade(row) % 2 == 0]);
            Target::Values { values: marks.map(|mark| f64::from(u8::from(mark))).collect(), n_outputs: 2 }
        }
        Task::Regression | Task::Ranking => {
            Target::Values { values: (0..N).map(|row| (grade(row) % 5) as f64).collect(), n_outputs: 1 }
        }
    };
    let data = Dataset::from_parts(Features::new(Arc::new(Table::new(columns)?)), target, task)?;
    if task == Task::Ranking { data.with_group(Some((0..N as u32).map(|row| row / 7).collect())) } else { Ok(data) }
}

/// A small model of a learner for each task that it can do.
fn models(name: &str) -> Vec<Vec<u8>> {
    let context = Context { seed: 1, threads: Some(1), ..ermine::context() };
    let few = Estimator::named(name).with("n_estimators", 2usize).learner(&context);
    let Ok(learner) = few.or_else(|_| Estimator::named(name).learner(&context)) else { return Vec::new() };
    let tasks = Task::ALL.into_iter().filter(|&task| can_learn(&*learner, task));
    let made = tasks.map(|task| fit(&*learner, &small_data(&*learner, task)?, &context)?.to_bytes());
    made.filter_map(Result::ok).collect()
}

/// The seeds of a target; none for one that isn't known.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let corpus = root().join("fuzz/corpus").join(target);
    let golden = root().join("crates/ermine/tests/golden");
    let unsealed = |(_, bytes): (String, Vec<u8>)| bytes[..bytes.len().saturating_sub(4)].to_vec();
    // The first byte of a table says which format it is.
    let chosen = |formats: &[&str], (name, bytes): (String, Vec<u8>)| {
        let choice = formats.iter().position(|ending| name.ends_with(ending)).unwrap_or(0);
        [&[choice as u8], &bytes[..]].concat()
    };
    if let Some(learner) = target.strip_prefix("model:") {
        let mut all: Vec<Vec<u8>> = models(learner).into_iter().map(|bytes| unsealed((String::new(), bytes))).collect();
        let golden = files(&golden.join("models"), &[".ermine"]).into_iter();
        let same = |(name, _): &(String, Vec<u8>)| name.strip_prefix(learner).is_some_and(|rest| rest.starts_with('.'));
        all.extend(golden.filter(|file| same(file) && file.1.len() < LARGEST).map(unsealed));
        return all;
    }
    if let Some((_, endings)) = IMPORTS.iter().find(|(name, _)| target.strip_prefix("import:") == Some(name)) {
        return files(&golden.join("exchange"), endings).into_iter().map(|(_, bytes)| bytes).collect();
    }
    match target {
        "table" => files(&corpus, &[]).into_iter().map(|file| chosen(&["\u{0}", ".libsvm", ".gz"], file)).collect(),
        "columnar" => {
            let mut all = files(&root().join("crates/ermine-core/tests/golden/parquet"), &[".parquet"]);
            all.extend(files(&corpus, &[]));
            all.into_iter().map(|file| chosen(&[".parquet", ".arrow"], file)).collect()
        }
        "request" => requests(),
        "index" => indexes().into_iter().map(|bytes| unsealed((String::new(), bytes))).collect(),
        _ => Vec::new(),
    }
}

/// A small index of each kind, for several metrics.
fn indexes() -> Vec<Vec<u8>> {
    let rows: Vec<f64> = (0..120 * 3).map(|i| f64::from((i * 7919 + i / 3) % 97) / 7.0).collect();
    let single: Vec<f32> = rows.iter().map(|&v| v as f32).collect();
    let kinds = [IndexKind::BoxTree, IndexKind::VantageTree, IndexKind::Scan, IndexKind::Graph { width: 16 }];
    let metrics = [Metric::Euclidean, Metric::Manhattan, Metric::Cosine, Metric::Minkowski { p: 3.0 }];
    let mut made = Vec::new();
    for (kind, metric) in kinds.into_iter().flat_map(|kind| metrics.iter().map(move |metric| (kind, metric.clone()))) {
        for rows in [RowMatrix::row_major(&rows, 3), RowMatrix::row_major_f32(&single, 3)].into_iter().flatten() {
            let mut sections = Sections::default();
            if let Ok(index) = Index::build_as(&rows, metric.clone(), Some(kind))
                && index.save(&mut sections).is_ok()
            {
                made.extend(sections.to_bytes());
            }
        }
    }
    made
}

/// A small model of numbers and categories.
pub fn served_model(name: &str) -> ermine::Result<Model> {
    let context = Context { seed: 1, threads: Some(1), ..ermine::context() };
    let few = Estimator::named(name).with("n_estimators", 3usize).learner(&context);
    let learner = few.or_else(|_| Estimator::named(name).learner(&context))?;
    fit(&*learner, &small_data(&*learner, Task::Classification)?, &context)
}

/// Bodies of requests to models of [`served_model`], after the byte that chooses the request.
fn requests() -> Vec<Vec<u8>> {
    let rows = br#"{"rows": [{"x3": 1.5, "x7": null, "c": "red"}, [1, 2.5, "blue"]], "probabilities": true}"#.to_vec();
    let bare = br#"[{"x3": -1e3, "c": "green", "t": true}, {}]"#.to_vec();
    let csv = b"x3,x7,c\n1.5,2,red\n,7,\"blue\"\n".to_vec();
    let v1 = br#"{"instances": [[1, 2, "red"], {"x3": 4}], "signature_name": "x"}"#.to_vec();
    let v2 = br#"{"id": "a", "inputs": [{"name": "x3", "shape": [2, 1], "datatype": "FP64", "data": [1, [2.5]]}, {"name": "c", "shape": [2], "datatype": "BYTES", "data": ["red", "blue"]}], "outputs": [{"name": "predict_proba"}]}"#.to_vec();
    let mut binary = br#"{"inputs": [{"name": "x3", "shape": [2], "datatype": "FP32", "parameters": {"binary_data_size": 8}}], "parameters": {"binary_data_output": true, "unknown": "warn"}}"#.to_vec();
    binary.resize(170, b' ');
    binary.extend([1.5f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat());
    let arrow = files(&root().join("fuzz/corpus/columnar"), &[".arrow"]).into_iter().map(|(_, bytes)| (3, bytes));
    let gzip = packed(flate2::write::GzEncoder::new(Vec::new(), Default::default()), &rows, |packer| packer.finish());
    let deflate =
        packed(flate2::write::ZlibEncoder::new(Vec::new(), Default::default()), &v2, |packer| packer.finish());
    let all = [
        (0, rows.clone()),
        (1, rows.clone()),
        (0, bare.clone()),
        (1, bare.clone()),
        (2, csv),
        (4, v1),
        (5, v2),
        (6, binary),
        (7, rows),
        (7, bare),
        (8, gzip),
        (9, deflate),
    ];
    all.into_iter().chain(arrow).map(|(choice, body)| [&[choice], &body[..]].concat()).collect()
}

/// Bytes in a packed form.
fn packed<W: Write>(mut packer: W, bytes: &[u8], finish: impl FnOnce(W) -> std::io::Result<Vec<u8>>) -> Vec<u8> {
    packer.write_all(bytes).and_then(|()| finish(packer)).unwrap_or_default()
}
