//! Every target takes its seeds and a few mutations of each.

use ermine_core::rng::stream;
use ermine_fuzz::mutate::mutate;
use ermine_fuzz::{seeds, targets};

#[test]
fn every_target_has_seeds_and_takes_mutated_ones() {
    for (name, run) in targets() {
        let seeds = seeds::of(&name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for (number, seed) in seeds.iter().enumerate() {
            run(seed);
            let mut rng = stream(1, &[number as u64]);
            for _ in 0..20 {
                let mut bytes = seed.clone();
                mutate(&mut rng, &mut bytes, &seeds[0]);
                run(&bytes);
            }
        }
    }
}
