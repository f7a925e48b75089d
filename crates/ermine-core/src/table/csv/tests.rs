//! The CSV reader compared with the `csv` crate, with itself for other block sizes and threads, and on invalid input.

use super::*;
use crate::table::{ColumnKind, MISSING, Values};
use proptest::collection::vec;
use proptest::prelude::*;

fn read_blocks(text: &[u8], options: &ReadOptions, block_bytes: usize) -> Result<Table> {
    read_source(&ByteSource::bytes(text), options, block_bytes, &mut Vec::new())
}

fn read_text(text: &str) -> Result<Table> {
    read_blocks(text.as_bytes(), &ReadOptions::default(), 1 << 19)
}

fn with_types(types: &[(&str, &str)]) -> ReadOptions {
    let types = types.iter().map(|(name, kind)| (name.to_string(), ColumnType::parse(kind).unwrap()));
    ReadOptions { types: types.collect(), ..ReadOptions::default() }
}

fn message(text: &str, options: &ReadOptions) -> String {
    read_blocks(text.as_bytes(), options, 1 << 19).unwrap_err().to_string()
}

fn kinds(table: &Table) -> Vec<ColumnKind> {
    table.columns().iter().map(|column| column.kind).collect()
}

/// The contents of a table in a comparable form: NaN by its bits, levels by name.
fn facts(table: &Table) -> Vec<(String, ColumnKind, Vec<String>, Vec<u64>)> {
    let fact = |column: &Column| {
        let levels = column.levels().map(|levels| levels.names().to_vec()).unwrap_or_default();
        let bits = match &column.values {
            Values::Codes { codes, .. } => codes.iter().map(u64::from).collect(),
            _ => column.numbers(None).into_iter().map(f64::to_bits).collect(),
        };
        (column.name.clone(), column.kind, levels, bits)
    };
    table.columns().iter().map(fact).collect()
}

#[test]
fn kinds_are_inferred_from_all_cells() {
    let table =
        read_text("n,b,w,m,x\n1,true,red,,1\n-.5,FALSE, 2 ,NA,true\n?,,blue,?,inf\n1e3,True,NA,,-inf\n").unwrap();
    use ColumnKind::{Boolean, Nominal, Numeric};
    assert_eq!(kinds(&table), [Numeric, Boolean, Nominal, Numeric, Nominal]);
    assert_eq!(table.columns()[0].numbers(None)[..2], [1.0, -0.5]);
    assert_eq!(table.columns()[0].n_missing(), 1);
    assert_eq!(table.columns()[1].codes(None).unwrap(), [1, 0, MISSING, 1]);
    assert_eq!(table.columns()[2].levels().unwrap().names(), ["2", "blue", "red"]);
    assert_eq!(table.columns()[3].n_missing(), 4);
}

#[test]
fn a_late_text_cell_makes_a_column_nominal() {
    let mut text = String::from("x,y\n");
    (0..60_000).for_each(|i| text.push_str(&format!("{}.0,{i}\n", i % 7)));
    text.push_str("abc,5\n");
    let table = read_text(&text).unwrap();
    assert_eq!(kinds(&table), [ColumnKind::Nominal, ColumnKind::Numeric]);
    assert_eq!(table.columns()[0].levels().unwrap().names(), ["0.0", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "abc"]);
    assert_eq!((table.columns()[0].text(8), table.columns()[0].text(60_000)), ("1.0".into(), "abc".into()));
}

#[test]
fn types_can_be_declared() {
    let text = "zip,size,grade,flag,rest\n01,small,10,yes,x\n1,large,9,0,y\n01,,10,,z\n";
    let types = [
        ("zip", "nominal"),
        ("size", "ordinal:small<medium<large"),
        ("grade", "ordinal"),
        ("flag", "boolean"),
        ("rest", "ignored"),
    ];
    let table = read_blocks(text.as_bytes(), &with_types(&types), 1 << 19).unwrap();
    assert_eq!(table.names(), ["zip", "size", "grade", "flag"]);
    assert_eq!(table.columns()[0].levels().unwrap().names(), ["01", "1"]);
    assert_eq!(table.columns()[1].codes(None).unwrap(), [0, 2, MISSING]);
    assert_eq!(table.columns()[2].levels().unwrap().names(), ["9", "10"]);
    assert_eq!(table.columns()[3].codes(None).unwrap(), [1, 0, MISSING]);
}

#[test]
fn errors_contain_line_column_and_expectation() {
    let plain = ReadOptions::default();
    let numeric = with_types(&[("b", "numeric")]);
    let cases = [
        ("", &plain, "the file is empty"),
        (" \n\r\n", &plain, "the file is empty"),
        ("a,b\n1,2\n\n3\n", &plain, "line 4: 1 cell in this row, expected 2"),
        ("a,b\n1,2,3\n", &plain, "line 2: 3 cells in this row, expected 2"),
        ("a,b\n\"1\n\n\",2\n3,4,5\n", &plain, "line 5: 3 cells"),
        ("a,b\n1,2\n3,\"x\n\n", &plain, "line 3: a quote opens a cell here"),
        ("a,b\n\"1\" x,2\n", &plain, "line 2: 'x' after a closing quote"),
        ("a,b\n1,2\n3,old\n", &numeric, "line 3, column 'b': 'old' is not a number"),
        (
            "a,b\n1,small\n2,huge\n",
            &with_types(&[("b", "ordinal:small<large")]),
            "line 3, column 'b': 'huge' is not one of the levels small < large",
        ),
        (
            "a,b\n1,true\n2,maybe\n",
            &with_types(&[("b", "boolean")]),
            "line 3, column 'b': 'maybe' is neither true nor false",
        ),
        ("age,b\n1,2\n", &with_types(&[("agee", "numeric")]), "no column named 'agee': did you mean 'age'?"),
        ("a,b,a\n1,2,3\n", &plain, "line 1, column 'a': columns 1 and 3 have the same name"),
        ("a\rb\rc", &plain, "carriage returns"),
        ("a\n1\n", &with_types(&[("a", "ignored")]), "all columns are ignored"),
    ];
    for (text, options, expected) in cases {
        let found = message(text, options);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
    let latin = read_blocks(b"a,b\n1,x\n2,caf\xe9\n", &plain, 1 << 19).unwrap_err().to_string();
    assert!(latin.contains("line 3, column 'b'") && latin.contains("UTF-8"), "{latin}");
    assert!(read_blocks(b"\xff\xfea\0", &plain, 64).unwrap_err().to_string().contains("UTF-16"));
}

#[test]
fn headers_byte_order_marks_and_delimiters_are_detected() {
    for text in ["\u{feff}a,b\r\n1,\"x;y\"\r\n", "a;b\n1;x,y\n", "a\tb\n1\tx,y;z"] {
        let table = read_text(text).unwrap();
        assert_eq!(table.names(), ["a", "b"], "{text:?}");
        assert_eq!(table.column("a").unwrap().number(0), 1.0, "{text:?}");
    }
    assert_eq!(read_text("a,,b, \n1,2,3,4\n").unwrap().names(), ["a", "c1", "b", "c3"]);
    let bare = ReadOptions { header: false, ..ReadOptions::default() };
    assert_eq!(read_blocks(b"1,2\n3,4\n", &bare, 4).unwrap().names(), ["c0", "c1"]);
    let bar = ReadOptions { delimiter: Some(b'|'), ..ReadOptions::default() };
    assert_eq!(read_blocks(b"a|b,c\n1|2\n", &bar, 64).unwrap().names(), ["a", "b,c"]);
    for delimiter in [b'"', b'1', b'.', b'\n', 0xc3] {
        let wrong = ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() };
        assert!(read_blocks(b"a\n1\n", &wrong, 64).is_err());
    }
    assert_eq!(read_text("a,b\n").unwrap().n_rows(), 0);
}

#[test]
fn a_missing_value_marker_may_look_like_a_number() {
    let options = ReadOptions { missing: vec!["-999".into()], ..ReadOptions::default() };
    let table = read_blocks(b"a,b\n1,x\n-999,\n\" -999 \",y\n", &options, 64).unwrap();
    assert_eq!(table.columns()[0].n_missing(), 2);
    assert_eq!(table.columns()[1].levels().unwrap().names(), ["", "x", "y"]);
    let table = read_blocks(b"a,b\nnan,1\n1,2\n", &options, 64).unwrap();
    assert_eq!(table.columns()[0].levels().unwrap().names(), ["1", "nan"]);
}

/// Cells with all difficulties of CSV.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c,;\t\"\n\r é]{0,6}",
        "-?[0-9]{1,3}(\\.[0-9]{1,2})?",
        "true|FALSE",
        "NA|\\?|",
        " {0,2}[0-9a-b]{1,2} {0,2}"
    ]
}

fn grid() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1usize..5, 0usize..9).prop_flat_map(|(width, height)| vec(vec(cell(), width), height))
}

/// A header `h0,h1,...` and the rows, as written by the `csv` crate.
fn written(grid: &[Vec<String>], width: usize, delimiter: u8, crlf: bool, always_quote: bool) -> Vec<u8> {
    let style = if always_quote { ::csv::QuoteStyle::Always } else { ::csv::QuoteStyle::Necessary };
    let end = if crlf { ::csv::Terminator::CRLF } else { ::csv::Terminator::Any(b'\n') };
    let mut writer =
        ::csv::WriterBuilder::new().delimiter(delimiter).terminator(end).quote_style(style).from_writer(Vec::new());
    writer.write_record((0..width).map(|j| format!("h{j}"))).unwrap();
    grid.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.into_inner().unwrap()
}

proptest! {
    #[test]
    fn cells_equal_those_of_the_csv_crate(grid in grid(), tab in any::<bool>(), crlf in any::<bool>(), quote in any::<bool>(), size in 1usize..64) {
        let width = grid.first().map_or(1, Vec::len);
        let delimiter = if tab { b'\t' } else { b',' };
        let text = written(&grid, width, delimiter, crlf, quote);
        let types = (0..width).map(|j| (format!("h{j}"), ColumnType::Nominal)).collect();
        let options = ReadOptions { types, delimiter: Some(delimiter), missing: vec!["NA".into()], ..Default::default() };
        let table = read_blocks(&text, &options, size).unwrap();
        // Unlike the csv crate, we skip lines that contain only blanks.
        let mut oracle = ::csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&text[..]);
        let blank = |c: char| matches!(c, ' ' | '\t' | '\r') && c != char::from(delimiter);
        let unquoted_blank_line = |r: &::csv::StringRecord| width == 1 && !quote && r[0].chars().all(blank) && !r[0].contains('\r') && !r[0].is_empty();
        let rows: Vec<_> = oracle.records().map(|r| r.unwrap()).filter(|r| !unquoted_blank_line(r)).collect();
        prop_assert_eq!(table.n_rows(), rows.len());
        for (i, row) in rows.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let found = table.columns()[j].text(i);
                let in_quotes = quote || cell.contains(['"', '\n', '\r', char::from(delimiter)]);
                let expected = if cell.trim_ascii() == "NA" { "" } else if in_quotes { cell } else { cell.trim_matches(blank) };
                prop_assert_eq!(&found, expected, "row {} column {} of {:?}", i, j, String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn tables_do_not_depend_on_block_size_or_threads(grid in grid(), crlf in any::<bool>(), quote in any::<bool>()) {
        let width = grid.first().map_or(1, Vec::len);
        let text = written(&grid, width, b',', crlf, quote);
        let whole = read_blocks(&text, &ReadOptions::default(), 1 << 19).unwrap();
        for size in 1..=text.len() + 1 {
            let table = read_blocks(&text, &ReadOptions::default(), size).unwrap();
            prop_assert_eq!(facts(&table), facts(&whole), "block size {}", size);
        }
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        for n in [1, 3] {
            let table = pool(n).install(|| read_blocks(&text, &ReadOptions::default(), 5)).unwrap();
            prop_assert_eq!(facts(&table), facts(&whole), "{} threads", n);
        }
    }

    #[test]
    fn errors_do_not_depend_on_block_size_or_threads(text in "[a1\",\n ]{0,60}") {
        let text = format!("a,b\n{text}");
        let of = |table: Result<Table>| table.map(|table| facts(&table)).map_err(|e| e.to_string());
        let whole = of(read_text(&text));
        for size in [1, 2, 3, 7, 20] {
            prop_assert_eq!(&of(read_blocks(text.as_bytes(), &ReadOptions::default(), size)), &whole, "block size {}", size);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        prop_assert_eq!(of(pool.install(|| read_blocks(text.as_bytes(), &ReadOptions::default(), 3))), whole);
    }

    #[test]
    fn no_bytes_make_it_panic(text in vec(prop_oneof![any::<u8>(), proptest::sample::select(b"\",;\t\n\r 1.e-a".to_vec())], 0..200), size in 1usize..40, header in any::<bool>()) {
        let options = ReadOptions { header, ..ReadOptions::default() };
        let _ = read_blocks(&text, &options, size);
        let _ = read_blocks(&text, &with_types(&[("a", "numeric")]), size);
    }

    #[test]
    fn a_written_table_reads_back(
        numbers in vec(any::<f64>(), 1..12), single in vec(any::<f32>(), 12), picks in vec(proptest::option::of(0usize..4), 12),
        names in proptest::sample::subsequence(vec!["a b", " a", "x,y", "\"", "z\n", "é;", "\u{feff}q", "two\r\nlines", "w\t"], 4), size in 1usize..50,
    ) {
        let n = numbers.len();
        let words: Vec<Option<&str>> = picks[..n].iter().map(|pick| pick.map(|k| names[k])).collect();
        let truths: Vec<Option<bool>> = picks[..n].iter().map(|pick| pick.map(|k| k > 1)).collect();
        let sparse_rows: Vec<u32> = (0..n as u32).step_by(2).collect();
        let sparse_values: Vec<f64> = sparse_rows.iter().map(|&r| numbers[r as usize]).collect();
        let table = Table::new(vec![
            Column::numeric("x", numbers.clone()),
            Column::nominal("a, \"b\"", &words),
            Column::boolean("t", &truths),
            Column::numeric_f32("s", single[..n].to_vec()),
            Column::sparse(" sparse ", n, sparse_rows.into(), sparse_values.into()),
        ]).unwrap();
        let mut text = Vec::new();
        table.write_csv_to(&mut text).unwrap();
        let options = with_types(&[("a, \"b\"", "nominal"), ("t", "boolean")]);
        let back = read_blocks(&text, &options, size).unwrap();
        prop_assert_eq!(back.names(), table.names());
        let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        for (i, &one) in single[..n].iter().enumerate() {
            for j in [0, 4] {
                prop_assert_eq!(bits(back.columns()[j].number(i)), bits(table.columns()[j].number(i)));
            }
            for j in [1, 2] {
                prop_assert_eq!(back.columns()[j].text(i), table.columns()[j].text(i));
            }
            prop_assert_eq!(bits((back.columns()[3].number(i) as f32).into()), bits(one.into()));
        }
        for column in table.columns() {
            let alone = Table::new(vec![column.clone()]).unwrap();
            let mut text = Vec::new();
            alone.write_csv_to(&mut text).unwrap();
            prop_assert_eq!(read_blocks(&text, &ReadOptions::default(), size).unwrap().n_rows(), n);
        }
    }
}

#[test]
fn files_are_replaced_atomically_and_read_by_extension() {
    let folder = std::env::temp_dir().join(format!("ermine-csv-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let table = read_text("a,b\n1,x\n2,y\n").unwrap();
    for name in ["t.csv", "t.csv.gz"] {
        let path = folder.join(name);
        std::fs::write(&path, "old").unwrap();
        table.write_csv(&path).unwrap();
        assert_eq!(facts(&Table::read(&path).unwrap()), facts(&table));
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "no partial file stays");
    let message = Table::read(&folder).unwrap_err().to_string();
    assert!(message.contains("directory"), "{message}");
    std::fs::write(folder.join("p.csv.gz"), "a,b\n1,2\n").unwrap();
    let message = Table::read(folder.join("p.csv.gz")).unwrap_err().to_string();
    assert!(message.contains("not a gzip file") && message.contains("p.csv.gz"), "{message}");
    assert!(matches!(Table::read(folder.join("none.csv")), Err(Error::Io { .. })));
    assert!(matches!(table.write_csv(folder.join("none/t.csv")), Err(Error::Io { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}
