//! Multilabel targets.
//!
//! There are two formats: a 0/1 (or true/false) column per label, or one column that lists the labels of each row, separated by `;`. In a list, an empty cell is a row without
//! labels; spaces around names are trimmed, and repeated names count once.

use super::dataset::{Target, Task};
use crate::error::{Error, Result};
use crate::table::{Column, ColumnKind, MISSING, Values};
use std::collections::{BTreeMap, HashMap};

/// The separator of a list of labels.
pub const SEPARATOR: char = ';';

/// Whether a column contains only zeros and ones, or booleans.
pub fn is_marks(column: &Column) -> bool {
    match column.kind {
        ColumnKind::Boolean => true,
        ColumnKind::Numeric => column.numbers(None).iter().all(|&x| x == 0.0 || x == 1.0 || x.is_nan()),
        ColumnKind::Ordinal | ColumnKind::Nominal => false,
    }
}

/// Whether the target is one column with lists of labels.
pub(super) fn is_list(targets: &[&Column], task: Task) -> bool {
    task == Task::Multilabel && matches!(targets, [column] if !is_marks(column))
}

/// The labels of the rows, and their names.
pub(super) fn read(targets: &[&Column], rows: Option<&[u32]>) -> Result<(Target, Vec<String>)> {
    if is_list(targets, Task::Multilabel) {
        return listed(targets[0], rows);
    }
    if let Some(column) = targets.iter().find(|c| !is_marks(c)) {
        return Err(Error::data(format!(
            "the target '{}' is not a label: use 0/1 (or true/false) columns, or one column with label names separated by '{SEPARATOR}'",
            column.name
        )));
    }
    let columns: Vec<Vec<f64>> = targets.iter().map(|c| c.numbers(rows)).collect();
    let n = columns.first().map_or(0, Vec::len);
    let values = (0..n).flat_map(|row| columns.iter().map(move |c| c[row])).collect();
    let names = targets.iter().map(|c| c.name.clone()).collect();
    Ok((Target::Values { values, n_outputs: targets.len() }, names))
}

/// The names in a list, without repetitions.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(SEPARATOR).map(str::trim).filter(|name| !name.is_empty())
}

/// Parses a column of lists; labels are sorted by name.
fn listed(column: &Column, rows: Option<&[u32]>) -> Result<(Target, Vec<String>)> {
    let n = rows.map_or(column.len(), <[u32]>::len);
    let row_at = |i: usize| rows.map_or(i, |rows| rows[i] as usize);
    // Each distinct text is parsed once.
    let (distinct, text_of): (Vec<String>, Vec<Option<usize>>) = match &column.values {
        Values::Codes { codes, levels } => {
            let code = |i: usize| Some(codes.get(row_at(i))).filter(|&c| c != MISSING).map(|c| c as usize);
            (levels.names().to_vec(), (0..n).map(code).collect())
        }
        _ => {
            let mut seen: HashMap<String, usize> = HashMap::new();
            let place = |i: usize| {
                let next = seen.len();
                *seen.entry(column.text(row_at(i))).or_insert(next)
            };
            let text_of = (0..n).map(place).map(Some).collect();
            let mut distinct: Vec<(String, usize)> = seen.into_iter().collect();
            distinct.sort_by_key(|(_, place)| *place);
            (distinct.into_iter().map(|(text, _)| text).collect(), text_of)
        }
    };
    let used: Vec<&str> = text_of.iter().flatten().flat_map(|&t| names(&distinct[t])).collect();
    let mut place: BTreeMap<&str, usize> = used.into_iter().map(|name| (name, 0)).collect();
    place.values_mut().enumerate().for_each(|(i, place)| *place = i);
    if place.is_empty() {
        return Err(Error::data(format!("no row of the target '{}' has a label", column.name)));
    }
    let mut values = vec![0.0; n * place.len()];
    for (marks, text) in values.chunks_exact_mut(place.len()).zip(&text_of) {
        text.iter().flat_map(|&t| names(&distinct[t])).for_each(|name| marks[place[name]] = 1.0);
    }
    let labels: Vec<String> = place.keys().map(|name| name.to_string()).collect();
    Ok((Target::Values { values, n_outputs: labels.len() }, labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dataset, Roles};
    use crate::table::Table;

    fn data(columns: Vec<Column>, target: &[&str], task: Option<Task>) -> Result<Dataset> {
        let n = columns[0].len();
        let all = [vec![Column::numeric("x", vec![0.0; n])], columns].concat();
        let roles = Roles { target: target.iter().map(|t| t.to_string()).collect(), task, ..Default::default() };
        Dataset::new(Table::new(all)?, &roles)
    }

    #[test]
    fn columns_and_lists_are_equivalent() {
        let marks = vec![
            Column::numeric("a", vec![1.0, 0.0, 0.0, 1.0]),
            Column::boolean("b", &[Some(true), Some(false), Some(true), Some(false)]),
        ];
        let columns = data(marks, &["a", "b"], None).unwrap();
        assert_eq!(columns.task(), Task::Multilabel, "several columns of zeros and ones are labels");
        let list = Column::nominal("tags", &[Some("b; a"), None, Some("b;b;"), Some(" a")]);
        let list = data(vec![list], &["tags"], Some(Task::Multilabel)).unwrap();
        assert_eq!(columns.labels().unwrap(), list.labels().unwrap());
        assert_eq!(list.labels().unwrap().0, [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        let part = list.select(&[3, 0]).unwrap();
        assert_eq!(part.labels().unwrap().0, [1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn numbers_are_labels() {
        let codes = data(vec![Column::numeric("k", vec![3.0, 10.0, 3.0])], &["k"], Some(Task::Multilabel)).unwrap();
        let (marks, labels) = codes.labels().unwrap();
        assert_eq!(labels[..], ["10", "3"]);
        assert_eq!(marks, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn invalid_labels_are_errors() {
        let words = vec![Column::numeric("a", vec![0.0, 1.0]), Column::nominal("b", &[Some("x"), Some("y")])];
        let message = data(words, &["a", "b"], Some(Task::Multilabel)).unwrap_err().to_string();
        assert!(message.contains("'b' is not a label") && message.contains("';'"), "{message}");
        let nothing = Column::nominal("t", &[None, Some(";;")]);
        assert!(
            data(vec![nothing], &["t"], Some(Task::Multilabel))
                .unwrap_err()
                .to_string()
                .contains("no row of the target")
        );
        let holes = vec![Column::numeric("a", vec![f64::NAN, 1.0]), Column::numeric("b", vec![0.0, 1.0])];
        assert!(data(holes, &["a", "b"], None).unwrap_err().to_string().contains("missing in 1 of 2 rows"));
    }
}
