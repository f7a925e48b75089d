//! Model files from outside: damaged, cut short, hostile. Always an error in bounded time and memory, never a panic, never a wrong model.

use ermine::exchange::ExportFormat;
use ermine::prelude::*;
use ermine::registry::{RegistryEntry, learners};
use ermine_core::learner::fit;
use ermine_core::matrix::Target;
use ermine_core::model::file::FORMAT_VERSION;
use ermine_core::param::Value;
use proptest::prelude::*;
use std::sync::OnceLock;

/// A small table that every kind of test can come from: numbers, categories, missing values.
fn data() -> Dataset {
    let n = 60usize;
    let number: Vec<f64> = (0..n).map(|i| if i % 9 == 0 { f64::NAN } else { (i * 37 % 60) as f64 }).collect();
    let shape: Vec<Option<&str>> = (0..n).map(|i| [Some("round"), Some("flat"), None][i * 7 % 3]).collect();
    let class: Vec<Option<&str>> = (0..n).map(|i| Some(if i * 37 % 60 > 30 { "high" } else { "low" })).collect();
    let columns = vec![Column::numeric("x", number), Column::nominal("s", &shape), Column::nominal("y", &class)];
    Table::new(columns).unwrap().dataset("y").unwrap()
}

/// The data for a task: two classes, two labels, grades in queries, or numbers.
fn data_for(task: Task) -> Dataset {
    let classes = data();
    let (codes, _) = classes.classes().unwrap();
    let mark = |on: bool| f64::from(u8::from(on));
    let (values, n_outputs) = match task {
        Task::Multilabel => ((0..60).flat_map(|i| [mark(codes[i] == 1), mark(i % 4 < 2)]).collect(), 2),
        Task::Ranking => ((0..60).map(|i| f64::from(codes[i]) + mark(i % 5 == 0)).collect(), 1),
        Task::Regression => ((0..60).map(|i| f64::from(codes[i]) * 3.0 + (i % 7) as f64).collect(), 1),
        Task::Classification => return classes,
    };
    let other = classes.with_target(Target::Values { values, n_outputs }, task).unwrap();
    other.with_group((task == Task::Ranking).then(|| (0..60).map(|i| i / 12).collect())).unwrap()
}

/// What the golden file of a learner is made of: two classes, if it can.
fn task_of(entry: &RegistryEntry) -> Task {
    let tasks = entry.info().capabilities.tasks;
    let order = [Task::Classification, Task::Multilabel, Task::Ranking, Task::Regression];
    order.into_iter().find(|task| tasks.contains(task)).unwrap()
}

/// A model file of every learner for every task that it does by itself, made once. Learners of many parts are made with a few only.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let able = learners().flat_map(|entry| entry.info().capabilities.tasks.iter().map(move |&task| (entry, task)));
        let file = |(entry, task): (&RegistryEntry, Task)| {
            let mut learner = crate::made(entry);
            if learner.get("n_estimators").is_some() {
                learner.set("n_estimators", &Value::Int(3)).unwrap();
            }
            fit(&*learner, &data_for(task), &ermine::context()).unwrap().to_bytes().unwrap()
        };
        able.map(file).collect()
    })
}

/// Puts the right checksum at the end, as a hostile writer would.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(4));
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

#[test]
fn every_truncation_and_every_flipped_bit_is_an_error() {
    for file in files() {
        for length in 0..file.len() {
            assert!(ermine::load_bytes(&file[..length]).is_err(), "cut to {length} bytes");
        }
        for byte in 0..file.len() {
            let mut damaged = file.clone();
            damaged[byte] ^= 1 << (byte % 8);
            assert!(ermine::load_bytes(&damaged).is_err(), "byte {byte}");
        }
        let longer = [file.as_slice(), &[0]].concat();
        assert!(ermine::load_bytes(&longer).is_err());
    }
}

#[test]
fn files_of_another_version_are_refused() {
    let mut file = files()[0].clone();
    file[8..12].copy_from_slice(&(FORMAT_VERSION + 6).to_le_bytes());
    let message = ermine::load_bytes(&file).unwrap_err().to_string();
    assert!(
        message.contains(&format!("format version {}", FORMAT_VERSION + 6)) && message.contains("reads version"),
        "{message}"
    );
    let message = ermine::load_bytes(b"PK\x03\x04 something else").unwrap_err().to_string();
    assert!(message.contains("is not an Ermine model file"), "{message}");
}

#[test]
fn a_failed_save_leaves_the_old_file_alone() {
    let dir = std::env::temp_dir().join(format!("ermine-model-file-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("m.ermine");
    std::fs::create_dir(&path).unwrap();
    let model = DecisionStump::default().fit(&data()).unwrap();
    let message = model.save(&path).unwrap_err().to_string();
    assert!(message.contains("m.ermine"), "{message}");
    assert!(path.is_dir() && std::fs::read_dir(&dir).unwrap().count() == 1, "nothing is left beside it");
    assert!(model.save(dir.join("no such folder").join("m.ermine")).is_err());
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Asks a model for everything that it can do. What it can't is an error, never a panic.
fn use_all(model: &Model) {
    let data = data();
    let table = Table::new(data.features().columns().to_vec()).unwrap();
    let few = data.select(&[0, 9, 17, 3]).unwrap();
    if let Ok(prediction) = model.predict_data(&data) {
        (0..prediction.n_rows()).for_each(|row| {
            prediction.label(row);
        });
    }
    let _ = (model.text(), model.svg(), model.html(), model.dot(), model.rules(), model.to_json(), model.attributes());
    let _ = (model.evaluate(&data), model.explain_row(&table, 3), model.pruning_path());
    let _ = (model.shap_of(few.features()), model.shap_interactions_of(few.features()), model.shap_importances(&few));
    let _ = (model.leaves(few.features()), model.proximity(few.features()), model.log_density(few.features()));
    let _ = (
        model.quantiles(few.features(), &[0.1, 0.9]),
        model.tree_importances(ermine_core::model::ImportanceKind::Gain),
    );
    if let Ok(stages) = model.staged_predict(&table) {
        stages.take(3).for_each(drop);
    }
    if let Ok(predictor) = model.predictor() {
        let (row, mut out) = (vec![1.0; predictor.n_features()], vec![0.0; predictor.width()]);
        let _ = predictor.predict(&row, &mut out);
    }
    for member in 0..model.n_members().min(2) {
        let _ = model.member(member).map(|member| member.predict_data(&data));
    }
    for format in [ExportFormat::Onnx, ExportFormat::C, ExportFormat::Rust, ExportFormat::Json] {
        let _ = ermine::export(model, format);
    }
    let _ = model.to_bytes();
}

/// The name of each array of a model file, and where its bytes are.
fn arrays(file: &[u8]) -> Vec<(String, std::ops::Range<usize>)> {
    let length = u64::from_le_bytes(file[12..20].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[20..20 + length]).unwrap();
    let mut at = 20 + length;
    let mut found = Vec::new();
    for section in header["sections"].as_array().unwrap() {
        let size = match section["type"].as_str().unwrap() {
            "f64" => 8,
            "f32" | "u32" => 4,
            _ => 1,
        };
        let n_bytes = section["count"].as_u64().unwrap() as usize * size;
        found.push((section["name"].as_str().unwrap().to_string(), at..at + n_bytes));
        at += n_bytes.next_multiple_of(8);
    }
    found
}

/// Every array of every kind of model, filled with one word: zeros, ones, the largest whole number, numbers that are none. Prediction must not rely on what only a
/// checksum protects.
#[test]
fn an_array_of_garbage_is_refused_or_harmless() {
    let words: [[u8; 8]; 8] = [
        [0; 8],
        [0xff; 8],
        [1, 0, 0, 0, 1, 0, 0, 0],
        [0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f],
        f64::NAN.to_le_bytes(),
        f64::INFINITY.to_le_bytes(),
        1e300f64.to_le_bytes(),
        [0, 0, 0x80, 0x7f, 0, 0, 0x80, 0x7f],
    ];
    for file in files() {
        let learner = ermine::load_bytes(file).unwrap().header().learner.clone();
        for (name, range) in arrays(file) {
            for word in words {
                let mut hostile = file.clone();
                hostile[range.clone()].iter_mut().zip(word.iter().cycle()).for_each(|(byte, new)| *byte = *new);
                let hostile = sealed(hostile);
                let used = std::panic::catch_unwind(|| ermine::load_bytes(&hostile).map(|model| use_all(&model)));
                assert!(used.is_ok(), "{learner}: section '{name}' filled with {word:?}");
            }
        }
    }
}

/// Files written by an earlier build are still read, and predict what they predicted. With ERMINE_BLESS=1 in the environment the files of learners that have none are
/// written anew; a change of format before 1.0 raises FORMAT_VERSION, and then all of them are.
#[test]
fn golden_files_are_read_and_predict_what_they_did() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/models");
    for entry in learners() {
        let data = data_for(task_of(entry));
        let name = entry.info().name;
        let (file, expected) = (dir.join(format!("{name}.v{FORMAT_VERSION}.ermine")), dir.join(format!("{name}.json")));
        if !file.exists() && std::env::var_os("ERMINE_BLESS").is_some() {
            let model = fit(&*crate::made(entry), &data, &ermine::context()).unwrap();
            model.save(&file).unwrap();
            let values = model.predict_data(&data).unwrap().values().to_vec();
            std::fs::write(&expected, serde_json::to_string(&values).unwrap()).unwrap();
        }
        let model = ermine::load(&file).unwrap_or_else(|e| panic!("{e} (ERMINE_BLESS=1 writes it)"));
        let values: Vec<f64> = serde_json::from_str(&std::fs::read_to_string(&expected).unwrap()).unwrap();
        let predicted = model.predict_data(&data).unwrap();
        assert_eq!(values.len(), predicted.values().len());
        let far = values.iter().zip(predicted.values()).filter(|(a, b)| (*a - *b).abs() > 1e-12).count();
        assert_eq!(far, 0, "{name} predicts something else than when its golden file was written");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_hostile_file_with_a_right_checksum_never_panics(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let files = files();
        let mut file = files[which.index(files.len())].clone();
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if let Some(cut) = cut { file.truncate(cut.index(file.len())); }
        // A change may go unnoticed (a class name, say): then the model must still predict without a panic.
        if let Ok(model) = ermine::load_bytes(&sealed(file)) {
            use_all(&model);
        }
    }

    #[test]
    fn edited_headers_never_panic(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), word in "[0-9]{1,20}|null|\\[\\]|\"\"|-1|1e999") {
        let files = files();
        let file = &files[which.index(files.len())];
        let length = u64::from_le_bytes(file[12..20].try_into().unwrap()) as usize;
        let json = std::str::from_utf8(&file[20..20 + length]).unwrap();
        // Replace one value of the JSON header by another word.
        let starts: Vec<usize> = json.match_indices([':', ',', '[']).map(|(i, _)| i + 1).collect();
        let start = starts[at.index(starts.len())];
        let end = start + json[start..].find([',', '}', ']']).unwrap_or(0);
        let changed = format!("{}{word}{}", &json[..start], &json[end..]);
        let mut hostile = file[..12].to_vec();
        hostile.extend_from_slice(&(changed.len() as u64).to_le_bytes());
        hostile.extend_from_slice(changed.as_bytes());
        hostile.extend_from_slice(&file[20 + length..]);
        if let Ok(model) = ermine::load_bytes(&sealed(hostile)) {
            use_all(&model);
        }
    }

    #[test]
    fn random_bytes_are_not_a_model(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(ermine::load_bytes(&bytes).is_err());
    }
}

/// Such numbers once made the F test of a model's text run forever.
#[test]
fn statistics_that_no_fit_can_have_are_refused() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 2.0 * x + (x * 7.0) % 3.0).collect();
    let table = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap();
    let file = LinearRegression::default().fit(&table.dataset("y").unwrap()).unwrap().to_bytes().unwrap();
    let freedom = 18f64.to_le_bytes();
    let places: Vec<usize> = (0..file.len() - 8).filter(|&at| file[at..at + 8] == freedom).collect();
    assert_eq!(places.len(), 1, "the degrees of freedom stand in one place");
    for number in [-1e300, 0.0, f64::NAN, f64::INFINITY] {
        let mut hostile = file.clone();
        hostile[places[0]..places[0] + 8].copy_from_slice(&number.to_le_bytes());
        assert!(ermine::load_bytes(&sealed(hostile)).is_err(), "{number}");
    }
}
