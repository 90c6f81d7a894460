//! How busy this machine is: on a software device whatever else runs takes the kernels' time. Never waits.

/// The load average of the last minute and the cores, in words, where it is more than half of them.
#[must_use]
pub fn warning() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    words(&text, std::thread::available_parallelism().map_or(1, usize::from))
}

fn words(loadavg: &str, cores: usize) -> Option<String> {
    let load: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    #[allow(clippy::cast_precision_loss, reason = "the cores of one machine")]
    let half = cores as f64 / 2.0;
    let plural = if cores == 1 { "" } else { "s" };
    (load > half).then(|| format!("load {load:.1} on {cores} core{plural}: times will be noisy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_busy_from_half_its_cores() {
        assert_eq!(words("8.04 4.1 2.0 3/400 12", 2).as_deref(), Some("load 8.0 on 2 cores: times will be noisy"));
        assert_eq!(words("1.00 4.1 2.0 3/400 12", 2), None);
        assert_eq!((words("", 2), words("busy", 2)), (None, None));
    }
}
