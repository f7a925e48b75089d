//! Files written by the Arrow writers, intact and damaged.

use super::*;
use crate::table::scratch::ScratchFile;
use crate::table::{Column, ColumnKind, MISSING};
use arrow_array::types::*;
use arrow_array::*;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::Field;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::sync::Arc;

fn ipc_bytes(batch: &RecordBatch, piece_rows: usize, stream: bool) -> Vec<u8> {
    let pieces =
        (0..batch.num_rows()).step_by(piece_rows).map(|at| batch.slice(at, piece_rows.min(batch.num_rows() - at)));
    let mut bytes = Vec::new();
    if stream {
        let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        pieces.for_each(|piece| writer.write(&piece).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        pieces.for_each(|piece| writer.write(&piece).unwrap());
        writer.finish().unwrap();
    }
    bytes
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

#[test]
fn every_supported_type_is_converted_as_documented() {
    let words: DictionaryArray<Int8Type> = vec![Some("b"), None, Some("a")].into_iter().collect();
    let batch = batch(vec![
        ("int", Arc::new(Int64Array::from(vec![Some(-3), None, Some(5)]))),
        ("single", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(2.0)]))),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(LargeStringArray::from(vec![Some("z"), None, Some("y")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("z"), None, Some("a string longer than twelve bytes")]))),
        ("words", Arc::new(words)),
        ("date", Arc::new(Date32Array::from(vec![Some(1), None, Some(-1)]))),
        ("when", Arc::new(TimestampMillisecondArray::from(vec![Some(1500), None, Some(0)]))),
        (
            "price",
            Arc::new(Decimal128Array::from(vec![Some(1999), None, Some(-5)]).with_precision_and_scale(10, 2).unwrap()),
        ),
        ("empty", Arc::new(NullArray::new(3))),
    ]);
    for (ending, bytes) in [("arrow", ipc_bytes(&batch, 2, false)), ("arrow", ipc_bytes(&batch, 2, true))] {
        let file = ScratchFile::new(ending, &bytes);
        let table = Table::read(&file.0).unwrap();
        let number = |name: &str, row| table.column(name).unwrap().number(row);
        assert_eq!((number("int", 0), number("int", 2)), (-3.0, 5.0));
        assert!(matches!(table.column("single").unwrap().values, crate::table::Values::F32(_)));
        assert_eq!(number("single", 0), f64::from(0.1f32));
        assert_eq!(table.column("truth").unwrap().codes(None).unwrap(), [1, MISSING, 0]);
        assert_eq!(table.column("text").unwrap().levels().unwrap().names(), ["y", "z"]);
        assert_eq!(table.column("view").unwrap().text(2), "a string longer than twelve bytes");
        assert_eq!(table.column("words").unwrap().codes(None).unwrap(), [1, MISSING, 0]);
        assert_eq!((number("date", 0), number("when", 0), number("price", 0)), (1.0, 1.5, 19.99));
        assert!(table.columns().iter().all(|column| column.n_missing() == if column.name == "empty" { 3 } else { 1 }));
    }
}

#[test]
fn an_unsupported_type_is_an_error_unless_ignored() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let batch = batch(vec![("x", Arc::new(Int32Array::from(vec![1, 2]))), ("tags", Arc::new(lists))]);
    for stream in [false, true] {
        let file = ScratchFile::new("arrow", &ipc_bytes(&batch, 2, stream));
        let message = Table::read(&file.0).unwrap_err().to_string();
        assert!(message.contains("column 'tags'") && message.contains("List"), "{message}");
        let mut options = ReadOptions::default();
        options.types.insert("tags".into(), ColumnType::Ignored);
        options.types.insert("x".into(), ColumnType::Nominal);
        let table = Table::read_with(&file.0, &options).unwrap();
        assert_eq!((table.names(), table.columns()[0].kind), (vec!["x"], ColumnKind::Nominal));
        options.types.insert("y".into(), ColumnType::Numeric);
        assert!(matches!(Table::read_with(&file.0, &options), Err(Error::Unknown { .. })));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_do_not_depend_on_batches_or_format(numbers in vec(of(any::<f64>()), 1..40), picks in vec(of(0usize..5), 40), rows in 1usize..12) {
        let names = ["e", "b", "ü", "", "NA"];
        let words: Vec<Option<&str>> = picks[..numbers.len()].iter().map(|pick| pick.map(|k| names[k])).collect();
        let dictionary: DictionaryArray<UInt16Type> = words.iter().copied().collect();
        let batch = batch(vec![
            ("x", Arc::new(Float64Array::from(numbers.clone()))),
            ("w", Arc::new(StringArray::from(words.clone()))),
            ("d", Arc::new(dictionary)),
        ]);
        let oracle = Column::nominal("w", &words);
        let files = [false, true].map(|stream| ScratchFile::new("arrow", &ipc_bytes(&batch, rows, stream)));
        for file in &files {
            let table = Table::read(&file.0).unwrap();
            let bits: Vec<Option<u64>> = table.columns()[0].numbers(None).into_iter().map(|x| (!x.is_nan()).then_some(x.to_bits())).collect();
            prop_assert_eq!(bits, numbers.iter().map(|x| x.filter(|x| !x.is_nan()).map(f64::to_bits)).collect::<Vec<_>>());
            for column in &table.columns()[1..] {
                prop_assert_eq!(column.codes(None), oracle.codes(None));
                prop_assert_eq!(column.levels(), oracle.levels());
            }
        }
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0usize..4000, flip in 1u8..=255, cut in any::<bool>(), stream in any::<bool>()) {
        let words: Vec<Option<&str>> = (0..50).map(|i| [Some("a"), None, Some("bcd")][i % 3]).collect();
        let dictionary: DictionaryArray<Int8Type> = words.iter().copied().collect();
        let batch = batch(vec![("x", Arc::new(Float64Array::from_iter_values((0..50).map(f64::from)))), ("w", Arc::new(StringArray::from(words))), ("d", Arc::new(dictionary))]);
        let mut bytes = ipc_bytes(&batch, 50, stream);
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
        let file = ScratchFile::new("arrow", &bytes);
        let _ = Table::read(&file.0);
    }
}

/// Compressed batches, in a file or a stream.
fn compressed(stream: bool, codec: arrow_ipc::CompressionType) -> Vec<u8> {
    let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i % 10)).collect();
    let batch = batch(vec![
        ("x", Arc::new(Float64Array::from(numbers))),
        ("w", Arc::new(StringArray::from_iter_values((0..1000).map(|i| format!("word {}", i % 7))))),
    ]);
    let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
    let mut bytes = Vec::new();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

const CODECS: [arrow_ipc::CompressionType; 2] =
    [arrow_ipc::CompressionType::LZ4_FRAME, arrow_ipc::CompressionType::ZSTD];

/// The decoder allocates the stated length of a buffer; terabytes would end the process.
#[test]
fn a_buffer_that_states_terabytes_is_an_error() {
    for (stream, codec) in [false, true].into_iter().flat_map(|stream| CODECS.map(|codec| (stream, codec))) {
        let bytes = compressed(stream, codec);
        assert_eq!(Table::read(&ScratchFile::new("arrow", &bytes).0).unwrap().n_rows(), 1000);
        let claims: Vec<usize> =
            (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == 8000u64.to_le_bytes()).collect();
        let mut refused = 0;
        for at in claims {
            for claim in [1i64 << 45, i64::MAX, i64::MIN, -2] {
                let mut hostile = bytes.clone();
                hostile[at..at + 8].copy_from_slice(&claim.to_le_bytes());
                refused += usize::from(Table::read(&ScratchFile::new("arrow", &hostile).0).is_err());
            }
        }
        assert!(refused >= 4, "stream: {stream}, {codec:?}: no claim was found");
    }
}

#[test]
fn damaged_compressed_files_never_panic() {
    for (stream, codec) in [false, true].into_iter().flat_map(|stream| CODECS.map(|codec| (stream, codec))) {
        let bytes = compressed(stream, codec);
        for at in 0..bytes.len() {
            for change in [0xff, 0x80, 0x01] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                let _ = Table::read(&ScratchFile::new("arrow", &damaged).0);
            }
        }
    }
}
