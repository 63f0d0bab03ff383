//! Processes many inputs on several threads. Results are passed on as soon as they are complete, in the order of the
//! inputs; results that wait for their turn take a bounded amount of memory.
//!
//! Threads take inputs in order, so the earliest unfinished input is always being processed. Its thread never waits for
//! another one, so waiting for memory cannot cause a deadlock.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of inputs that a thread takes at once. Most files of a folder are not ELF files, and finding that
/// out takes less time than passing on one input.
const BATCH: usize = 16;
/// The number of inputs that may wait for each thread.
const AHEAD: usize = 512;
/// The number of batches per thread that may be ahead of the earliest unfinished one.
const BATCHES_AHEAD: usize = 32;
/// The interval of [`Event::Waiting`].
const TICK: Duration = Duration::from_millis(100);
/// How often a waiting thread looks for other work of the pool, such as members of an archive.
const LOOK: Duration = Duration::from_millis(1);
/// Results are passed on in groups of up to this weight in bytes.
const GROUP: usize = 1 << 16;
/// The maximum number of threads of a scan. Each takes memory, and threads far beyond the number of processors only
/// wait.
pub const MAX_THREADS: usize = 1024;

/// The limits of the work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    /// The number of threads; 0 is one per processor.
    pub(crate) threads: usize,
    /// The number of bytes of results that may wait for their turn.
    pub(crate) waiting: usize,
}

/// A result that takes memory while it waits.
pub(crate) trait Weigh {
    /// The approximate number of bytes of memory.
    fn weight(&self) -> usize;
}

/// An event that [`in_order`] reports.
pub(crate) enum Event<R> {
    /// The next result.
    Done(R),
    /// Some time has passed without a result.
    Waiting,
}

/// The number of threads for an option where 0 is one per processor.
#[must_use]
pub fn number_of_threads(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        threads => threads.min(MAX_THREADS),
    }
}

/// Processes every input with `work`, and passes each result to `report`: in input order, and for one input in the
/// order in which `work` produces them.
///
/// # Errors
/// Returns errors of `report`, which end the work, and an error if threads cannot be started.
pub(crate) fn in_order<I: Send, R: Send + Weigh, E: From<io::Error>>(
    inputs: impl Iterator<Item = I>,
    resources: Resources,
    work: impl Fn(I, &mut dyn FnMut(R)) + Sync,
    report: impl FnMut(Event<R>) -> Result<(), E>,
) -> Result<(), E> {
    let threads = number_of_threads(resources.threads);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let queue = Queue {
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
        threads,
        waiting: resources.waiting,
    };
    pool.in_place_scope(|scope| {
        let (queue, work) = (&queue, &work);
        scope.spawn_broadcast(move |_, _| queue.work(work));
        // Threads must not wait for inputs after an error or a panic.
        let _end = EndOnDrop(queue);
        queue.lead(inputs, report)
    })
}

/// The inputs that wait for a thread, and the results that wait for their turn.
struct Queue<I, R> {
    state: Mutex<State<I, R>>,
    changed: Condvar,
    threads: usize,
    /// The number of bytes of results that may wait.
    waiting: usize,
}

struct State<I, R> {
    inputs: VecDeque<I>,
    /// Whether these are the last inputs.
    complete: bool,
    /// Whether results are no longer needed.
    ended: bool,
    /// The batches that were taken, in order.
    batches: VecDeque<Batch<R>>,
    /// The number of the first batch.
    first: u64,
    /// The number of bytes of all results in the batches.
    weight: usize,
}

impl<I, R> Default for State<I, R> {
    fn default() -> State<I, R> {
        State {
            inputs: VecDeque::new(),
            complete: false,
            ended: false,
            batches: VecDeque::new(),
            first: 0,
            weight: 0,
        }
    }
}

struct Batch<R> {
    results: Vec<R>,
    weight: usize,
    done: bool,
}

/// The next step of the leading thread.
enum Next<R> {
    /// Pass on results.
    Results(Vec<R>),
    /// Nothing: a batch without results is done.
    Nothing,
    /// Report that time has passed.
    Waited,
    /// Read more inputs.
    Feed,
    /// Return: all inputs are done.
    Finished,
}

impl<I: Send, R: Send + Weigh> Queue<I, R> {
    fn lock(&self) -> MutexGuard<'_, State<I, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(
        &self,
        state: MutexGuard<'s, State<I, R>>,
        time: Duration,
    ) -> MutexGuard<'s, State<I, R>> {
        let waited = self.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Distributes inputs, and passes on results.
    fn lead<E>(
        &self,
        mut inputs: impl Iterator<Item = I>,
        mut report: impl FnMut(Event<R>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            match self.next() {
                Next::Results(results) => {
                    results.into_iter().try_for_each(|result| report(Event::Done(result)))?;
                }
                Next::Nothing => {}
                Next::Waited => report(Event::Waiting)?,
                Next::Feed => {
                    let more: Vec<I> = inputs.by_ref().take(BATCH).collect();
                    let mut state = self.lock();
                    state.complete = more.is_empty();
                    state.inputs.extend(more);
                    drop(state);
                    self.changed.notify_all();
                }
                Next::Finished => return Ok(()),
            }
        }
    }

    fn next(&self) -> Next<R> {
        let until = Instant::now() + TICK;
        let mut state = self.lock();
        loop {
            if let Some(batch) = state.batches.front_mut() {
                let (results, done) = (std::mem::take(&mut batch.results), batch.done);
                let weight = std::mem::take(&mut batch.weight);
                if done {
                    state.batches.pop_front();
                    state.first += 1;
                }
                if done || !results.is_empty() {
                    state.weight -= weight;
                    drop(state);
                    self.changed.notify_all();
                    return if results.is_empty() { Next::Nothing } else { Next::Results(results) };
                }
            } else if state.complete && state.inputs.is_empty() {
                return Next::Finished;
            }
            if !state.complete && state.inputs.len() < AHEAD * self.threads {
                return Next::Feed;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Waited;
            }
            state = self.wait(state, left);
        }
    }

    /// Takes inputs and processes them until none are left.
    fn work(&self, work: &(impl Fn(I, &mut dyn FnMut(R)) + Sync)) {
        while let Some((number, inputs)) = self.take() {
            let mut batch_work = BatchWork { queue: self, number, results: Vec::new(), weight: 0 };
            for input in inputs {
                work(input, &mut |result| batch_work.add(result));
            }
        }
    }

    /// The next batch; `None` after the last one.
    fn take(&self) -> Option<(u64, Vec<I>)> {
        let mut state = self.lock();
        loop {
            if state.ended || (state.complete && state.inputs.is_empty()) {
                return None;
            }
            let ahead = state.batches.len() >= BATCHES_AHEAD * self.threads;
            if !ahead && !state.inputs.is_empty() {
                // If there are few inputs, every thread gets some.
                let number = (state.inputs.len() / (self.threads * 8)).clamp(1, BATCH);
                let inputs = state.inputs.drain(..number).collect();
                let number = state.first + state.batches.len() as u64;
                state.batches.push_back(Batch { results: Vec::new(), weight: 0, done: false });
                return Some((number, inputs));
            }
            state = self.work_or_wait(state);
        }
    }

    /// Waits for a moment, or does other work of the pool.
    fn work_or_wait<'s>(
        &'s self,
        state: MutexGuard<'s, State<I, R>>,
    ) -> MutexGuard<'s, State<I, R>> {
        drop(state);
        let worked = rayon::yield_now() == Some(rayon::Yield::Executed);
        let state = self.lock();
        if worked { state } else { self.wait(state, LOOK) }
    }

    /// Adds results to those that wait for their turn, once there is room.
    fn put(&self, number: u64, results: Vec<R>, weight: usize) {
        let mut state = self.lock();
        loop {
            if state.ended {
                return;
            }
            let (first, full) = (state.first, state.weight.saturating_add(weight) > self.waiting);
            let place = usize::try_from(number.wrapping_sub(first)).unwrap_or(usize::MAX);
            let Some(batch) = state.batches.get_mut(place) else { return };
            // The first batch only waits until its earlier results are taken.
            if !full || (number == first && batch.results.is_empty()) {
                batch.results.extend(results);
                batch.weight += weight;
                state.weight += weight;
                drop(state);
                self.changed.notify_all();
                return;
            }
            state = self.work_or_wait(state);
        }
    }
}

/// Collects the results of a batch; the batch is done when this is dropped.
struct BatchWork<'l, I: Send, R: Send + Weigh> {
    queue: &'l Queue<I, R>,
    number: u64,
    results: Vec<R>,
    weight: usize,
}

impl<I: Send, R: Send + Weigh> BatchWork<'_, I, R> {
    fn add(&mut self, result: R) {
        self.weight = self.weight.saturating_add(result.weight());
        self.results.push(result);
        if self.weight >= GROUP {
            self.give();
        }
    }

    fn give(&mut self) {
        if !self.results.is_empty() {
            let weight = std::mem::take(&mut self.weight);
            self.queue.put(self.number, std::mem::take(&mut self.results), weight);
        }
    }
}

impl<I: Send, R: Send + Weigh> Drop for BatchWork<'_, I, R> {
    fn drop(&mut self) {
        self.give();
        let mut state = self.queue.lock();
        let place = usize::try_from(self.number.wrapping_sub(state.first)).unwrap_or(usize::MAX);
        if let Some(batch) = state.batches.get_mut(place) {
            batch.done = true;
        }
        drop(state);
        self.queue.changed.notify_all();
    }
}

/// Ends the work when it is dropped.
struct EndOnDrop<'l, I, R>(&'l Queue<I, R>);

impl<I, R> Drop for EndOnDrop<'_, I, R> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    impl Weigh for (u64, u64) {
        fn weight(&self) -> usize {
            1000
        }
    }

    fn run(
        threads: usize,
        waiting: usize,
        inputs: u64,
        work: impl Fn(u64, &mut dyn FnMut((u64, u64))) + Sync,
    ) -> Vec<(u64, u64)> {
        let mut results = Vec::new();
        let result = in_order(0..inputs, Resources { threads, waiting }, work, |event| {
            if let Event::Done(result) = event {
                results.push(result);
            }
            Ok::<(), io::Error>(())
        });
        result.expect("nothing fails");
        results
    }

    /// The first input is the slowest, and hardly any result fits into memory.
    #[test]
    fn results_are_in_input_order_for_any_memory_limit() {
        let wanted: Vec<(u64, u64)> =
            (0..100).flat_map(|n| (0..50).map(move |part| (n, part))).collect();
        for (threads, waiting) in [(1, 0), (2, 0), (4, 1), (7, 5000), (3, usize::MAX)] {
            let results = run(threads, waiting, 100, |n, found| {
                for part in 0..50 {
                    if n == 0 {
                        thread::sleep(Duration::from_micros(200));
                    }
                    found((n, part));
                }
            });
            assert_eq!(results, wanted, "{threads} threads, room for {waiting}");
        }
    }

    /// While the first input is being processed, the others produce as many results as fit into memory.
    #[test]
    fn memory_for_waiting_results_is_bounded() {
        let made = AtomicUsize::new(0);
        let seen_by_first = AtomicUsize::new(0);
        let room = 10 * GROUP;
        run(2, room, 1000, |n, found| {
            if n == 0 {
                while made.load(Ordering::SeqCst) == 0 {
                    thread::sleep(LOOK);
                }
                // Without a limit, all would be made meanwhile.
                thread::sleep(Duration::from_millis(300));
                seen_by_first.store(made.load(Ordering::SeqCst), Ordering::SeqCst);
            }
            for part in 0..100 {
                if n > 0 {
                    made.fetch_add(1000, Ordering::SeqCst);
                }
                found((n, part));
            }
        });
        let seen = seen_by_first.load(Ordering::SeqCst);
        assert!(seen > 0 && seen <= room + 2 * GROUP, "{seen}");
    }

    #[test]
    fn an_error_of_the_receiver_stops_the_work() {
        let done = AtomicUsize::new(0);
        let work = |n, found: &mut dyn FnMut((u64, u64))| {
            done.fetch_add(1, Ordering::SeqCst);
            found((n, 0));
        };
        let resources = Resources { threads: 2, waiting: 1 << 20 };
        let result = in_order(0..u64::MAX, resources, work, |event| match event {
            Event::Done((100, _)) => Err(io::Error::other("enough")),
            _ => Ok(()),
        });
        assert_eq!(result.expect_err("it is passed on").to_string(), "enough");
        assert!(done.load(Ordering::SeqCst) < 100_000);
    }
}
