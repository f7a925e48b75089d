//! Scores against scikit-learn's and SciPy's (`tools/golden_metrics.py`), on predictions with ties and weights.

use ermine_core::metric::confusion::{Average, Confusion};
use ermine_core::metric::omega::Omega;
use ermine_core::metric::ranking::{Gain, average_precision, kendall_tau, ndcg, omega_loss, reciprocal_rank};
use ermine_core::metric::threshold::Ranked;
use ermine_core::metric::{Weights, probability, regression};
use proptest::prelude::*;
use serde_json::Value as Json;

fn golden() -> Json {
    serde_json::from_str(include_str!("../golden/metrics.json")).unwrap()
}

fn floats(value: &Json) -> Vec<f64> {
    match value {
        Json::Array(values) => values.iter().flat_map(floats).collect(),
        Json::Null => Vec::new(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn codes(value: &Json) -> Vec<u32> {
    floats(value).into_iter().map(|x| x as u32).collect()
}

fn close(name: &str, ours: &[f64], theirs: &Json) {
    let theirs = floats(theirs);
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name}: {a} {b}");
    }
}

/// The points of a curve that differ from the one before.
fn distinct(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut points = points;
    points.dedup();
    points
}

#[test]
fn classification_metrics_equal_scikit_learn() {
    for case in golden()["classes"].as_array().unwrap() {
        let (truth, predicted, proba) =
            (codes(&case["truth"]), codes(&case["predicted"]), floats(&case["probabilities"]));
        let weight = floats(&case["weight"]);
        let weights = if weight.is_empty() { Weights::EQUAL } else { Weights::from(&weight[..]) };
        let k = proba.len() / truth.len();
        let names: Vec<String> = (0..k).map(|c| c.to_string()).collect();
        let confusion = Confusion::new(&truth, &predicted, &names, weights);
        close("confusion", &confusion.counts.concat(), &case["confusion"]);
        let rates: Vec<_> = (0..k).map(|c| confusion.rates(c)).collect();
        close("precision", &rates.iter().map(|r| r.precision).collect::<Vec<_>>(), &case["precision"]);
        close("recall", &rates.iter().map(|r| r.recall).collect::<Vec<_>>(), &case["recall"]);
        close("F1", &rates.iter().map(|r| r.f1).collect::<Vec<_>>(), &case["f1"]);
        for (name, average) in [("micro", Average::Micro), ("macro", Average::Macro), ("weighted", Average::Weighted)] {
            let r = confusion.average(average);
            close(name, &[r.precision, r.recall, r.f1], &case["averages"][name]);
        }
        close("accuracy", &[confusion.accuracy()], &case["accuracy"]);
        close("balanced", &[confusion.balanced_accuracy()], &case["balanced-accuracy"]);
        close("mcc", &[confusion.matthews()], &case["mcc"]);
        close("kappa", &[confusion.kappa()], &case["kappa"]);
        close("log loss", &[weights.mean(probability::log_losses(&proba, k, &truth))], &case["log-loss"]);
        close("brier", &[weights.mean(probability::brier_losses(&proba, k, &truth))], &case["brier"]);
        let ranked = |class: usize| {
            let scores: Vec<f64> = proba.chunks(k).map(|row| row[class]).collect();
            Ranked::new(&scores, truth.iter().map(|&c| c as usize == class).collect())
        };
        let classes: Vec<usize> = if k == 2 { vec![1] } else { (0..k).collect() };
        let mean = |score: &dyn Fn(&Ranked) -> f64| {
            classes.iter().map(|&c| score(&ranked(c))).sum::<f64>() / classes.len() as f64
        };
        close("ROC AUC", &[mean(&|r| r.roc_auc(weights).unwrap())], &case["roc-auc"]);
        close("AP", &[mean(&|r| r.average_precision(weights).unwrap())], &case["average-precision"]);
        curves_are_those_of_scikit_learn(&ranked(1), weights, case);
        let (p, y): (Vec<f64>, Vec<bool>) = proba.chunks(k).zip(&truth).map(|(row, &c)| (row[1], c == 1)).unzip();
        let bins = probability::calibration(&p, &y, 10, Weights::EQUAL);
        close("observed", &bins.iter().map(|b| b.observed).collect::<Vec<_>>(), &case["calibration"][0]);
        close("predicted", &bins.iter().map(|b| b.predicted).collect::<Vec<_>>(), &case["calibration"][1]);
    }
}

fn curves_are_those_of_scikit_learn(ranked: &Ranked, weights: Weights<'_>, case: &Json) {
    let pairs = |name: &str| -> Vec<(f64, f64)> {
        let (a, b) = (floats(&case[name][0]), floats(&case[name][1]));
        distinct(a.into_iter().zip(b).collect())
    };
    let same = |name: &str, ours: Vec<(f64, f64)>, theirs: Vec<(f64, f64)>| {
        assert_eq!(ours.len(), theirs.len(), "{name}");
        let far = ours.iter().zip(&theirs).find(|(a, b)| (a.0 - b.0).abs() > 1e-12 || (a.1 - b.1).abs() > 1e-12);
        assert_eq!(far, None, "{name}");
    };
    same("ROC", distinct(ranked.roc(weights)), pairs("roc"));
    let ours = ranked.precision_recall(weights).into_iter().map(|(recall, precision)| (precision, recall)).collect();
    same("precision-recall", distinct(ours), pairs("precision-recall"));
}

#[test]
fn regression_metrics_equal_scikit_learn() {
    for case in golden()["numbers"].as_array().unwrap() {
        let (truth, predicted, weight) = (floats(&case["truth"]), floats(&case["predicted"]), floats(&case["weight"]));
        let weights = if weight.is_empty() { Weights::EQUAL } else { Weights::from(&weight[..]) };
        let k = case["truth"][0].as_array().unwrap().len();
        close("MSE", &[regression::mse(&predicted, &truth, k, weights)], &case["mse"]);
        close("RMSE", &[regression::rmse(&predicted, &truth, k, weights)], &case["rmse"]);
        close("MAE", &[weights.mean(regression::absolute_errors(&predicted, &truth, k))], &case["mae"]);
        close("median", &[regression::median_absolute_error(&predicted, &truth, k, weights)], &case["median-ae"]);
        close("R2", &[regression::r2(&predicted, &truth, k, weights)], &case["r2"]);
        let first = |values: &[f64]| -> Vec<f64> { values.chunks(k).map(|row| row[0]).collect() };
        let (p, t) = (first(&predicted), first(&truth));
        close("pinball", &[weights.mean(regression::pinball_losses(&p, &t, 1, 0.3))], &case["pinball"]);
        for (power, expected) in case["deviances"].as_object().unwrap() {
            let rows = regression::deviances(&p, &t, power.parse().unwrap()).unwrap();
            close(power, &[weights.mean(rows.into_iter())], expected);
        }
    }
    assert_eq!(regression::deviances(&[1.0], &[-1.0], 1.0), None);
    assert_eq!(regression::deviances(&[0.0], &[1.0], 2.0), None);
}

#[test]
fn ranking_metrics_equal_scikit_learn_and_scipy() {
    for case in golden()["queries"].as_array().unwrap() {
        let (scores, grades) = (floats(&case["scores"]), floats(&case["grades"]));
        close("NDCG", &[ndcg(&scores, &grades, usize::MAX, Gain::Linear)], &case["ndcg"]);
        close("NDCG@5", &[ndcg(&scores, &grades, 5, Gain::Linear)], &case["ndcg@5"]);
        close("2^g", &[ndcg(&scores, &grades, usize::MAX, Gain::Exponential)], &case["ndcg-exponential"]);
        close("AP", &[average_precision(&scores, &grades)], &case["average-precision"]);
        close("tau", &[kendall_tau(&scores, &grades)], &case["kendall-tau"]);
    }
    // Second or third, each half of the time.
    assert!(
        (reciprocal_rank(&[3.0, 2.0, 2.0, 1.0], &[0.0, 0.0, 1.0, 2.0]) - (1.0 / 2.0 + 1.0 / 3.0) / 2.0).abs() < 1e-15
    );
    assert_eq!(reciprocal_rank(&[1.0, 1.0, 0.0], &[1.0, 2.0, 0.0]), 1.0, "a relevant row is first in every order");
    assert_eq!((reciprocal_rank(&[1.0], &[0.0]), ndcg(&[1.0], &[0.0], 10, Gain::Linear)), (0.0, 0.0));
}

#[test]
fn huge_grades_have_a_finite_gain() {
    for gain in [Gain::Linear, Gain::Exponential] {
        let grades = [3e307, 1.7e308, 1.7e308, 0.0];
        let (best, worst) =
            (ndcg(&[1.0, 3.0, 2.0, 0.0], &grades, 10, gain), ndcg(&[1.0, 0.0, 0.0, 2.0], &grades, 10, gain));
        assert!((best - 1.0).abs() < 1e-12 && worst > 0.0 && worst < best, "{gain:?}: {best} {worst}");
    }
    // 2^1001 - 1 against 2^1000 - 1: half, to the last digit, in the wrong order.
    let discount = 1.0 / 3f64.log2();
    let wrong = ndcg(&[0.0, 1.0], &[1001.0, 1000.0], 10, Gain::Exponential);
    assert!((wrong - (0.5 + discount) / (1.0 + 0.5 * discount)).abs() < 1e-12, "{wrong}");
}

/// All orders of `n` rows.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let with_last = |order: &Vec<usize>, at: usize| {
        let mut longer = order.clone();
        longer.insert(at, n - 1);
        longer
    };
    (0..n).flat_map(|at| shorter.iter().map(move |order| (order, at))).map(|(o, at)| with_last(o, at)).collect()
}

/// True class, predicted class, score, weight.
type Row = (u32, u32, f64, usize);

proptest! {
    /// Whole weights are repeated rows, for every score that takes weights.
    #[test]
    fn weights_are_repeated_rows(rows in prop::collection::vec((0u32..3, 0u32..3, 0.0f64..1.0, 0usize..4), 2..30)) {
        prop_assume!(rows.iter().any(|r| r.3 > 0));
        let repeat = |f: &dyn Fn(&Row) -> f64| -> Vec<f64> {
            rows.iter().flat_map(|r| std::iter::repeat_n(f(r), r.3)).collect()
        };
        let names: Vec<String> = (0..3).map(|c| c.to_string()).collect();
        let (truth, predicted): (Vec<u32>, Vec<u32>) = rows.iter().map(|r| (r.0, r.1)).unzip();
        let weight: Vec<f64> = rows.iter().map(|r| r.3 as f64).collect();
        // A row that was drawn no times isn't there.
        let weighted = Confusion::new(&truth, &predicted, &names, Weights::resampled(&weight));
        let as_codes = |values: Vec<f64>| values.into_iter().map(|x| x as u32).collect::<Vec<u32>>();
        let (t, p) = (as_codes(repeat(&|r| f64::from(r.0))), as_codes(repeat(&|r| f64::from(r.1))));
        prop_assert_eq!(weighted, Confusion::new(&t, &p, &names, Weights::EQUAL));
        let scores: Vec<f64> = rows.iter().map(|r| (r.2 * 5.0).round()).collect();
        let ranked = Ranked::new(&scores, truth.iter().map(|&c| c == 0).collect());
        let again = Ranked::new(&repeat(&|r| (r.2 * 5.0).round()), t.iter().map(|&c| c == 0).collect());
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a == b,
        };
        prop_assert!(same(ranked.roc_auc(Weights::from(&weight[..])), again.roc_auc(Weights::EQUAL)));
        prop_assert!(same(ranked.average_precision(Weights::from(&weight[..])), again.average_precision(Weights::EQUAL)));
        let errors: Vec<f64> = rows.iter().map(|r| r.2).collect();
        let zero = vec![0.0; rows.len()];
        let median = regression::median_absolute_error(&errors, &zero, 1, Weights::from(&weight[..]));
        let long = repeat(&|r| r.2);
        let plain = regression::median_absolute_error(&long, &vec![0.0; long.len()], 1, Weights::EQUAL);
        prop_assert!((median - plain).abs() < 1e-12);
    }

    /// AUC is the share of pairs in the right order; tau counts pairs; omega loss with omega = 1 is the share of pairs in the wrong order.
    #[test]
    fn pair_counts_equal_brute_force(rows in prop::collection::vec((0u8..6, 0u8..4), 2..40)) {
        // Some zeros are negative: they are equal to the others.
        let zero = |i: usize, v: u8| if v == 0 && i.is_multiple_of(2) { -0.0 } else { f64::from(v) };
        let scores: Vec<f64> = rows.iter().enumerate().map(|(i, r)| zero(i, r.0)).collect();
        let grades: Vec<f64> = rows.iter().map(|r| f64::from(r.1)).collect();
        let (mut right, mut wrong, mut tied_scores, mut tied_grades, mut n) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for u in 0..rows.len() {
            for v in 0..u {
                n += 1.0;
                let s = (scores[u] - scores[v]) * (grades[u] - grades[v]);
                right += f64::from(u8::from(s > 0.0));
                wrong += f64::from(u8::from(s < 0.0));
                tied_scores += f64::from(u8::from(scores[u] == scores[v]));
                tied_grades += f64::from(u8::from(grades[u] == grades[v]));
            }
        }
        let spread: f64 = (n - tied_scores) * (n - tied_grades);
        let tau = if spread > 0.0 { (right - wrong) / spread.sqrt() } else { 0.0 };
        prop_assert!((kendall_tau(&scores, &grades) - tau).abs() < 1e-12);
        let places: Vec<usize> = grades.iter().map(|&g| 4 - g as usize).collect();
        let pairs = n - tied_grades;
        let half: f64 = pairs - right - wrong;
        let loss = if pairs > 0.0 { (wrong + half / 2.0) / pairs } else { 0.0 };
        prop_assert!((omega_loss(&scores, &places, &Omega::AllPairs) - loss).abs() < 1e-12);
    }

    /// NDCG and the reciprocal rank are means over all orders of rows with equal scores, queries without a relevant row among them.
    #[test]
    fn ties_are_averaged_over_all_their_orders(rows in prop::collection::vec((0u8..3, 0u8..3), 1..7), k in 1usize..8) {
        let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let grades: Vec<f64> = rows.iter().map(|r| f64::from(r.1)).collect();
        let discount = |place: usize| if place < k { 1.0 / (place as f64 + 2.0).log2() } else { 0.0 };
        let dcg = |order: &[usize]| order.iter().enumerate().map(|(i, &row)| grades[row] * discount(i)).sum::<f64>();
        let (mut gains, mut first, mut n, mut best) = (0.0, 0.0, 0.0, 0.0f64);
        for order in permutations(rows.len()) {
            best = best.max(dcg(&order));
            if order.windows(2).all(|pair| scores[pair[0]] >= scores[pair[1]]) {
                n += 1.0;
                gains += dcg(&order);
                first += order.iter().position(|&row| grades[row] > 0.0).map_or(0.0, |place| 1.0 / (place as f64 + 1.0));
            }
        }
        let expected = if best > 0.0 { gains / n / best } else { 0.0 };
        prop_assert!((ndcg(&scores, &grades, k, Gain::Linear) - expected).abs() < 1e-12);
        prop_assert!((reciprocal_rank(&scores, &grades) - first / n).abs() < 1e-12);
    }

    /// The omega loss is the sum over all pairs, whatever the cost.
    #[test]
    fn omega_loss_is_that_of_all_pairs(
        rows in prop::collection::vec((0..6i32, 0..9usize), 0..30),
        which in 0..4usize,
        steps in prop::collection::vec(0.0..2.0f64, 4),
    ) {
        let (scores, places): (Vec<f64>, Vec<usize>) = rows.iter().map(|(s, p)| (f64::from(*s), *p)).unzip();
        // A distance along a line is a valid cost, and five places are fewer than there are.
        let along = |place: usize| steps[..place - 1].iter().sum::<f64>() + 1e-3 * place as f64;
        let table = Omega::of(5, |i, j| (along(i) - along(j)).abs()).unwrap();
        let omega = [Omega::AllPairs, Omega::Top(3), Omega::Dcg, table][which].clone();
        let (mut cost, mut n) = (0.0, 0.0);
        for (u, v) in (0..rows.len()).flat_map(|u| (0..rows.len()).map(move |v| (u, v))) {
            if places[u] < places[v] {
                n += 1.0;
                let wrong = if scores[u] < scores[v] { 1.0 } else if scores[u] == scores[v] { 0.5 } else { 0.0 };
                cost += wrong * omega.cost(places[u], places[v]);
            }
        }
        let loss = if n > 0.0 { cost / n } else { 0.0 };
        prop_assert!((omega_loss(&scores, &places, &omega) - loss).abs() < 1e-12);
    }
}
