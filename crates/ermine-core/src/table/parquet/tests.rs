//! Files written by pyarrow (`tools/golden_parquet.py`), files written here, and damaged files.

use super::*;
use crate::table::scratch::ScratchFile;
use crate::table::{Column, ColumnKind, MISSING, Values};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/parquet").join(name)
}

/// A list in a page header states two billion entries: skipping them took hours.
#[test]
fn an_endless_page_header_is_an_error() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/endless_page_header.parquet");
    let message = Table::read(file).unwrap_err().to_string();
    assert!(message.contains("not readable as Parquet"), "{message}");
}

#[test]
fn every_supported_type_is_read_in_every_codec_and_page_format() {
    for name in ["none", "snappy", "gzip", "zstd", "lz4", "pages2"] {
        let table = Table::read(golden(&format!("{name}.parquet"))).unwrap();
        let ends = |column: &str| {
            let column = table.column(column).unwrap();
            (column.number(0), column.number(2))
        };
        let codes = |column: &str| table.column(column).unwrap().codes(None).unwrap();
        let levels = |column: &str| table.column(column).unwrap().levels().unwrap().names().to_vec();
        assert_eq!(ends("i8"), (-3.0, 5.0));
        assert_eq!(ends("u32"), (4e9, 1.0));
        assert_eq!(ends("i64"), (-3.0, 9_007_199_254_740_992.0));
        assert_eq!(ends("u64"), (9_223_372_036_854_775_808.0, 1.0));
        assert_eq!(ends("f16"), (-1.5, 2f64.powi(-24)));
        assert_eq!(ends("f32"), (f64::from(0.1f32), 2.0));
        assert_eq!(ends("f64"), (0.1, f64::NEG_INFINITY));
        assert!(["f16", "f32"].iter().all(|name| matches!(table.column(name).unwrap().values, Values::F32(_))));
        assert_eq!((codes("truth"), table.column("truth").unwrap().kind), (vec![1, MISSING, 0], ColumnKind::Boolean));
        assert_eq!((codes("text"), levels("text")), (vec![0, MISSING, 1], vec!["z".into(), "ü".to_string()]));
        assert_eq!((codes("large"), codes("dictionary")), (vec![1, MISSING, 0], vec![1, MISSING, 0]));
        assert_eq!(ends("date"), (1.0, -1.0));
        assert_eq!((ends("ms"), ends("ns")), ((1.5, 0.0), (1.5, 0.0)));
        assert_eq!((ends("us"), ends("time")), ((3600.0, 86_400.0), (60.5, 3600.0)));
        assert_eq!((ends("price"), ends("wide")), ((19.99, -0.05), (-12345678901234567890.5, 0.1)));
        let (high, low) = ends("huge");
        assert!((high / 1e60 - 1.0).abs() < 1e-15 && (low / -1e60 - 1.0).abs() < 1e-15, "{high} {low}");
        assert!(
            table.columns().iter().all(|column| column.n_missing() == if column.name == "nothing" { 3 } else { 1 })
        );
    }
    let table = Table::read(golden("int96.parquet")).unwrap();
    assert_eq!((table.column("us").unwrap().number(2), table.column("ms").unwrap().number(0)), (86_400.0, 1.5));
}

#[test]
fn an_unsupported_type_is_an_error_unless_ignored() {
    let path = golden("nested.parquet");
    let mut options = ReadOptions::default();
    for (column, kind) in [("tags", "List"), ("point", "Struct"), ("raw", "BYTE_ARRAY")] {
        let message = Table::read_with(&path, &options).unwrap_err().to_string();
        assert!(message.contains(&format!("column '{column}'")) && message.contains(kind), "{message}");
        options.types.insert(column.into(), ColumnType::Ignored);
    }
    options.types.insert("x".into(), ColumnType::Nominal);
    let table = Table::read_with(&path, &options).unwrap();
    assert_eq!((table.names(), table.columns()[0].kind), (vec!["x"], ColumnKind::Nominal));
    options.types.insert("y".into(), ColumnType::Numeric);
    assert!(matches!(Table::read_with(&path, &options), Err(Error::Unknown { .. })));
}

/// A file with a numeric column `x` and a text column `w`, in row groups of `rows` rows.
fn file_of(numbers: &[Option<f64>], words: &[Option<&[u8]>], rows: usize) -> Vec<u8> {
    let schema = "message schema { optional double x; optional binary w (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    for (numbers, words) in numbers.chunks(rows).zip(words.chunks(rows)) {
        let mut group = writer.next_row_group().unwrap();
        let levels: Vec<i16> = numbers.iter().map(|x| i16::from(x.is_some())).collect();
        let values: Vec<f64> = numbers.iter().flatten().copied().collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let levels: Vec<i16> = words.iter().map(|x| i16::from(x.is_some())).collect();
        let values: Vec<ByteArray> = words.iter().flatten().map(|word| ByteArray::from(word.to_vec())).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

#[test]
fn invalid_utf8_is_an_error_with_the_column() {
    let file = ScratchFile::new("parquet", &file_of(&[None, None], &[Some(b"a"), Some(b"\xff")], 2));
    let message = Table::read(&file.0).unwrap_err().to_string();
    assert!(message.contains("column 'w'") && message.contains("UTF-8"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_do_not_depend_on_row_groups(numbers in vec(of(any::<f64>()), 1..40), picks in vec(of(0usize..5), 40), rows in 1usize..12) {
        let names = ["e", "b", "ü", "", "NA"];
        let words: Vec<Option<&str>> = picks[..numbers.len()].iter().map(|pick| pick.map(|k| names[k])).collect();
        let bytes: Vec<Option<&[u8]>> = words.iter().map(|word| word.map(str::as_bytes)).collect();
        let oracle = Column::nominal("w", &words);
        // The format is detected from the first bytes, not from the name.
        let file = ScratchFile::new("data", &file_of(&numbers, &bytes, rows));
        let table = Table::read(&file.0).unwrap();
        let bits: Vec<Option<u64>> = table.columns()[0].numbers(None).into_iter().map(|x| (!x.is_nan()).then_some(x.to_bits())).collect();
        prop_assert_eq!(bits, numbers.iter().map(|x| x.filter(|x| !x.is_nan()).map(f64::to_bits)).collect::<Vec<_>>());
        prop_assert_eq!(table.columns()[1].codes(None), oracle.codes(None));
        prop_assert_eq!(table.columns()[1].levels(), oracle.levels());
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0usize..40_000, flip in 1u8..=255, cut in any::<bool>(), name in 0usize..3) {
        let mut bytes = std::fs::read(golden(["none.parquet", "zstd.parquet", "pages2.parquet"][name])).unwrap();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
        let file = ScratchFile::new("parquet", &bytes);
        let _ = Table::read(&file.0);
    }

    #[test]
    fn decimals_up_to_38_digits_are_correctly_rounded(value in any::<i128>(), shift in 0u32..128, scale in 0i32..20) {
        let value = value >> shift;
        let truth: f64 = format!("{value}e-{scale}").parse().unwrap();
        prop_assert_eq!(long_decimal(&value.to_be_bytes(), scale), truth);
        // More bytes of the same number.
        let sign = if value < 0 { 0xff } else { 0u8 };
        let long: Vec<u8> = [sign; 5].into_iter().chain(value.to_be_bytes()).collect();
        prop_assert!((long_decimal(&long, scale) - truth).abs() <= 1e-15 * truth.abs());
    }
}
