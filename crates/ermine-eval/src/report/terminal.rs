//! The report for a terminal: the same parts as the page, with tables of text and curves of characters.

use super::text::{CellRows, SEEN_NOTE, row, short};
use super::{MOST_CURVES, Report, curve, dependence};
use ermine_core::chart::text::{curves, number};
use ermine_core::matrix::Task;
use std::fmt::{self, Formatter};

/// Marks of the curves.
const MARKS: [char; MOST_CURVES] = ['•', 'o', 'x', '+', '*', '#', '@', '%'];

/// Maximum number of classes of a confusion matrix.
const MOST_CLASSES: usize = 12;

/// Size of a plot in characters.
const SIZE: (usize, usize) = (60, 15);

/// A curve and its name.
type Named<'a> = (Vec<(f64, f64)>, &'a str);

/// Cells in aligned columns, the first left-aligned.
fn aligned(cells: &CellRows) -> String {
    let n = cells.first().map_or(0, Vec::len);
    // Columns without values are omitted.
    let used: Vec<usize> = (0..n).filter(|&j| cells.iter().skip(1).any(|row| !row[j].is_empty())).collect();
    let n = used.len();
    let cells: &CellRows = &cells.iter().map(|row| used.iter().map(|&j| row[j].clone()).collect()).collect();
    let width = |j: usize| cells.iter().map(|row| row[j].chars().count()).max().unwrap_or(0).min(40);
    let widths: Vec<usize> = (0..n).map(width).collect();
    let line = |row: &Vec<String>| {
        let cell = |j: usize| {
            let text: String = row[j].chars().take(if j + 1 == n { usize::MAX } else { 40 }).collect();
            if j == 0 || j + 1 == n { format!("  {text:<0$}", widths[j]) } else { format!("  {text:>0$}", widths[j]) }
        };
        (0..n).map(cell).collect::<String>().trim_end().to_string() + "\n"
    };
    cells.iter().map(line).collect()
}

fn part(f: &mut Formatter<'_>, title: &str, cells: &CellRows) -> fmt::Result {
    if cells.len() > 1 { write!(f, "\n{title}\n\n{}", aligned(cells)) } else { Ok(()) }
}

fn indented(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "  {}", line.trim_end()))
}

/// Curves on one pair of axes, with a legend if there are several.
fn draw(f: &mut Formatter<'_>, title: &str, named: &[Named<'_>], axes: (&str, &str)) -> fmt::Result {
    let marked: Vec<_> = named.iter().zip(MARKS).map(|((points, _), mark)| (points.clone(), mark)).collect();
    let picture = curves(&marked, axes.0, axes.1, SIZE.0, SIZE.1);
    if picture.is_empty() {
        return Ok(());
    }
    write!(f, "\n{title}\n\n{picture}")?;
    let legend: Vec<String> = named.iter().zip(MARKS).map(|((_, name), mark)| format!("{mark} {name}")).collect();
    if named.len() > 1 { writeln!(f, "  {}", legend.join("   ")) } else { Ok(()) }
}

impl Report {
    fn classes_in_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        part(f, if self.task == Task::Multilabel { "Labels" } else { "Classes" }, &self.classes())?;
        if self.evaluation.confusion.as_ref().is_some_and(|c| c.classes.len() <= MOST_CLASSES) {
            part(f, "Confusion matrix", &self.confusion(false))?;
            part(f, "Confusion matrix by predicted class", &self.confusion(true))?;
        }
        Ok(())
    }

    fn curves_in_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let some = || self.curves.iter().take(MOST_CURVES);
        let which = |name: &str| match &self.curves[..] {
            [one] => format!("{name} of {}", one.class),
            _ => name.to_string(),
        };
        let roc: Vec<Named<'_>> = some().map(|c| (c.roc.clone(), &*c.class)).collect();
        draw(f, &which("ROC curve"), &roc, ("false positive rate", "true positive rate"))?;
        let found: Vec<Named<'_>> = some().map(|c| (c.precision_recall.clone(), &*c.class)).collect();
        draw(f, &which("Precision-recall curve"), &found, ("recall", "precision"))?;
        let mut bins = vec![row(["predicted probability", "observed frequency", "rows"])];
        bins.extend(self.calibration.iter().map(|b| row([&short(b.predicted), &short(b.observed), &short(b.weight)])));
        part(f, "Calibration", &bins)
    }

    fn errors_in_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.scatter.is_empty() {
            return Ok(());
        }
        draw(f, "True against predicted values", &[(self.scatter.clone(), "")], ("predicted", "true"))?;
        let residuals: Vec<(f64, f64)> = self.scatter.iter().map(|&(p, t)| (p, t - p)).collect();
        draw(f, "Residuals", &[(residuals.clone(), "")], ("predicted", "true - predicted"))?;
        let mut sorted: Vec<f64> = residuals.iter().map(|r| r.1).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| number(sorted[((sorted.len() - 1) as f64 * share).round() as usize]);
        let shares = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];
        let mut cells = vec![row(["quantile", "true - predicted"])];
        cells.extend(shares.map(|share| vec![format!("{}%", 100.0 * share), at(share)]));
        part(f, "Distribution of residuals", &cells)
    }

    fn importances_in_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut cells = vec![row(["column", "importance", "±"])];
        cells.extend(self.importances.iter().take(15).map(|i| row([&i.feature, &short(i.loss), &short(i.deviation)])));
        part(f, "Permutation importances", &cells)?;
        writeln!(f, "\n  {}", self.importance_note())?;
        let classes: Vec<String> = self.evaluation.classes.iter().map(|c| c.name.clone()).collect();
        let each = self.dependences.iter();
        each.map(|d| dependence::table(d, self.task, &classes)).try_for_each(|cells| {
            let title = format!("Partial dependence on {}", cells[0][0]);
            part(f, &title, &cells)
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{SEEN_NOTE}", self.title(), self.judged_on())?;
        for difference in &self.differences {
            writeln!(f, "Differs from the training data: {difference}.")?;
        }
        part(f, "Scores", &self.scores())?;
        self.classes_in_text(f)?;
        self.curves_in_text(f)?;
        self.errors_in_text(f)?;
        if !self.learning.is_empty() {
            part(f, "Learning curve", &curve::table(&self.learning, "training rows"))?;
            write!(f, "\n{}", curve::characters(&self.learning, "training rows"))?;
        }
        self.importances_in_text(f)?;
        part(f, "Worst predictions", &self.worst_table())?;
        part(f, "Columns", &self.columns_table())?;
        writeln!(f, "\nModel\n\n  {}\n", self.setting())?;
        indented(f, &self.model_lines())?;
        write!(f, "\nCertificate\n\n")?;
        indented(f, &self.certificate.to_string())
    }
}
