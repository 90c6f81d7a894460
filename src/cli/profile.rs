//! `peak profile`: what a kernel's compiled code holds, what it executes line by line where a device here counts that, and
//! what limits it. Each count says where it is from.

mod executed;

use super::kernel::{KernelArguments, Shown};
use super::output::App;
use crate::context::launch::ConcretePlan;
use crate::error::Result;
use crate::evaluate::occupancy::{Occupancy, Unknown, occupancy};
use crate::evaluate::roofline::{Bound, Roofline, roofline};
use crate::evaluate::work::{Work, work};
use crate::inspect::{Counters, Executed, counters, executed as by_entry, margin};
use crate::report::units;
use crate::runner::Failure;
use crate::session::{COUNTED_BLOCKS, count};
use crate::workflow::inputs_words;
use peak_backend_api::{InstructionKind, LaunchStep, ReflectedEntry, Resources};
use serde_json::json;

/// Counts what a kernel's compiled code holds (registers, shared memory, instructions, occupancy) and what it executes:
/// requests and sectors of global memory, passes over shared memory's banks, threads that take part, by source line; and
/// says what stands out.
///
/// What is executed is counted on the simulator, which runs CUDA's code: no GPU is needed, and nothing is timed. Of a large
/// launch some blocks are run and the sums taken up to all.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    peak profile thread-tiling --annotate                         a checkpoint, line by line\n  \
    peak profile matmul-f32 --backend cuda --at n=256 --annotate  a kernel, at a size\n  \
    peak profile matmul-f32 --static --device nvidia-h200         its code alone, for a device that need not be here")]
pub struct Arguments {
    #[command(flatten)]
    kernel: KernelArguments,
    /// Prints the kernel's source with the counts of each line in a margin.
    #[arg(long)]
    annotate: bool,
    /// Only what is read off the code: nothing runs.
    #[arg(long = "static")]
    code_only: bool,
    /// Blocks of each launch that are counted, at most; spread over the grid.
    #[arg(long, value_name = "N", default_value_t = COUNTED_BLOCKS, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
}

/// What was executed: by entry, or why it is not known.
type Ran = std::result::Result<Vec<Executed>, NotCounted>;

enum NotCounted {
    /// Nobody asked, or no device here counts such code.
    Not,
    /// The code could not be run.
    Failed(Failure),
}

impl Arguments {
    pub(super) fn run(self, app: &App) -> Result<()> {
        let shown = self.kernel.open(app)?;
        let counted = counters(&shown.code);
        let ran = self.ran(&shown)?;
        let work = work(&shown.context.kernel, &shown.chosen.inputs);
        let ceiling = ceiling(&shown, work.as_ref());
        let bytes = crate::evaluate::work::bytes(&shown.context.kernel, &shown.chosen.inputs);
        app.print(&head(&shown, work.as_ref(), ceiling.as_ref(), ran.is_ok()));
        for entry in shown.entries() {
            let profile = Profile::of(entry, &shown, &counted);
            let executed = ran.as_ref().ok().and_then(|all| all.iter().find(|it| it.entry == entry.name));
            app.print(&profile.text());
            match (executed, profile.counters) {
                (Some(executed), _) => {
                    app.print(&executed::text(executed, bytes, self.annotate.then_some(&shown)));
                }
                (None, Some(counters)) if self.annotate => {
                    app.print(&margin(counters, &shown.compiled.request.pieces));
                }
                _ => {}
            }
            let mut fields = profile.fields(&shown, work.as_ref(), ceiling.as_ref());
            fields["executed"] = json!(executed.map(|executed| executed::fields(executed, bytes)));
            fields["not_executed"] = json!(ran.as_ref().err().and_then(NotCounted::words));
            app.event("profile", fields);
        }
        if let Some(words) = ran.as_ref().err().and_then(NotCounted::words) {
            app.print(&format!("what it executes: - ({words})\n"));
        }
        for other in counted.iter().filter(|other| !is_entry(&shown, &other.function)) {
            app.print(&format!("function {}, called by an entry\n{}", other.function, kinds_text(other)));
        }
        Ok(())
    }

    fn ran(&self, shown: &Shown) -> Result<Ran> {
        if self.code_only {
            return Ok(Err(NotCounted::Not));
        }
        let counted = count(&shown.compiler, &shown.compiled, &shown.chosen, Some(self.blocks))?;
        Ok(match counted {
            None => Err(NotCounted::Not),
            Some(Ok(launches)) => Ok(by_entry(&launches)),
            Some(Err(failure)) => Err(NotCounted::Failed(failure)),
        })
    }
}

impl NotCounted {
    /// What went wrong, where something did.
    fn words(&self) -> Option<String> {
        match self {
            NotCounted::Not => None,
            NotCounted::Failed(failure) => Some(failure.to_string()),
        }
    }
}

fn is_entry(shown: &Shown, name: &str) -> bool {
    shown.entry.is_some() || shown.compiled.artifact.entries.iter().any(|entry| entry.name == name)
}

fn ceiling(shown: &Shown, work: Option<&Work>) -> Option<Roofline> {
    roofline(work?, shown.context.kernel.element, shown.compiler.device.as_ref()?)
}

/// One launch of an entry.
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
}

impl Shape {
    fn threads(&self) -> u64 {
        self.block.iter().map(|side| u64::from(*side)).product()
    }
}

/// What is said of one entry.
struct Profile<'a> {
    entry: &'a ReflectedEntry,
    counters: Option<&'a Counters>,
    /// Its first launch, and how often it is launched.
    launch: Option<(Shape, usize)>,
    occupancy: std::result::Result<Occupancy, Unknown>,
}

impl<'a> Profile<'a> {
    fn of(entry: &'a ReflectedEntry, shown: &Shown, counted: &'a [Counters]) -> Profile<'a> {
        let launch = launch(&shown.chosen.plan, &entry.name);
        let found = match &launch {
            Some((shape, _)) => {
                occupancy(&entry.resources, shape.threads(), u64::from(shape.shared_bytes), &shown.compiler.facts)
            }
            None => Err(Unknown(vec!["its launch".to_owned()])),
        };
        Profile { entry, counters: counted.iter().find(|it| it.function == entry.name), launch, occupancy: found }
    }

    fn text(&self) -> String {
        let Resources { registers, shared_bytes, spill_bytes, .. } = self.entry.resources;
        let dash = |value: Option<u64>, unit: &str| value.map_or("-".to_owned(), |value| format!("{value}{unit}"));
        let mut text = format!("entry {}\n", self.entry.name);
        let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<24}{value}\n"));
        if let Some((shape, times)) = &self.launch {
            let sides = |sides: [u32; 3]| sides.map(|side| side.to_string()).join(" x ");
            let times = if *times == 1 { String::new() } else { format!(", launched {times} times") };
            line("launch", format!("grid {}, block {}{times}", sides(shape.grid), sides(shape.block)));
        }
        line("registers a thread", dash(registers.map(u64::from), ""));
        line("shared memory, static", dash(shared_bytes, " bytes"));
        let dynamic = self.launch.as_ref().map(|(shape, _)| u64::from(shape.shared_bytes));
        line("shared memory, dynamic", dash(dynamic, " bytes"));
        line("spilled a thread", dash(spill_bytes.map(u64::from), " bytes"));
        line("occupancy", self.occupancy_text());
        text.push_str(&self.counters.map_or("  no code of its own\n".to_owned(), kinds_text));
        text
    }

    fn occupancy_text(&self) -> String {
        match &self.occupancy {
            Ok(found) => format!(
                "{}: {} of {} warps, {} blocks a multiprocessor; limited by {}",
                units::percent(found.share()),
                found.warps,
                found.warps_max,
                found.blocks,
                found.limiter_words()
            ),
            Err(unknown) => format!("- ({unknown})"),
        }
    }

    fn fields(&self, shown: &Shown, work: Option<&Work>, ceiling: Option<&Roofline>) -> serde_json::Value {
        let Resources { registers, shared_bytes, spill_bytes, .. } = self.entry.resources;
        let mut fields = shown.fields();
        let shape = self.launch.as_ref().map(|(shape, _)| shape);
        let found = self.occupancy.as_ref().ok();
        for (name, value) in [
            ("entry", json!(self.entry.name)),
            ("grid", json!(shape.map(|shape| shape.grid))),
            ("block", json!(shape.map(|shape| shape.block))),
            ("launches", json!(self.launch.as_ref().map_or(0, |(_, times)| *times))),
            ("registers", json!(registers)),
            ("shared_bytes_static", json!(shared_bytes)),
            ("shared_bytes_dynamic", json!(shape.map(|shape| shape.shared_bytes))),
            ("spill_bytes", json!(spill_bytes)),
            ("occupancy", json!(found.map(Occupancy::share))),
            ("occupancy_blocks", json!(found.map(|found| found.blocks))),
            ("occupancy_limiters", json!(found.map(|found| &found.limiters))),
            ("occupancy_unknown", json!(self.occupancy.as_ref().err().map(|unknown| &unknown.0))),
            ("counters", json!(self.counters.map(counter_fields))),
            ("flop", json!(work.map(|work| work.flops))),
            ("bytes", json!(work.map(|work| work.bytes))),
            ("intensity", json!(work.map(|work| work.flops / work.bytes))),
            ("ridge", json!(ceiling.map(|ceiling| ceiling.ridge))),
            ("ceiling_flops", json!(ceiling.map(|ceiling| ceiling.ceiling_flops))),
            ("ceiling_bound", json!(ceiling.map(|ceiling| ceiling.bound.name()))),
            ("time_ns_floor", json!(ceiling.map(|ceiling| ceiling.time_ns_floor))),
        ] {
            fields[name] = value;
        }
        fields
    }
}

fn launch(plan: &ConcretePlan, name: &str) -> Option<(Shape, usize)> {
    let mut of_entry = plan.sequence.steps.iter().filter_map(|step| match step {
        LaunchStep::Launch { entry, grid, block, shared_bytes, .. } if entry == name => {
            Some(Shape { grid: *grid, block: *block, shared_bytes: *shared_bytes })
        }
        _ => None,
    });
    let first = of_entry.next()?;
    Some((first, 1 + of_entry.count()))
}

fn head(shown: &Shown, work: Option<&Work>, ceiling: Option<&Roofline>, ran: bool) -> String {
    let (words, language, tool) = (shown.words(), shown.code.language.name(), &shown.code.tool);
    let nothing = if ran { "" } else { ": nothing ran" };
    let mut text = format!("{words}\nstatic counts of {language} by {tool}{nothing}\n\n");
    let at = inputs_words(&shown.chosen.inputs);
    match work {
        Some(work) => text.push_str(&format!(
            "work at {at}: {}, and {} that must move: {} FLOP a byte\n",
            units::flop(work.flops),
            units::bytes(work.bytes),
            units::plain(work.flops / work.bytes)
        )),
        None => text.push_str("work: - (the kernel does not say what it computes, or not in countable terms)\n"),
    }
    match ceiling {
        Some(ceiling) => text.push_str(&format!(
            "ceiling: {} GFLOP/s, no run under {}; bound by {} (both peaks meet at {} FLOP a byte)\n",
            units::gflops(ceiling.ceiling_flops),
            units::time(ceiling.time_ns_floor),
            match ceiling.bound {
                Bound::Compute => "arithmetic",
                Bound::Memory => "memory",
            },
            units::plain(ceiling.ridge)
        )),
        None => text.push_str("ceiling: - (no documented peaks of this device for this type)\n"),
    }
    text.push('\n');
    text
}

/// Instructions by kind, by width, and by the loops around them.
fn kinds_text(counters: &Counters) -> String {
    let depths = 0..=counters.loop_depth.unwrap_or(0);
    let column = |text: String| format!("{text:>9}");
    let heads: String = depths
        .clone()
        .map(|depth| column(if depth == 0 { "no loop".to_owned() } else { format!("loop {depth}") }))
        .collect();
    let mut text = format!("  {:<24}{}{heads}\n", "instructions", column(counters.all.total().to_string()));
    for kind in InstructionKind::ALL.into_iter().filter(|kind| counters.all.of(*kind) > 0) {
        let counts: String = depths
            .clone()
            .map(|depth| match counters.all.at_depth(kind, depth) {
                0 => column("-".to_owned()),
                count => column(count.to_string()),
            })
            .collect();
        let widths = widths_text(counters, kind);
        let line = format!("    {:<22}{}{counts}  {widths}", kind.name(), column(counters.all.of(kind).to_string()));
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    text
}

/// `4 x 16 bytes, 2 x 4 bytes`, of instructions that move any.
fn widths_text(counters: &Counters, kind: InstructionKind) -> String {
    let widths = counters.all.widths(kind);
    let known = widths.iter().rev().filter_map(|(bytes, count)| Some(format!("{count} x {} bytes", (*bytes)?)));
    known.collect::<Vec<_>>().join(", ")
}

fn counter_fields(counters: &Counters) -> serde_json::Value {
    let kind_name = |kind: InstructionKind| kind.name().replace(' ', "_");
    let tally = |tally: &crate::inspect::Tally| -> serde_json::Map<String, serde_json::Value> {
        let kinds = InstructionKind::ALL.into_iter().filter(|kind| tally.of(*kind) > 0);
        kinds.map(|kind| (kind_name(kind), json!(tally.of(kind)))).collect()
    };
    let cells = InstructionKind::ALL.into_iter().filter(|kind| counters.all.of(*kind) > 0).map(|kind| {
        let widths: Vec<_> = counters
            .all
            .widths(kind)
            .into_iter()
            .map(|(bytes, count)| json!({"bytes": bytes, "count": count}))
            .collect();
        let by_loop: Vec<u64> =
            (0..=counters.loop_depth.unwrap_or(0)).map(|depth| counters.all.at_depth(kind, depth)).collect();
        json!({"kind": kind_name(kind), "count": counters.all.of(kind), "widths": widths, "by_loop_depth": by_loop})
    });
    let lines = counters.lines.iter().map(|(at, counts)| {
        json!({"piece": at.piece, "line": at.line, "instructions": counts.total(), "kinds": tally(counts)})
    });
    json!({
        "source": counters.source,
        "language": counters.language,
        "instructions": counters.all.total(),
        "loop_depth": counters.loop_depth,
        "kinds": cells.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
    })
}
