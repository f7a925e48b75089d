//! Commands and programs that reproduce what the studio did: for the shell, in Python and in Rust.

use crate::compare_run::RunSettings;
use crate::data_choice::DataChoice;
use crate::trained::ModelOrigin;
use ermine::registry;
use ermine_core::learner::Family;
use ermine_core::matrix::Task;
use ermine_core::param::Value as ParamValue;
use serde_json::{Value, json};

/// The three ways to do it again.
fn ways(shell: String, python: String, rust: String) -> Value {
    json!({ "shell": shell, "python": python, "rust": rust })
}

/// How to compare again.
pub fn of_comparison(data: &DataChoice, settings: &RunSettings, task: Option<Task>) -> Value {
    let mut words = vec!["ermine".to_string(), "compare".into()];
    words.extend(data_arguments(data));
    words.extend(["--folds".into(), settings.folds.to_string(), "--trials".into(), settings.trials.to_string()]);
    words.extend(settings.budget.map(|seconds| format!("--budget={seconds}s")));
    words.extend(settings.measure.iter().map(|measure| format!("--measure={measure}")));
    if !settings.learners.is_empty() {
        words.extend(["--learners".into(), settings.learners.join(",")]);
    }
    words.extend(seed_argument(settings.seed));
    let mut python = python_data(data) + "\nfrom ermine.model_selection import compare\n\n";
    let mut options = vec![format!("cv={}", settings.folds), format!("n_iter={}", settings.trials)];
    options.extend(data.task.or(task).map(|task| format!("task=\"{task}\"")));
    options.extend(settings.budget.map(|seconds| format!("budget={seconds}")));
    if !settings.learners.is_empty() {
        let names: Vec<String> = settings.learners.iter().map(|name| text(name)).collect();
        options.push(format!("learners=[{}]", names.join(", ")));
    }
    options.extend(data.weight.as_ref().map(|column| format!("sample_weight=table[{}]", text(column))));
    options.extend(data.group.as_ref().map(|column| format!("groups=table[{}]", text(column))));
    options.push(format!("random_state={}", settings.seed));
    python += &format!("board = compare(X, y, {})\nprint(board)\n", options.join(", "));
    let learners = match settings.learners.is_empty() {
        true => "suitable_learners(&data, &context)".to_string(),
        false => {
            let names: Vec<String> = settings.learners.iter().map(|name| text(name)).collect();
            let list = names.join(", ");
            format!("[{list}].into_iter().map(ermine::registry::learner).collect::<ermine::Result<_>>()?")
        }
    };
    let budget = settings
        .budget
        .map_or_else(String::new, |seconds| format!("\n    .within(std::time::Duration::from_secs_f64({seconds:?}))"));
    let rust = format!(
        "use ermine::model_selection::{{Comparison, compare, suitable_learners}};\nuse ermine::prelude::*;\n\n{}\
         let context = Context {{ seed: {}, ..ermine::context() }};\n\
         let splits = Splits::k_fold(&data, {}, {})?;\n\
         let measures = Measure::headline(data.task(), None);\n\
         let comparison = Comparison::new({learners}, &splits, &measures)\n    .with_tuning({}){budget};\n\
         println!(\"{{}}\", compare(&comparison, &data, &context));\n",
        rust_data(data),
        settings.seed,
        settings.folds,
        settings.seed,
        settings.trials,
    );
    ways(shell(&words), python, rust)
}

/// How to train a model again.
pub fn of_model(origin: &ModelOrigin, task: Option<Task>) -> Value {
    let data = &origin.data;
    let file = model_name(&data.target);
    let mut words = vec!["ermine".to_string(), "train".into()];
    words.extend(data_arguments(data));
    words.extend(["--learner".into(), origin.learner.clone()]);
    words.extend(origin.setting.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-"))));
    words.extend(seed_argument(origin.seed));
    words.extend(["-o".into(), file.clone()]);
    ways(shell(&words), python_training(origin, task.or(data.task), &file), rust_training(origin, &file))
}

fn python_training(origin: &ModelOrigin, task: Option<Task>, file: &str) -> String {
    let Some((module, class)) = task.and_then(|task| python_class(&origin.learner, task)) else {
        return format!("# {} has no class in the Python package; use the command line.\n", origin.learner);
    };
    let is_random = registry::learner(&origin.learner).is_ok_and(|learner| learner.info().capabilities.random);
    let mut options: Vec<String> =
        origin.setting.iter().map(|(name, value)| format!("{name}={}", python_value(value))).collect();
    options.extend(origin.standardized.then(|| "standardize=True".to_string()));
    options.extend(is_random.then(|| format!("random_state={}", origin.seed)));
    let weight = origin
        .data
        .weight
        .as_ref()
        .map_or_else(String::new, |column| format!(", sample_weight=table[{}]", text(column)));
    format!(
        "{}\nfrom ermine.{module} import {class}\n\nmodel = {class}({}).fit(X, y{weight})\nmodel.save({})\n",
        python_data(&origin.data),
        options.join(", "),
        text(file)
    )
}

fn rust_training(origin: &ModelOrigin, file: &str) -> String {
    let mut code = format!("use ermine::learner::Value;\nuse ermine::prelude::*;\n\n{}", rust_data(&origin.data));
    let mut params: Vec<(String, ParamValue)> = origin.setting.clone().into_iter().collect();
    params.extend(origin.standardized.then(|| ("standardize".to_string(), ParamValue::Bool(true))));
    let mutable = if params.is_empty() { "" } else { "mut " };
    code += &format!("let {mutable}learner = ermine::registry::learner({})?;\n", text(&origin.learner));
    for (name, value) in &params {
        code += &format!("learner.set({}, &Value::parse({}))?;\n", text(name), text(&value.to_string()));
    }
    code += &format!("let context = Context {{ seed: {}, ..ermine::context() }};\n", origin.seed);
    code + &format!("let model = learner.fit_with(&data, &context)?;\nmodel.save({})?;\n", text(file))
}

/// The file name of a model of this target.
pub fn model_name(target: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' };
    format!("{}.ermine", target.chars().map(safe).collect::<String>().trim_start_matches('-'))
}

fn seed_argument(seed: u64) -> Option<String> {
    (seed != 0).then(|| format!("--seed={seed}"))
}

fn data_arguments(data: &DataChoice) -> Vec<String> {
    let mut words = vec![data.source.path.clone(), "--target".into(), data.target.clone()];
    let mut add = |flag: &str, value: &str| words.extend([format!("--{flag}"), value.to_string()]);
    data.task.iter().for_each(|task| add("task", task.as_str()));
    data.source.types.iter().for_each(|(column, word)| add("type", &format!("{column}={word}")));
    data.weight.iter().for_each(|column| add("weight", column));
    data.group.iter().for_each(|column| add("group", column));
    data.ignore.iter().for_each(|column| add("ignore", column));
    words.push("--drop-missing-target".into());
    words
}

/// A command line with quotes, as a shell reads it back.
fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A string literal of both Python and Rust.
fn text(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn python_data(data: &DataChoice) -> String {
    let path = data.source.path.to_lowercase();
    let read = if path.ends_with("parquet") || path.ends_with(".pq") {
        "read_parquet"
    } else if path.ends_with("jsonl") || path.ends_with("jsonl.gz") {
        "read_json"
    } else {
        "read_csv"
    };
    let lines = if read == "read_json" { ", lines=True" } else { "" };
    let mut code = format!("import pandas as pd\n\ntable = pd.{read}({}{lines})\n", text(&data.source.path));
    let mut dropped = vec![text(&data.target)];
    for (column, word) in &data.source.types {
        let column = text(column);
        match word.as_str() {
            "numeric" => code += &format!("table[{column}] = pd.to_numeric(table[{column}], errors=\"coerce\")\n"),
            "date" => code += &format!("table[{column}] = pd.to_datetime(table[{column}])\n"),
            "ignored" => dropped.push(column),
            _ => code += &format!("table[{column}] = table[{column}].astype(\"category\")\n"),
        }
    }
    code += &format!("table = table.dropna(subset=[{}])\n", text(&data.target));
    dropped.extend(data.weight.iter().chain(&data.group).chain(&data.ignore).map(|column| text(column)));
    code + &format!("X, y = table.drop(columns=[{}]), table[{}]\n", dropped.join(", "), text(&data.target))
}

fn rust_data(data: &DataChoice) -> String {
    let path = text(&data.source.path);
    let mut code = if data.source.types.is_empty() {
        format!("let table = Table::read({path})?;\n")
    } else {
        let types = data.source.types.iter().map(|(column, word)| {
            format!("options.types.insert({}.into(), ColumnType::parse({})?);\n", text(column), text(word))
        });
        format!(
            "use ermine::data::{{ColumnType, ReadOptions}};\n\nlet mut options = ReadOptions::default();\n{}\
             let table = Table::read_with({path}, &options)?;\n",
            types.collect::<String>()
        )
    };
    let mut fields = vec!["drop_missing_target: true".to_string()];
    fields.extend(data.task.map(|task| format!("task: Some(Task::{task:?})")));
    fields.extend(data.weight.as_ref().map(|column| format!("weight: Some({}.into())", text(column))));
    fields.extend(data.group.as_ref().map(|column| format!("group: Some({}.into())", text(column))));
    if !data.ignore.is_empty() {
        let names: Vec<String> = data.ignore.iter().map(|column| format!("{}.into()", text(column))).collect();
        fields.push(format!("ignore: vec![{}]", names.join(", ")));
    }
    code += &format!("let roles = Roles {{ {}, ..Roles::target({}) }};\n", fields.join(", "), text(&data.target));
    code + "let data = Dataset::new(table, &roles)?;\n"
}

fn python_value(value: &ParamValue) -> String {
    match value {
        ParamValue::None => "None".into(),
        ParamValue::Bool(true) => "True".into(),
        ParamValue::Bool(false) => "False".into(),
        ParamValue::Float(x) if x.is_infinite() => format!("float(\"{}\")", if *x > 0.0 { "inf" } else { "-inf" }),
        ParamValue::Text(word) => text(word),
        ParamValue::List(values) => format!("[{}]", values.iter().map(python_value).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Classes whose names don't follow from those of their learners: learner, task, class.
const NAMES: [(&str, Task, &str); 30] = [
    ("baseline", Task::Classification, "DummyClassifier"),
    ("baseline", Task::Regression, "DummyRegressor"),
    ("linear-regression", Task::Regression, "LinearRegression"),
    ("ridge", Task::Regression, "Ridge"),
    ("ridge-cv", Task::Regression, "RidgeCV"),
    ("lasso", Task::Regression, "Lasso"),
    ("lasso-cv", Task::Regression, "LassoCV"),
    ("elastic-net", Task::Regression, "ElasticNet"),
    ("elastic-net-cv", Task::Regression, "ElasticNetCV"),
    ("logistic-regression", Task::Classification, "LogisticRegression"),
    ("least-absolute-deviations", Task::Regression, "LADRegressor"),
    ("quantile-regression", Task::Regression, "QuantileRegressor"),
    ("huber-regression", Task::Regression, "HuberRegressor"),
    ("halfspace", Task::Classification, "HalfspaceLP"),
    ("perceptron", Task::Classification, "Perceptron"),
    ("sgd", Task::Classification, "SGDClassifier"),
    ("sgd", Task::Regression, "SGDRegressor"),
    ("rank-svm", Task::Ranking, "RankSVM"),
    ("rank-svm", Task::Classification, "BipartiteRanker"),
    ("svc", Task::Classification, "SVC"),
    ("svr", Task::Regression, "SVR"),
    ("linear-svc", Task::Classification, "LinearSVC"),
    ("linear-svr", Task::Regression, "LinearSVR"),
    ("nearest-neighbors", Task::Classification, "KNeighborsClassifier"),
    ("nearest-neighbors", Task::Regression, "KNeighborsRegressor"),
    ("adaboost", Task::Classification, "AdaBoostClassifier"),
    ("adaboost", Task::Regression, "AdaBoostRegressor"),
    ("calibrated", Task::Classification, "CalibratedClassifierCV"),
    ("pairwise-ranking", Task::Ranking, "PairwiseRanker"),
    ("omega-ranking", Task::Ranking, "OmegaRanker"),
];

/// The module and class of the Python package that stand for a learner.
fn python_class(learner: &str, task: Task) -> Option<(&'static str, String)> {
    let known = registry::learner(learner).ok()?;
    let info = known.info();
    let module = match info.family {
        Family::Baseline => "dummy",
        Family::Tree => "tree",
        Family::Ensemble => "ensemble",
        Family::Linear => "linear_model",
        Family::SupportVector => "svm",
        Family::Neighbors => "neighbors",
        Family::Ranking => "ranking",
        Family::Multiclass => "multiclass",
        Family::Multilabel => "multioutput",
        Family::Calibration => "calibration",
        Family::Auto => return None,
    };
    if !info.capabilities.tasks.contains(&task) || ["one-class-svm", "stacking", "voting"].contains(&learner) {
        return None;
    }
    if let Some((_, _, name)) = NAMES.iter().find(|(name, of, _)| *name == learner && *of == task) {
        return Some((module, name.to_string()));
    }
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>())
    };
    let suffix = match task {
        Task::Classification | Task::Multilabel => "Classifier",
        Task::Regression => "Regressor",
        Task::Ranking => "Ranker",
    };
    Some((module, learner.split('-').map(capitalized).collect::<String>() + suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_choice::TableSource;

    /// The classes of the Python package, from its catalog: module, class, learner, task.
    fn catalog() -> Vec<[String; 4]> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ermine-python/python/ermine/_catalog.py");
        let text = std::fs::read_to_string(path).unwrap();
        let entry = |line: &str| {
            let words: Vec<String> = line.trim().strip_prefix("Entry(\"")?.split('"').map(String::from).collect();
            Some([words[0].clone(), words[2].clone(), words[4].clone(), words[6].clone()])
        };
        text.lines().filter_map(entry).collect()
    }

    #[test]
    fn classes_are_those_of_the_python_package() {
        let catalog = catalog();
        assert!(catalog.len() > 40);
        for entry in registry::learners() {
            for &task in entry.info().capabilities.tasks.iter().filter(|task| **task != Task::Multilabel) {
                let Some((module, class)) = python_class(entry.info().name, task) else { continue };
                let is_known = catalog.iter().any(|known| {
                    *known == [module.to_string(), class.clone(), entry.info().name.into(), task.as_str().into()]
                });
                assert!(
                    is_known,
                    "{} for {task} is {module}.{class}, which the catalog does not have",
                    entry.info().name
                );
            }
        }
    }

    #[test]
    fn commands_are_quoted_and_complete() {
        let source =
            TableSource { path: "my data.csv".into(), types: [("zip".to_string(), "nominal".to_string())].into() };
        let data = DataChoice {
            source,
            target: "it's".into(),
            task: Some(Task::Regression),
            weight: Some("w".into()),
            group: None,
            ignore: vec!["id".into()],
        };
        let origin = ModelOrigin {
            data,
            learner: "ridge".into(),
            setting: [("alpha".to_string(), ParamValue::Float(0.5))].into(),
            standardized: true,
            seed: 7,
        };
        let code = of_model(&origin, None);
        assert_eq!(
            code["shell"],
            r"ermine train 'my data.csv' --target 'it'\''s' --task regression --type zip=nominal --weight w --ignore id --drop-missing-target --learner ridge --alpha=0.5 --seed=7 -o it_s.ermine"
        );
        let python = code["python"].as_str().unwrap();
        assert!(python.contains("from ermine.linear_model import Ridge"), "{python}");
        assert!(python.contains("Ridge(alpha=0.5, standardize=True)"), "{python}");
        assert!(code["rust"].as_str().unwrap().contains("learner.set(\"alpha\", &Value::parse(\"0.5\"))?;"));
    }
}
