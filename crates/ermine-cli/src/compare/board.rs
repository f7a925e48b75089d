//! The result of `ermine compare`: the leaderboard as text, as a page and as JSON, and its conclusion.

use super::{Args, skipped_text, untuned_text};
use crate::args::pooled_note;
use crate::clean::clean;
use crate::data::LoadedData;
use crate::grid::Grid;
use crate::terminal::{bold, decimals, dim, listed, time, width, wrapped, yellow};
use ermine_core::chart::html::Page;
use ermine_core::chart::plot;
use ermine_eval::compare::verdict::{SIGNIFICANT, against, is_testable, not_significantly_worse};
use ermine_eval::compare::{BASELINE, Leaderboard, LeaderboardEntry};
use ermine_eval::evaluate::Splits;
use ermine_eval::evaluate::curves::CurvePoint;
use ermine_eval::evaluate::paired::PairedTest;
use ermine_eval::report::curve as report;
use serde_json::json;

/// As JSON.
pub(super) fn as_json(
    args: &Args,
    data: &LoadedData,
    leaderboard: &Leaderboard,
    splits: &Splits,
    next: &str,
) -> serde_json::Value {
    let test = leaderboard
        .entries
        .get(1)
        .filter(|_| is_testable(&leaderboard.entries))
        .map(|second| against(&leaderboard.entries[0], second, splits));
    json!({
        "data": data,
        "folds": args.splits.folds,
        "validation": args.splits.title(),
        "seed": args.seed,
        "leaderboard": leaderboard.entries,
        "absent": skipped(leaderboard, args).map(|(learner, why)| json!({"learner": learner, "why": why})).collect::<Vec<_>>(),
        "remarks": leaderboard.untuned.iter().map(untuned_text).collect::<Vec<_>>(),
        "best": leaderboard.entries[0].learner,
        "best_setting": leaderboard.entries[0].setting,
        "first_against_second": test,
        "next": next,
    })
}

/// The leaderboard as cells, its heading first.
fn board(leaderboard: &Leaderboard, splits: &Splits) -> Vec<Vec<String>> {
    let rows = &leaderboard.entries;
    let names: Vec<&str> =
        rows.iter().map(|row| &row.scores).max_by_key(|s| s.len()).into_iter().flatten().map(|s| s.name).collect();
    let mut heading: Vec<String> = vec![String::new(), "learner".into()];
    heading.extend(names.iter().map(ToString::to_string));
    heading.extend(["p".into(), "time".into()]);
    let line = |(i, row): (usize, &LeaderboardEntry)| {
        let score = |name: &&str| match row.scores.iter().find(|s| s.name == *name) {
            Some(s) if s.folds.len() > 1 => format!("{:.d$} ± {:.d$}", s.mean, s.deviation, d = decimals(s.mean)),
            Some(s) => format!("{:.d$}", s.mean, d = decimals(s.mean)),
            None => String::new(),
        };
        let p = if i == 0 || !is_testable(rows) { String::new() } else { p_value(against(&rows[0], row, splits)) };
        let start = [(i + 1).to_string(), titled(row)];
        start.into_iter().chain(names.iter().map(score)).chain([p, time(row.seconds)]).collect()
    };
    std::iter::once(heading).chain(rows.iter().enumerate().map(line)).collect()
}

/// The learners that are not on the leaderboard, and why.
fn skipped<'a>(leaderboard: &'a Leaderboard, args: &'a Args) -> impl Iterator<Item = (&'static str, String)> + 'a {
    leaderboard.skipped.iter().map(|skipped| (skipped.learner, skipped_text(&skipped.reason, args)))
}

/// The name of a learner, marked if it did not converge.
fn titled(entry: &LeaderboardEntry) -> String {
    entry.title() + if entry.not_converged > 0 { " *" } else { "" }
}

fn p_value(test: PairedTest) -> String {
    if test.p_value < 0.001 { "<0.001".into() } else { format!("{:.3}", test.p_value) }
}

/// The same within a sentence.
fn p_text(test: PairedTest) -> String {
    if test.p_value < 0.001 { "p < 0.001".into() } else { format!("p = {:.3}", test.p_value) }
}

/// Explanation of the columns.
fn legend(rows: &[LeaderboardEntry]) -> String {
    let usual = match (is_testable(rows), rows[0].scores.iter().any(|score| score.folds.len() > 1)) {
        (true, _) => {
            "mean ± standard deviation over splits; p: p-value of the difference from the best (paired corrected t-test)"
        }
        (false, true) => "mean ± standard deviation over splits; too few scores for a significance test",
        (false, false) => "one split only: no standard deviation and no significance test",
    };
    let unfinished =
        if rows.iter().any(|row| row.not_converged > 0) { "; *: did not converge in some splits" } else { "" };
    format!("{usual}{unfinished}{}", pooled_note(&rows[0].scores))
}

/// As text, with the command that comes next.
pub(super) fn text(args: &Args, leaderboard: &Leaderboard, splits: &Splits, next: &str) -> String {
    let mut board = board(leaderboard, splits).into_iter();
    let mut grid = Grid::new(board.next().unwrap_or_default()).left(&[1]);
    board.for_each(|row| grid.push(row));
    let mut text = String::new();
    if !args.out.quiet {
        text += &format!(
            "\n{}\n{}\n",
            bold(&args.splits.title()),
            dim(&wrapped(&legend(&leaderboard.entries), 0, width()))
        );
    }
    text += &grid.text(width());
    text += if leaderboard.skipped.is_empty() && leaderboard.untuned.is_empty() { "" } else { "\n" };
    for (learner, why) in skipped(leaderboard, args) {
        text += &format!("  {} {}\n", yellow(&format!("{learner}:")), clean(&why));
    }
    leaderboard.untuned.iter().for_each(|untuned| text += &format!("  {}\n", yellow(&clean(&untuned_text(untuned)))));
    if args.out.quiet {
        return text;
    }
    if only_baseline(&leaderboard.entries) && !leaderboard.skipped.is_empty() {
        return text + "\nOnly the baseline was tried.\n";
    }
    let verdict = wrapped(&verdict(&leaderboard.entries, splits), 0, width());
    text + &format!("\n{}\n\nNext:\n  {}\n", verdict.trim_end(), bold(&clean(next)))
}

/// The same as a page.
pub(super) fn page(
    args: &Args,
    leaderboard: &Leaderboard,
    splits: &Splits,
    next: &str,
    curve: &[CurvePoint],
) -> String {
    let file = args.data.file.display().to_string();
    let mut page = Page::new(&format!(
        "Learners compared: {} of {file}",
        if args.data.target.is_empty() { "label".into() } else { args.data.target.join(", ") }
    ));
    page.paragraph(&verdict(&leaderboard.entries, splits));
    page.heading(&args.splits.title());
    page.table(&board(leaderboard, splits));
    page.note(&legend(&leaderboard.entries));
    let bars: Vec<(String, f64, f64)> =
        leaderboard.entries.iter().filter_map(|r| r.scores.first().map(|s| (r.title(), s.mean, s.deviation))).collect();
    if let Some(score) = leaderboard.entries[0].scores.first() {
        page.svg(&plot::dots(&bars, score.name));
    }
    if !curve.is_empty() {
        page.heading(&format!("Learning curve of {}", leaderboard.entries[0].title()));
        page.svg(&report::picture(curve, "Learning curve", "training rows"));
        page.note(report::LEARNING_NOTE);
    }
    for (learner, why) in skipped(leaderboard, args) {
        page.note(&format!("{learner}: {why}"));
    }
    leaderboard.untuned.iter().for_each(|untuned| page.note(&untuned_text(untuned)));
    page.heading("Next");
    page.code(next);
    page.finish()
}

fn only_baseline(rows: &[LeaderboardEntry]) -> bool {
    rows.iter().all(|row| row.learner == BASELINE)
}

/// The best learner, and the significance of its lead.
fn verdict(rows: &[LeaderboardEntry], splits: &Splits) -> String {
    let best = &rows[0];
    let baseline = rows.iter().find(|row| row.learner == BASELINE);
    if best.learner == BASELINE && rows.len() > 1 {
        return format!("Best: {}. No learner beats it: the features don't seem to predict the target.", best.learner);
    }
    let mut text = format!("Best: {}", best.title());
    if splits.len() < 2 {
        return text + ", on a single split. Use several folds to test the significance.";
    }
    if !is_testable(rows) {
        return text
            + ", by one score over all test rows together. Use fewer folds, with more rows each, to test the significance.";
    }
    if let Some(baseline) = baseline.filter(|b| b.learner != best.learner) {
        let p = against(best, baseline, splits);
        text += if p.p_value < SIGNIFICANT {
            ", significantly better than the baseline"
        } else {
            ", not significantly better than the baseline"
        };
        text += &format!(" ({})", p_text(p));
    }
    let not_significantly_worse: Vec<String> =
        not_significantly_worse(rows, splits).into_iter().map(LeaderboardEntry::title).collect();
    if !not_significantly_worse.is_empty() {
        text += &format!(". Not significantly worse: {}", listed(&not_significantly_worse, 6));
    }
    if !best.setting.is_empty() {
        text += ". Its parameters were chosen on the same splits, so its score is slightly optimistic";
    }
    text + "."
}
