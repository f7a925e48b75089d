//! Models of and for other programs: golden files of XGBoost and LightGBM (`tools/golden_exchange.py`), and source files that are compiled and run where there is a compiler.

use ermine::exchange::ExportFormat;
use ermine::prelude::*;
use ermine_core::learner::parameters::CountOrFraction;
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/exchange")
}

fn golden() -> Value {
    serde_json::from_slice(&std::fs::read(folder().join("cases.json")).unwrap()).unwrap()
}

fn columns(golden: &Value) -> Vec<Column> {
    let rows = golden["x"].as_array().unwrap();
    let cell = |row: &Value, j: usize| row[j].as_f64().unwrap_or(f64::NAN);
    (0..5).map(|j| Column::numeric(format!("f{j}"), rows.iter().map(|row| cell(row, j)).collect::<Vec<_>>())).collect()
}

/// The columns of a case: the last may have its categories by name, or codes below zero in its first rows.
fn columns_of(case: &Value, golden: &Value) -> Vec<Column> {
    let mut all = columns(golden);
    let codes = all[4].numbers(None);
    if case["named"] == true {
        let names: Vec<String> = codes.iter().map(|code| format!("c{code:02}")).collect();
        all[4] = Column::nominal("f4", &names.iter().map(|name| Some(name.as_str())).collect::<Vec<_>>());
    }
    if let Some(n) = case["below"].as_u64() {
        let code = |(row, code): (usize, f64)| if (row as u64) < n { -1.0 } else { code };
        all[4] = Column::numeric("f4", codes.into_iter().enumerate().map(code).collect::<Vec<_>>());
    }
    all
}

#[test]
fn imported_models_predict_like_their_original_library() {
    let golden = golden();
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let file = case["file"].as_str().unwrap();
        let model = ermine::import(folder().join(file)).unwrap();
        // LightGBM adds up in double precision, XGBoost in single.
        let precision = if file.starts_with("lgb") { 1e-12 } else { 2e-6 };
        let all = columns_of(case, &golden);
        let check = |model: &Model, what: &str| {
            let said = model.predict_columns(all.clone(), None).unwrap();
            for (row, theirs) in case["said"].as_array().unwrap().iter().enumerate() {
                for (ours, theirs) in said.row(row).iter().zip(theirs.as_array().unwrap()) {
                    let theirs = theirs.as_f64().unwrap();
                    assert!(
                        (ours - theirs).abs() <= precision * (1.0 + theirs.abs()),
                        "{name}{what}, row {row}: {ours} {theirs}"
                    );
                }
                assert_eq!(said.row(row).len(), theirs.as_array().unwrap().len(), "{name}");
            }
        };
        check(&model, "");
        check(&ermine::load_bytes(&model.to_bytes().unwrap()).unwrap(), ", saved and read");
        // One row at a time, the same bits.
        let predictor = model.predictor().unwrap();
        let said = model.predict_columns(all.clone(), None).unwrap();
        let mut out = vec![0.0; predictor.width()];
        let code = |j: usize, row: usize| match &model.schema().features[j].levels[..] {
            [] => all[j].number(row),
            levels => levels.iter().position(|level| *level == all[j].text(row)).map_or(f64::NAN, |code| code as f64),
        };
        for row in 0..50 {
            let x: Vec<f64> = (0..all.len()).map(|j| code(j, row)).collect();
            predictor.predict(&x, &mut out).unwrap();
            assert_eq!(out, said.row(row), "{name}, row {row}");
        }
        let shares: f64 = model.attributes()[0].values.iter().sum();
        assert!((shares - 1.0).abs() < 1e-9 || file.contains("constant"), "{name}: importances add up to {shares}");
    }
}

/// Models of all kinds of trees and links.
fn models() -> Vec<(&'static str, Model, Vec<Vec<f64>>)> {
    let colors = ["red", "green", "blue"];
    let rows: Vec<(f64, f64, &str, f64)> = (0..120)
        .map(|i: i32| {
            let (a, b, c) = (f64::from(i % 17), f64::from(i % 5) - 2.0, colors[(i * 7 % 3) as usize]);
            (if i % 13 == 0 { f64::NAN } else { a }, b, c, if c == "red" { a * b } else { a - b })
        })
        .collect();
    let table = |y: Column| {
        Table::new(vec![
            Column::numeric("a", rows.iter().map(|r| r.0).collect::<Vec<_>>()),
            Column::numeric("b", rows.iter().map(|r| r.1).collect::<Vec<_>>()),
            Column::nominal("c", &rows.iter().map(|r| Some(r.2)).collect::<Vec<_>>()),
            y,
        ])
        .unwrap()
    };
    let name = |y: f64| {
        Some(if y < 0.0 {
            "low"
        } else if y < 5.0 {
            "middle"
        } else {
            "high"
        })
    };
    let number = table(Column::numeric("y", rows.iter().map(|r| r.3).collect::<Vec<_>>())).dataset("y").unwrap();
    let three = table(Column::nominal("y", &rows.iter().map(|r| name(r.3)).collect::<Vec<_>>())).dataset("y").unwrap();
    let two = table(Column::nominal(
        "y",
        &rows.iter().map(|r| Some(if r.3 < 0.0 { "no" } else { "yes" })).collect::<Vec<_>>(),
    ));
    let two = two.dataset("y").unwrap();
    let x: Vec<Vec<f64>> = [0.0, 3.0, 16.0, f64::NAN]
        .iter()
        .flat_map(|&a| {
            [-2.0, 0.5, f64::INFINITY]
                .map(|b| [0.0, 1.0, 2.0, f64::NAN, -1.0, 3.0, 0.5, 1e300].map(|c| vec![a, b, c]))
                .concat()
        })
        .collect();
    let boosting = GradientBoosting { n_estimators: 12, ..Default::default() };
    let bagging = Bagging { n_estimators: 5, max_features: CountOrFraction::Fraction(0.7), ..Default::default() };
    let boosted = AdaBoost {
        n_estimators: 5,
        estimator: Estimator::named("decision-tree").with("max_depth", 2usize),
        ..Default::default()
    };
    let forest = RandomForest { n_estimators: 7, ..Default::default() };
    vec![
        ("boosted numbers", boosting.fit(&number).unwrap(), x.clone()),
        ("boosted classes", boosting.fit(&two).unwrap(), x.clone()),
        ("boosted, three classes", boosting.fit(&three).unwrap(), x.clone()),
        ("forest", forest.fit(&three).unwrap(), x.clone()),
        ("forest of numbers", forest.fit(&number).unwrap(), x.clone()),
        ("stumps", AdaBoost { n_estimators: 9, ..Default::default() }.fit(&two).unwrap(), x.clone()),
        ("stumps, three classes", AdaBoost { n_estimators: 9, ..Default::default() }.fit(&three).unwrap(), x.clone()),
        ("tree", DecisionTree::default().fit(&three).unwrap(), x.clone()),
        ("a branch for each category", Id3::default().fit(&three).unwrap(), x.clone()),
        ("bagged trees", bagging.fit(&three).unwrap(), x.clone()),
        ("boosted trees", boosted.fit(&three).unwrap(), x.clone()),
        ("stump", DecisionStump::default().fit(&two).unwrap(), x),
    ]
}

/// Whether a compiler can be called.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success())
}

/// Compiles a source file with a main function, runs it and reads the numbers that it prints.
fn numbers_of_program(name: &str, source: &str, rust: bool) -> Vec<f64> {
    let folder =
        std::env::temp_dir().join(format!("ermine-exchange-{}-{}", std::process::id(), name.replace([' ', ','], "-")));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(if rust { "model.rs" } else { "model.c" });
    std::fs::write(&file, source).unwrap();
    let binary = folder.join("model");
    let mut compiler = if rust {
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition", "2021", "-D", "warnings", "-A", "dead_code", "-o"]).arg(&binary).arg(file);
        compiler
    } else {
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c99", "-Wall", "-Werror", "-O1", "-o"]).arg(&binary).arg(file).arg("-lm");
        compiler
    };
    let said = compiler.output().unwrap();
    assert!(said.status.success(), "{name}: {}", String::from_utf8_lossy(&said.stderr));
    let said = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    said.lines().map(|line| line.parse().unwrap()).collect()
}

/// A source file whose main function prints what a function of it says of some rows, `width` numbers for each.
fn program(model: &Model, x: &[Vec<f64>], function: &str, width: usize, rust: bool) -> String {
    let format = if rust { ExportFormat::Rust } else { ExportFormat::C };
    let source = String::from_utf8(ermine::export(model, format).unwrap()).unwrap();
    let number = |x: &f64| match (x.is_nan(), x.is_infinite(), rust) {
        (true, _, true) => "f64::NAN".to_string(),
        (true, _, false) => "NAN".to_string(),
        (_, true, true) => "f64::INFINITY".to_string(),
        (_, true, false) => "INFINITY".to_string(),
        _ => format!("{x:e}"),
    };
    let list = |row: &Vec<f64>| row.iter().map(number).collect::<Vec<_>>().join(", ");
    let calls: String = x
        .iter()
        .map(|row| match rust {
            true => format!("    {function}(&[{}]).iter().for_each(|p| println!(\"{{p:e}}\"));\n", list(row)),
            false => format!("    {{ double x[] = {{{}}}; ermine_{function}(x, out); for (int k = 0; k < {width}; k++) printf(\"%.17g\\n\", out[k]); }}\n", list(row)),
        })
        .collect();
    match rust {
        true => format!("{source}fn main() {{\n{calls}}}\n"),
        false => format!(
            "{source}#include <stdio.h>\nint main(void) {{\n    double out[{width}];\n{calls}    return 0;\n}}\n"
        ),
    }
}

/// Compiles a model and compares what it predicts for some rows.
fn compiles_and_agrees(name: &str, model: &Model, x: &[Vec<f64>], rust: bool) {
    let predictor = model.predictor().unwrap();
    let width = predictor.width();
    let said = numbers_of_program(name, &program(model, x, "predict", width, rust), rust);
    let mut ours = vec![0.0; width];
    assert_eq!(said.len(), x.len() * width, "{name}");
    for (row, said) in x.iter().zip(said.chunks(width)) {
        predictor.predict(row, &mut ours).unwrap();
        for (a, b) in ours.iter().zip(said) {
            assert!((a - b).abs() <= 1e-14 * (1.0 + a.abs()), "{name}, {row:?}: {ours:?} {said:?}");
        }
    }
}

#[test]
fn source_files_have_all_quantiles() {
    let n = 200;
    let x: Vec<Vec<f64>> =
        (0..n).map(|i| vec![f64::from(i % 23), if i % 7 == 0 { f64::NAN } else { f64::from(i % 11) }]).collect();
    let column = |name: &str, j: usize| Column::numeric(name, x.iter().map(|row| row[j]).collect::<Vec<_>>());
    let y = (0..n).map(|i| f64::from(i % 23) * (0.5 + f64::from(i * 37 % 19))).collect::<Vec<_>>();
    let table = Table::new(vec![column("a", 0), column("b", 1), Column::numeric("y", y)]).unwrap();
    let data = table.dataset("y").unwrap();
    for levels in [vec![0.9, 0.1], vec![0.1, 0.9, 0.5]] {
        let learner = GradientBoosting {
            loss: ermine::ensemble::BoostingLoss::Quantile,
            quantile_alpha: levels.clone(),
            n_estimators: 20,
            ..Default::default()
        };
        let (model, k) = (learner.fit(&data).unwrap(), levels.len());
        let mut ascending = levels.clone();
        ascending.sort_by(f64::total_cmp);
        let quantiles = model.quantiles(data.features(), &ascending).unwrap();
        // The prediction is the median of the quantiles.
        for (row, quantiles) in quantiles.chunks(k).enumerate() {
            let median = (quantiles[(k - 1) / 2] + quantiles[k / 2]) / 2.0;
            assert_eq!(model.predict_data(&data).unwrap().row(row), [median]);
        }
        for (rust, compiler) in [(true, "rustc"), (false, "cc")] {
            if is_there(compiler) {
                let name = format!("{k} quantiles {compiler}");
                compiles_and_agrees(&name, &model, &x, rust);
                let said = numbers_of_program(&name, &program(&model, &x, "quantiles", k, rust), rust);
                assert_eq!(said.len(), quantiles.len());
                said.iter()
                    .zip(&quantiles)
                    .for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}"));
            }
        }
    }
}

#[test]
fn source_files_compile_and_agree() {
    for (name, model, x) in models() {
        if is_there("cc") {
            compiles_and_agrees(name, &model, &x, false);
        }
        if is_there("rustc") {
            compiles_and_agrees(name, &model, &x, true);
        }
    }
}

#[test]
fn one_row_is_predicted_as_in_a_table() {
    for (name, model, x) in models() {
        let predictor = model.predictor().unwrap();
        assert!(predictor.predict(&[1.0], &mut [0.0]).is_err());
        let levels = &model.schema().features[2].levels;
        let column = |j: usize| Column::numeric("", x.iter().map(|row| row[j]).collect::<Vec<_>>());
        // What is no code is an unknown category.
        let known =
            |row: &Vec<f64>| (0..levels.len()).find(|&code| code as f64 == row[2]).map(|code| levels[code].as_str());
        let names: Vec<Option<&str>> = x.iter().map(known).collect();
        let said = model.predict_columns(vec![column(0), column(1), Column::nominal("c", &names)], None).unwrap();
        let mut out = vec![0.0; predictor.width()];
        for (row, x) in x.iter().enumerate() {
            predictor.predict(x, &mut out).unwrap();
            assert_eq!(out, said.row(row), "{name}: {x:?}");
        }
    }
}

#[test]
fn models_without_trees_refuse_export() {
    let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i), f64::from(i * i)]).collect();
    let data = Table::from_rows(&["a", "y"], &rows).unwrap().dataset("y").unwrap();
    let model = Baseline::default().fit(&data).unwrap();
    assert!(matches!(ermine::export(&model, ExportFormat::C).unwrap_err(), Error::Unsupported { .. }));
    assert!(String::from_utf8(ermine::export(&model, ExportFormat::Json).unwrap()).unwrap().contains("\"sections\""));
}

fn foreign_files() -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.into_iter().filter(|f| !f.ends_with("cases.json")).map(|f| std::fs::read(f).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A damaged file is an error, or another model; never a panic, whatever is asked of it.
    #[test]
    fn damaged_files_are_refused_or_read(
        which in any::<prop::sample::Index>(), cut in prop::option::of(any::<prop::sample::Index>()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(b"0123456789-[]{},=:. \neENLldSU#$".to_vec())]), 0..6),
    ) {
        let files = foreign_files();
        let mut bytes = which.get(&files).clone();
        for (place, byte) in &changes {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(model) = ermine::exchange::import_bytes(&bytes)
            && model.schema().features.len() < 100
        {
            let column = |f: &ermine_core::matrix::FeatureSpec| Column::numeric(f.name.clone(), vec![0.5, f64::NAN, -3.0]);
            let columns: Vec<Column> = model.schema().features.iter().map(column).collect();
            let _ = model.predict_columns(columns, None);
            let _ = ermine::export(&model, ExportFormat::Onnx);
            let _ = ermine::load_bytes(&model.to_bytes().unwrap());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300), start in prop::sample::select(vec!["", "{", "{\"", "tree\n", "{i\x01aS", "{L"])) {
        let _ = ermine::exchange::import_bytes(&[start.as_bytes(), &bytes].concat());
        let _ = ermine::exchange::ubjson::parse(&bytes);
    }
}
