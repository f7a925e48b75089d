//! Tables and sentences that the page and the text share.

use super::Report;
use ermine_core::chart::text::number;
use ermine_core::matrix::Task;
use ermine_core::metric::Score;

/// Rows of cells, the heading first.
pub(super) type CellRows = Vec<Vec<String>>;

pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

/// Four significant digits.
pub(super) fn short(x: f64) -> String {
    if x.is_finite() { number(format!("{x:.3e}").parse().unwrap_or(x)) } else { "-".into() }
}

/// Reminder that test rows must not be training rows.
pub(super) const SEEN_NOTE: &str = "If these rows are also in the training set, the scores are too optimistic.";

/// Two decimals, for the ends of intervals.
fn two(x: f64) -> String {
    format!("{x:.2}")
}

impl Report {
    /// The title of the report.
    pub fn title(&self) -> String {
        let what = match self.task {
            Task::Multilabel => "labels",
            Task::Ranking => "ranking by",
            Task::Classification => "classification of",
            Task::Regression => "regression of",
        };
        format!("{}: {what} {}", self.learner, self.target.join(", "))
    }

    /// The numbers of training and test rows.
    pub(super) fn judged_on(&self) -> String {
        format!("Trained on {} rows, evaluated on {} rows.", self.n_trained, self.evaluation.n_rows)
    }

    /// The learner and those of its parameters that are not its defaults.
    pub(super) fn setting(&self) -> String {
        let changed: Vec<String> =
            self.changed_params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        match changed.is_empty() {
            true => format!("{} with its default parameters", self.learner),
            false => format!("{} with {}; default values for the other parameters", self.learner, changed.join(", ")),
        }
    }

    pub(super) fn scores(&self) -> CellRows {
        let mut cells = vec![row(["score", "value", "95% interval", "better", "meaning"])];
        for s in &self.evaluation.scores {
            let interval = format!("{} to {}", short(s.score.low), short(s.score.high));
            let better = if s.higher_is_better { "higher" } else { "lower" };
            cells.push(row([s.name, &short(s.score.value), &interval, better, s.explanation]));
        }
        cells
    }

    /// Precision, recall and F1 of each class or label, with intervals, and their averages.
    pub(super) fn classes(&self) -> CellRows {
        let classes = &self.evaluation.classes;
        if classes.is_empty() {
            return Vec::new();
        }
        let first = if self.task == Task::Multilabel { "label" } else { "class" };
        let mut cells = vec![row([first, "rows", "share", "precision", "recall", "F1"])];
        let total = self.evaluation.confusion.as_ref().map_or(self.evaluation.n_rows as f64, |c| c.total());
        let within = |s: Score| format!("{} ({} to {})", short(s.value), two(s.low), two(s.high));
        for c in classes {
            let share = format!("{:.1}%", 100.0 * c.rows / total);
            let [p, r, f] = [c.precision, c.recall, c.f1].map(within);
            cells.push(row([&c.name, &short(c.rows), &share, &p, &r, &f]));
        }
        let names = ["(micro average)", "(macro average)", "(weighted average)"];
        for (name, r) in names.iter().zip(self.averages.iter().flatten()) {
            cells.push(row([name, &short(total), "100.0%", &short(r.precision), &short(r.recall), &short(r.f1)]));
        }
        cells
    }

    /// Shares of each row of the confusion matrix, or of each column.
    pub(super) fn confusion(&self, by_column: bool) -> CellRows {
        let Some(confusion) = &self.evaluation.confusion else { return Vec::new() };
        let corner = if by_column { "column %: true \\ predicted" } else { "count (row %): true \\ predicted" };
        let mut cells =
            vec![std::iter::once(corner.to_string()).chain(confusion.classes.iter().cloned()).collect::<Vec<_>>()];
        for (k, class) in confusion.classes.iter().enumerate() {
            let cell = |j: usize| {
                let count = confusion.counts[k][j];
                let of = if by_column { confusion.predicted(j) } else { confusion.actual(k) };
                let share = if of > 0.0 { 100.0 * count / of } else { 0.0 };
                if by_column { format!("{share:.1}%") } else { format!("{} ({share:.1}%)", short(count)) }
            };
            cells.push(std::iter::once(class.clone()).chain((0..confusion.classes.len()).map(cell)).collect());
        }
        cells
    }

    pub(super) fn columns_table(&self) -> CellRows {
        let mut cells = vec![row(["column", "type", "missing", "min", "mean", "max", "categories", "most frequent"])];
        for c in &self.columns {
            let (least, mean, greatest) = match c.range {
                Some((a, b, z)) => (short(a), short(b), short(z)),
                None => Default::default(),
            };
            let (n, most) = c.categories.clone().map_or_else(Default::default, |(n, most)| (n.to_string(), most));
            cells.push(row([&c.name, c.kind, &c.n_missing.to_string(), &least, &mean, &greatest, &n, &most]));
        }
        cells
    }

    pub(super) fn worst_table(&self) -> CellRows {
        let [unit, truth, predicted, how, with] = match self.task {
            Task::Classification => ["row", "true", "predicted", "p(true class)", "features"],
            Task::Regression => ["row", "true", "predicted", "error", "features"],
            Task::Multilabel => ["row", "true", "predicted", "wrong labels", "features"],
            Task::Ranking => ["query", "rows", "relevant", "NDCG@10", ""],
        };
        let mut cells = vec![row([unit, truth, predicted, how, with])];
        for w in &self.worst {
            let with: Vec<String> = w.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            cells.push(row([&w.row.to_string(), &w.truth, &w.predicted, &short(w.score), &with.join(", ")]));
        }
        cells
    }

    /// The model as text, truncated if it is long.
    pub(super) fn model_lines(&self) -> String {
        /// Maximum number of lines.
        const MOST_LINES: usize = 120;
        let lines: Vec<&str> = self.model.lines().collect();
        let mut text = lines[..lines.len().min(MOST_LINES)].join("\n");
        if lines.len() > MOST_LINES {
            text += &format!("\n... {} more lines", lines.len() - MOST_LINES);
        }
        text
    }

    /// Explanation of the importances.
    pub(super) fn importance_note(&self) -> String {
        let score = self.evaluation.scores.first().map_or("score", |s| s.name);
        format!("Decrease of {score} on these rows when a column is shuffled.")
    }
}
