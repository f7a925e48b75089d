//! Evaluating, comparing and tuning from the shell: curves, budgets, searches that are killed, and the mistakes that people make with them.

use crate::{RunOutput, Sandbox, penguins};
use std::process::{Command, Stdio};

/// The search that is killed: some hundred settings, each of which takes its time.
fn long_search<'a>(table: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "tune",
        table,
        "-t",
        "species",
        "--learner",
        "random-forest",
        "--n-estimators",
        "60",
        "--trials",
        "12",
        "--folds",
        "3",
        "--seed",
        "5",
        "--json",
    ];
    [&words[..], more].concat()
}

fn n_trials(sandbox: &Sandbox, journal: &str) -> usize {
    std::fs::read_to_string(sandbox.path(journal)).map_or(0, |text| text.matches('\n').count().saturating_sub(1))
}

#[cfg(unix)]
#[test]
fn a_search_that_is_stopped_continues_from_its_journal_to_the_same_end() {
    let sandbox = Sandbox::new("killed");
    let table = penguins();
    let whole = sandbox.run(&long_search(&table, &["-o", "whole.ermine"])).succeeds().json();
    for signal in ["-KILL", "-INT"] {
        let _ = std::fs::remove_file(sandbox.path("j"));
        let words = long_search(&table, &["--journal", "j", "-o", "best.ermine"]);
        let mut child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while n_trials(&sandbox, "j") < 2 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = RunOutput::from(&words, child.wait_with_output().unwrap());
        let known = n_trials(&sandbox, "j");
        assert!(known >= 2 && known < whole["trials"].as_array().unwrap().len(), "{known} {}", output.err);
        // Ctrl-C saves the best model so far; a killed program leaves nothing half-made.
        assert_eq!(sandbox.files().contains(&"best.ermine".to_string()), signal == "-INT");
        if signal == "-INT" {
            assert_eq!(output.code, Some(130), "{}", output.err);
            assert!(output.err.contains("the best model so far is saved"), "{}", output.err);
            sandbox.run(&["evaluate", "best.ermine", &table]).succeeds().prints(&["accuracy"]);
        }
        let again = sandbox.run(&words).succeeds().json();
        assert!(again["from_journal"].as_u64().unwrap() >= 2);
        let entries = |json: &serde_json::Value| -> Vec<(serde_json::Value, serde_json::Value)> {
            json["trials"].as_array().unwrap().iter().map(|t| (t["setting"].clone(), t["folds"].clone())).collect()
        };
        assert_eq!(entries(&again), entries(&whole));
        assert_eq!(sandbox.read("best.ermine"), sandbox.read("whole.ermine"), "the very same model");
        std::fs::remove_file(sandbox.path("best.ermine")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_search_has_a_journal_by_default_which_is_removed_at_its_end() {
    let sandbox = Sandbox::new("default-journal");
    let table = penguins();
    let words = long_search(&table, &["-o", "best.ermine"]);
    let mut child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while n_trials(&sandbox, "best.journal") < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = RunOutput::from(&words, child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}", output.err);
    assert_eq!(sandbox.files(), ["best.ermine", "best.journal"]);
    let again = sandbox.run(&words).succeeds().json();
    assert!(again["from_journal"].as_u64().unwrap() >= 2, "the same command continues");
    assert_eq!(sandbox.files(), ["best.ermine"]);
    // The journal of another search that was left behind is no obstacle.
    std::fs::write(
        sandbox.path("best.journal"),
        "{\"journal_of\":\"svc\",\"parameters\":\"\",\"measure\":\"rmse\",\"n_splits\":5,\"seed\":0,\"data\":1}\n",
    )
    .unwrap();
    let short = ["tune", &table, "-t", "species", "--learner", "decision-stump", "--trials", "2", "-o", "best.ermine"];
    sandbox.run(&short).succeeds();
    assert_eq!(sandbox.files(), ["best.ermine"]);
    // But a file that is no journal is not overwritten.
    sandbox.write("best.journal", "precious\n");
    sandbox.run(&short).fails(1, &["best.journal: not the journal of a search"]);
    assert_eq!(sandbox.read("best.journal"), b"precious\n");
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_learners_that_are_finished() {
    let sandbox = Sandbox::new("compare-stopped");
    let table = penguins();
    for stop_at in ["optimal-tree", "gradient-boosting"] {
        let words = ["compare", &table, "-t", "species", "--folds", "40", "--learners", &format!("baseline,{stop_at}")];
        let child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = RunOutput::from(&words, child.wait_with_output().unwrap());
        // It may be finished on a fast machine.
        if output.code == Some(130) {
            assert!(output.out.contains("baseline") && output.out.contains("accuracy"), "{}", output.out);
            assert!(output.err.contains("what is finished"), "{}", output.err);
        }
    }
}

#[test]
fn training_and_test_scores_are_shown_with_curves() {
    let sandbox = Sandbox::new("cross-validate");
    let table = penguins();
    let text = std::fs::read_to_string(&table).unwrap();
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let part = |keep: &dyn Fn(usize) -> bool| {
        let some: Vec<&str> = rows.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, row)| *row).collect();
        format!("{}\n{}\n", text.lines().next().unwrap(), some.join("\n"))
    };
    let train = sandbox.write("train.csv", &part(&|i| i % 4 != 0));
    let test = sandbox.write("test.csv", &part(&|i| i % 4 == 0));
    let words = ["cross-validate", &train, "-t", "species", "--learner", "decision-tree", "--folds", "4"];
    let all = ["--test", &test, "--learning-curve", "--curve", "max-depth=1,2,8"];
    let output = sandbox.run(&[&words[..], &all[..]].concat()).succeeds();
    output.prints(&["training", "test", "accuracy", "training rows", "max_depth", "4-fold cross-validation"]);
    let json = sandbox.run(&[&words[..], &all[..], &["--json", "--html", "cv.html"]].concat()).succeeds().json();
    let accuracy = &json["scores"][0];
    let mean = |scores: &serde_json::Value| {
        let all: Vec<f64> = scores.as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    assert_eq!(accuracy["name"], "accuracy");
    assert!(mean(&accuracy["train"]) == 1.0 && (0.8..1.0).contains(&mean(&accuracy["folds"])));
    assert!((0.8..=1.0).contains(&json["test"][0]["score"]["value"].as_f64().unwrap()));
    assert_eq!(json["learning_curve"].as_array().unwrap().len(), 6);
    let depths: Vec<f64> =
        json["validation_curve"].as_array().unwrap().iter().map(|p| mean(&p["score"]["train"])).collect();
    assert!(depths[0] < depths[1] && depths[1] < depths[2]);
    let page = String::from_utf8(sandbox.read("cv.html")).unwrap();
    assert!(
        page.contains("Learning curve")
            && page.contains("Validation curve of max_depth")
            && page.matches("<svg").count() == 2
    );

    sandbox.run(&["train", &train, "-t", "species", "--learner", "decision-tree", "-o", "m.ermine"]).succeeds();
    sandbox
        .run(&["report", "m.ermine", &test, "--train", &train])
        .succeeds()
        .prints(&["Learning curve", "training rows"]);
    let json = sandbox.run(&["report", "m.ermine", &test, "--train", &train, "--json"]).succeeds().json();
    assert_eq!(json["learning"].as_array().unwrap().len(), 6);
    let measures = ["--measure", "error-rate,weighted-f1,kappa"];
    let json = sandbox.run(&[&["evaluate", "m.ermine", &test, "--json"], &measures[..]].concat()).succeeds().json();
    assert_eq!((json["scores"].as_array().unwrap().len(), &json["scores"][0]["name"]), (3, &"error rate".into()));
    assert_eq!(json["classes"].as_array().unwrap().len(), 3);
}

#[test]
fn mistakes_are_reported_with_a_remedy() {
    let sandbox = Sandbox::new("select-mistakes");
    let (table, model) = (penguins(), sandbox.model());
    let empty = sandbox.write("empty.csv", "");
    let no_rows =
        sandbox.write("no_rows.csv", "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex\n");
    let other = sandbox.write("other.csv", "a,b\n1,2\n3,4\n");
    for command in ["compare", "cross-validate"] {
        sandbox.run(&[command, &table]).fails(2, &["--target"]);
        sandbox.run(&[command, &table, "-t", "speces"]).fails(2, &["did you mean 'species'?"]);
        sandbox.run(&[command, &empty, "-t", "species"]).fails(1, &["empty.csv"]);
        sandbox.run(&[command, &no_rows, "-t", "species"]).fails(1, &["no_rows.csv", "no rows"]);
        sandbox.run(&[command, "gone.csv", "-t", "species"]).fails(1, &["gone.csv: No such file"]);
        sandbox.run(&[command, &table, "-t", "species", "--measure", "acuracy"]).fails(2, &["accuracy"]);
        sandbox.run(&[command, &table, "-t", "species", "--measure", "rmse"]).fails(2, &["rmse", "accuracy"]);
    }
    sandbox.run(&["tune", &table, "-t", "species"]).fails(2, &["--output"]);
    sandbox.run(&["tune", &table, "-t", "species", "-o", "m.ermine", "--learner", "forrest"]).fails(2, &["forest"]);
    sandbox
        .run(&["tune", &table, "-t", "species", "-o", "m.ermine", "--budget", "0"])
        .fails(2, &["'0' is not a duration"]);
    sandbox
        .run(&["tune", &table, "-t", "species", "-o", "m.ermine", "--budget", "0.000001s", "--quiet"])
        .fails(1, &["the budget ended before the first setting was finished"]);
    sandbox.run(&["compare", &table, "-t", "species", "--budget", "0s"]).fails(2, &["'0s' is not a duration"]);
    sandbox.run(&["tune", &table, "-t", "species", "-o", "m.ermine", "--trials", "0"]).fails(2, &["trials"]);
    sandbox.run(&["tune", &table, "-t", "species", "-o", "m.ermine", "--try", "max_depth"]).fails(2, &["NAME=VALUES"]);
    sandbox
        .run(&["cross-validate", &table, "-t", "species", "--curve", "depth=1,2"])
        .fails(2, &["no parameter named 'depth'"]);
    for command in ["evaluate", "report"] {
        sandbox.run(&[command, &model, &empty]).fails(1, &["empty.csv"]);
        sandbox.run(&[command, &model, &no_rows]).fails(1, &["the test set has no rows"]);
        sandbox.run(&[command, &model, &other]).fails(1, &["other.csv: no column named"]);
        sandbox.run(&[command, &model]).fails(2, &["<FILE>"]);
    }
    sandbox.run(&["evaluate", &model, &table, "--measure", "rmse"]).fails(2, &["rmse", "accuracy"]);
    sandbox.run(&["report", &model, &table, "--train", &other]).fails(1, &["other.csv: no column named"]);
    sandbox
        .run(&["cross-validate", &table, "-t", "species", "--test", &other])
        .fails(1, &["other.csv: no column named"]);
    assert!(!sandbox.files().contains(&"m.ermine".to_string()));
}

#[test]
fn impossible_requests_are_reported_with_a_remedy() {
    let sandbox = Sandbox::new("select-untold");
    let (table, model) = (penguins(), sandbox.model());
    let text = std::fs::read_to_string(&table).unwrap();
    let adelie: Vec<&str> = text.lines().take(40).collect();
    assert!(adelie[1..].iter().all(|line| line.contains("Adelie")));
    let one_class = sandbox.write("one.csv", &(adelie.join("\n") + "\n"));
    let evaluate = |more: &[&str]| sandbox.run(&[&["evaluate", &model, &one_class], more].concat());
    evaluate(&["--measure", "roc-auc"]).fails(1, &["roc-auc is undefined", "one class", "accuracy, error-rate"]);
    evaluate(&["--measure", "accuracy,average-precision"]).fails(1, &["average-precision is undefined"]);
    evaluate(&[]).succeeds().prints(&["accuracy"]);
    evaluate(&["--weight", "body_mass_g"]).fails(2, &["--weight body_mass_g", "this column is a feature of the model"]);
    let cv = |more: &[&str]| sandbox.run(&[&["cross-validate", &table, "-t", "species", "--quiet"], more].concat());
    let svm = ["--learner", "linear-svc", "--folds", "3", "--measure", "log-loss"];
    cv(&svm).fails(1, &["log-loss is undefined", "does not predict probabilities", "accuracy, balanced-accuracy"]);
    cv(&["--learner", "decision-tree", "--curve", "max-depth="]).fails(2, &["separated by commas"]);
    let words = ["cross-validate", &table, "-t", "species", "--learner", "decision-stump", "--leave-one-out"];
    sandbox.run(&words).succeeds().prints(&["over all test rows together", "balanced accuracy, macro F1, MCC, kappa"]);
    let tune = |more: &[&str]| {
        sandbox.run(&[&["tune", &table, "-t", "species", "--learner", "decision-stump"], more].concat())
    };
    tune(&["-o", "m", "--journal", "./m"]).fails(2, &["both the journal and the model"]);
    tune(&["-o", "m", "--journal", &table]).fails(2, &["is an input of this command"]);
    assert!(!sandbox.files().contains(&"m".to_string()));
    tune(&["-o", "m", "--try", "criterion=gini", "--search", "grid"]).succeeds().prints(&["1 setting tried"]);
    tune(&["-o", "m", "--try", "criterion=gini"]).succeeds().prints(&["2 settings tried"]);
    sandbox.run(&["compare", "--help"]).succeeds().prints(&["folds never split a group"]);
    // Numbers: criteria of classes are not drawn, and who learns without a target is no rival.
    let words =
        ["tune", &table, "-t", "body_mass_g", "--drop-missing-target", "--learner", "decision-tree", "--trials", "6"];
    let json = sandbox.run(&[&words[..], &["--json", "-o", "n.ermine"]].concat()).succeeds().json();
    assert!(json["trials"].as_array().unwrap().iter().all(|trial| trial["refused"].is_null()), "{json}");
    let words =
        ["compare", &table, "-t", "body_mass_g", "--drop-missing-target", "--trials", "0", "--budget", "20s", "--json"];
    let json = sandbox.run(&words).succeeds().json();
    assert!(!json.to_string().contains("one-class-svm"), "{json}");
    let named = [&words[..], &["--learners", "baseline,one-class-svm"]].concat();
    let json = sandbox.run(&named).succeeds().json();
    assert!(json["absent"][0]["why"].as_str().unwrap().contains("without one"), "{json}");
}

#[cfg(unix)]
#[test]
fn a_stopped_comparison_writes_its_page() {
    let sandbox = Sandbox::new("compare-stopped");
    let table = penguins();
    let words = [
        "compare",
        &table,
        "-t",
        "species",
        "--learners",
        "baseline,random-forest",
        "--trials",
        "100000",
        "--html",
        "page.html",
    ];
    // It takes hours; the baseline is there in a moment, however slow the machine is.
    for seconds in [1, 4, 16, 64] {
        let mut child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        assert!(child.try_wait().unwrap().is_none());
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = RunOutput::from(&words, child.wait_with_output().unwrap());
        assert_eq!(output.code, Some(130), "{}", output.err);
        if sandbox.files().contains(&"page.html".to_string()) {
            assert!(
                output.err.contains("the page shows what is finished") && output.out.contains("baseline"),
                "{}",
                output.err
            );
            let page = String::from_utf8(sandbox.read("page.html")).unwrap();
            assert!(page.contains("baseline") && page.contains("stopped by Ctrl-C") && page.ends_with("</html>\n"));
            return;
        }
    }
    panic!("no page was written");
}

#[test]
fn equal_accuracy_is_ranked_by_log_loss() {
    let sandbox = Sandbox::new("compare-ties");
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 2 * 4 + i % 3, ["a", "b"][i % 2])).collect();
    let table = sandbox.write("clouds.csv", &format!("x,y\n{rows}"));
    let words = ["compare", &table, "-t", "y", "--trials", "0", "--json"];
    let named = [&words[..], &["--learners", "logistic-regression,decision-tree"]].concat();
    let json = sandbox.run(&named).succeeds().json();
    let mean = |row: usize, score: usize| json["leaderboard"][row]["scores"][score]["mean"].as_f64().unwrap();
    assert_eq!((mean(0, 0), mean(1, 0)), (1.0, 1.0));
    assert!(json["best"] == "decision-tree" && mean(0, 1) < mean(1, 1), "{json}");
    // Settings that are as good as the defaults and no surer change nothing.
    let tuned = ["compare", &table, "-t", "y", "--trials", "6", "--json", "--learners", "decision-tree"];
    let json = sandbox.run(&tuned).succeeds().json();
    assert!(
        json["leaderboard"].as_array().unwrap().len() == 1 && json["best_setting"] == serde_json::json!({}),
        "{json}"
    );
}
