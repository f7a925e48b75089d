//! A column of a table: a name, a kind ([`ColumnKind`]) and values ([`Values`]).

use super::buffer::Buffer;
use super::notation::Notation;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The code of a missing category.
pub const MISSING: u32 = u32::MAX;

/// The kind of values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// The levels "false" and "true", in this order.
    Boolean,
    /// Categories with an order: small < medium < large.
    Ordinal,
    /// Categories without an order.
    Nominal,
}

impl ColumnKind {
    /// The name in messages and files.
    pub fn as_str(self) -> &'static str {
        match self {
            ColumnKind::Numeric => "numeric",
            ColumnKind::Boolean => "boolean",
            ColumnKind::Ordinal => "ordinal",
            ColumnKind::Nominal => "nominal",
        }
    }

    /// Whether the values have an order, so that thresholds make sense.
    pub fn is_ordered(self) -> bool {
        self != ColumnKind::Nominal
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The distinct values of a categorical column, by code.
///
/// Codes are found by binary search over the codes sorted by name: four bytes per level, whatever the length of its name.
#[derive(Debug, Default)]
pub struct Levels {
    names: Vec<String>,
    by_name: Vec<u32>,
}

impl Levels {
    /// Levels with codes 0, 1, 2, ... in the given order. A repeated name keeps its first code.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        let sorted = |names: &[String]| {
            let mut by_name: Vec<u32> = (0..names.len() as u32).collect();
            // Stable, so the first of equal names stays first.
            by_name.sort_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
            by_name
        };
        let mut by_name = sorted(&names);
        let repeats = |pair: &[u32]| names[pair[0] as usize] == names[pair[1] as usize];
        if by_name.windows(2).any(repeats) {
            let mut is_first = vec![true; names.len()];
            by_name.windows(2).filter(|pair| repeats(pair)).for_each(|pair| is_first[pair[1] as usize] = false);
            let mut flags = is_first.into_iter();
            names.retain(|_| flags.next().unwrap_or(true));
            by_name = sorted(&names);
        }
        Levels { names, by_name }
    }

    /// Number of levels.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names by code.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The code of a name, if it is a level.
    pub fn code(&self, name: &str) -> Option<u32> {
        let place = self.by_name.binary_search_by(|&code| self.names[code as usize].as_str().cmp(name));
        place.ok().map(|place| self.by_name[place])
    }

    /// Memory use in bytes.
    fn n_bytes(&self) -> usize {
        let each = size_of::<String>() + size_of::<u32>();
        self.names.iter().map(|name| each + name.len()).sum()
    }

    /// The name of a code; `None` for [`MISSING`].
    pub fn name(&self, code: u32) -> Option<&str> {
        self.names.get(code as usize).map(String::as_str)
    }
}

impl PartialEq for Levels {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

/// The values of a column.
#[derive(Debug, Clone)]
pub enum Values {
    /// Numbers in double precision; missing is NaN.
    F64(Buffer<f64>),
    /// Numbers in single precision; missing is NaN.
    F32(Buffer<f32>),
    /// Categories as codes into `levels`; missing is [`MISSING`].
    Codes {
        /// A code per row.
        codes: Buffer<u32>,
        /// The names of the codes.
        levels: Arc<Levels>,
    },
    /// Sparse numbers: only nonzero values are stored, by ascending row.
    Sparse {
        /// Number of rows.
        n_rows: usize,
        /// The rows with a stored value, ascending.
        rows: Buffer<u32>,
        /// Their values; missing is NaN.
        values: Buffer<f64>,
    },
}

/// A named column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// Its values.
    pub values: Values,
    /// The format of its numbers in files.
    pub notation: Notation,
}

impl Column {
    /// A column of numbers; NaN is missing.
    pub fn numeric(name: impl Into<String>, values: impl Into<Buffer<f64>>) -> Self {
        Column {
            name: name.into(),
            kind: ColumnKind::Numeric,
            values: Values::F64(values.into()),
            notation: Notation::Plain,
        }
    }

    /// A column of numbers in single precision; NaN is missing.
    pub fn numeric_f32(name: impl Into<String>, values: impl Into<Buffer<f32>>) -> Self {
        Column {
            name: name.into(),
            kind: ColumnKind::Numeric,
            values: Values::F32(values.into()),
            notation: Notation::Plain,
        }
    }

    /// A sparse numeric column.
    pub fn sparse(name: impl Into<String>, n_rows: usize, rows: Buffer<u32>, values: Buffer<f64>) -> Self {
        Column {
            name: name.into(),
            kind: ColumnKind::Numeric,
            values: Values::Sparse { n_rows, rows, values },
            notation: Notation::Plain,
        }
    }

    /// A column of codes into `levels`; [`MISSING`] is missing. Every other code must be below `levels.len()`.
    pub fn coded(
        name: impl Into<String>,
        kind: ColumnKind,
        codes: impl Into<Buffer<u32>>,
        levels: Arc<Levels>,
    ) -> Self {
        Column {
            name: name.into(),
            kind,
            values: Values::Codes { codes: codes.into(), levels },
            notation: Notation::Plain,
        }
    }

    /// A column of categories without an order; `None` is missing. The levels are sorted by name.
    pub fn nominal<S: AsRef<str>>(name: impl Into<String>, values: &[Option<S>]) -> Self {
        let mut names: Vec<&str> = values.iter().flatten().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        Column::from_levels(name.into(), ColumnKind::Nominal, values, Levels::new(names))
    }

    /// A column of ordered categories, lowest level first; `None` and unknown values are missing.
    pub fn ordinal<S: AsRef<str>>(name: impl Into<String>, values: &[Option<S>], levels: &[&str]) -> Self {
        Column::from_levels(name.into(), ColumnKind::Ordinal, values, Levels::new(levels.iter().copied()))
    }

    /// A boolean column; `None` is missing.
    pub fn boolean(name: impl Into<String>, values: &[Option<bool>]) -> Self {
        let codes: Vec<u32> = values.iter().map(|v| v.map_or(MISSING, u32::from)).collect();
        Column::coded(name, ColumnKind::Boolean, codes, Arc::new(Levels::new(["false", "true"])))
    }

    fn from_levels<S: AsRef<str>>(name: String, kind: ColumnKind, values: &[Option<S>], levels: Levels) -> Self {
        let code = |v: &Option<S>| v.as_ref().and_then(|v| levels.code(v.as_ref())).unwrap_or(MISSING);
        let codes: Vec<u32> = values.iter().map(code).collect();
        Column::coded(name, kind, codes, Arc::new(levels))
    }

    /// The same column with other values: numbers, or codes of a categorical column; NaN is missing. Codes must be valid.
    pub fn with_numbers(&self, numbers: Vec<f64>) -> Column {
        let values = match &self.values {
            Values::Codes { levels, .. } => {
                let code = |x: &f64| if x.is_nan() { MISSING } else { (*x as u32).min(levels.len() as u32 - 1) };
                Values::Codes { codes: numbers.iter().map(code).collect::<Vec<u32>>().into(), levels: levels.clone() }
            }
            _ => Values::F64(numbers.into()),
        };
        Column { name: self.name.clone(), kind: self.kind, values, notation: self.notation.clone() }
    }

    /// Converts dates from the unit of another notation to the unit of this column's notation.
    pub(crate) fn in_unit_of(self, from: &Notation) -> Column {
        match (from.in_days(), self.notation.in_days()) {
            (Some(from), Some(to)) if from != to => {
                let numbers: Vec<f64> = self.numbers(None).iter().map(|x| x * from / to).collect();
                Column { values: Values::F64(numbers.into()), ..self }
            }
            _ => self,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::F64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::Codes { codes, .. } => codes.len(),
            Values::Sparse { n_rows, .. } => *n_rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The levels of a categorical column.
    pub fn levels(&self) -> Option<&Arc<Levels>> {
        if let Values::Codes { levels, .. } = &self.values { Some(levels) } else { None }
    }

    /// The value in `row` as a number: a category is its code, missing is NaN. For loops over rows use [`numbers`](Self::numbers).
    pub fn number(&self, row: usize) -> f64 {
        match &self.values {
            Values::F64(values) => values.get(row),
            Values::F32(values) => f64::from(values.get(row)),
            Values::Codes { codes, .. } => code_number(codes.get(row)),
            Values::Sparse { rows, values, n_rows } => {
                assert!(row < *n_rows, "row {row} of {n_rows}");
                let (mut low, mut high) = (0, rows.len());
                while low < high {
                    let middle = low + (high - low) / 2;
                    if (rows.get(middle) as usize) < row { low = middle + 1 } else { high = middle }
                }
                if low < rows.len() && rows.get(low) as usize == row { values.get(low) } else { 0.0 }
            }
        }
    }

    /// All values as numbers (see [`number`](Self::number)), for the given rows in order, or for all rows.
    pub fn numbers(&self, rows: Option<&[u32]>) -> Vec<f64> {
        fn pick<T>(values: &Buffer<T>, rows: Option<&[u32]>, number: impl Fn(T) -> f64) -> Vec<f64>
        where
            T: Copy + Send + Sync + 'static,
        {
            match (rows, values.as_slice()) {
                (None, _) => values.iter().map(number).collect(),
                (Some(rows), Some(slice)) => rows.iter().map(|&r| number(slice[r as usize])).collect(),
                (Some(rows), None) => rows.iter().map(|&r| number(values.get(r as usize))).collect(),
            }
        }
        match (&self.values, rows) {
            (Values::F64(values), _) => pick(values, rows, |x| x),
            (Values::F32(values), _) => pick(values, rows, f64::from),
            (Values::Codes { codes, .. }, _) => pick(codes, rows, code_number),
            (Values::Sparse { rows: at, values, n_rows }, rows) => {
                let mut dense = vec![0.0; *n_rows];
                for (row, value) in at.iter().zip(values.iter()) {
                    dense[row as usize] = value;
                }
                rows.map_or_else(|| dense.clone(), |rows| rows.iter().map(|&r| dense[r as usize]).collect())
            }
        }
    }

    /// Copies the values of consecutive rows (of all or the given ones) as numbers, starting at position `from`; false for a sparse column.
    pub fn part_into(&self, rows: Option<&[u32]>, from: usize, out: &mut [f64]) -> bool {
        fn fill<T>(values: &Buffer<T>, rows: Option<&[u32]>, from: usize, out: &mut [f64], number: impl Fn(T) -> f64)
        where
            T: Copy + Send + Sync + 'static,
        {
            let range = from..from + out.len();
            match rows {
                None => out.iter_mut().zip(values.part(range)).for_each(|(place, x)| *place = number(x)),
                Some(rows) => {
                    out.iter_mut().zip(&rows[range]).for_each(|(place, &r)| *place = number(values.get(r as usize)));
                }
            }
        }
        match &self.values {
            Values::F64(values) => fill(values, rows, from, out, |x| x),
            Values::F32(values) => fill(values, rows, from, out, f64::from),
            Values::Codes { codes, .. } => fill(codes, rows, from, out, code_number),
            Values::Sparse { .. } => return false,
        }
        true
    }

    /// The codes of a categorical column, for the given rows in order, or for all rows; `None` for numbers.
    pub fn codes(&self, rows: Option<&[u32]>) -> Option<Vec<u32>> {
        let Values::Codes { codes, .. } = &self.values else { return None };
        Some(match rows {
            None => codes.iter().collect(),
            Some(rows) => rows.iter().map(|&r| codes.get(r as usize)).collect(),
        })
    }

    /// Number of missing values.
    pub fn n_missing(&self) -> usize {
        match &self.values {
            Values::F64(values) => values.iter().filter(|x| x.is_nan()).count(),
            Values::F32(values) => values.iter().filter(|x| x.is_nan()).count(),
            Values::Codes { codes, .. } => codes.iter().filter(|&c| c == MISSING).count(),
            Values::Sparse { values, .. } => values.iter().filter(|x| x.is_nan()).count(),
        }
    }

    /// The value in `row` as text; missing is the empty string.
    pub fn text(&self, row: usize) -> String {
        match &self.values {
            Values::Codes { codes, levels } => levels.name(codes.get(row)).unwrap_or("").to_string(),
            Values::F32(values) => {
                Some(values.get(row)).filter(|x| !x.is_nan()).map_or_else(String::new, |x| x.to_string())
            }
            _ => Some(self.number(row)).filter(|x| !x.is_nan()).map_or_else(String::new, |x| x.to_string()),
        }
    }

    /// Memory use in bytes.
    pub fn n_bytes(&self) -> usize {
        match &self.values {
            Values::F64(values) => values.len() * 8,
            Values::F32(values) => values.len() * 4,
            Values::Codes { codes, levels } => codes.len() * 4 + levels.n_bytes(),
            Values::Sparse { rows, values, .. } => rows.len() * 4 + values.len() * 8,
        }
    }
}

fn code_number(code: u32) -> f64 {
    if code == MISSING { f64::NAN } else { f64::from(code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn levels_map_names_to_their_first_code(list in proptest::collection::vec("[ab]{0,3}", 0..40)) {
            let levels = Levels::new(list.clone());
            let mut distinct: Vec<String> = Vec::new();
            list.iter().for_each(|name| if !distinct.contains(name) { distinct.push(name.clone()) });
            prop_assert_eq!(levels.names(), &distinct[..]);
            for (code, name) in distinct.iter().enumerate() {
                prop_assert_eq!(levels.code(name), Some(code as u32));
                prop_assert_eq!(levels.name(code as u32), Some(name.as_str()));
            }
            prop_assert_eq!(levels.code("c"), None);
        }
    }
}
