//! Warp-wide operations: a lane arrives with its operands, and the last lane of the mask computes for all.

use super::WARP;
use super::block::Block;
use super::thread::{State, Thread};

/// What a warp-wide operation does. The numbers are part of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub(crate) enum WarpOp {
    ShflUp,
    ShflDown,
    ShflBfly,
    ShflIdx,
    VoteAll,
    VoteAny,
    VoteUni,
    Ballot,
    MatchAny32,
    MatchAny64,
    MatchAll32,
    MatchAll64,
    ReduxAdd,
    ReduxMinS,
    ReduxMaxS,
    ReduxMinU,
    ReduxMaxU,
    ReduxAnd,
    ReduxOr,
    ReduxXor,
    Sync,
    /// Completes when no other lane of the warp can move.
    ActiveMask,
    Elect,
}

/// A lane's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub op: WarpOp,
    pub mask: u32,
    pub point: u32,
    pub a: u64,
    pub b: u32,
    pub c: u32,
}

/// A lane arrives. Whether it must wait.
///
/// # Errors
/// A mask without the lane itself.
pub(crate) fn arrive(block: &Block, thread: &Thread, arrival: Arrival) -> Result<bool, String> {
    if arrival.op != WarpOp::ActiveMask && arrival.mask >> thread.lane() & 1 == 0 {
        return Err(format!("lane {} is not in its own mask {:#010x}", thread.lane(), arrival.mask));
    }
    thread.state.set(State::Warp(arrival));
    complete_one(block, lanes(block, thread.slot.get() as usize / WARP), arrival);
    Ok(thread.state.get() != State::Ready)
}

/// Completes every operation of a warp whose lanes have all come, after one has exited.
pub(crate) fn complete(block: &Block, warp: usize) {
    let lanes = lanes(block, warp);
    for thread in lanes {
        if let State::Warp(arrival) = thread.state.get() {
            complete_one(block, lanes, arrival);
        }
    }
}

/// Completes an operation if every lane of its mask is there or has exited.
fn complete_one(block: &Block, lanes: &[Thread], arrival: Arrival) {
    if arrival.op == WarpOp::ActiveMask {
        return;
    }
    let mut members = 0_u32;
    for (lane, thread) in lanes.iter().enumerate() {
        if arrival.mask >> lane & 1 == 0 {
            continue;
        }
        match thread.state.get() {
            State::Done => {}
            State::Warp(it) if it.op == arrival.op && it.mask == arrival.mask && it.point == arrival.point => {
                members |= 1 << lane;
            }
            _ => return,
        }
    }
    finish(block, lanes, members);
}

/// Lets lanes that asked for the active mask go, where nothing else in their warp can move. Whether any could.
pub(crate) fn release_active_masks(block: &Block, warp: usize) -> bool {
    let lanes = lanes(block, warp);
    let first = lanes.iter().find_map(|thread| match thread.state.get() {
        State::Warp(it) if it.op == WarpOp::ActiveMask => Some(it.point),
        _ => None,
    });
    let Some(point) = first else { return false };
    let together = |thread: &Thread| match thread.state.get() {
        State::Warp(it) => it.op == WarpOp::ActiveMask && it.point == point,
        _ => false,
    };
    let members: Vec<usize> = (0..lanes.len()).filter(|lane| together(&lanes[*lane])).collect();
    let mask = members.iter().fold(0_u64, |mask, lane| mask | 1 << lane);
    for lane in members {
        lanes[lane].result.set(mask);
        lanes[lane].state.set(State::Ready);
    }
    block.progress();
    true
}

fn lanes(block: &Block, warp: usize) -> &[Thread] {
    let threads = block.threads();
    &threads[warp * WARP..threads.len().min((warp + 1) * WARP)]
}

/// Computes an operation for the lanes that take part.
fn finish(block: &Block, lanes: &[Thread], members: u32) {
    let mut by_lane = [None; WARP];
    for (lane, thread) in lanes.iter().enumerate() {
        if let (1, State::Warp(arrival)) = (members >> lane & 1, thread.state.get()) {
            by_lane[lane] = Some(arrival);
        }
    }
    for (lane, arrival) in by_lane.iter().enumerate() {
        let Some(arrival) = arrival else { continue };
        let (result, second) = compute(lane, arrival, &by_lane);
        lanes[lane].result.set(result);
        lanes[lane].second.set(second);
        lanes[lane].state.set(State::Ready);
    }
    block.progress();
}

/// A lane's results.
fn compute(lane: usize, own: &Arrival, by_lane: &[Option<Arrival>; WARP]) -> (u64, u64) {
    let all = || by_lane.iter().enumerate().filter_map(|(lane, it)| it.as_ref().map(|it| (lane, it)));
    let mask_where = |holds: &dyn Fn(&Arrival) -> bool| -> u64 {
        all().filter(|(_, it)| holds(it)).fold(0, |mask, (lane, _)| mask | 1 << lane)
    };
    let flag = |value: bool| (u64::from(value), u64::from(value));
    let fold32 =
        |apply: fn(u32, u32) -> u32| (u64::from(all().map(|(_, it)| it.a as u32).reduce(apply).unwrap_or(0)), 0);
    match own.op {
        WarpOp::ShflUp | WarpOp::ShflDown | WarpOp::ShflBfly | WarpOp::ShflIdx => {
            let (source, valid) = shuffle_source(lane, own);
            // A source lane that does not take part gives an undefined value on hardware; here it is its own.
            let value = by_lane[source].map_or(own.a, |it| it.a);
            (value & 0xFFFF_FFFF, u64::from(valid))
        }
        WarpOp::VoteAll => flag(all().all(|(_, it)| it.a != 0)),
        WarpOp::VoteAny => flag(all().any(|(_, it)| it.a != 0)),
        WarpOp::VoteUni => flag(all().all(|(_, it)| (it.a != 0) == (own.a != 0))),
        WarpOp::Ballot => (mask_where(&|it| it.a != 0), 0),
        WarpOp::MatchAny32 | WarpOp::MatchAny64 => (mask_where(&|it| it.a == own.a), 0),
        WarpOp::MatchAll32 | WarpOp::MatchAll64 => {
            let same = all().all(|(_, it)| it.a == own.a);
            (if same { mask_where(&|_| true) } else { 0 }, u64::from(same))
        }
        WarpOp::ReduxAdd => fold32(u32::wrapping_add),
        WarpOp::ReduxMinS => fold32(|a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned()),
        WarpOp::ReduxMaxS => fold32(|a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned()),
        WarpOp::ReduxMinU => fold32(u32::min),
        WarpOp::ReduxMaxU => fold32(u32::max),
        WarpOp::ReduxAnd => fold32(|a, b| a & b),
        WarpOp::ReduxOr => fold32(|a, b| a | b),
        WarpOp::ReduxXor => fold32(|a, b| a ^ b),
        WarpOp::Elect => {
            let first = all().next().map_or(0, |(lane, _)| lane);
            (first as u64, u64::from(first == lane))
        }
        WarpOp::Sync | WarpOp::ActiveMask => (0, 0),
    }
}

/// The lane that a shuffle reads, and whether it is in range: PTX's own pseudo code, with `b` and `c` as in `shfl`.
fn shuffle_source(lane: usize, own: &Arrival) -> (usize, bool) {
    let lane = lane as i32;
    let (b, clamp, segment) = ((own.b & 31) as i32, (own.c & 31) as i32, (own.c >> 8 & 31) as i32);
    let max_lane = (lane & segment) | (clamp & !segment);
    let min_lane = lane & segment;
    let (source, valid) = match own.op {
        WarpOp::ShflUp => (lane - b, lane - b >= max_lane),
        WarpOp::ShflDown => (lane + b, lane + b <= max_lane),
        WarpOp::ShflBfly => (lane ^ b, lane ^ b <= max_lane),
        _ => {
            let source = min_lane | (b & !segment);
            (source, source <= max_lane)
        }
    };
    let source = if valid { source } else { lane };
    (usize::try_from(source).unwrap_or(0) % WARP, valid)
}

/// Every operation, by its number.
const OPS: [WarpOp; 23] = [
    WarpOp::ShflUp,
    WarpOp::ShflDown,
    WarpOp::ShflBfly,
    WarpOp::ShflIdx,
    WarpOp::VoteAll,
    WarpOp::VoteAny,
    WarpOp::VoteUni,
    WarpOp::Ballot,
    WarpOp::MatchAny32,
    WarpOp::MatchAny64,
    WarpOp::MatchAll32,
    WarpOp::MatchAll64,
    WarpOp::ReduxAdd,
    WarpOp::ReduxMinS,
    WarpOp::ReduxMaxS,
    WarpOp::ReduxMinU,
    WarpOp::ReduxMaxU,
    WarpOp::ReduxAnd,
    WarpOp::ReduxOr,
    WarpOp::ReduxXor,
    WarpOp::Sync,
    WarpOp::ActiveMask,
    WarpOp::Elect,
];

impl WarpOp {
    /// The operation of a number in generated code.
    pub fn numbered(number: u32) -> Option<WarpOp> {
        OPS.get(number as usize).copied().filter(|op| *op as u32 == number)
    }
}
