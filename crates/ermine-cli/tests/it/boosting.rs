//! Gradient boosting from the shell: quantiles, a model to go on from, checkpoints, rows to watch, scores to start from, queries, names of columns.

use crate::{Sandbox, penguins};
use ermine::prelude::*;
use ermine_core::learner::{Checkpoint, Context, fit};
use ermine_core::matrix::Roles;

/// Words that learn the mass of the penguins.
fn words<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let first = ["train", file, "--target", "body_mass_g", "--drop-missing-target", "--learner", "gradient-boosting"];
    [&first[..], more].concat()
}

#[test]
fn each_quantile_is_predicted_and_evaluated() {
    let (sandbox, file) = (Sandbox::new("quantiles"), penguins());
    let train =
        words(&file, &["--loss", "quantile", "--quantile-alpha", "0.1,0.9", "--n-estimators", "20", "-o", "q.ermine"]);
    sandbox.run(&train).succeeds();
    let output = sandbox.run(&["predict", "q.ermine", &file]).succeeds();
    assert_eq!(output.out.lines().next(), Some("predicted_body_mass_g,quantile_0.1,quantile_0.9"));
    for line in output.out.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        // The median of two is their mean.
        assert!(numbers[1] <= numbers[2] && (numbers[0] - (numbers[1] + numbers[2]) / 2.0).abs() < 1e-3, "{line}");
    }
    let one = sandbox.run(&["predict", "q.ermine", &file, "--quantiles", "0.9"]).succeeds();
    assert_eq!(one.out.lines().next(), Some("predicted_body_mass_g,quantile_0.9"));
    sandbox.run(&["predict", "q.ermine", &file, "--quantiles", "0.2"]).fails(2, &["0.2", "0.1, 0.9"]);
    sandbox.run(&["predict", "q.ermine", &file, "--quantiles", "0.1,x"]).fails(2, &["'x'", "numbers from 0 to 1"]);
    sandbox.run(&["predict", "q.ermine", &file, "--quantiles", "1.5"]).fails(2, &["'1.5'", "numbers from 0 to 1"]);
    let evaluate = ["evaluate", "q.ermine", &file, "--drop-missing-target"];
    sandbox.run(&evaluate).succeeds().prints(&[
        "pinball loss (0.1)",
        "coverage (0.9)",
        "mean pinball loss",
        "coverage (0.1 to 0.9)",
    ]);
    let json = sandbox.run(&[&evaluate[..], &["--json"]].concat()).succeeds().json();
    assert_eq!(json["quantiles"]["levels"][1]["level"], 0.9);
    assert!(json["quantiles"]["band"][2]["value"].as_f64().unwrap() > 0.6);
    sandbox
        .run(&words(&file, &["--quantile-alpha", "0.1,x", "-o", "x.ermine"]))
        .fails(2, &["quantile_alpha must be a list of numbers", "(got 0.1,x)"]);
}

#[test]
fn training_continues_from_a_model() {
    let (sandbox, file) = (Sandbox::new("init-model"), penguins());
    let train = |rounds: &str, more: &[&str]| {
        let more = [&["--n-estimators", rounds, "--subsample", "0.8", "--quiet"], more].concat();
        sandbox.run(&words(&file, &more))
    };
    train("5", &["-o", "few.ermine"]).succeeds();
    train("12", &["-o", "whole.ermine"]).succeeds();
    train("12", &["--init-model", "few.ermine", "-o", "on.ermine"]).succeeds();
    assert!(sandbox.read("on.ermine") == sandbox.read("whole.ermine"));
    let forest = [
        "train",
        &file,
        "--target",
        "species",
        "--learner",
        "random-forest",
        "--init-model",
        "few.ermine",
        "-o",
        "x.ermine",
        "--quiet",
    ];
    sandbox.run(&forest).fails(2, &["random-forest", "continuing from a model of gradient-boosting"]);
    for option in ["--init-model", "--validation", "--checkpoint", "--init-score"] {
        let tree =
            ["train", &file, "--target", "species", "--learner", "decision-tree", option, "island", "-o", "x.ermine"];
        sandbox.run(&tree).fails(2, &[option, "decision-tree does not support"]);
    }
    sandbox.run(&words(&file, &["--checkpoint-every", "3", "-o", "x.ermine"])).fails(2, &["--checkpoint <"]);
}

#[test]
fn an_interrupted_run_resumes_with_the_same_command() {
    let (sandbox, file) = (Sandbox::new("checkpoint"), penguins());
    let train = |more: &[&str]| {
        let more =
            [&["--n-estimators", "12", "--quiet", "--checkpoint", "so-far.ermine", "--checkpoint-every", "5"], more]
                .concat();
        sandbox.run(&words(&file, &more))
    };
    train(&["-o", "whole.ermine"]).succeeds();
    assert_eq!(sandbox.files(), ["whole.ermine"], "the checkpoint of a training that is done is removed");
    // The same run, stopped after its first checkpoint.
    let table = Table::read(&file).unwrap();
    let data = Dataset::new(table, &Roles { drop_missing_target: true, ..Roles::target("body_mass_g") }).unwrap();
    let stop = |model: &Model| model.save(sandbox.path("so-far.ermine")).and(Err(Error::Stopped));
    let params = GradientBoosting { n_estimators: 12, ..Default::default() };
    let saving = Context { checkpoint: Some(Checkpoint { every: 5, save: &stop }), ..ermine::context() };
    assert!(fit(&params, &data, &saving).is_err());
    let kept = sandbox.read("so-far.ermine");
    for (other, why) in
        [(["--max-bins", "64"], "max_bins"), (["--seed", "1"], "seed"), (["--ignore", "island"], "different data")]
    {
        train(&[&other[..], &["-o", "x.ermine"]].concat()).fails(1, &["so-far.ermine", why, "remove it"]);
    }
    assert!(kept == sandbox.read("so-far.ermine"), "a run that was refused leaves the checkpoint of another alone");
    train(&["-o", "on.ermine"]).succeeds();
    assert!(sandbox.read("on.ermine") == sandbox.read("whole.ermine"));
    assert_eq!(sandbox.files(), ["on.ermine", "whole.ermine"]);
    train(&["-o", "so-far.ermine"]).fails(2, &["the same file"]);
}

#[test]
fn validation_tables_and_initial_score_columns_are_read() {
    let sandbox = Sandbox::new("validation");
    let rows = |from: usize, to: usize| -> String {
        let line = |i: usize| {
            let (x, class) = ((i * 37 % 100) as f64 / 10.0, if i * 37 % 100 > 50 { "up" } else { "down" });
            format!("{x},{},{class},{}\n", x * x, x * x)
        };
        "x,y,class,guess\n".to_string() + &(from..to).map(line).collect::<String>()
    };
    let (train, test) = (sandbox.write("train.csv", &rows(0, 200)), sandbox.write("test.csv", &rows(200, 260)));
    let fit = |target: &str, more: &[&str]| {
        let first = ["train", &train, "--learner", "gradient-boosting", "--target", target, "--json", "-o", "m.ermine"];
        sandbox.run(&[&first[..], more].concat())
    };
    let classes = ["--ignore", "y", "--ignore", "guess", "--validation", &test, "--n-estimators", "9"];
    for measure in ["loss", "roc-auc", "log-loss"] {
        fit("class", &[&classes[..], &["--eval-metric", measure, "--early-stopping-rounds", "5"]].concat()).succeeds();
    }
    fit("class", &[&classes[..], &["--eval-metric", "auc"]].concat())
        .fails(2, &["eval_metric must be", "roc-auc", "(got auc)"]);
    fit("class", &[&classes[..], &["--eval-metric", "rmse"]].concat())
        .fails(2, &["eval_metric must be", "accuracy", "(got rmse)"]);
    let numbers = ["--ignore", "class", "--init-score", "guess", "--n-estimators", "5", "--validation", &test];
    let output = fit("y", &numbers).succeeds().json();
    assert!(output["certificate"]["value"].as_f64().unwrap() < 1e-9, "{output}");
    assert_eq!(output["data"]["init_score"][0], "guess");
    let predicted = sandbox.run(&["predict", "m.ermine", &test]).succeeds();
    assert!(predicted.out.lines().skip(1).all(|line| line.parse::<f64>().unwrap().abs() < 1e-6), "what is to be added");
    let other = sandbox.write("other.csv", "x,y\n1,1\n2,4\n");
    let without = ["--ignore", "class", "--init-score", "guess", "--validation", &other];
    fit("y", &without).fails(2, &["--validation", "other.csv", "no column named 'guess'"]);
    fit("y", &["--init-score", "nowhere"]).fails(2, &["no column named 'nowhere'"]);
    fit("y", &["--init-score", "y"]).fails(2, &["both --target and --init-score"]);
    fit("y", &["--init-score", "class"]).fails(1, &["init score 'class' is nominal"]);
    let strange = sandbox.write("strange.csv", "x,y,class,guess\n1,1,sideways,1\n");
    fit("class", &["--validation", &strange, "--n-estimators", "2"]).fails(2, &["sideways"]);
}

#[test]
fn ranking_takes_query_groups_and_named_constraints() {
    let sandbox = Sandbox::new("constraints");
    let lines: String =
        (0..90).map(|i| format!("{},{},{},{}\n", i * 7 % 10, i * 3 % 8, i * 7 % 10 / 4, i / 15)).collect();
    let file = sandbox.write("rank.csv", &("a,b,grade,query\n".to_string() + &lines));
    let rank = |more: &[&str]| {
        let first = [
            "train",
            &file,
            "--learner",
            "gradient-boosting",
            "--target",
            "grade",
            "--n-estimators",
            "3",
            "-o",
            "r.ermine",
        ];
        sandbox.run(&[&first[..], more].concat())
    };
    rank(&["--task", "ranking"]).fails(1, &["query groups", "--group"]);
    rank(&[
        "--group",
        "query",
        "--eval-metric",
        "ndcg-5",
        "--early-stopping-rounds",
        "2",
        "--validation-fraction",
        "0.4",
    ])
    .succeeds();
    let bare = sandbox.write("bare.csv", "a,b,grade\n1,2,0\n2,1,1\n");
    sandbox.run(&["evaluate", "r.ermine", &bare]).fails(1, &["bare.csv", "'query'", "--group"]);
    let numbers = ["--task", "regression", "--ignore", "query"];
    let with = |more: &[&str]| rank(&[&numbers[..], more].concat());
    with(&["--monotone-constraints", "a=+1,b=-1"]).succeeds().prints(&["monotone_constraints = a=1,b=-1"]);
    with(&["--monotone-constraints", "aa=+1"])
        .fails(2, &["monotone_constraints must be", "did you mean 'a'", "(got aa)"]);
    with(&["--monotone-constraints", "a=up"])
        .fails(2, &["monotone_constraints must be", "age=+1,price=-1", "(got a=up)"]);
    with(&["--monotone-constraints", "1"]).fails(2, &["2 numbers, one for each column, not 1"]);
    with(&["--interaction-constraints", "a;b"]).succeeds();
    with(&["--interaction-constraints", "a,zebra"])
        .fails(2, &["interaction_constraints must be the name of a feature column", "(got zebra)"]);
    with(&["--interaction-constraints", "0,7"])
        .fails(2, &["interaction_constraints must be a column from 0 to 1 (got 7)"]);
    with(&["--interaction-constraints", "a;"])
        .fails(2, &["interaction_constraints must be", "groups end at a semicolon", "(got a;)"]);
}
