//! Tuning parameters that clauses join, and their valid assignments: counted without walking the product, drawn one by
//! one with equal chances.
//!
//! Parameters are assigned in an order that keeps few of them in view. What is left to count depends only on the values
//! that open clauses still read (the frontier), so it is counted once for each of those. A value is passed over as soon
//! as a clause is decided against it, or cannot be met within the ranges of what is still open.

use super::clause::Clause;
use super::formula::Bounds;
use crate::tune::Rng;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Values looked at while one component is counted exactly, at most; beyond, the count is an estimate.
pub const COMPONENT_VISITS_MAX: u64 = 1_000_000;

/// Descents of an estimate.
const PROBES: u32 = 4_000;

/// Two-sided quantile of the normal distribution for 95%.
const NORMAL_95: f64 = 1.96;

/// Parameters of a space, by place: their values.
pub type Domains = Vec<Vec<i64>>;

/// How many assignments are valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// Exactly so many; saturates.
    Exact(u128),
    /// About so many, by Knuth's estimator: the half width of its 95% interval, as a share of the estimate.
    Estimate {
        /// The mean of the descents.
        valid: f64,
        /// Half of the 95% interval over the mean; infinite where no descent arrived.
        error_share: f64,
    },
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exact(valid) => write!(f, "{valid}"),
            Count::Estimate { valid, error_share } if error_share.is_finite() => {
                write!(f, "about {valid:.3e} (estimated, within {:.0}% 19 times of 20)", error_share * 100.0)
            }
            Count::Estimate { .. } => f.write_str("too few to estimate"),
        }
    }
}

/// Places joined by clauses, with the clauses.
#[derive(Debug)]
pub struct Component {
    /// In order of assignment.
    order: Vec<usize>,
    /// Values of each, by depth.
    values: Vec<Vec<i64>>,
    /// Bounds of every place of the space before any is assigned.
    open: Vec<Bounds>,
    /// At depth `d`: clauses that the place there decides.
    decides: Vec<Vec<Arc<Clause>>>,
    /// At depth `d`: clauses that read the place there and are still open after it.
    narrows: Vec<Vec<Arc<Clause>>>,
    /// At depth `d`: places before it that clauses decided at `d` or later read.
    frontier: Vec<Vec<usize>>,
    counted: Option<Counted>,
    total: Count,
}

/// Valid completions, by the frontier's values, for each depth.
type Counted = Vec<HashMap<Vec<i64>, u128>>;

/// Splits the places into components and counts each. Clauses that read no place are not looked at.
pub fn components(domains: &Domains, clauses: &[Arc<Clause>]) -> Vec<Component> {
    let groups = groups(domains.len(), clauses);
    groups.into_iter().map(|places| Component::new(&places, domains, clauses)).collect()
}

/// Places that clauses join, each group in order.
fn groups(places: usize, clauses: &[Arc<Clause>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..places).collect();
    for clause in clauses {
        let Some(first) = clause.places.first() else { continue };
        let kept = group[*first];
        let joined: Vec<usize> = clause.places.iter().map(|place| group[*place]).collect();
        group.iter_mut().filter(|own| joined.contains(own)).for_each(|own| *own = kept);
    }
    let names: BTreeSet<usize> = group.iter().copied().collect();
    names.into_iter().map(|name| (0..places).filter(|place| group[*place] == name).collect()).collect()
}

impl Component {
    fn new(places: &[usize], domains: &Domains, clauses: &[Arc<Clause>]) -> Component {
        let mine = clauses.iter().filter(|clause| clause.places.first().is_some_and(|place| places.contains(place)));
        let mine: Vec<Arc<Clause>> = mine.cloned().collect();
        let domains = alone(domains, &mine);
        let bound =
            |values: &Vec<i64>| (values.iter().copied().min().unwrap_or(0), values.iter().copied().max().unwrap_or(0));
        let open = domains.iter().map(bound).collect();
        let joint: Vec<Arc<Clause>> = mine.into_iter().filter(|clause| clause.places.len() > 1).collect();
        let order = order(places, &domains, &joint);
        let depth = |place: &usize| order.iter().position(|own| own == place).unwrap_or(0);
        let last = |clause: &Clause| clause.places.iter().map(depth).max().unwrap_or(0);
        let at = |d: usize, wanted: &dyn Fn(&Clause) -> bool| -> Vec<Arc<Clause>> {
            joint.iter().filter(|clause| clause.places.contains(&order[d]) && wanted(clause)).cloned().collect()
        };
        let frontier = |d: usize| {
            let read = joint.iter().filter(|clause| last(clause) >= d).flat_map(|clause| clause.places.iter().copied());
            read.filter(|place| depth(place) < d).collect::<BTreeSet<usize>>().into_iter().collect()
        };
        let depths = 0..order.len();
        let mut component = Component {
            values: order.iter().map(|place| domains[*place].clone()).collect(),
            open,
            decides: depths.clone().map(|d| at(d, &|clause| last(clause) == d)).collect(),
            narrows: depths.clone().map(|d| at(d, &|clause| last(clause) > d)).collect(),
            frontier: depths.map(frontier).collect(),
            order,
            counted: None,
            total: Count::Exact(0),
        };
        component.count();
        component
    }

    /// How many assignments of its places are valid.
    pub fn total(&self) -> Count {
        self.total
    }

    fn count(&mut self) {
        let mut work = Work::new(self);
        let mut counted: Counted = vec![HashMap::new(); self.order.len()];
        match self.below(0, &mut work, &mut counted) {
            Some(total) => {
                self.total = Count::Exact(total);
                self.counted = Some(counted);
            }
            None => self.total = self.estimate(),
        }
    }

    /// Valid assignments from `depth` on; none where too many values had to be looked at.
    fn below(&self, depth: usize, work: &mut Work, counted: &mut Counted) -> Option<u128> {
        if depth == self.order.len() {
            return Some(1);
        }
        let key = self.key(depth, work);
        if let Some(known) = counted[depth].get(&key) {
            return Some(*known);
        }
        let mut total = 0u128;
        for value in &self.values[depth] {
            work.visits = work.visits.checked_sub(1)?;
            if self.assign(depth, *value, work) {
                total = total.saturating_add(self.below(depth + 1, work, counted)?);
            }
        }
        self.release(depth, work);
        counted[depth].insert(key, total);
        Some(total)
    }

    fn key(&self, depth: usize, work: &Work) -> Vec<i64> {
        self.frontier[depth].iter().map(|place| work.values[*place]).collect()
    }

    /// Gives the place at `depth` a value; whether anything valid may still come of it.
    fn assign(&self, depth: usize, value: i64, work: &mut Work) -> bool {
        let place = self.order[depth];
        work.values[place] = value;
        work.open[place] = (value, value);
        self.decides[depth].iter().all(|clause| clause.is_met(&work.values))
            && self.narrows[depth].iter().all(|clause| !clause.never(&work.open))
    }

    fn release(&self, depth: usize, work: &mut Work) {
        let place = self.order[depth];
        work.open[place] = self.open[place];
    }

    /// Puts a valid assignment, each equally likely, into `values`. False where there is none or none was found: a
    /// component that was not counted is drawn from by chance, starting over at each dead end, `tries` times.
    pub fn sample(&self, rng: &mut Rng, tries: u32, values: &mut [i64]) -> bool {
        match &self.counted {
            Some(counted) => self.sample_counted(rng, counted, values),
            None => (0..tries).any(|_| self.sample_once(rng, values)),
        }
    }

    fn sample_counted(&self, rng: &mut Rng, counted: &Counted, values: &mut [i64]) -> bool {
        let mut work = Work::new(self);
        for depth in 0..self.order.len() {
            let mut weights: Vec<(i64, u128)> = Vec::new();
            for value in &self.values[depth] {
                if self.assign(depth, *value, &mut work) {
                    let below = match counted.get(depth + 1) {
                        None => 1,
                        Some(next) => next.get(&self.key(depth + 1, &work)).copied().unwrap_or(0),
                    };
                    weights.push((*value, below));
                }
            }
            let total = weights.iter().fold(0u128, |sum, (_, weight)| sum.saturating_add(*weight));
            if total == 0 {
                return false;
            }
            let mut drawn = rng.below_u128(total);
            let chosen = weights.iter().find(|(_, weight)| match drawn.checked_sub(*weight) {
                None => true,
                Some(left) => {
                    drawn = left;
                    false
                }
            });
            let Some((value, _)) = chosen else { return false };
            self.assign(depth, *value, &mut work);
        }
        self.order.iter().for_each(|place| values[*place] = work.values[*place]);
        true
    }

    /// One draw; a value without a future ends it, so that every valid assignment is as likely as any other.
    fn sample_once(&self, rng: &mut Rng, values: &mut [i64]) -> bool {
        let mut work = Work::new(self);
        for depth in 0..self.order.len() {
            let all = &self.values[depth];
            let Some(value) = all.get(rng.below(all.len())) else { return false };
            if !self.assign(depth, *value, &mut work) {
                return false;
            }
        }
        self.order.iter().for_each(|place| values[*place] = work.values[*place]);
        true
    }

    /// Knuth's estimator: the product of the choices on the way down, over random descents. A fixed seed.
    fn estimate(&self) -> Count {
        let mut rng = Rng::new(0);
        let probes: Vec<f64> = (0..PROBES).map(|_| self.probe(&mut rng)).collect();
        let count = f64::from(PROBES);
        let mean = probes.iter().sum::<f64>() / count;
        let variance = probes.iter().map(|probe| (probe - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let error_share = if mean > 0.0 { NORMAL_95 * (variance / count).sqrt() / mean } else { f64::INFINITY };
        Count::Estimate { valid: mean, error_share }
    }

    fn probe(&self, rng: &mut Rng) -> f64 {
        let mut work = Work::new(self);
        let mut product = 1.0;
        for depth in 0..self.order.len() {
            let fitting: Vec<i64> =
                self.values[depth].iter().copied().filter(|value| self.assign(depth, *value, &mut work)).collect();
            let Some(value) = fitting.get(rng.below(fitting.len())) else { return 0.0 };
            #[allow(clippy::cast_precision_loss, reason = "values of one parameter are a few thousand at most")]
            let choices = fitting.len() as f64;
            product *= choices;
            self.assign(depth, *value, &mut work);
        }
        product
    }
}

/// The domains without values that a clause of one place rules out.
fn alone(domains: &Domains, clauses: &[Arc<Clause>]) -> Domains {
    let mut domains = domains.clone();
    let mut values = vec![0; domains.len()];
    for clause in clauses {
        let mut places = clause.places.iter();
        let (Some(place), None) = (places.next(), places.next()) else { continue };
        domains[*place].retain(|value| {
            values[*place] = *value;
            clause.is_met(&values)
        });
    }
    domains
}

/// An order in which few combinations of values are in view at a time: each place is the one after which the frontier
/// has the fewest combinations.
fn order(places: &[usize], domains: &Domains, clauses: &[Arc<Clause>]) -> Vec<usize> {
    let mut left: Vec<usize> = places.to_vec();
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let in_view = |candidate: usize| {
            let assigned = |place: &usize| order.contains(place) || *place == candidate;
            let open = clauses.iter().filter(|clause| !clause.places.iter().all(assigned));
            let view: BTreeSet<usize> =
                open.flat_map(|clause| clause.places.iter().copied()).filter(|place| assigned(place)).collect();
            view.iter().fold(1u128, |product, place| product.saturating_mul(domains[*place].len().max(1) as u128))
        };
        let best = left.iter().enumerate().min_by_key(|(_, place)| (in_view(**place), domains[**place].len()));
        let Some((at, _)) = best else { break };
        order.push(left.remove(at));
    }
    order
}

/// An assignment under way.
struct Work {
    values: Vec<i64>,
    open: Vec<Bounds>,
    visits: u64,
}

impl Work {
    fn new(component: &Component) -> Work {
        Work { values: vec![0; component.open.len()], open: component.open.clone(), visits: COMPONENT_VISITS_MAX }
    }
}
