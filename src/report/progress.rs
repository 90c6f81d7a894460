//! Progress of long work, to standard error: a bar where a person looks, else a plain line every few seconds.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two plain lines at least.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Between two frames of the spinner.
const FRAME: Duration = Duration::from_millis(120);

/// Where progress goes. Shared by threads.
#[derive(Debug)]
pub struct Progress {
    out: Out,
}

#[derive(Debug)]
enum Out {
    Bar(ProgressBar),
    Lines(Mutex<Lines>),
    Quiet,
}

#[derive(Debug)]
struct Lines {
    what: String,
    total: Option<u64>,
    done: u64,
    best: String,
    started: Instant,
    last: Instant,
}

impl Progress {
    /// A bar on a terminal, else plain lines; nothing where `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> Progress {
        let out = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Out::Quiet,
            (false, true) => Out::Bar(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())),
            (false, false) => Out::Lines(Mutex::new(Lines::new("", None))),
        };
        Progress { out }
    }

    /// Begins a stage of work, of `total` parts where that is known.
    pub fn stage(&self, what: &str, total: Option<u64>) {
        match &self.out {
            Out::Bar(bar) => begin(bar, what, total),
            Out::Lines(lines) => {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                *lines = Lines::new(what, total);
                eprintln!("{}", lines.text());
            }
            Out::Quiet => {}
        }
    }

    /// Says how many parts of the stage are done.
    pub fn done(&self, done: u64) {
        match &self.out {
            Out::Bar(bar) => bar.set_position(done),
            Out::Lines(lines) => {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                lines.done = done;
                lines.show_if_due();
            }
            Out::Quiet => {}
        }
    }

    /// Says what the best so far is: `best 83.0 ms`.
    pub fn best(&self, best: &str) {
        match &self.out {
            Out::Bar(bar) => bar.set_message(best.to_owned()),
            Out::Lines(lines) => best.clone_into(&mut lines.lock().unwrap_or_else(PoisonError::into_inner).best),
            Out::Quiet => {}
        }
    }

    /// Whether a person looks at a bar.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.out, Out::Bar(_))
    }

    /// Says more of what is under way, where a person looks: it changes too often for lines.
    pub fn detail(&self, detail: &str) {
        if let Out::Bar(bar) = &self.out {
            bar.set_message(detail.to_owned());
        }
    }

    /// A line that stays.
    pub fn note(&self, text: &str) {
        match &self.out {
            Out::Bar(bar) => bar.suspend(|| eprintln!("{text}")),
            Out::Lines(_) => eprintln!("{text}"),
            Out::Quiet => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Out::Bar(bar) = &self.out {
            bar.finish_and_clear();
        }
    }
}

fn begin(bar: &ProgressBar, what: &str, total: Option<u64>) {
    let template = match total {
        Some(_) => "{spinner} {prefix} {wide_bar} {pos}/{len} {msg} {eta}",
        None => "{spinner} {prefix} {msg} {elapsed}",
    };
    bar.reset();
    // A template that does not parse would leave the default, which shows the same less well.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    match total {
        Some(total) => bar.set_length(total),
        None => bar.unset_length(),
    }
    bar.set_prefix(what.to_owned());
    bar.set_message("");
    bar.enable_steady_tick(FRAME);
}

impl Lines {
    fn new(what: &str, total: Option<u64>) -> Lines {
        let now = Instant::now();
        Lines { what: what.to_owned(), total, done: 0, best: String::new(), started: now, last: now }
    }

    fn text(&self) -> String {
        let mut text = self.what.clone();
        if let Some(total) = self.total {
            text.push_str(&format!(", {} of {total}", self.done));
        }
        if !self.best.is_empty() {
            text.push_str(&format!(", {}", self.best));
        }
        if let Some(left) = self.time_left() {
            text.push_str(&format!(", about {} s left", left.as_secs().max(1)));
        }
        text
    }

    /// What the rest takes, if it takes as long as what was done.
    fn time_left(&self) -> Option<Duration> {
        let left = self.total?.checked_sub(self.done).filter(|left| *left > 0)?;
        let elapsed = self.started.elapsed();
        #[allow(clippy::cast_precision_loss, reason = "an estimate in seconds")]
        let each = (self.done > 0).then(|| elapsed.as_secs_f64() / self.done as f64)?;
        #[allow(clippy::cast_precision_loss, reason = "an estimate in seconds")]
        Duration::try_from_secs_f64(each * left as f64).ok()
    }

    fn show_if_due(&mut self) {
        if self.last.elapsed() >= LINE_EVERY || self.total == Some(self.done) {
            self.last = Instant::now();
            eprintln!("{}", self.text());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_how_many_and_the_best() {
        let mut lines = Lines::new("tuning refactor", Some(24));
        assert_eq!(lines.text(), "tuning refactor, 0 of 24");
        lines.done = 24;
        lines.best = "best 83.0 ms".to_owned();
        assert_eq!(lines.text(), "tuning refactor, 24 of 24, best 83.0 ms");
    }

    #[test]
    fn time_left_is_told_once_something_is_done() {
        let mut lines = Lines::new("timing", Some(4));
        lines.started = Instant::now().checked_sub(Duration::from_secs(10)).expect("a machine up for ten seconds");
        lines.done = 2;
        assert_eq!(lines.text(), "timing, 2 of 4, about 10 s left");
    }
}
