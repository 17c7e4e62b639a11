// As truth.cc, in Rust: frames of its compiler, closures, a panic that is caught.
use std::time::{Duration, Instant};

#[no_mangle]
#[inline(never)]
pub fn rust_leaf(x: u64) -> u64 {
    (0..40).fold(x, |a, i| a.wrapping_mul(6364136223846793005).wrapping_add(i))
}

#[no_mangle]
#[inline(never)]
pub fn rust_vector(x: u64) -> u64 {
    let room: [u64; 32] = std::array::from_fn(|i| x.wrapping_add(i as u64));
    std::hint::black_box(&room)[(x % 32) as usize].wrapping_add(rust_leaf(x)) | 1
}

#[no_mangle]
#[inline(never)]
pub fn rust_panics(x: u64) -> u64 {
    if x % 2 == 0 {
        std::panic::resume_unwind(Box::new(x));
    }
    rust_leaf2(x) | 1
}

#[no_mangle]
#[inline(never)]
pub fn rust_leaf2(x: u64) -> u64 {
    (0..40).fold(x, |a, i| a.wrapping_mul(2862933555777941757).wrapping_add(i))
}

#[no_mangle]
#[inline(never)]
pub fn rust_part(ms: u64) {
    let began = Instant::now();
    let mut x = 1u64;
    while began.elapsed() < Duration::from_millis(ms) {
        for _ in 0..500 {
            x = x.wrapping_add(rust_vector(x));
        }
        for i in 0..20 {
            x = x.wrapping_add(std::panic::catch_unwind(|| rust_panics(x + i)).unwrap_or(3));
        }
    }
    std::hint::black_box(x);
}

fn main() {
    rust_part(std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(100));
}
