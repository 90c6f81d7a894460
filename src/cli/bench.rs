//! `peak bench`: contenders that compute the same take turns on one device, and a verdict with its interval.

use super::check::load_clean;
use super::kernel::{assignment, configuration_words, named};
use super::output::App;
use super::usage;
use crate::error::Result;
use crate::evaluate::roofline::{Roofline, roofline};
use crate::evaluate::work::work;
use crate::library::Loaded;
use crate::report::units;
use crate::runner::paired::{Ratio, Turns, Verdict, pairing};
use crate::runner::statistics::quantile;
use crate::session::{Bench, Choice, Contender, Machine, MachineOptions, start_context};
use crate::workflow::inputs_words;
use peak_backend_api::{Caches, Conditions, Library};
use serde_json::json;
use std::path::PathBuf;

/// Compares kernels, checkpoints and a vendor's libraries on one device.
///
/// All of them are validated, then take turns on the same operands, and what the timed runs left in the outputs is checked
/// again. Each is compared with the first: `the same` means that the 95% interval of the ratio of their times lies within
/// 1% of one, `faster` and `slower` that it lies beyond. Libraries are cublas, cublaslt (its heuristic's first choice) and
/// cublaslt-search (the fastest that its heuristic lists).
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak bench thread-tiling tb-tiling           two checkpoints\n  \
    peak bench thread-tiling cublas --at n=4096  a checkpoint and the vendor's library\n  \
    peak bench matmul-f32 --caches cold          one kernel alone, its operands in no cache")]
pub struct Arguments {
    /// Kernels of the library, checkpoints as `peak show` takes them, or libraries; the first is what others are compared with.
    #[arg(required = true, value_name = "KERNEL|CHECKPOINT|LIBRARY")]
    contenders: Vec<String>,
    /// The kernel that they compute, where none of them says: `peak bench cublas cublaslt -k matmul-f32`.
    #[arg(long, short = 'k', value_name = "NAME")]
    kernel: Option<String>,
    /// Files with kernels of your own; may be given again.
    #[arg(long = "use", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The backend: cuda or hlsl.
    #[arg(long)]
    backend: Option<String>,
    /// The device: a piece of its name, its index, or a device of the library.
    #[arg(long)]
    device: Option<String>,
    /// The value of a scalar input; may be given again.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    at: Vec<(String, i64)>,
    /// The value of a tuning parameter of every kernel; may be given again.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    config: Vec<(String, i64)>,
    /// What caches hold when a run starts.
    #[arg(long, value_enum, default_value = "both")]
    caches: Which,
    /// Does all of it this many times, each with a verdict of its own.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// Seed of the operands' numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Times without validating first; what the timed runs left behind is checked all the same.
    #[arg(long)]
    no_validation: bool,
}

/// Which state of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "each is what its name says")]
pub enum Which {
    Warm,
    Cold,
    Both,
}

impl Which {
    fn each(self) -> &'static [Caches] {
        match self {
            Which::Warm => &[Caches::Warm],
            Which::Cold => &[Caches::Cold],
            Which::Both => &[Caches::Warm, Caches::Cold],
        }
    }
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let loaded = load_clean(app, &self.files)?;
        let mut machine = self.machine(app, &loaded)?;
        let backend = machine.backend().name();
        let contenders = self.contenders(app, &loaded, backend)?;
        let kernel = contenders.iter().find_map(|contender| match contender {
            Contender::Context { context, .. } => Some(context.kernel.name.clone()),
            Contender::Library(_) => None,
        });
        let Some(kernel) = kernel.or(self.kernel.clone()) else {
            let help = "name a kernel or a checkpoint too: `peak bench matmul-f32 cublas`, or `-k matmul-f32`";
            return Err(usage("a library alone does not say what to compute", help));
        };
        let reference = start_context(&loaded, &kernel, backend)?;
        let bench = Bench::prepare(&mut machine, &contenders, reference, &self.choice(), self.seed)?;
        let mut validator = bench.validator(self.seed)?;
        if !self.no_validation {
            app.say("validating");
            bench.validate(&mut machine, &mut validator)?;
        }
        let view = View::of(&bench, &machine);
        app.print(&view.head());
        for caches in self.caches.each() {
            let how = pairing(machine.info().kind, *caches);
            for _ in 0..self.times {
                let turns = bench.time(&mut machine, &how, &mut validator)?;
                app.print(&view.text(*caches, &turns));
                for fields in view.fields(*caches, &turns) {
                    app.event("bench", fields);
                }
            }
        }
        Ok(())
    }

    /// What was named of inputs and tuning parameters.
    fn choice(&self) -> Choice {
        Choice {
            inputs: self.at.iter().cloned().collect(),
            configuration: self.config.iter().cloned().collect(),
            usual: None,
        }
    }

    fn machine(&self, app: &App, loaded: &Loaded) -> Result<Machine> {
        let names = self.contenders.iter().chain(&self.kernel);
        let kernels = names.filter_map(|name| loaded.ir.kernels.get(name));
        let backend = match &self.backend {
            Some(backend) => Some(backend.clone()),
            // A checkpoint has its language.
            None => self.contenders.iter().find_map(|name| {
                let store = app.store().ok().filter(|_| !loaded.ir.kernels.contains_key(name))?;
                Some(store.context(&store.resolve(name).ok()?).ok()?.backend)
            }),
        };
        let options = MachineOptions {
            device: self.device.clone(),
            backend,
            languages: kernels.flat_map(|kernel| kernel.code.keys().cloned()).collect(),
            artifacts: None,
            quiet: app.quiet,
            worker: None,
        };
        Machine::open(&loaded.ir, &options)
    }

    fn contenders(&self, app: &App, loaded: &Loaded, backend: &str) -> Result<Vec<Contender>> {
        let choice = self.choice();
        let contender = |name: &String| match Library::of(name) {
            Some(library) => Ok(Contender::Library(library)),
            None => {
                let (context, choice) = named(app, loaded, name, backend, choice.clone())?;
                Ok(Contender::Context { name: name.clone(), context: Box::new(context), choice })
            }
        };
        self.contenders.iter().map(contender).collect()
    }
}

/// What is known of a comparison before anything is timed.
struct View<'a> {
    bench: &'a Bench,
    device: String,
    flops: Option<f64>,
    ceiling: Option<Roofline>,
}

impl View<'_> {
    fn of<'a>(bench: &'a Bench, machine: &Machine) -> View<'a> {
        let work = work(&bench.kernel, &bench.chosen.inputs);
        let ceiling = work.as_ref().zip(machine.device());
        let ceiling = ceiling.and_then(|(work, device)| roofline(work, bench.kernel.element, device));
        View { bench, device: machine.info().name.clone(), flops: work.map(|work| work.flops), ceiling }
    }

    fn head(&self) -> String {
        let mut text =
            format!("{} at {} on {}\n", self.bench.kernel.name, inputs_words(&self.bench.chosen.inputs), self.device);
        for (index, ready) in self.bench.ready.iter().enumerate() {
            let configuration = ready.configuration.as_ref().map(configuration_words).unwrap_or_default();
            text.push_str(&format!("  {}  {:<24}{configuration}\n", letter(index), ready.name));
        }
        text
    }

    fn text(&self, caches: Caches, turns: &Turns) -> String {
        let words = match caches {
            Caches::Warm => "warm caches",
            Caches::Cold => "cold caches",
        };
        let mut text = format!("\n{words}, {} rounds{}\n", turns.rounds(), conditions_words(turns));
        for index in 0..self.bench.ready.len() {
            let [p20, median, p80] = [0.2, 0.5, 0.8].map(|q| self.time(turns, index, q));
            let rate =
                self.flops.map_or(String::new(), |flops| format!("  {} GFLOP/s", units::gflops(flops / median * 1e9)));
            let spread = format!("{} to {}", units::time(p20), units::time(p80));
            text.push_str(&format!("  {}  {:>12}  ({spread}){rate}", letter(index), units::time(median)));
            if self.ceiling.as_ref().is_some_and(|ceiling| median < ceiling.time_ns_floor) {
                text.push_str("  impossible: less than the device's peaks allow");
            }
            text.push('\n');
        }
        for other in 1..self.bench.ready.len() {
            let line = turns.ratio(0, other).map_or("too few rounds".to_owned(), |ratio| verdict_words(other, &ratio));
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    fn time(&self, turns: &Turns, index: usize, q: f64) -> f64 {
        turns.times_ns.get(index).and_then(|times| quantile(times, q)).unwrap_or(f64::NAN)
    }

    fn fields(&self, caches: Caches, turns: &Turns) -> Vec<serde_json::Value> {
        let fields = |index: usize| {
            let ready = &self.bench.ready[index];
            let ratio = (index > 0).then(|| turns.ratio(0, index)).flatten();
            json!({
                "kernel": self.bench.kernel.name,
                "device": self.device,
                "inputs": self.bench.chosen.inputs,
                "contender": ready.name,
                "configuration": ready.configuration,
                "caches": caches,
                "rounds": turns.rounds(),
                "runs_a_round": turns.runs.get(index),
                "time_ns_median": self.time(turns, index, 0.5),
                "time_ns_p20": self.time(turns, index, 0.2),
                "time_ns_p80": self.time(turns, index, 0.8),
                "ratio": ratio.map(|ratio| ratio.median),
                "ratio_low": ratio.map(|ratio| ratio.low),
                "ratio_high": ratio.map(|ratio| ratio.high),
                "verdict": ratio.map(|ratio| ratio.verdict),
                "before": turns.before,
                "after": turns.after,
                "repeated": turns.repeated,
            })
        };
        (0..self.bench.ready.len()).map(fields).collect()
    }
}

/// `a`, `b`, ...
fn letter(index: usize) -> char {
    u8::try_from(index).ok().and_then(|index| (b'a'..=b'z').nth(usize::from(index))).map_or('?', char::from)
}

fn verdict_words(other: usize, ratio: &Ratio) -> String {
    let Ratio { median, low, high, verdict } = ratio;
    let interval = format!("{}/a = {median:.4} (95%: {low:.4} to {high:.4})", letter(other));
    match verdict {
        Verdict::Unclear => format!("{} against a: unclear; {interval}", letter(other)),
        Verdict::Same => format!("{} takes the same time as a: {interval}", letter(other)),
        verdict => format!("{} is {} than a: {interval}", letter(other), verdict.word()),
    }
}

/// `, 1980 MHz, held down by a limit of power`.
fn conditions_words(turns: &Turns) -> String {
    let Some(Conditions { clock_mhz, held_down, .. }) = &turns.after else { return String::new() };
    let mut text = clock_mhz.map_or(String::new(), |clock| format!(", {clock} MHz"));
    for why in held_down {
        text.push_str(&format!(", held down by {}", why.words()));
    }
    if turns.repeated > 0 {
        text.push_str(&format!(", {} rounds repeated", turns.repeated));
    }
    text
}
