//! Learning and validation curves: as a picture, as characters and as a table.

use super::text::{CellRows, short};
use crate::evaluate::curves::CurvePoint;
use ermine_core::chart::plot::{Mark, Plot, Series};
use ermine_core::chart::text;

/// How to read a learning curve.
pub const LEARNING_NOTE: &str = "If the test score still rises at the right end, more rows help. If it is far from the training score, the model overfits.";

/// How to read a validation curve.
pub const VALIDATION_NOTE: &str =
    "If the training score is much better than the test score, the model overfits; if both are bad, it underfits.";

/// The position of a point: its number, or its index if it is not a number.
fn places(curve: &[CurvePoint]) -> Vec<f64> {
    let numbers: Vec<Option<f64>> = curve.iter().map(|point| point.at.number()).collect();
    let numeric = numbers.iter().all(Option::is_some);
    numbers.iter().enumerate().map(|(i, number)| number.filter(|_| numeric).unwrap_or(i as f64)).collect()
}

/// The mean test and training scores at each point.
fn means(curve: &[CurvePoint]) -> [Vec<(f64, f64)>; 2] {
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let at = places(curve);
    let tested = curve.iter().zip(&at).map(|(point, &x)| (x, point.score.mean)).collect();
    let learned = |(point, &x): (&CurvePoint, &f64)| Some((x, mean(point.score.train.as_ref()?)));
    [tested, curve.iter().zip(&at).filter_map(learned).collect()]
}

/// A picture of a curve over the number of rows, or the values of a parameter.
pub fn picture(curve: &[CurvePoint], title: &str, axis: &str) -> String {
    let [tested, learned] = means(curve);
    let measure = curve.first().map_or("", |point| point.score.name);
    Plot { title, axes: (axis, measure), ranges: None }.draw(&[
        Series { name: "test", points: tested.clone(), mark: Mark::Line },
        Series { name: "training", points: learned.clone(), mark: Mark::Line },
        Series { name: "", points: tested, mark: Mark::Dots },
        Series { name: "", points: learned, mark: Mark::Dots },
    ])
}

/// The same in characters.
pub fn characters(curve: &[CurvePoint], axis: &str) -> String {
    let [tested, learned] = means(curve);
    let measure = curve.first().map_or("", |point| point.score.name);
    let drawn = text::curves(&[(learned, 'o'), (tested, '•')], axis, measure, 60, 12);
    format!("{drawn}  • test   o training\n")
}

/// A line for each point: test and training scores, mean and standard deviation.
pub fn table(curve: &[CurvePoint], axis: &str) -> CellRows {
    let measure = curve.first().map_or("", |point| point.score.name);
    let heading = [axis.to_string(), format!("test {measure}"), "training".to_string()];
    let spread = |mean: f64, deviation: f64, n: usize| match n {
        0 | 1 => short(mean),
        _ => format!("{} ± {}", short(mean), short(deviation)),
    };
    let line = |point: &CurvePoint| {
        let score = &point.score;
        let learned = score.train.as_ref().map_or_else(String::new, |train| {
            let n = train.len() as f64;
            let mean = train.iter().sum::<f64>() / n;
            let squares = train.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            spread(mean, (squares / (n - 1.0).max(1.0)).sqrt(), train.len())
        });
        vec![point.at.to_string(), spread(score.mean, score.deviation, score.folds.len()), learned]
    };
    std::iter::once(heading.to_vec()).chain(curve.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measure;
    use crate::evaluate::cross_validation::FoldScore;
    use ermine_core::param::Value;

    #[test]
    fn categories_are_spaced_evenly_and_numbers_by_value() {
        let point = |at: Value, score: f64| CurvePoint {
            at,
            score: FoldScore::new(Measure::Accuracy, vec![score, score + 0.1], Some(vec![1.0, 1.0])),
        };
        let numbers = [point(Value::Int(10), 0.5), point(Value::Float(40.0), 0.7)];
        assert_eq!(places(&numbers), [10.0, 40.0]);
        assert_eq!(places(&[point(Value::Text("gini".into()), 0.5), point(Value::Int(3), 0.6)]), [0.0, 1.0]);
        let cells = table(&numbers, "rows");
        assert_eq!(cells[0], ["rows", "test accuracy", "training"]);
        assert_eq!(cells[1], ["10", "0.55 ± 0.07071", "1 ± 0"]);
        assert!(picture(&numbers, "t", "rows").contains("test") && characters(&numbers, "rows").contains('•'));
    }
}
