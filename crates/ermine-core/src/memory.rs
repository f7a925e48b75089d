//! Memory limits, checked before large allocations.
//!
//! An allocation that fails ends the process, and one that succeeds may end it later, when the system runs out of memory. So operations whose memory use is out of proportion to their
//! input (a dense matrix of categories, a kernel matrix, a compressed file) are estimated first: [`require`] returns an error with the estimate.
//!
//! **The limit** is the value given to [`set_limit`]; otherwise the environment variable `ERMINE_MAX_MEMORY` (`2G`, `500M`, a number of bytes, `50%`); otherwise 80 % of the memory of the
//! machine, its cgroup or the limit on the address space, whichever is lowest (Linux; no limit elsewhere). Memory that the process already uses counts toward it.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that sets the limit.
pub const VARIABLE: &str = "ERMINE_MAX_MEMORY";

/// Default share of the machine's memory.
const SHARE: f64 = 0.8;

/// Smaller amounts are not checked.
const SMALL: u64 = 32 << 20;

/// The limit given to [`set_limit`]; 0 for none.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// Limits the memory of this process to this number of bytes, whatever the environment variable.
pub fn set_limit(bytes: u64) {
    GIVEN.store(bytes.max(1), Ordering::Relaxed);
}

/// The limit in bytes.
pub fn limit() -> Result<u64> {
    match GIVEN.load(Ordering::Relaxed) {
        0 => match std::env::var(VARIABLE) {
            Ok(text) if !text.trim().is_empty() => parse(&text).ok_or_else(|| Error::Param {
                owner: "ermine".into(),
                name: VARIABLE.into(),
                value: text,
                allowed: EXPECTED.into(),
            }),
            _ => Ok(share(SHARE)),
        },
        given => Ok(given),
    }
}

/// Format of a limit.
pub const EXPECTED: &str = "a number of bytes such as 2G, 500M or 1000000000, or a share of the memory such as 50%";

/// Parses `2G`, `1.5GiB`, `500M`, `64k`, `123456` or `50%`.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse::<f64>().ok().filter(|n| *n > 0.0 && n.is_finite())?;
    let unit = unit.trim().to_ascii_lowercase();
    if unit == "%" {
        return (number <= 100.0).then(|| share(number / 100.0));
    }
    let power = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some((number * 1024f64.powi(power)) as u64).filter(|bytes| *bytes > 0)
}

/// Formats a number of bytes: `1.5 GiB`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (0..UNITS.len() - 1).take_while(|&power| bytes >> (10 * power) >= 1024).count();
    let size = bytes as f64 / 1024f64.powi(power as i32);
    if power == 0 { format!("{bytes} bytes") } else { format!("{size:.1} {}", UNITS[power]) }
}

/// An error with `advice` if `what` needs more memory than allowed. `sizes` are multiplied: rows, columns, bytes per value.
pub fn require(what: impl FnOnce() -> String, sizes: &[usize], advice: &str) -> Result<()> {
    let needed = sizes.iter().fold(1u64, |product, &size| product.saturating_mul(size as u64));
    if needed < SMALL {
        return Ok(());
    }
    let (limit, held) = (limit()?, held());
    if needed <= limit.saturating_sub(held) {
        return Ok(());
    }
    Err(Error::Memory { what: what(), needed, held, limit, advice: advice.into() })
}

/// An error if the process exceeds the limit: for operations whose size is not known in advance, such as reading a compressed file.
pub fn check_held(what: impl FnOnce() -> String, advice: &str) -> Result<()> {
    let held = held();
    if held < SMALL {
        return Ok(());
    }
    let limit = limit()?;
    if held <= limit {
        Ok(())
    } else {
        Err(Error::Memory { what: what(), needed: held, held, limit, advice: advice.into() })
    }
}

/// Reads a whole file; the size of a device or pipe is not known in advance.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    /// Number of bytes read between two checks of the limit.
    const PIECE: u64 = 8 << 20;
    let io = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let what = || format!("reading {}", path.display());
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    require(what, &[length], ADVICE)?;
    let mut bytes = Vec::with_capacity(length);
    while file.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(io)? > 0 {
        check_held(what, ADVICE)?;
    }
    Ok(bytes)
}

const ADVICE: &str = "the file is larger than the memory limit";

/// A share of the memory that this process may use; no limit if it is not known.
fn share(of: f64) -> u64 {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    match *MEMORY.get_or_init(system::memory) {
        Some(memory) => (memory as f64 * of) as u64,
        None => u64::MAX,
    }
}

/// The memory that this process uses; 0 if it is not known.
fn held() -> u64 {
    system::held().unwrap_or(0)
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::read_to_string;
    use std::path::Path;

    /// The lowest of the machine's memory, the limits of its cgroups and the limit on the address space.
    pub fn memory() -> Option<u64> {
        let machine = line(&read_to_string("/proc/meminfo").ok()?, "MemTotal:");
        [machine, cgroup(), address_space()].into_iter().flatten().min()
    }

    pub fn held() -> Option<u64> {
        line(&read_to_string("/proc/self/status").ok()?, "VmRSS:")
    }

    /// The number in a line `NAME: 123 kB`.
    fn line(text: &str, name: &str) -> Option<u64> {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    }

    /// The lowest limit of the cgroups of this process, of either version. A cgroup without a limit has "max" or a huge number.
    fn cgroup() -> Option<u64> {
        let of_this_process = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let limits = of_this_process.lines().filter_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let (root, file) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                list if list.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                _ => return None,
            };
            let of = |folder: &Path| {
                let folder = Path::new(root).join(folder.strip_prefix("/").unwrap_or(folder));
                read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok()
            };
            // In a container the path may be that of the host; then the root is the container's cgroup.
            Path::new(path).ancestors().filter_map(of).min()
        });
        limits.min()
    }

    fn address_space() -> Option<u64> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call only writes the two numbers of `limit`.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } == 0;
        (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn memory() -> Option<u64> {
        None
    }

    pub fn held() -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed() {
        let known = [("2G", 2u64 << 30), ("1.5GiB", 3 << 29), ("500M", 500 << 20), ("64 kb", 64 << 10), ("123", 123)];
        known.into_iter().for_each(|(text, bytes)| assert_eq!(parse(text), Some(bytes), "{text}"));
        for wrong in ["", "G", "-1", "0", "1X", "2G2", "nan", "101%", "0%"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!((bytes_text(1023), bytes_text(3 << 29)), ("1023 bytes".into(), "1.5 GiB".into()));
        assert!(bytes_text(u64::MAX).ends_with("EiB"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_of_the_machine_is_positive() {
        assert!(parse("50%").unwrap() < parse("100%").unwrap() && parse("100%").unwrap() > SMALL);
        assert!(held() > 0 && held() < parse("100%").unwrap());
    }

    #[test]
    fn errors_name_the_operation_and_its_size() {
        let what = || "a matrix of 1000000 x 1000000 numbers".to_string();
        let message = require(what, &[1_000_000, 1_000_000, 8], "leave out a column").unwrap_err().to_string();
        for part in ["a matrix of 1000000 x 1000000 numbers needs 7.3 TiB", "leave out a column", "limit"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(require(what, &[usize::MAX, usize::MAX], "").is_err(), "sizes that overflow");
        require(what, &[1000, 8], "").unwrap();
    }
}
