//! The entries of a text, as far as a launch needs them. Reads what it can, and never judges.

/// An entry.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Bytes of each parameter.
    pub parameters: Vec<usize>,
    /// `.reqntid` or `.maxntid`, in x.
    pub threads: Option<u32>,
}

/// Those of a text.
pub fn entries(text: &str) -> Vec<Entry> {
    text.split(".entry").skip(1).map(entry).collect()
}

fn entry(text: &str) -> Entry {
    let head = text.split('{').next().unwrap_or("");
    let (name, rest) = head.split_once('(').unwrap_or((head, ""));
    let list = rest.split(')').next().unwrap_or("");
    let threads = ["reqntid", "maxntid"].iter().find_map(|word| {
        let (_, after) = rest.split_once(word)?;
        after.trim_start().split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
    });
    let parameters = list.split(',').filter(|it| it.contains(".param")).map(bytes).collect();
    Entry { name: name.trim().to_owned(), parameters, threads }
}

fn bytes(parameter: &str) -> usize {
    let width = parameter.split('.').skip(2).find_map(|word| {
        let digits = word.split_whitespace().next()?.strip_prefix(['b', 'u', 's', 'f'])?;
        digits.split(|it: char| !it.is_ascii_digit()).next()?.parse::<usize>().ok()
    });
    let extent = parameter.split_once('[').and_then(|(_, rest)| rest.split(']').next()?.trim().parse::<usize>().ok());
    (width.unwrap_or(32) / 8).saturating_mul(extent.unwrap_or(1)).min(1 << 12)
}
