//! A table from a stranger, as CSV and as libsvm: an error or a table, never a panic.
#![no_main]

use ermine::prelude::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let dir = std::env::temp_dir();
    for ending in ["csv", "libsvm", "csv.gz"] {
        let path = dir.join(format!("ermine-fuzz-{}.{ending}", std::process::id()));
        if std::fs::write(&path, bytes).is_ok() {
            if let Ok(table) = Table::read(&path) {
                for column in table.columns() {
                    assert_eq!(column.len(), table.n_rows());
                }
            }
        }
    }
});
