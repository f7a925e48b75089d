//! A team of threads for the short parallel steps of one training run.
//!
//! **Idea.** Growing a tree is a sequence of parallel steps, some of a few microseconds. Dispatching each to a thread pool would cost more than the step itself, so the threads of a team live as
//! long as the training run. A step is a slice of parts. Threads claim parts one by one: first their own (whose rows are in their cache), then unclaimed ones. A thread that isn't scheduled
//! delays at most the part it is working on: the leader does the rest and ends the step without it. The result doesn't depend on which thread works on a part.
//!
//! **Waiting.** A waiting thread spins for at most [`SPIN_TIME`], then sleeps on a condition variable. It spins only while every thread probably has its own core ([`Spinning`]): the teams of
//! the process have no more threads than there are cores, and no spinning thread was interrupted recently.

use ermine_core::parallel;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The work of a step, called with the index of the thread.
type TeamJob<'a> = &'a (dyn Fn(usize) + Sync);

/// The state of the current step in one integer: the lowest bits count the members inside, the next bit is set while the step is open, the rest is its number.
#[derive(Clone, Copy)]
struct TeamStep(u64);

impl TeamStep {
    const OPEN: u64 = 1 << 16;
    const NEXT: u64 = 1 << 17;

    fn n_inside(self) -> u64 {
        self.0 & (TeamStep::OPEN - 1)
    }

    fn is_open(self) -> bool {
        self.0 & TeamStep::OPEN != 0
    }

    fn number(self) -> u64 {
        self.0 / TeamStep::NEXT
    }

    /// The next step, open and empty.
    fn next(self) -> TeamStep {
        TeamStep((self.number() + 1) * TeamStep::NEXT + TeamStep::OPEN)
    }
}

/// The shared state of a team.
struct TeamState {
    job: UnsafeCell<Option<TeamJob<'static>>>,
    state: AtomicU64,
    /// Members that sleep, or are about to.
    n_asleep: AtomicUsize,
    is_leader_asleep: AtomicBool,
    /// Held between looking at `state` and going to sleep, so that no notification is lost.
    sleep: Mutex<()>,
    step_opened: Condvar,
    step_left: Condvar,
    spinning: Spinning,
    in_step: AtomicBool,
    panicked: AtomicBool,
    quit: AtomicBool,
}

// SAFETY: `job` is written only by the thread that holds the `StepGuard`, of which there is one at a time, while the step is closed and no member is inside; members read it
// only after they have entered an open step (a read-modify-write of `state` that the leader's store of it happens before).
unsafe impl Sync for TeamState {}

/// A team of threads.
pub struct Team<'a> {
    shared: &'a TeamState,
    size: usize,
}

/// Runs `work` with a team of `size` threads, the calling one included.
pub fn with_team<T>(size: usize, work: impl FnOnce(&Team<'_>) -> T) -> T {
    with_team_on(parallel::available_threads(), size, work)
}

/// The same for a given number of cores.
fn with_team_on<T>(n_cores: usize, size: usize, work: impl FnOnce(&Team<'_>) -> T) -> T {
    let size = size.max(1);
    let shared = TeamState {
        job: UnsafeCell::new(None),
        state: AtomicU64::new(0),
        n_asleep: AtomicUsize::new(0),
        is_leader_asleep: AtomicBool::new(false),
        sleep: Mutex::new(()),
        step_opened: Condvar::new(),
        step_left: Condvar::new(),
        spinning: Spinning::new(size, n_cores),
        in_step: AtomicBool::new(false),
        panicked: AtomicBool::new(false),
        quit: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let _dismissal = TeamDismissal(&shared);
        for thread in 1..size {
            let shared = &shared;
            scope.spawn(move || shared.serve(thread));
        }
        work(&Team { shared: &shared, size })
    })
}

/// Ends the members' loops, even if the leader panics.
struct TeamDismissal<'a>(&'a TeamState);

impl Drop for TeamDismissal<'_> {
    fn drop(&mut self) {
        self.0.quit.store(true, Ordering::SeqCst);
        drop(self.0.lock());
        self.0.step_opened.notify_all();
    }
}

/// Permission to run a step, released when dropped.
struct StepGuard<'a>(&'a TeamState);

impl<'a> StepGuard<'a> {
    /// # Panics
    /// If a step is already running.
    fn new(shared: &'a TeamState) -> StepGuard<'a> {
        assert!(!shared.in_step.swap(true, Ordering::Acquire), "a team runs one step at a time");
        StepGuard(shared)
    }
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        self.0.in_step.store(false, Ordering::Release);
    }
}

/// Closes the step and waits for its members, even if the leader panics, since they borrow its data.
struct StepEnd<'a>(&'a TeamState);

impl Drop for StepEnd<'_> {
    fn drop(&mut self) {
        let shared = self.0;
        shared.state.fetch_and(!TeamStep::OPEN, Ordering::SeqCst);
        let is_empty = || shared.state().n_inside() == 0;
        if shared.spinning.spin_until(is_empty) {
            return;
        }
        let mut lock = shared.lock();
        shared.is_leader_asleep.store(true, Ordering::SeqCst);
        while !is_empty() {
            lock = shared.step_left.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        shared.is_leader_asleep.store(false, Ordering::SeqCst);
    }
}

impl TeamState {
    fn state(&self) -> TeamStep {
        TeamStep(self.state.load(Ordering::SeqCst))
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.sleep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A member's loop: wait for a step, enter it, work, leave it.
    fn serve(&self, thread: usize) {
        let mut last = 0;
        while self.wait_for_step(last) {
            let state = self.state();
            if !state.is_open() || state.number() == last {
                continue;
            }
            let entered = TeamStep(state.0 + 1).0;
            if self.state.compare_exchange(state.0, entered, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                continue;
            }
            last = state.number();
            // SAFETY: the leader wrote the job before it opened the step, and doesn't touch it before this member has left.
            let job = unsafe { *self.job.get() };
            if catch_unwind(AssertUnwindSafe(|| job.iter().for_each(|job| job(thread)))).is_err() {
                self.panicked.store(true, Ordering::SeqCst);
            }
            let before = TeamStep(self.state.fetch_sub(1, Ordering::SeqCst));
            if before.n_inside() == 1 && !before.is_open() && self.is_leader_asleep.load(Ordering::SeqCst) {
                drop(self.lock());
                self.step_left.notify_one();
            }
        }
    }

    /// Waits until a step after number `last` is open; `false` if there will be none.
    fn wait_for_step(&self, last: u64) -> bool {
        let is_there = || {
            let state = self.state();
            (state.is_open() && state.number() != last) || self.quit.load(Ordering::SeqCst)
        };
        if !self.spinning.spin_until(is_there) {
            let mut lock = self.lock();
            self.n_asleep.fetch_add(1, Ordering::SeqCst);
            while !is_there() {
                lock = self.step_opened.wait(lock).unwrap_or_else(PoisonError::into_inner);
            }
            self.n_asleep.fetch_sub(1, Ordering::SeqCst);
        }
        !self.quit.load(Ordering::SeqCst)
    }
}

/// How long a thread spins before it sleeps.
const SPIN_TIME: Duration = Duration::from_micros(500);

/// Spins between two looks at the clock, which take a few microseconds.
const TURNS_PER_LOOK: usize = 64;

/// If this many spins take longer, another thread had the core.
const INTERRUPTION: Duration = Duration::from_micros(300);

/// Number of waits without spinning after the first interruption, and its maximum.
const PAUSE: (u32, u32) = (256, 1 << 14);

/// Threads of all teams in this process.
static TEAM_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Decides whether waiting threads may spin. An interrupted spin is followed by a number of waits without spinning; the number doubles with every interruption and is halved after as many
/// uninterrupted waits.
struct Spinning {
    size: usize,
    n_cores: usize,
    /// Remaining waits without spinning.
    left: AtomicU32,
    /// Waits without spinning after the next interruption.
    pause: AtomicU32,
    /// Spins since the last interruption, or since `pause` was halved.
    undisturbed: AtomicU32,
}

impl Spinning {
    fn new(size: usize, n_cores: usize) -> Spinning {
        TEAM_THREADS.fetch_add(size, Ordering::Relaxed);
        let (left, undisturbed) = (AtomicU32::new(0), AtomicU32::new(0));
        Spinning { size, n_cores, left, pause: AtomicU32::new(PAUSE.0), undisturbed }
    }

    /// Whether this wait may spin.
    fn is_allowed(&self) -> bool {
        if TEAM_THREADS.load(Ordering::Relaxed) > self.n_cores {
            return false;
        }
        // A race for the last of these waits is harmless.
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// Spins until a condition holds; `false` if the thread should sleep instead.
    fn spin_until(&self, holds: impl Fn() -> bool) -> bool {
        if holds() {
            return true;
        }
        if !self.is_allowed() {
            return false;
        }
        let start = Instant::now();
        let mut last = start;
        loop {
            let held = (0..TURNS_PER_LOOK).any(|_| {
                std::hint::spin_loop();
                holds()
            });
            let now = Instant::now();
            let is_interrupted = now - last > INTERRUPTION;
            if is_interrupted || held || now - start > SPIN_TIME {
                self.note(is_interrupted);
                return held;
            }
            last = now;
        }
    }

    /// Records whether a spin was interrupted.
    fn note(&self, is_interrupted: bool) {
        let pause = self.pause.load(Ordering::Relaxed);
        if is_interrupted {
            self.left.store(pause, Ordering::Relaxed);
            self.pause.store((2 * pause).min(PAUSE.1), Ordering::Relaxed);
            self.undisturbed.store(0, Ordering::Relaxed);
        } else if self.undisturbed.fetch_add(1, Ordering::Relaxed) > pause {
            self.pause.store((pause / 2).max(PAUSE.0), Ordering::Relaxed);
            self.undisturbed.store(0, Ordering::Relaxed);
        }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        TEAM_THREADS.fetch_sub(self.size, Ordering::Relaxed);
    }
}

/// Pointer to a slice whose elements are used by different threads.
struct SlicePointer<P>(*mut P);

// SAFETY: every element is claimed by one thread alone (see `each`), and elements may be sent.
unsafe impl<P: Send> Sync for SlicePointer<P> {}

impl<P> SlicePointer<P> {
    fn at(&self, i: usize) -> *mut P {
        self.0.wrapping_add(i)
    }
}

/// Maximum number of groups of parts, one bit each.
const MAX_GROUPS: usize = 64;

impl Team<'_> {
    /// The number of threads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls `work(i, &mut parts[i])` for every i, on any thread of the team, and returns when all calls have returned.
    ///
    /// # Panics
    /// If the team is running a step, or if `work` panics.
    pub fn each<P: Send>(&self, parts: &mut [P], work: impl Fn(usize, &mut P) + Sync) {
        if self.size == 1 || parts.len() <= 1 {
            parts.iter_mut().enumerate().for_each(|(i, part)| work(i, part));
            return;
        }
        let (n, n_groups, parts) = (parts.len(), parts.len().min(MAX_GROUPS), SlicePointer(parts.as_mut_ptr()));
        let claimed = AtomicU64::new(0);
        let n_others = (self.size - 1).min(n_groups - 1);
        self.step(n_others, &|thread| {
            let own = (thread..n_groups).step_by(self.size);
            for group in own.chain(0..n_groups) {
                let bit = 1 << group;
                if claimed.load(Ordering::Relaxed) & bit != 0 || claimed.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
                    continue;
                }
                for i in (group..n).step_by(n_groups) {
                    // SAFETY: i < n, and this thread alone has claimed the group of i; the leader's borrow of `parts` lasts until all threads have left the step.
                    work(i, unsafe { &mut *parts.at(i) });
                }
            }
        });
    }

    /// Runs a job on this thread and on up to `n_others` members.
    fn step(&self, n_others: usize, job: TeamJob<'_>) {
        let shared = self.shared;
        let _guard = StepGuard::new(shared);
        // SAFETY: only the lifetime changes, and `StepEnd` waits until no member uses the job any more, whatever happens.
        let forever = unsafe { std::mem::transmute::<TeamJob<'_>, TeamJob<'static>>(job) };
        // SAFETY: this thread holds the guard, the last step is closed and all members have left it.
        unsafe { *shared.job.get() = Some(forever) };
        shared.state.store(shared.state().next().0, Ordering::SeqCst);
        {
            let _end = StepEnd(shared);
            let n_asleep = shared.n_asleep.load(Ordering::SeqCst);
            if n_asleep > 0 {
                drop(shared.lock());
                (0..n_asleep.min(n_others)).for_each(|_| shared.step_opened.notify_one());
            }
            job(0);
        }
        assert!(!shared.panicked.load(Ordering::SeqCst), "a thread of the team panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_processed_once_per_step() {
        // With no cores threads always sleep, with many they always spin.
        for (size, n_cores) in [(1, 0), (2, 0), (5, 0), (2, 1000), (5, 1000)] {
            let mut parts = vec![0usize; 130];
            with_team_on(n_cores, size, |team| {
                for step in 0..500 {
                    team.each(&mut parts[..step % 130], |i, part| *part += i + 1);
                }
            });
            let steps = |i: usize| (0..500).filter(|step| step % 130 > i).count();
            assert!(parts.iter().enumerate().all(|(i, &sum)| sum == (i + 1) * steps(i)), "{size}: {parts:?}");
        }
    }

    #[test]
    fn a_delayed_thread_only_delays_its_own_part() {
        for n_cores in [0, 1000] {
            with_team_on(n_cores, 2, |team| {
                for held_up in 0..10 {
                    let n_done = AtomicUsize::new(0);
                    team.each(&mut [0u8; 10], |i, _| {
                        // Whichever thread has this part, the other does all others in the meantime.
                        while i == held_up && n_done.load(Ordering::Acquire) < 9 {
                            std::thread::yield_now();
                        }
                        n_done.fetch_add(1, Ordering::Release);
                    });
                    assert_eq!(n_done.into_inner(), 10);
                }
            });
        }
    }

    #[test]
    fn interruptions_lengthen_the_pause_between_spins() {
        let waits_without_spin = |spinning: &Spinning| (0..).take_while(|_| !spinning.is_allowed()).count() as u32;
        let spinning = Spinning::new(1, usize::MAX);
        assert_eq!(waits_without_spin(&spinning), 0);
        for expected in [PAUSE.0, 2 * PAUSE.0, 4 * PAUSE.0] {
            spinning.note(true);
            assert_eq!(waits_without_spin(&spinning), expected);
        }
        (0..100).for_each(|_| spinning.note(true));
        assert_eq!(waits_without_spin(&spinning), PAUSE.1, "the pause is limited");
        (0..4 * PAUSE.1).for_each(|_| spinning.note(false));
        spinning.note(true);
        assert_eq!(waits_without_spin(&spinning), PAUSE.0, "uninterrupted spins shorten it");
        assert!(!Spinning::new(1, 0).is_allowed(), "more threads than cores never spin");
    }

    #[test]
    fn concurrent_steps_panic() {
        let (entered, done) = (AtomicBool::new(false), AtomicBool::new(false));
        with_team(2, |team| {
            std::thread::scope(|scope| {
                let wait = |i: usize, _: &mut u8| {
                    entered.store(true, Ordering::Release);
                    while i == 0 && !done.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                };
                let first = scope.spawn(move || team.each(&mut [0u8; 2], wait));
                while !entered.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                let second = catch_unwind(AssertUnwindSafe(|| team.each(&mut [0u8; 2], |_, part| *part = 1)));
                done.store(true, Ordering::Release);
                assert!(second.is_err() && first.join().is_ok());
            });
            let mut parts = [0; 5];
            team.each(&mut parts, |i, part| *part = i);
            assert_eq!(parts, [0, 1, 2, 3, 4], "the team can still be used");
        });
    }

    #[test]
    fn nested_steps_panic() {
        for nested_in in [0, 1] {
            let nested = |team: &Team<'_>, i: usize| {
                if i == nested_in {
                    team.each(&mut [0u8; 2], |_, part| *part = 1);
                }
            };
            let work = || with_team(2, |team| team.each(&mut [0u8; 2], |i, _| nested(team, i)));
            assert!(catch_unwind(work).is_err());
        }
    }

    #[test]
    fn a_panic_in_a_member_reaches_the_leader() {
        let work = || with_team(3, |team| team.each(&mut [0, 1, 2], |i, _| assert!(i != 2, "on purpose")));
        assert!(catch_unwind(work).is_err());
    }
}
