//! Whether two trees say the same, wherever it stands.

use crate::syntax::File;
use serde_json::Value;

/// Whether two files have the same declarations, word for word, places aside.
pub(super) fn same(a: &File, b: &File) -> bool {
    match (plain(a), plain(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

fn plain(file: &File) -> Option<Value> {
    // What could not be read is held as its raw line.
    let read = [serde_json::to_value(&file.uses), serde_json::to_value(&file.declarations)];
    let mut value = Value::Array(read.into_iter().collect::<Result<_, _>>().ok()?);
    strip(&mut value);
    Some(value)
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            fields.shift_remove("span");
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}
