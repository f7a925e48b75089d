//! Threads that stand ready: a fork and a join that cost less than a microsecond.
//!
//! **Idea.** Growing a tree is a chain of short parallel steps, some of a few microseconds. Handing each to a pool whose threads sleep costs more than
//! the step. A team's threads live as long as one training run and watch a counter between two steps: they spin for a while, then give way to other
//! threads, then sleep for moments. Each step hands every part of a slice to one thread, exclusively.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A step: called with the number of the thread.
type Job<'a> = &'a (dyn Fn(usize) + Sync);

/// What the members of a team share.
struct Shared {
    job: UnsafeCell<Option<Job<'static>>>,
    /// Counts the steps; members wait for it to change.
    step: AtomicUsize,
    /// Members that have not finished the current step.
    busy: AtomicUsize,
    /// Whether a step is being taken.
    in_step: AtomicBool,
    panicked: AtomicBool,
    quit: AtomicBool,
}

// SAFETY: `job` is written only by the thread that holds the `Turn`, of which there is one at a time, while no member is busy; members read it only after they see `step` change
// (release and acquire).
unsafe impl Sync for Shared {}

/// Threads that stand ready.
pub struct Team<'a> {
    shared: &'a Shared,
    size: usize,
}

/// Runs `work` with a team of `size` threads, the calling one among them.
pub fn with_team<T>(size: usize, work: impl FnOnce(&Team<'_>) -> T) -> T {
    let shared = Shared {
        job: UnsafeCell::new(None),
        step: AtomicUsize::new(0),
        busy: AtomicUsize::new(0),
        in_step: AtomicBool::new(false),
        panicked: AtomicBool::new(false),
        quit: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        let _dismiss = Dismiss(&shared);
        for thread in 1..size {
            let shared = &shared;
            scope.spawn(move || shared.serve(thread));
        }
        work(&Team { shared: &shared, size: size.max(1) })
    })
}

/// Lets the members go, also when the leader panics.
struct Dismiss<'a>(&'a Shared);

impl Drop for Dismiss<'_> {
    fn drop(&mut self) {
        self.0.quit.store(true, Ordering::Release);
    }
}

/// The right to take a step, given back at its end.
struct Turn<'a>(&'a Shared);

impl<'a> Turn<'a> {
    /// # Panics
    /// If a step is being taken: by another thread, or by this one, further up.
    fn take(shared: &'a Shared) -> Turn<'a> {
        assert!(!shared.in_step.swap(true, Ordering::Acquire), "a team takes one step at a time");
        Turn(shared)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.in_step.store(false, Ordering::Release);
    }
}

/// Waits for all members, also when the leader panics: what they borrow must outlive them.
struct Join<'a>(&'a Shared);

impl Drop for Join<'_> {
    fn drop(&mut self) {
        let mut patience = Patience::default();
        while self.0.busy.load(Ordering::Acquire) > 0 {
            patience.wait();
        }
    }
}

impl Shared {
    /// A member's life.
    fn serve(&self, thread: usize) {
        let mut seen = 0;
        let mut patience = Patience::default();
        loop {
            let step = self.step.load(Ordering::Acquire);
            if step == seen {
                if self.quit.load(Ordering::Acquire) {
                    return;
                }
                patience.wait();
                continue;
            }
            (seen, patience) = (step, Patience::default());
            // SAFETY: the leader wrote the job before it changed `step`, and doesn't touch it before this member is no longer busy.
            let job = unsafe { *self.job.get() };
            if catch_unwind(AssertUnwindSafe(|| job.iter().for_each(|job| job(thread)))).is_err() {
                self.panicked.store(true, Ordering::Release);
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }
}

/// How a thread waits: first by spinning, then by giving way, then by sleeping.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            0..=20_000 => std::hint::spin_loop(),
            20_001..=21_000 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

/// The start of a slice whose elements go to different threads.
struct Parts<P>(*mut P);

// SAFETY: every element is handed to one thread alone (see `each`), and elements may be sent.
unsafe impl<P: Send> Sync for Parts<P> {}

impl<P> Parts<P> {
    fn at(&self, i: usize) -> *mut P {
        self.0.wrapping_add(i)
    }
}

impl Team<'_> {
    /// How many threads.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Calls `work(i, &mut parts[i])` for every i, spread over the threads: thread t has the parts t, t + size, ... Comes back when all are done.
    ///
    /// # Panics
    /// If the team is in the middle of a step, or if `work` panics.
    pub fn each<P: Send>(&self, parts: &mut [P], work: impl Fn(usize, &mut P) + Sync) {
        if self.size == 1 || parts.len() <= 1 {
            parts.iter_mut().enumerate().for_each(|(i, part)| work(i, part));
            return;
        }
        let (n, size, parts) = (parts.len(), self.size, Parts(parts.as_mut_ptr()));
        self.step(&|thread| {
            for i in (thread..n).step_by(size) {
                // SAFETY: i < n, and no other thread has the same i modulo `size`; the leader's borrow of `parts` lasts until all have finished.
                work(i, unsafe { &mut *parts.at(i) });
            }
        });
    }

    fn step(&self, job: Job<'_>) {
        let _turn = Turn::take(self.shared);
        // SAFETY: only the lifetime changes, and `Join` waits until no member uses the job any more, whatever happens.
        let forever = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        // SAFETY: this thread has the turn, and no member is busy: the last step was joined before its turn ended.
        unsafe { *self.shared.job.get() = Some(forever) };
        self.shared.busy.store(self.size - 1, Ordering::Relaxed);
        self.shared.step.fetch_add(1, Ordering::Release);
        {
            let _join = Join(self.shared);
            job(0);
        }
        assert!(!self.shared.panicked.load(Ordering::Acquire), "a thread of the team panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_worked_on_once_in_every_step() {
        for size in [1, 2, 5] {
            let mut parts = vec![0usize; 13];
            with_team(size, |team| {
                for step in 0..500 {
                    team.each(&mut parts[..step % 13], |i, part| *part += i + 1);
                }
            });
            let steps = |i: usize| (0..500).filter(|step| step % 13 > i).count();
            assert!(parts.iter().enumerate().all(|(i, &sum)| sum == (i + 1) * steps(i)), "{size}: {parts:?}");
        }
    }

    #[test]
    fn two_threads_cannot_use_a_team_at_once() {
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
            assert_eq!(parts, [0, 1, 2, 3, 4], "the team goes on afterwards");
        });
    }

    #[test]
    fn a_step_within_a_step_is_refused() {
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
