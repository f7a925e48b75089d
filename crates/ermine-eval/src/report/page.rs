//! The report as a page of HTML.

use super::text::SEEN_NOTE;
use super::{MOST_CURVES, Report, curve, dependence};
use ermine_core::chart::html::Page;
use ermine_core::chart::plot::{Mark, Plot, Series, bars, matrix};
use ermine_core::matrix::Task;

/// Maximum number of classes or cells of a plot.
const MOST_CLASSES: usize = 24;

impl Report {
    /// A self-contained page.
    pub fn html(&self) -> String {
        let mut page = Page::new(&self.title());
        page.paragraph(&self.judged_on());
        page.note(SEEN_NOTE);
        for difference in &self.differences {
            page.note(&format!("Differs from the training data: {difference}."));
        }
        page.heading("Scores");
        page.table(&self.scores());
        page.note("Intervals are 95% confidence intervals over test sets of this size.");
        self.classes_part(&mut page);
        self.curves_part(&mut page);
        if !self.learning.is_empty() {
            page.heading("Learning curve");
            page.svg(&curve::picture(&self.learning, "Learning curve", "training rows"));
            page.table(&curve::table(&self.learning, "training rows"));
            page.note(curve::LEARNING_NOTE);
        }
        self.importance_part(&mut page);
        if !self.worst.is_empty() {
            page.heading(if self.task == Task::Ranking { "Worst queries" } else { "Worst predictions" });
            page.table(&self.worst_table());
            page.note("Rows (or queries) are counted from 1 in the order of the file.");
        }
        page.heading("Columns");
        page.long_table(&self.columns_table(), &format!("{} columns", self.columns.len()));
        self.model_part(&mut page);
        page.finish()
    }

    fn classes_part(&self, page: &mut Page) {
        if self.evaluation.classes.is_empty() {
            return;
        }
        page.heading(if self.task == Task::Multilabel { "Labels" } else { "Classes" });
        let confusion = self.evaluation.confusion.as_ref();
        if let Some(confusion) = confusion.filter(|c| c.classes.len() <= MOST_CLASSES) {
            page.svg(&matrix(&confusion.classes, &confusion.counts, ("true", "predicted")));
        }
        page.table(&self.classes());
        page.note("Precision: fraction of the predictions of a class that are correct. Recall: fraction of the rows of a class that are predicted as it. F1: their harmonic mean. In parentheses: 95% confidence intervals.");
        if confusion.is_some_and(|c| c.classes.len() <= MOST_CURVES) {
            page.table(&self.confusion(false));
            page.table(&self.confusion(true));
        }
    }

    fn curves_part(&self, page: &mut Page) {
        let unit = Some(((0.0, 1.0), (0.0, 1.0)));
        let mut charts = Vec::new();
        if !self.curves.is_empty() {
            let several = self.curves.len() > 1;
            let name = |class: &'_ String| if several { class.clone() } else { String::new() };
            let names: Vec<String> = self.curves.iter().take(MOST_CURVES).map(|c| name(&c.class)).collect();
            let of = |pick: &dyn Fn(&super::ClassCurves) -> Vec<(f64, f64)>| -> Vec<Series<'_>> {
                let each = self.curves.iter().zip(&names);
                each.map(|(c, name)| Series { name, points: pick(c), mark: Mark::Line }).collect()
            };
            let mut roc = of(&|c| c.roc.clone());
            roc.push(Series { name: "", points: vec![(0.0, 0.0), (1.0, 1.0)], mark: Mark::Guide });
            let plot = Plot { title: "ROC curve", axes: ("false positive rate", "true positive rate"), ranges: unit };
            charts.push(plot.draw(&roc));
            let plot = Plot { title: "Precision-recall curve", axes: ("recall", "precision"), ranges: unit };
            charts.push(plot.draw(&of(&|c| c.precision_recall.clone())));
        }
        if !self.calibration.is_empty() {
            let points: Vec<(f64, f64)> = self.calibration.iter().map(|b| (b.predicted, b.observed)).collect();
            let series = [
                Series { name: "", points: points.clone(), mark: Mark::Line },
                Series { name: "", points: vec![(0.0, 0.0), (1.0, 1.0)], mark: Mark::Guide },
                Series { name: "", points, mark: Mark::Dots },
            ];
            let plot = Plot {
                title: "Calibration curve",
                axes: ("predicted probability", "observed frequency"),
                ranges: unit,
            };
            charts.push(plot.draw(&series));
        }
        if !self.scatter.is_empty() {
            charts.extend(self.residual_charts());
        }
        if !charts.is_empty() {
            page.heading(if self.task == Task::Classification {
                "ROC, precision-recall and calibration curves"
            } else {
                "Residuals"
            });
            page.charts(&charts);
        }
    }

    fn residual_charts(&self) -> [String; 3] {
        let all = self.scatter.iter().flat_map(|p| [p.0, p.1]);
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let plot = Plot {
            title: "True against predicted values",
            axes: ("predicted", "true"),
            ranges: Some(((low, high), (low, high))),
        };
        let truth = plot.draw(&[
            Series { name: "", points: self.scatter.clone(), mark: Mark::Dots },
            Series { name: "", points: vec![(low, low), (high, high)], mark: Mark::Guide },
        ]);
        let residuals: Vec<(f64, f64)> = self.scatter.iter().map(|&(p, t)| (p, t - p)).collect();
        let plot = Plot { title: "Residuals", axes: ("predicted", "true - predicted"), ranges: None };
        let left = plot.draw(&[
            Series { name: "", points: residuals.clone(), mark: Mark::Dots },
            Series { name: "", points: vec![(low, 0.0), (high, 0.0)], mark: Mark::Guide },
        ]);
        let plot = Plot { title: "Distribution of residuals", axes: ("true - predicted", "rows"), ranges: None };
        let spread =
            plot.draw(&[Series { name: "", points: histogram(residuals.iter().map(|r| r.1)), mark: Mark::Line }]);
        [truth, left, spread]
    }

    fn importance_part(&self, page: &mut Page) {
        page.heading("Feature importances");
        let rows: Vec<(String, f64, f64)> =
            self.importances.iter().take(20).map(|i| (i.feature.clone(), i.loss, i.deviation)).collect();
        page.svg(&bars("", &rows));
        page.note(&self.importance_note());
        let classes: Vec<String> = self.evaluation.classes.iter().map(|c| c.name.clone()).collect();
        let charts: Vec<String> =
            self.dependences.iter().map(|d| dependence::picture(d, self.task, &classes)).collect();
        if !charts.is_empty() {
            page.charts(&charts);
            page.note("Partial dependence: the mean prediction with the column set to this value in every row.");
        }
    }

    fn model_part(&self, page: &mut Page) {
        page.heading("Model");
        page.note(&self.setting());
        if let Some(picture) = &self.picture {
            page.svg(picture);
        }
        page.code(&self.model_lines());
        page.heading("Certificate");
        page.code(&self.certificate.to_string());
    }
}

/// The outline of a histogram in 30 bins.
fn histogram(values: impl Iterator<Item = f64> + Clone) -> Vec<(f64, f64)> {
    const BINS: usize = 30;
    let (low, high) = values.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let width = (high - low) / BINS as f64;
    let mut counts = [0.0; BINS];
    values.for_each(|x| counts[(((x - low) / width) as usize).min(BINS - 1)] += 1.0);
    let steps =
        counts.iter().enumerate().flat_map(|(i, &c)| [(low + i as f64 * width, c), (low + (i + 1) as f64 * width, c)]);
    std::iter::once((low, 0.0)).chain(steps).chain([(high, 0.0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::text::short;
    use super::*;

    #[test]
    fn a_histogram_counts_every_value() {
        let points = histogram([1.0, 2.0, 2.0, 4.0].into_iter());
        let counted: f64 = points[1..points.len() - 1].iter().step_by(2).map(|p| p.1).sum();
        assert_eq!((counted, points[0].0, points[points.len() - 1].0), (4.0, 1.0, 4.0));
        assert_eq!(short(0.123456), "0.1235");
        assert!(histogram([3.0, 3.0].into_iter()).iter().all(|p| p.0 == 3.0));
    }
}
