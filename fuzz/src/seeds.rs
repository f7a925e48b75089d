//! What is mutated: golden files of the tests, the corpus in this folder, and indexes made here.

use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::Rows;
use ermine_core::section::Sections;
use ermine_neighbors::search::choice::Kind;
use ermine_neighbors::search::index::Index;
use std::path::{Path, PathBuf};

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
    match target {
        "model_file" => files(&golden.join("models"), &[".ermine"]).into_iter().map(unsealed).collect(),
        "import" => files(
            &golden.join("exchange"),
            &["lgb_named.txt", "lgb_three.txt", "lgb_categories.txt", ".ubj", "xgb_two.json", "xgb_dart.json"],
        )
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect(),
        "table" => files(&corpus, &[]).into_iter().map(|file| chosen(&["\u{0}", ".libsvm", ".gz"], file)).collect(),
        "columnar" => {
            let mut all = files(&root().join("crates/ermine-core/tests/golden/parquet"), &[".parquet"]);
            all.extend(files(&corpus, &[]));
            all.into_iter().map(|file| chosen(&[".parquet", ".arrow"], file)).collect()
        }
        "index" => indexes().into_iter().map(|bytes| unsealed((String::new(), bytes))).collect(),
        _ => Vec::new(),
    }
}

/// A small index of each kind, for several metrics.
fn indexes() -> Vec<Vec<u8>> {
    let rows: Vec<f64> = (0..120 * 3).map(|i| f64::from((i * 7919 + i / 3) % 97) / 7.0).collect();
    let single: Vec<f32> = rows.iter().map(|&v| v as f32).collect();
    let kinds = [Kind::BoxTree, Kind::VantageTree, Kind::Scan, Kind::Graph { width: 16 }];
    let metrics = [Metric::Euclidean, Metric::Manhattan, Metric::Cosine, Metric::Minkowski { p: 3.0 }];
    let mut made = Vec::new();
    for (kind, metric) in kinds.into_iter().flat_map(|kind| metrics.iter().map(move |metric| (kind, metric.clone()))) {
        for rows in [Rows::row_major(&rows, 3), Rows::row_major_f32(&single, 3)].into_iter().flatten() {
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
