//! ARFF files, as Weka writes them: `@attribute` lines with names and types, and rows after `@data`, dense (`1,red,?`) or sparse (`{0 1, 3 red}`).
//!
//! Numeric attributes are numeric, strings nominal, dates are dates. A list of categories is nominal, unless all of them are numbers, which are inferred as in a CSV file. Values that a
//! sparse row doesn't list are 0, or the first category.

use super::coded_strings::CodedStrings;
use super::infer::{MissingMarkers, text_column};
use super::read::{ColumnType, ReadNote, ReadOptions, check_types, fault};
use super::source::ByteSource;
use super::{MAX_ROWS, Table};
use crate::error::Result;
use std::path::Path;

/// Reads the file at `path`.
pub fn read(path: &Path, options: &ReadOptions, notes: &mut Vec<ReadNote>) -> Result<Table> {
    read_text(&ByteSource::text_file(path, options.encoding)?.all()?, options, notes)
}

/// An attribute of the header.
struct ArffAttribute {
    name: String,
    wanted: Option<ColumnType>,
    /// The value in sparse rows that don't list the attribute.
    zero: String,
    cells: CodedStrings,
}

fn read_text(text: &[u8], options: &ReadOptions, notes: &mut Vec<ReadNote>) -> Result<Table> {
    let missing = MissingMarkers::new(&options.missing);
    let mut attributes: Vec<ArffAttribute> = Vec::new();
    let (mut in_data, mut lines) = (false, Vec::new());
    for (number, bytes) in (1u64..).zip(text.split(|&byte| byte == b'\n')) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim();
        let wrong = |message: String| fault(Some(number), None, message);
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        if in_data {
            let cells = if line.starts_with('{') { sparse(line, &attributes) } else { dense(line, attributes.len()) };
            for (attribute, cell) in attributes.iter_mut().zip(cells.map_err(wrong)?) {
                let cell = Some(cell.as_bytes()).filter(|cell| !missing.contains(cell.trim_ascii()));
                attribute.cells.push(cell);
            }
            lines.push(number);
            if lines.len() > MAX_ROWS {
                return Err(wrong(format!("the file has more than {MAX_ROWS} rows, the maximum of a table")));
            }
            continue;
        }
        match line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => attributes.push(attribute(line["@attribute".len()..].trim()).map_err(wrong)?),
            "@data" => in_data = true,
            other => return Err(wrong(format!("expected @attribute, @data or a comment, found '{other}'"))),
        }
    }
    if attributes.is_empty() || !in_data {
        return Err(fault(None, None, "no @attribute and @data lines: this is not an ARFF file"));
    }
    let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    check_types(options, &names)?;
    let line_of = |row: usize| Ok(lines.get(row).copied().unwrap_or(0));
    let mut columns = Vec::new();
    for ArffAttribute { name, wanted, cells, .. } in attributes {
        let wanted = options.types.get(&name).or(wanted.as_ref());
        if wanted != Some(&ColumnType::Ignored) {
            columns.push(text_column(&name, cells, wanted, options, notes, &line_of)?);
        }
    }
    Table::new(columns)
}

/// `name type`, where the name may be in quotes.
fn attribute(text: &str) -> Result<ArffAttribute, String> {
    let (name, rest) = token(text, &[' ', '\t']).ok_or_else(|| format!("a quote is not closed in '{text}'"))?;
    let kind = rest.trim();
    let of = |wanted: Option<ColumnType>, zero: &str| {
        Ok(ArffAttribute { name: name.clone(), wanted, zero: zero.to_string(), cells: CodedStrings::default() })
    };
    if let Some(list) = kind.strip_prefix('{').and_then(|list| list.trim_end().strip_suffix('}')) {
        let categories = cells(list)?;
        let numbers = categories.iter().all(|category| category.parse::<f64>().is_ok());
        let first = categories.first().cloned().unwrap_or_default();
        return of((!numbers).then_some(ColumnType::Nominal), &first);
    }
    match kind.split_whitespace().next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => of(Some(ColumnType::Numeric), "0"),
        "string" => of(Some(ColumnType::Nominal), ""),
        "date" => of(Some(ColumnType::Date), ""),
        other => {
            Err(format!("attribute '{name}' is of type '{other}', expected numeric, string, date or {{a, b, ...}}"))
        }
    }
}

fn dense(line: &str, n: usize) -> Result<Vec<String>, String> {
    let cells = cells(line)?;
    match cells.len() == n {
        true => Ok(cells),
        false => Err(format!("expected {n} cells, one per attribute, but found {}", cells.len())),
    }
}

/// `{index value, index value}`, indexed from 0.
fn sparse(line: &str, attributes: &[ArffAttribute]) -> Result<Vec<String>, String> {
    let inner = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.ok_or("a sparse row starts with { and ends with }")?;
    let mut row: Vec<String> = attributes.iter().map(|attribute| attribute.zero.clone()).collect();
    if inner.trim().is_empty() {
        return Ok(row);
    }
    for entry in cells(inner)? {
        let (index, value) =
            entry.split_once([' ', '\t']).ok_or_else(|| format!("'{entry}' is not an index and a value"))?;
        let place: usize = index.parse().map_err(|_| format!("'{index}' is not an index"))?;
        let n = row.len();
        let slot =
            row.get_mut(place).ok_or_else(|| format!("index {place} is out of range (there are {n} attributes)"))?;
        *slot = value.trim().trim_matches(['\'', '"']).to_string();
    }
    Ok(row)
}

/// Cells between commas, without quotes around them.
fn cells(text: &str) -> Result<Vec<String>, String> {
    let (mut cells, mut rest) = (Vec::new(), text);
    loop {
        let (cell, after) = token(rest, &[',']).ok_or_else(|| format!("a quote is not closed in '{text}'"))?;
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Ok(cells),
        }
    }
}

/// The text up to one of these characters, without quotes, and the rest starting at that character; `None` if a quote is not closed.
fn token<'t>(text: &'t str, ends: &[char]) -> Option<(String, &'t str)> {
    let text = text.trim_start();
    let Some(quote) = text.chars().next().filter(|c| ['\'', '"'].contains(c)) else {
        let end = text.find(ends).unwrap_or(text.len());
        return Some((text[..end].trim_end().to_string(), &text[end..]));
    };
    let (mut cell, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => {
                cell.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => return Some((cell, text[at + 1..].trim_start())),
            c => cell.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnKind;

    fn read_str(text: &str) -> Result<Table> {
        read_text(text.as_bytes(), &ReadOptions::default(), &mut Vec::new())
    }

    #[test]
    fn dense_and_sparse_rows_are_parsed() {
        let header = "% a comment\n@RELATION r\n@attribute x REAL\n@attribute 'my color' {red, 'light blue'}\n@attribute n {0,1}\n@DATA\n";
        let table = read_str(&format!("{header}1.5,'light blue',1\n?,red,0\n{{0 2, 2 1}}\n{{ }}\n")).unwrap();
        assert_eq!(table.names(), ["x", "my color", "n"]);
        let x = table.column("x").unwrap().numbers(None);
        assert!(x[0] == 1.5 && x[1].is_nan() && x[2] == 2.0 && x[3] == 0.0);
        let color = table.column("my color").unwrap();
        assert_eq!((0..4).map(|row| color.text(row)).collect::<Vec<_>>(), ["light blue", "red", "red", "red"]);
        assert_eq!(table.column("n").unwrap().kind, ColumnKind::Numeric);
        assert_eq!(table.column("n").unwrap().numbers(None), [1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn errors_contain_the_line() {
        let message = |text: &str| read_str(text).unwrap_err().to_string();
        assert!(
            message("@attribute x real\n@data\n1,2\n")
                .contains("line 3: expected 1 cells, one per attribute, but found 2")
        );
        assert!(message("@attribute x real\n@data\n{4 1}\n").contains("index 4 is out of range"));
        assert!(message("@attribute x color\n@data\n").contains("type 'color'"));
        assert!(message("a,b\n1,2\n").contains("line 1: expected @attribute"));
        assert!(message("@attribute 'x real\n").contains("quote is not closed"));
        assert!(message("").contains("not an ARFF file"));
    }
}
