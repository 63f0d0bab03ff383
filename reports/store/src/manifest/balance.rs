//! Shards of about the same size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Item;

/// What a file costs besides its bytes, counted as bytes: it has to be opened. Keeps many empty
/// files from ending up in one shard.
const COST_OF_A_FILE: u64 = 4096;

/// By item, its shard: the largest item first, each into the lightest shard, which is at most a
/// third above the best there is (R. L. Graham, Bounds on multiprocessing timing anomalies, 1969).
/// Ties go to the smaller path and the lower shard.
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
