//! Frames imported through the C interfaces, compared with the original arrays.

use super::*;
use crate::table::MISSING;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

type TestColumns = Vec<(Field, ArrayRef)>;

fn batch(columns: &TestColumns) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(field, _)| field.clone()).collect();
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn plain(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), true), array)
}

/// Imports through a stream, in batches of `rows` rows.
fn streamed(batch: &RecordBatch, rows: usize) -> Result<Frame> {
    let n = batch.num_rows();
    let pieces: Vec<_> = (0..n).step_by(rows).map(|at| Ok(batch.slice(at, rows.min(n - at)))).collect();
    let mut stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(pieces, batch.schema())));
    // SAFETY: the stream is ours, and valid.
    unsafe { Frame::from_stream((&raw mut stream).cast()) }.map(Option::unwrap)
}

/// Imports as one array.
fn handed(batch: &RecordBatch) -> Result<Frame> {
    let data = StructArray::from(batch.clone()).into_data();
    let mut array = FFI_ArrowArray::new(&data);
    let mut schema = FFI_ArrowSchema::try_from(batch.schema().as_ref()).unwrap();
    // SAFETY: both are ours, and valid.
    unsafe { Frame::from_array((&raw mut schema).cast(), (&raw mut array).cast()) }.map(Option::unwrap)
}

#[test]
fn contiguous_numbers_are_not_copied() {
    let (double, single) = (Float64Array::from(vec![1.0, 2.0, 3.0]), Float32Array::from(vec![1.0, 2.0, 3.0]));
    let places = (double.values().as_ptr(), single.values().as_ptr());
    let batch = batch(&vec![plain("d", Arc::new(double)), plain("s", Arc::new(single))]);
    for frame in [streamed(&batch, 3), handed(&batch)] {
        let table = frame.unwrap().table().unwrap();
        let (Values::F64(d), Values::F32(s)) = (&table.columns()[0].values, &table.columns()[1].values) else {
            panic!()
        };
        assert_eq!((d.as_ptr(), s.as_ptr()), places);
    }
    let later = streamed(&batch, 3).unwrap().table().unwrap();
    drop(batch);
    assert_eq!(later.columns()[1].numbers(None), [1.0, 2.0, 3.0]);
}

#[test]
fn dictionaries_are_categories_and_ordered_ones_keep_their_order() {
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("low"), Some("mid"), None, Some("high")]));
    let words = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![Some(3), None, Some(0), Some(2)]), values);
    let numbers =
        DictionaryArray::<Int32Type>::new(Int32Array::from(vec![0, 1, 1, 0]), Arc::new(Int64Array::from(vec![30, 4])));
    let kind = words.data_type().clone();
    let ordered = Field::new("size", kind, true).with_dict_is_ordered(true);
    let columns = vec![
        (ordered, Arc::new(words.clone()) as ArrayRef),
        plain("word", Arc::new(words)),
        plain("number", Arc::new(numbers)),
    ];
    for frame in [streamed(&batch(&columns), 4), streamed(&batch(&columns), 1), handed(&batch(&columns))] {
        let table = frame.unwrap().table().unwrap();
        let [size, word, number] = table.columns() else { panic!() };
        assert_eq!(
            (size.kind, word.kind, number.kind),
            (ColumnKind::Ordinal, ColumnKind::Nominal, ColumnKind::Nominal)
        );
        assert_eq!(size.levels().unwrap().names(), ["low", "mid", "high"]);
        assert_eq!(size.codes(None).unwrap(), [2, MISSING, 0, MISSING]);
        assert_eq!(word.levels().unwrap().names(), ["high", "low"]);
        assert_eq!((number.text(0), number.text(1)), ("30".to_string(), "4".to_string()));
    }
}

#[test]
fn unsupported_types_are_errors() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let date: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    for array in [Arc::new(lists), date] {
        let frame = streamed(&batch(&vec![plain("x", Arc::new(Int32Array::from(vec![1, 2]))), plain("odd", array)]), 2)
            .unwrap();
        assert_eq!(frame.unreadable().unwrap().0, "odd");
        assert!(frame.table().unwrap_err().to_string().contains("'odd'"));
    }
}

#[test]
fn released_and_failing_streams_are_errors() {
    let mut released = FFI_ArrowArrayStream::empty();
    // SAFETY: an empty stream is valid: it is released.
    assert!(unsafe { Frame::from_stream((&raw mut released).cast()) }.is_err());
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Float64, true)]));
    let failing = RecordBatchIterator::new(vec![Err(ArrowError::ComputeError("out of luck".into()))], schema);
    let mut stream = FFI_ArrowArrayStream::new(Box::new(failing));
    // SAFETY: the stream is ours, and valid.
    let message = unsafe { Frame::from_stream((&raw mut stream).cast()) }.map(drop).unwrap_err().to_string();
    assert!(message.contains("out of luck"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_do_not_depend_on_batches(
        numbers in vec(of(any::<f64>()), 1..40), wholes in vec(of(any::<i32>()), 40), picks in vec(of(0usize..5), 40), rows in 1usize..41,
    ) {
        let n = numbers.len();
        let names = ["e", "b", "ü", "", "NA"];
        let words: Vec<Option<&str>> = picks[..n].iter().map(|pick| pick.map(|k| names[k])).collect();
        let truths: Vec<Option<bool>> = picks[..n].iter().map(|pick| pick.map(|k| k > 1)).collect();
        let dictionary: DictionaryArray<Int8Type> = words.iter().copied().collect();
        let batch = batch(&vec![
            plain("x", Arc::new(Float64Array::from(numbers.clone()))), plain("i", Arc::new(Int32Array::from(wholes[..n].to_vec()))), plain("w", Arc::new(LargeStringArray::from(words.clone()))),
            plain("v", Arc::new(StringViewArray::from(words.clone()))), plain("d", Arc::new(dictionary)), plain("t", Arc::new(BooleanArray::from(truths.clone()))),
        ]);
        let bits = |column: &Column| column.numbers(None).into_iter().map(|x| (!x.is_nan()).then_some(x.to_bits())).collect::<Vec<_>>();
        let oracle = Column::nominal("w", &words);
        for frame in [streamed(&batch, rows), handed(&batch)] {
            let table = frame.unwrap().table().unwrap();
            let [x, i, w, v, d, t] = table.columns() else { panic!() };
            prop_assert_eq!(bits(x), numbers.iter().map(|x| x.filter(|x| !x.is_nan()).map(f64::to_bits)).collect::<Vec<_>>());
            prop_assert_eq!(bits(i), wholes[..n].iter().map(|x| x.map(|x| f64::from(x).to_bits())).collect::<Vec<_>>());
            for column in [w, v, d] {
                prop_assert_eq!(column.codes(None), oracle.codes(None));
                prop_assert_eq!(column.levels(), oracle.levels());
            }
            prop_assert_eq!(t.codes(None), Column::boolean("t", &truths).codes(None));
            prop_assert_eq!(t.kind, ColumnKind::Boolean);
        }
    }
}
