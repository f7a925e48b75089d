//! Options of single commands: calibrated quantiles, decision thresholds, imported models, other formats, completions.

use crate::{Sandbox, penguins};

/// Numbers from 0 to 1 that look random.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Rows whose noise grows with `x`.
fn noisy(rows: std::ops::Range<usize>) -> String {
    let line = |i: usize| {
        let (a, b) = (noise(3 * i), noise(3 * i + 1));
        format!("{a:.4},{b:.4},{:.4}\n", 5.0 * b + (0.5 + 3.0 * a) * (noise(3 * i + 2) - 0.5))
    };
    format!("x,z,y\n{}", rows.map(line).collect::<String>())
}

#[test]
fn bands_of_quantiles_cover_held_out_rows_as_promised() {
    let sandbox = Sandbox::new("bands");
    let (train, test) = (sandbox.write("train.csv", &noisy(0..600)), sandbox.write("test.csv", &noisy(600..2600)));
    let coverage = |more: &[&str]| {
        let words = ["train", &train, "-t", "y", "--loss", "quantile", "--quantile-alpha", "0.1,0.9"];
        let rounds = ["--n-estimators", "150", "-o", "bands.ermine"];
        let trained = sandbox.run(&[&words[..], &rounds, more].concat()).succeeds();
        let scores = sandbox.run(&["evaluate", "bands.ermine", &test, "--json"]).succeeds().json();
        (scores["quantiles"]["band"][2]["value"].as_f64().unwrap(), trained.out)
    };
    let (plain, text) = coverage(&["--calibrate-quantiles", "false"]);
    assert!(plain < 0.74 && !text.contains("calibrated"), "{plain}\n{text}");
    let (calibrated, text) = coverage(&[]);
    assert!((0.76..0.86).contains(&calibrated), "{calibrated}\n{text}");
    assert!(text.contains("held-out rows are between the quantiles 0.1 and 0.9"), "{text}");
}

#[test]
fn a_decision_threshold_is_chosen_by_cost() {
    let sandbox = Sandbox::new("cost");
    let line = |i: usize| {
        format!("{:.3},{}\n", noise(2 * i), if noise(2 * i) > noise(2 * i + 1) { "sick" } else { "healthy" })
    };
    let text = |rows: std::ops::Range<usize>| format!("x,state\n{}", rows.map(line).collect::<String>());
    let (train, test) = (sandbox.write("train.csv", &text(0..400)), sandbox.write("test.csv", &text(400..900)));
    sandbox.run(&["train", &train, "-t", "state", "--learner", "logistic-regression", "-o", "m.ermine"]).succeeds();
    let json = sandbox.run(&["evaluate", "m.ermine", &test, "--cost", "1:9", "--json"]).succeeds().json();
    let choice = &json["threshold"];
    let number = |name: &str| choice[name].as_f64().unwrap();
    assert_eq!(choice["positive"], "sick");
    assert_eq!(number("ideal_threshold"), 0.1);
    assert!(number("cost") <= number("ideal_cost") && number("ideal_cost") < number("default_cost"), "{choice}");
    let threshold = format!("{}", number("threshold"));
    let predicted = sandbox.run(&["predict", "m.ermine", &test, "--proba", "--threshold", &threshold]).succeeds().out;
    for row in predicted.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let sick: f64 = cells[2].parse().unwrap();
        assert_eq!(cells[0] == "sick", sick >= number("threshold"), "{row}");
    }
    sandbox.run(&["evaluate", "m.ermine", &test, "--cost", "1:9"]).succeeds().prints(&["from which sick is predicted"]);
    sandbox.run(&["evaluate", "m.ermine", &test, "--cost", "1"]).fails(2, &["for example 1:5"]);
    let species = sandbox.model();
    sandbox.run(&["predict", &species, &penguins(), "--threshold", "0.3"]).fails(2, &["probabilities of two classes"]);
}

#[test]
fn imported_models_are_evaluated_and_shown() {
    let sandbox = Sandbox::new("imported");
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ermine/tests/golden/exchange");
    let file = |name: &str| golden.join(name).display().to_string();
    let words = ["import", &file("xgb_two.json"), "-o", "two.ermine", "--target", "churned", "--classes", "no,yes"];
    sandbox.run(&words).succeeds();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{},{},{},{}\n", noise(i), noise(i + 50), i % 3, 0.5, i % 4, ["no", "yes"][i % 2]))
        .collect();
    let names = sandbox.run(&["show", "two.ermine", "--json"]).succeeds().json();
    let features: Vec<&str> =
        names["model"]["schema"]["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    let test = sandbox.write("test.csv", &format!("{},churned\n{rows}", features.join(",")));
    let json = sandbox.run(&["evaluate", "two.ermine", &test, "--json"]).succeeds().json();
    assert_eq!(json["n_rows"], 40);
    assert_eq!(json["classes"].as_array().unwrap().len(), 2, "{json}");
    let shown = sandbox.run(&["show", "two.ermine"]).succeeds().prints(&["predicts", "churned"]).out;
    assert!(!shown.contains("learning_rate") && !shown.contains("trained on"), "{shown}");
    sandbox
        .run(&["import", &file("xgb_two.json"), "-o", "x.ermine", "--classes", "a"])
        .fails(2, &["the model has 2 classes"]);
    // Without names, the column of the test set can still be chosen.
    sandbox.run(&["import", &file("xgb_numbers.json"), "-o", "numbers.ermine"]).succeeds();
    let json = sandbox.run(&["show", "numbers.ermine", "--json"]).succeeds().json();
    let features: Vec<&str> =
        json["model"]["schema"]["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    let rows: String =
        (0..30).map(|i| format!("{},{},{},{},{},{}\n", noise(i), noise(i + 50), i % 3, 0.5, i % 4, i)).collect();
    let test = sandbox.write("numbers.csv", &format!("{},price\n{rows}", features.join(",")));
    sandbox.run(&["evaluate", "numbers.ermine", &test, "--target", "price"]).succeeds().prints(&["RMSE"]);
}

#[test]
fn a_part_of_a_model_is_shown_alone() {
    let sandbox = Sandbox::new("part");
    let words = ["train", &penguins(), "-t", "species", "--learner", "random-forest", "--n-estimators", "3"];
    sandbox.run(&[&words[..], &["-o", "forest.ermine"]].concat()).succeeds();
    let tree = sandbox.run(&["show", "forest.ermine", "--tree", "1"]).succeeds().out;
    assert!(!tree.contains("Certificate") && !tree.contains("Features") && tree.contains("bill_length_mm"), "{tree}");
    sandbox.run(&["show", "forest.ermine", "--tree", "0"]).fails(2, &["the model has members 1 to 3"]);
    sandbox.run(&["show", "forest.ermine", "--explain", &penguins(), "--row", "0"]).fails(2, &["has rows 1 to 3"]);
}

#[test]
fn predictions_are_written_as_json_lines_and_with_shap_values() {
    let sandbox = Sandbox::new("lines");
    let (train, test) = (sandbox.write("train.csv", &noisy(0..300)), sandbox.write("test.csv", &noisy(300..320)));
    let words = ["train", &train, "-t", "y", "--n-estimators", "20", "-o", "m.ermine"];
    sandbox.run(&words).succeeds();
    let table = sandbox.run(&["predict", "m.ermine", &test, "--shap"]).succeeds().out;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("predicted_y,shap_x,shap_z"));
    let rests: Vec<f64> = lines
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            cells[0] - cells[1] - cells[2]
        })
        .collect();
    assert_eq!(rests.len(), 20);
    assert!(
        rests.iter().all(|rest| (rest - rests[0]).abs() < 1e-9),
        "what is left is the same for all rows: {rests:?}"
    );
    sandbox.run(&["predict", "m.ermine", &test, "-o", "out.jsonl", "-q"]).succeeds();
    let text = String::from_utf8(sandbox.read("out.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(first["predicted_y"].is_number() && text.lines().count() == 20, "{text}");
}

#[test]
fn ndcg_of_any_number_of_places() {
    let sandbox = Sandbox::new("ndcg");
    let rows: String = (0..120)
        .map(|i| format!("{},{:.3},{}\n", i / 12, noise(i), (noise(i) * 3.0 + noise(i + 999)) as u32))
        .collect();
    let file = sandbox.write("ranking.csv", &format!("query,x,grade\n{rows}"));
    let words = [
        "train",
        &file,
        "-t",
        "grade",
        "--task",
        "ranking",
        "--group",
        "query",
        "--n-estimators",
        "5",
        "-o",
        "m.ermine",
    ];
    sandbox.run(&words).succeeds();
    let words = ["evaluate", "m.ermine", &file, "--measure", "ndcg-5,ndcg-3", "--ndcg-at", "5,3,4", "--json"];
    let json = sandbox.run(&words).succeeds().json();
    for k in 0..2 {
        let (any, fixed) =
            (json["ndcg_at"][k][1].as_f64().unwrap(), json["scores"][k]["score"]["value"].as_f64().unwrap());
        assert!((any - fixed).abs() < 1e-12, "{json}");
    }
    assert_eq!(json["ndcg_at"][2][0], 4);
    let species = sandbox.model();
    sandbox.run(&["evaluate", &species, &penguins(), "--ndcg-at", "3"]).fails(2, &["not for ranking"]);
}

#[test]
fn shells_and_man_know_the_program() {
    let sandbox = Sandbox::new("shells");
    let bash = sandbox.run(&["completions", "bash"]).succeeds().out;
    let script = sandbox.write("ermine.bash", &bash);
    let complete = format!(
        "source {script}; COMP_WORDS=(ermine train data.csv --learn); COMP_CWORD=3; _ermine; echo \"${{COMPREPLY[@]}}\"; COMP_WORDS=(ermine co); COMP_CWORD=1; _ermine; echo \"${{COMPREPLY[@]}}\""
    );
    let output = std::process::Command::new("bash").args(["-c", &complete]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "--learner\ncompare completions\n", "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.run(&["completions", "zsh"]).succeeds().prints(&["#compdef ermine"]);
    sandbox.run(&["completions", "fish"]).succeeds().prints(&["__fish_seen_subcommand_from train' -s t -l target -r"]);
    sandbox.run(&["man"]).succeeds().prints(&[".TH ERMINE 1", ".B train"]);
    sandbox.run(&["man", "train"]).succeeds().prints(&[".TH ERMINE\\-TRAIN 1", "\\-\\-target COLUMN"]);
    sandbox.run(&["man", "trian"]).fails(2, &["no command named 'trian'"]);
}
