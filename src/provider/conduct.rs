//! How somebody is asked: how long, who may stop it, who hears of it, how pauses pass. Every provider that waits for an
//! answer is given one.

use super::{Scrubber, Usage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long an answer may take, where nothing is said.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(900);

/// How often somebody who waits looks whether it is stopped.
pub const TICK: Duration = Duration::from_millis(20);

/// Between two words on an answer that is coming.
const WORD_EVERY: Duration = Duration::from_millis(200);

/// A word on a request that is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Heard<'a> {
    /// An answer is waited for or coming.
    Receiving {
        /// The provider.
        provider: &'a str,
        /// The model; empty where it is not known.
        model: &'a str,
        /// Bytes of the answer so far.
        bytes: u64,
        /// Since it was asked.
        elapsed: Duration,
    },
    /// A pause before the next try.
    Waiting {
        /// Why.
        why: &'a str,
        /// How long.
        pause: Duration,
    },
    /// The request is over, either way.
    Over,
}

/// Hears of requests that are under way. Called from several threads.
pub type Listener = Arc<dyn Fn(&Heard<'_>) + Send + Sync>;

/// How pauses pass: by sleeping, or in a test at once.
pub type Pauses = Arc<dyn Fn(Duration) + Send + Sync>;

/// How somebody is asked.
#[derive(Clone)]
pub struct Conduct {
    /// How long an answer may take.
    pub timeout: Duration,
    /// Set by somebody else to stop.
    pub stop: Arc<AtomicBool>,
    /// Hears of it.
    pub listener: Listener,
    /// How pauses pass.
    pub pauses: Pauses,
    /// Knows what must not be written.
    pub scrubber: Scrubber,
}

impl Default for Conduct {
    fn default() -> Conduct {
        Conduct {
            timeout: ANSWER_TIMEOUT,
            stop: Arc::new(AtomicBool::new(false)),
            listener: Arc::new(|_| {}),
            pauses: Arc::new(std::thread::sleep),
            scrubber: Scrubber::from_environment(),
        }
    }
}

impl Conduct {
    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Lets a pause pass, in pieces, so that it can be stopped.
    pub(super) fn pause(&self, why: &str, pause: Duration) {
        (self.listener)(&Heard::Waiting { why, pause });
        let mut left = pause;
        while !left.is_zero() && !self.is_stopped() {
            let piece = left.min(TICK * 5);
            (self.pauses)(piece);
            left -= piece;
        }
    }
}

/// Tells how an answer comes, not too often, and that it is over when it is dropped.
pub(super) struct Reception<'a> {
    conduct: &'a Conduct,
    provider: &'a str,
    model: &'a str,
    started: Instant,
    told: Option<Instant>,
}

impl<'a> Reception<'a> {
    pub(super) fn new(conduct: &'a Conduct, provider: &'a str, model: &'a str) -> Reception<'a> {
        Reception { conduct, provider, model, started: Instant::now(), told: None }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn is_late(&self) -> bool {
        self.elapsed() >= self.conduct.timeout
    }

    /// So many bytes have come.
    pub(super) fn at(&mut self, bytes: u64) {
        if self.told.is_some_and(|told| told.elapsed() < WORD_EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        let Reception { provider, model, .. } = *self;
        (self.conduct.listener)(&Heard::Receiving { provider, model, bytes, elapsed: self.elapsed() });
    }
}

impl Drop for Reception<'_> {
    fn drop(&mut self) {
        (self.conduct.listener)(&Heard::Over);
    }
}

/// What the tokens cost, in millionths of the price's currency.
pub(super) fn priced(mut usage: Usage, price: Option<crate::preferences::Price>) -> Usage {
    #[allow(clippy::cast_precision_loss, reason = "no model takes 2^52 tokens")]
    let cost = price.map(|price| usage.tokens_in as f64 * price.input + usage.tokens_out as f64 * price.output);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are checked to be from 0 on")]
    let millionths = cost.map(|cost| cost.ceil() as u64);
    usage.money_millionths = millionths.or(usage.money_millionths);
    usage
}
