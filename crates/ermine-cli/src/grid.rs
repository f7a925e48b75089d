//! A table of text: columns as wide as they need to be, and as many of them as the terminal has room for.

use crate::clean::clean;
use crate::terminal::{counted, dim};
use console::{measure_text_width, pad_str, truncate_str};

/// Maximum width of a cell if the width of the table is limited.
const WIDEST: usize = 40;

/// Rows of cells under a heading. The first column is left-aligned, the others are right-aligned by default.
pub struct Grid {
    rows: Vec<Vec<String>>,
    left: Vec<usize>,
}

impl Grid {
    /// A table with this heading.
    pub fn new<S: AsRef<str>>(heading: impl IntoIterator<Item = S>) -> Grid {
        let mut grid = Grid { rows: Vec::new(), left: vec![0] };
        grid.push(heading);
        grid
    }

    /// Left-aligns these columns.
    pub fn left(mut self, columns: &[usize]) -> Grid {
        self.left.extend(columns);
        self
    }

    /// Adds a row, which has as many cells as the heading.
    pub fn push<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(|cell| clean(cell.as_ref()).replace('\n', " ")).collect());
    }

    /// Whether the whole table fits.
    pub fn fits(&self, width: Option<usize>) -> bool {
        let n_columns = self.rows.first().map_or(0, Vec::len);
        width.is_none_or(|width| (0..n_columns).map(|j| self.widest(j) + 2).sum::<usize>() <= width)
    }

    fn widest(&self, column: usize) -> usize {
        self.rows.iter().map(|row| measure_text_width(&row[column])).max().unwrap_or(0)
    }

    /// The table, indented by two spaces; columns that don't fit into `width` are omitted, with a note.
    pub fn text(&self, width: Option<usize>) -> String {
        let n_columns = self.rows.first().map_or(0, Vec::len);
        let mut widths: Vec<usize> = (0..n_columns).map(|j| self.widest(j)).collect();
        let mut shown = n_columns;
        if let Some(width) = width {
            // The last column may use all remaining width; it is truncated below.
            let last = n_columns.saturating_sub(1);
            widths[..last].iter_mut().for_each(|w| *w = (*w).min(WIDEST));
            let end = |n: usize| widths[..n].iter().map(|w| w + 2).sum::<usize>();
            while shown > 1 && end(shown) > width && !(shown == n_columns && end(shown - 1) + 2 + 20 <= width) {
                shown -= 1;
            }
            let room = width.saturating_sub(end(shown - 1) + 2).max(4);
            widths[shown - 1] = widths[shown - 1].min(room);
        }
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let line: String = (0..shown).map(|j| self.cell(&row[j], j, widths[j])).collect();
            let line = line.trim_end();
            text.push_str(&if i == 0 { dim(line) } else { line.to_string() });
            text.push('\n');
        }
        if shown < n_columns {
            text.push_str(&format!("  {}\n", dim(&format!("({} not shown)", counted(n_columns - shown, "column")))));
        }
        text
    }

    fn cell(&self, cell: &str, column: usize, width: usize) -> String {
        let alignment = if self.left.contains(&column) { console::Alignment::Left } else { console::Alignment::Right };
        format!("  {}", pad_str(&truncate_str(cell, width, "…"), width, alignment, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Grid {
        let mut grid = Grid::new(["name", "a", "b", "note"]).left(&[3]);
        grid.push(["first", "1", "2", "a long remark that runs on and on and on"]);
        grid.push(["x", "10", "200", "short"]);
        grid
    }

    #[test]
    fn columns_line_up() {
        console::set_colors_enabled(false);
        let text = sample().text(None);
        let expected = "  name    a    b  note\n  first   1    2  a long remark that runs on and on and on\n  x      10  200  short\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn wide_grids_are_truncated_with_a_note() {
        console::set_colors_enabled(false);
        for width in 20..60 {
            let text = sample().text(Some(width));
            let notice = text.lines().filter(|line| !line.contains("not shown"));
            assert!(notice.map(measure_text_width).all(|w| w <= width), "{width}:\n{text}");
        }
        assert!(sample().text(Some(45)).contains("a long remark that runs on…"), "{}", sample().text(Some(45)));
        assert!(sample().text(Some(20)).contains("(1 column not shown)"), "{}", sample().text(Some(20)));
    }
}
