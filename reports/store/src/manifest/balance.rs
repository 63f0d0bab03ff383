//! Distributes items over shards of about the same size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Item;

/// The cost of opening a file, expressed in bytes. It prevents many empty files from ending up in one shard.
const COST_OF_A_FILE: u64 = 4096;

/// The shard of each item: items are assigned, largest first, to the lightest shard, which is at most a third heavier
/// than in the optimal distribution (R. L. Graham, Bounds on multiprocessing timing anomalies, 1969). Ties are resolved
/// by the smaller path and the lower shard.
pub(super) fn shards(items: &[Item], shards: u32) -> Vec<u32> {
    let mut order: Vec<(usize, &Item)> = items.iter().enumerate().collect();
    order.sort_unstable_by(|(_, a), (_, b)| (b.size, &a.path).cmp(&(a.size, &b.path)));
    let mut lightest: BinaryHeap<Reverse<(u64, u32)>> =
        (0..shards).map(|shard| Reverse((0, shard))).collect();
    let mut shard_of = vec![0; items.len()];
    for (position, item) in order {
        let Some(mut least) = lightest.peek_mut() else { break };
        let Reverse((load, shard)) = &mut *least;
        *load = load.saturating_add(item.size).saturating_add(COST_OF_A_FILE);
        if let Some(place) = shard_of.get_mut(position) {
            *place = *shard;
        }
    }
    shard_of
}
