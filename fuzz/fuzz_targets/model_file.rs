//! A model file from a stranger, sealed with the right checksum: an error or a model that works, never a panic.
#![no_main]

use ermine::prelude::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut sealed = bytes.to_vec();
    sealed.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    let Ok(model) = ermine::load_bytes(&sealed) else { return };
    let column = |name: &str| Column::numeric(name, vec![0.0, f64::NAN, -1.0, f64::INFINITY]);
    let Ok(table) = Table::new(model.schema().features.iter().map(|f| column(&f.name)).collect()) else { return };
    if let Ok(prediction) = model.predict(&table) {
        (0..prediction.n_rows()).for_each(|row| {
            prediction.label(row);
        });
    }
    let _ = (model.text(), model.svg(), model.to_json());
});
