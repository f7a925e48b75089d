//! What all reductions promise: their parts are trained side by side, on the same columns and the same sorted order, without a copy of the data for each.

use ermine::baseline::Baseline;
use ermine::prelude::*;
use ermine::registry::{self, Registry, RegistryEntry};
use ermine_core::learner::{LearnerInfo, Trained, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::param::Value;
use ermine_core::table::Values;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

ermine_core::params! {
    /// Learns what the baseline does, and writes down what it was given.
    struct Probe("probe") {}
}

/// What a part saw: where the columns lie, where their order lies, and how many rows and columns there were.
struct Seen {
    columns: Vec<*const f64>,
    order: Option<*const ermine_core::matrix::Sorted>,
    n_rows: usize,
}

// SAFETY: the pointers are compared, never followed.
unsafe impl Send for Seen {}

static SEEN: Mutex<Vec<Seen>> = Mutex::new(Vec::new());
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static MOST_AT_WORK: AtomicUsize = AtomicUsize::new(0);

impl Learner for Probe {
    fn info(&self) -> &'static LearnerInfo {
        static INFO: LazyLock<LearnerInfo> =
            LazyLock::new(|| LearnerInfo { name: "probe", ..Baseline::default().info().clone() });
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let pointer =
            |column: &Column| if let Values::F64(values) = &column.values { values.as_ptr() } else { panic!() };
        let features = data.features();
        let order = features.rows().is_none().then(|| Arc::as_ptr(&features.sorted()));
        let columns = features.columns().iter().map(pointer).collect();
        SEEN.lock().unwrap().push(Seen { columns, order, n_rows: data.n_rows() });
        // Wait a moment for company.
        AT_WORK.fetch_add(1, Ordering::SeqCst);
        let start = Instant::now();
        while MOST_AT_WORK.load(Ordering::SeqCst) < 2 && start.elapsed() < Duration::from_secs(5) {
            MOST_AT_WORK.fetch_max(AT_WORK.load(Ordering::SeqCst), Ordering::SeqCst);
            std::thread::yield_now();
        }
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
        Baseline::default().train(data, context)
    }
}

/// The registry with the probe in it.
static WITH_PROBE: Registry = Registry::extending(
    &registry::REGISTRY,
    &[&[RegistryEntry { make: || Box::new(Probe::default()), load: ermine::baseline::FittedBaseline::load }]],
);

/// Three columns, and classes or labels.
fn data(task: Task) -> Dataset {
    let n = 120usize;
    let column =
        |j: usize| Column::numeric(format!("x{j}"), (0..n).map(|i| (i * (j + 3) % 17) as f64).collect::<Vec<_>>());
    let features = Features::new(Arc::new(Table::new((0..3).map(column).collect()).unwrap()));
    let target = match task {
        Task::Classification => {
            let codes = (0..n).map(|i| (i % 4) as u32).collect();
            Target::Classes { codes, labels: ["a", "b", "c", "d"].map(String::from).into() }
        }
        _ => Target::Values { values: (0..3 * n).map(|i| f64::from(u8::from(i * i % 5 < 2))).collect(), n_outputs: 3 },
    };
    Dataset::from_parts(features, target, task).unwrap()
}

#[test]
fn members_are_trained_in_parallel_on_the_same_columns() {
    for (name, task, n_parts, more) in [
        ("one-vs-rest", Task::Classification, 4, 0),
        ("one-vs-one", Task::Classification, 6, 0),
        ("output-code", Task::Classification, 6, 0),
        ("bagging", Task::Classification, 10, 0),
        ("binary-relevance", Task::Multilabel, 3, 0),
        ("classifier-chain", Task::Multilabel, 3, 2),
        ("label-powerset", Task::Multilabel, 1, 0),
    ] {
        let data = data(task);
        let own: Vec<*const f64> = data
            .features()
            .columns()
            .iter()
            .map(|c| if let Values::F64(values) = &c.values { values.as_ptr() } else { panic!() })
            .collect();
        let order = Arc::as_ptr(&data.features().sorted());
        SEEN.lock().unwrap().clear();
        MOST_AT_WORK.store(0, Ordering::SeqCst);
        let mut learner = registry::learner(name).unwrap();
        learner.set("estimator", &Value::Text("probe".into())).unwrap();
        let context = Context { threads: Some(2), registry: WITH_PROBE, ..ermine::context() };
        fit(&*learner, &data, &context).unwrap();
        let seen = std::mem::take(&mut *SEEN.lock().unwrap());
        assert_eq!(seen.len(), n_parts, "{name}");
        for part in &seen {
            assert_eq!(part.columns[..3], own, "{name} copied a column");
            assert!(part.columns.len() <= 3 + more && part.n_rows <= 120);
            // Parts that see all rows and no more columns share the sorted order.
            assert!(part.columns.len() > 3 || part.order.is_none_or(|o| o == order), "{name} sorted again");
        }
        assert!(n_parts == 1 || MOST_AT_WORK.load(Ordering::SeqCst) >= 2, "{name}: one part after the other");
    }
}

#[test]
fn an_unconverged_member_is_reported_by_the_ensemble() {
    for (name, task) in [
        ("one-vs-rest", Task::Classification),
        ("one-vs-one", Task::Classification),
        ("output-code", Task::Classification),
        ("calibrated", Task::Classification),
        ("bagging", Task::Classification),
        ("adaboost", Task::Classification),
        ("binary-relevance", Task::Multilabel),
        ("classifier-chain", Task::Multilabel),
        ("label-powerset", Task::Multilabel),
        ("pairwise-ranking", Task::Ranking),
        ("omega-ranking", Task::Ranking),
    ] {
        let data = match task {
            Task::Ranking => {
                let grades = Target::Values { values: (0..120).map(|i| f64::from(i * i % 5)).collect(), n_outputs: 1 };
                data(Task::Classification).with_target(grades, task).unwrap()
            }
            task => data(task),
        };
        let model = |estimator: &str| {
            let mut learner = registry::learner(name).unwrap();
            learner.set("estimator", &Value::Text(estimator.into())).unwrap();
            fit(&*learner, &data, &ermine::context()).unwrap()
        };
        // (Boosting stops at once over machines that are no better than chance.)
        let limited = model(if name == "adaboost" { "logistic-regression(max_iter=1)" } else { "svc(max_iter=2)" });
        assert!(limited.certificate().to_string().contains("NOT CONVERGED"), "{name}: {}", limited.certificate());
        assert!(limited.certificate().to_string().contains("max_iter"), "{name}");
        assert!(!model("decision-tree(max_depth=2)").certificate().to_string().contains("NOT CONVERGED"), "{name}");
    }
}
