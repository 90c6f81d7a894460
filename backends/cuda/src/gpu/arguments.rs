//! A launch's arguments as the bytes of an entry's parameters.

use super::shape::refused;
use peak_backend_api::{ArgumentValue, LaunchArgument, ReflectedEntry, RuntimeError, TensorMap};

/// Where buffers and tensor maps are looked up.
pub(super) trait Lookup {
    /// The address of a buffer.
    fn address(&self, buffer: &str) -> Result<u64, RuntimeError>;
    /// A tensor map as its device takes it. `name` is the argument's.
    fn tensor_map(&self, name: &str, map: &TensorMap) -> Result<Vec<u8>, RuntimeError>;
}

/// The arguments' bytes, by place: addresses of buffers, numbers, and tensor maps.
///
/// # Errors
/// Another number of arguments, or one of another kind or size; as the lookup.
pub(super) fn values(
    entry: &ReflectedEntry,
    arguments: &[LaunchArgument],
    lookup: &dyn Lookup,
) -> Result<Vec<Vec<u8>>, RuntimeError> {
    let name = &entry.name;
    let expected = entry.buffers.len() + entry.scalars.len();
    if arguments.len() != expected {
        return refused(format!("`{name}` takes {expected} arguments, and the launch passes {}", arguments.len()));
    }
    let places = arguments.iter().enumerate();
    places.map(|(place, argument)| value(entry, place, argument, lookup)).collect()
}

fn value(
    entry: &ReflectedEntry,
    place: usize,
    argument: &LaunchArgument,
    lookup: &dyn Lookup,
) -> Result<Vec<u8>, RuntimeError> {
    let name = &argument.name;
    let is_buffer =
        entry.buffers.iter().any(|buffer| usize::try_from(buffer.binding) == Ok(place) && buffer.name == *name);
    let scalar = entry.scalars.iter().find(|scalar| scalar.name == *name).map(|scalar| scalar.bytes as usize);
    let bytes = match (&argument.value, is_buffer, scalar) {
        (ArgumentValue::Buffer(buffer), true, _) => Some(lookup.address(buffer)?.to_le_bytes().to_vec()),
        (ArgumentValue::Bytes(bytes), false, Some(width)) if bytes.len() == width => Some(bytes.clone()),
        (ArgumentValue::TensorMap(map), false, Some(width)) => {
            Some(lookup.tensor_map(name, map)?).filter(|bytes| bytes.len() == width)
        }
        _ => None,
    };
    match bytes {
        Some(bytes) => Ok(bytes),
        None => refused(format!("argument {place} of `{}` is not `{name}` of this kind and size", entry.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::buffer;
    use peak_backend_api::{ReflectedBuffer, ReflectedScalar, TensorElement};

    struct Known;

    impl Lookup for Known {
        fn address(&self, name: &str) -> Result<u64, RuntimeError> {
            if name == "a" { Ok(7) } else { Err(buffer(name, "it was never allocated")) }
        }

        fn tensor_map(&self, _: &str, map: &TensorMap) -> Result<Vec<u8>, RuntimeError> {
            self.address(&map.buffer).map(|_| vec![3; 128])
        }
    }

    fn entry() -> ReflectedEntry {
        let scalar = |name: &str, offset, bytes| ReflectedScalar { name: name.to_owned(), offset, bytes };
        ReflectedEntry {
            name: "f".to_owned(),
            block: Some([32, 1, 1]),
            buffers: vec![ReflectedBuffer { name: "A".to_owned(), set: 0, binding: 0, writable: true, stride: None }],
            scalars: vec![scalar("n", 8, 4), scalar("map", 128, 128)],
            scalar_bytes: 256,
            resources: peak_backend_api::Resources::default(),
        }
    }

    fn argument(name: &str, value: ArgumentValue) -> LaunchArgument {
        LaunchArgument { name: name.to_owned(), value }
    }

    #[test]
    fn arguments_bind_by_place_and_name() {
        let map = |buffer: &str| ArgumentValue::TensorMap(TensorMap::dense(buffer, TensorElement::F32, &[8], &[8], 0));
        let a = argument("A", ArgumentValue::Buffer("a".to_owned()));
        let n = argument("n", ArgumentValue::Bytes(vec![1, 0, 0, 0]));
        let m = argument("map", map("a"));
        let bytes = values(&entry(), &[a.clone(), n.clone(), m.clone()], &Known);
        assert_eq!(bytes, Ok(vec![7u64.to_le_bytes().to_vec(), vec![1, 0, 0, 0], vec![3; 128]]));
        let wide = argument("n", ArgumentValue::Bytes(vec![0; 8]));
        let other = argument("Z", ArgumentValue::Buffer("a".to_owned()));
        let number = argument("n", map("a"));
        for wrong in [
            vec![a.clone(), n.clone()],
            vec![n.clone(), a.clone(), m.clone()],
            vec![a.clone(), wide, m.clone()],
            vec![a.clone(), number, m.clone()],
            vec![other, n.clone(), m.clone()],
        ] {
            assert!(matches!(values(&entry(), &wrong, &Known), Err(RuntimeError::Launch(_))), "{wrong:?}");
        }
        for unknown in
            [[argument("A", ArgumentValue::Buffer("b".to_owned())), n.clone(), m], [a, n, argument("map", map("b"))]]
        {
            let unknown = values(&entry(), &unknown, &Known);
            assert!(matches!(unknown, Err(RuntimeError::Buffer { .. })), "{unknown:?}");
        }
    }
}
