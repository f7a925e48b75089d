//! What is read from outside, fed with nonsense: each target takes bytes and must return, whatever they are. An error is fine, a panic or an abort is not.
//!
//! | target | bytes |
//! |---|---|
//! | `model:LEARNER` | a model file of this learner, with the right checksum: loaded, used for everything a model can do, exported ([`model_file`]) |
//! | [`table`] | CSV, also in gzip and in batches, and libsvm |
//! | [`columnar`] | Parquet, Arrow IPC |
//! | `import:FORMAT` | a model of XGBoost (JSON or UBJSON) or LightGBM: imported, used, exported ([`import`]) |
//! | [`request`] | bodies of HTTP requests to a server: JSON rows, CSV, tensors, Arrow |
//! | [`index`] | the sections of a nearest-neighbor index: loaded, searched |

pub mod mutate;
pub mod seeds;

use ermine::exchange::ExportFormat;
use ermine::prelude::*;
use ermine_core::distance::rows::RowMatrix;
use ermine_core::section::Sections;
use ermine_core::table::{ReadOptions, TableBatches};
use ermine_neighbors::search::index::Index;
use std::path::{Path, PathBuf};

/// What is done with some bytes.
pub type Run = fn(&[u8]);

/// The names of all targets, and what they do. There is one for the model file of each learner.
pub fn targets() -> Vec<(String, Run)> {
    let mut all: Vec<(String, Run)> = vec![
        ("table".into(), table),
        ("columnar".into(), columnar),
        ("index".into(), index),
        ("request".into(), request),
    ];
    let models = ermine::registry::learners().map(|entry| format!("model:{}", entry.info().name));
    all.extend(models.map(|name| (name, model_file as Run)));
    all.extend(IMPORTS.map(|(name, _)| (format!("import:{name}"), import as Run)));
    all
}

/// Formats of imported models, and how the names of their seeds end.
pub const IMPORTS: [(&str, &[&str]); 3] = [
    ("lightgbm", &["lgb_named.txt", "lgb_three.txt", "lgb_categories.txt"]),
    ("xgboost_json", &["xgb_two.json", "xgb_dart.json"]),
    ("xgboost_ubj", &[".ubj"]),
];

/// A model file. The bytes are those before the checksum, which is added.
pub fn model_file(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    sealed.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    if let Ok(model) = ermine::load_bytes(&sealed) {
        use_some(&model, crc32fast::hash(bytes));
    }
}

/// A model of XGBoost or LightGBM.
pub fn import(bytes: &[u8]) {
    if let Ok(model) = ermine::exchange::import_bytes(bytes) {
        use_some(&model, crc32fast::hash(bytes));
    }
}

/// A table as text. The first byte chooses the format.
pub fn table(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    read(bytes, ["csv", "libsvm", "csv.gz"][usize::from(choice) % 3]);
}

/// A table in a columnar format. The first byte chooses which.
pub fn columnar(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    read(bytes, ["parquet", "arrow"][usize::from(choice) % 2]);
}

/// A nearest-neighbor index. The bytes are those before the checksum, which is added.
pub fn index(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    sealed.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    let Ok(sections) = Sections::from_bytes(&sealed) else { return };
    let Ok(index) = Index::load(&sections) else { return };
    let width = index.n_features();
    if width == 0 || width > 1000 {
        return;
    }
    let queries: Vec<f64> = (0..3 * width).map(|i| [0.5, -3.0, 1e6][i % 3]).collect();
    let Ok(rows) = RowMatrix::row_major(&queries, width) else { return };
    let _ = (index.kneighbors(&rows, 3), index.radius_neighbors(&rows, 2.0), index.own_kneighbors(2));
}

/// The requests that a body is sent as: path, header and its value.
pub const REQUESTS: [(&str, &str, &str); 7] = [
    ("/models/m/predict?probabilities=true", "content-type", "application/json"),
    ("/models/m/predict?unknown=warn&contributions=true", "content-type", "application/json"),
    ("/models/m/predict?unknown=warn", "content-type", "text/csv"),
    ("/models/m/predict?unknown=warn", "content-type", "application/vnd.apache.arrow.stream"),
    ("/v1/models/m:predict", "content-type", "application/json"),
    ("/v2/models/m/infer", "content-type", "application/json"),
    ("/v2/models/m/infer", "inference-header-content-length", "170"),
];

/// The body of a request. The first byte chooses which. Whatever the body is, the answer is no fault of the server.
pub fn request(bytes: &[u8]) {
    use axum::body::Body;
    use ermine_server::testing::Application;
    use std::sync::LazyLock;
    static SERVER: LazyLock<(tokio::runtime::Runtime, Application)> = LazyLock::new(|| {
        let path = std::env::temp_dir().join(format!("ermine-fuzz-{}", std::process::id())).join("m.ermine");
        let directory = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let started = std::fs::create_dir_all(&directory).map_err(|e| Error::data(e.to_string())).and_then(|()| {
            seeds::served_model()?.save(&path)?;
            let log = ermine_server::LogLevel::Off;
            let config = ermine_server::Config { models: vec![path.clone()], log, ..Default::default() };
            ermine_server::testing::application(config)
        });
        let _ = std::fs::remove_dir_all(&directory);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        (runtime.expect("a runtime"), started.expect("a server"))
    });
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let (path, header, value) = REQUESTS[usize::from(choice) % REQUESTS.len()];
    let request = axum::http::Request::post(path).header(header, value).body(Body::from(bytes.to_vec()));
    let (runtime, application) = &*SERVER;
    let response = runtime.block_on(application.handle(request.expect("a request")));
    let status = response.status().as_u16();
    assert!(status == 200 || (400..500).contains(&status), "{path}: {status}");
}

/// Reads a table from a file of its own for each thread, in memory where the system has a place for that.
fn read(bytes: &[u8], ending: &str) {
    thread_local! {
        static FILE: PathBuf = {
            let shared = Path::new("/dev/shm");
            let folder = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
            folder.join(format!("ermine-fuzz-{}-{:?}", std::process::id(), std::thread::current().id()))
        };
    }
    let path = FILE.with(|file| file.with_extension(ending));
    if std::fs::write(&path, bytes).is_ok()
        && let Ok(table) = Table::read(&path)
    {
        table.columns().iter().for_each(|column| assert_eq!(column.len(), table.n_rows()));
    }
    if ending.starts_with("csv")
        && let Ok(mut batches) = TableBatches::open(&path, &ReadOptions::default(), 2)
    {
        while let Ok(Some((table, _))) = batches.next_batch() {
            assert!(table.n_rows() <= 2);
        }
    }
    let _ = std::fs::remove_file(&path);
}

/// Asks a model for its predictions and, by `choice`, for one part of what else it can do: the parts take far longer than loading, and all of them come up.
fn use_some(model: &Model, choice: u32) {
    const MOST_COLUMNS: usize = 1000;
    let features = &model.schema().features;
    if features.len() > MOST_COLUMNS {
        return;
    }
    let column = |(j, feature): (usize, &ermine_core::matrix::FeatureSpec)| {
        let level = feature.levels.first().map(String::as_str);
        match feature.levels.is_empty() {
            true => Column::numeric(&feature.name, vec![j as f64, f64::NAN, -1.5, 1e9]),
            false => Column::nominal(&feature.name, &[level, None, Some("new"), level]),
        }
    };
    let Ok(table) = Table::new(features.iter().enumerate().map(column).collect()) else { return };
    if let Ok(prediction) = model.predict(&table) {
        (0..prediction.n_rows()).for_each(|row| {
            prediction.label(row);
        });
    }
    match choice % 8 {
        0 => drop((model.text(), model.attributes())),
        1 => drop((model.svg(), model.html())),
        2 => drop((model.dot(), model.rules(), model.pruning_path())),
        3 => drop((model.explain_row(&table, 0), model.explain_row(&table, 1))),
        4 => drop(model.shap_values(&table)),
        5 => {
            if let Ok(stages) = model.staged_predict(&table) {
                stages.take(2).for_each(drop);
            }
        }
        6 => {
            if let Ok(predictor) = model.predictor() {
                let (row, mut out) = (vec![0.5; predictor.n_features()], vec![0.0; predictor.width()]);
                let _ = predictor.predict(&row, &mut out);
            }
        }
        _ => {
            let format = [ExportFormat::Onnx, ExportFormat::C, ExportFormat::Rust, ExportFormat::Json]
                [(choice / 8 % 4) as usize];
            let _ = ermine::export(model, format);
        }
    }
}
