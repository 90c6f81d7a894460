//! Budgets: what is counted, where they end, and that what was paid for is used. Requests ahead: together, and once.

use super::ask::{request, told};
use peak::preferences::{Budget, Price};
use peak::provider::{Ahead, Budgeted, Completion, CompletionRequest, MAX_PARALLEL, Provider, ProviderError, Usage};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Answers each prompt with itself, after a while, and counts.
#[derive(Default)]
struct Echo {
    usage: Option<Usage>,
    asked: AtomicUsize,
    under_way: AtomicUsize,
    most: Mutex<usize>,
    pause: Duration,
}

impl Provider for &'static Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn complete(&self, request: &CompletionRequest) -> Result<Completion, ProviderError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let mut most = self.most.lock().expect("no panic");
        *most = now.max(*most);
        drop(most);
        std::thread::sleep(self.pause);
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        Ok(Completion { text: request.prompt.clone(), model: None, usage: self.usage })
    }
}

fn echo(usage: Option<Usage>, pause: Duration) -> &'static Echo {
    Box::leak(Box::new(Echo { usage, pause, ..Echo::default() }))
}

fn budgeted(inner: &'static Echo, budget: Budget, price: Option<Price>) -> Budgeted {
    Budgeted::new(Box::new(Ahead::new(Box::new(inner))), budget, price).expect("it has what it needs")
}

const USAGE: Usage = Usage { tokens_in: 1000, tokens_out: 200, money_millionths: None };
const PRICE: Price = Price { input: 2.0, output: 10.0 };

#[test]
fn each_limit_ends_it_before_the_request_past_it() {
    let none = Budget::default();
    let budgets = [
        ("calls", Budget { calls: Some(2), ..none }),
        ("tokens", Budget { tokens: Some(2400), ..none }),
        ("money", Budget { money: Some(0.008), ..none }),
        ("no minutes", Budget { minutes: Some(0.0), ..none }),
    ];
    let mut all = String::new();
    for (name, budget) in budgets {
        let inner = echo(Some(USAGE), Duration::ZERO);
        let provider = budgeted(inner, budget, Some(PRICE));
        let answered = (0..5).take_while(|_| provider.complete(&request("p")).is_ok()).count();
        assert_eq!(answered, inner.asked.load(Ordering::SeqCst), "what was paid for is used");
        assert!(provider.refuses().is_some());
        all += &format!("{name}: {answered} answered; {}\n", provider.usage());
        let outcome = told(&provider.complete(&request("p")));
        // How long the test took is no part of it.
        all += &format!("{}\n\n", outcome.replace("0.1 of 0 minutes", "0.0 of 0 minutes"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn without_a_limit_nothing_ends_and_money_needs_a_price() {
    let provider = budgeted(echo(Some(USAGE), Duration::ZERO), Budget::default(), None);
    assert!((0..50).all(|_| provider.complete(&request("p")).is_ok()));
    assert_eq!((provider.refuses(), provider.usage().tokens()), (None, 60_000));
    let budget = Budget { money: Some(1.0), ..Budget::default() };
    let Err(error) = Budgeted::new(Box::new(echo(None, Duration::ZERO)), budget, None) else { panic!("no price") };
    assert!(told(&Err(error)).contains("nothing says what a token costs"));
}

#[test]
fn where_a_provider_counts_no_tokens_a_budget_estimates_and_a_report_does_not() {
    let budget = Budget { tokens: Some(10), ..Budget::default() };
    let provider = budgeted(echo(None, Duration::ZERO), budget, None);
    let prompt = "x".repeat(40);
    assert_eq!(provider.complete(&request(&prompt)).expect("answered").usage, None);
    assert!(provider.complete(&request(&prompt)).is_err());
    assert_eq!(provider.usage(), Usage::default());
}

#[test]
fn what_an_answer_took_comes_with_its_money() {
    let provider = budgeted(echo(Some(USAGE), Duration::ZERO), Budget::default(), Some(PRICE));
    let usage = provider.complete(&request("p")).expect("answered").usage;
    assert_eq!(usage, Some(Usage { money_millionths: Some(4000), ..USAGE }));
}

#[test]
fn requests_ahead_go_together_and_each_is_asked_once() {
    let inner = echo(Some(USAGE), Duration::from_millis(100));
    let provider = budgeted(inner, Budget::default(), None);
    let requests: Vec<CompletionRequest> = (0..6).map(|n| request(&format!("prompt {n}"))).collect();
    provider.ask_ahead(&requests);
    assert_eq!((inner.asked.load(Ordering::SeqCst), *inner.most.lock().expect("no panic")), (6, MAX_PARALLEL));
    for one in &requests {
        assert_eq!(provider.complete(one).expect("answered").text, one.prompt);
    }
    assert_eq!(inner.asked.load(Ordering::SeqCst), 6, "each answer was there");
    // The next time it is a question like any other.
    provider.complete(&requests[0]).expect("answered");
    assert_eq!((inner.asked.load(Ordering::SeqCst), provider.usage().tokens_in), (7, 7000));
}

#[test]
fn a_budget_bounds_what_is_asked_ahead() {
    let inner = echo(None, Duration::ZERO);
    let provider = budgeted(inner, Budget { calls: Some(2), ..Budget::default() }, None);
    let requests: Vec<CompletionRequest> = (0..5).map(|n| request(&format!("prompt {n}"))).collect();
    provider.ask_ahead(&requests);
    assert_eq!((inner.asked.load(Ordering::SeqCst), provider.refuses()), (2, None));
    assert!(provider.complete(&requests[0]).is_ok() && provider.complete(&requests[1]).is_ok());
    assert!(provider.complete(&requests[2]).is_err());
    assert_eq!(inner.asked.load(Ordering::SeqCst), 2);
    assert!(provider.refuses().is_some());
}
