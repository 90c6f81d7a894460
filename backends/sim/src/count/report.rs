//! Sums by number as counts by instruction.

use super::{CountPlan, Counting, Requests, Totals};
use peak_backend_api::{MemoryCounts, SiteCounts};

impl Counting {
    /// What was counted, by instruction.
    pub fn sites(&self, plan: &CountPlan) -> Vec<SiteCounts> {
        let Ok(totals) = self.totals.lock() else { return Vec::new() };
        let mut memory: Vec<Vec<MemoryCounts>> = plan.sites.iter().map(|_| Vec::new()).collect();
        for ((number, space), requests) in &totals.accesses {
            let Some(access) = plan.accesses.get(*number as usize) else { continue };
            if let Some(of_site) = memory.get_mut(access.site as usize) {
                of_site.push(requests.counts(*space, access.kind, access.bytes));
            }
        }
        plan.sites.iter().zip(memory).map(|(site, memory)| counts(site, memory, &totals)).collect()
    }
}

fn counts(site: &super::CountSite, memory: Vec<MemoryCounts>, totals: &Totals) -> SiteCounts {
    SiteCounts {
        function: site.function.clone(),
        text_line: site.text_line,
        at: site.at.clone(),
        opcode: site.opcode.clone(),
        kind: site.kind,
        warps: totals.of_flow(site.flow).0,
        threads: totals.of_flow(site.threads).1,
        memory,
    }
}

impl Requests {
    fn counts(
        &self,
        space: peak_backend_api::MemorySpace,
        access: peak_backend_api::AccessKind,
        bytes: u32,
    ) -> MemoryCounts {
        // One that most neighbours do not have says nothing.
        let most = |(_, times): &&(i64, u64)| 2 * times >= self.threads - self.requests;
        let stride = self.strides.iter().max_by_key(|(_, times)| *times).filter(most);
        MemoryCounts {
            space,
            access,
            bytes,
            requests: self.requests,
            threads: self.threads,
            sectors: self.sectors,
            sectors_ideal: self.sectors_ideal,
            wavefronts: self.wavefronts,
            wavefronts_ideal: self.wavefronts_ideal,
            conflicts: self.conflicts,
            addresses: self.addresses,
            stride_bytes: stride.map(|(stride, _)| *stride),
        }
    }
}
