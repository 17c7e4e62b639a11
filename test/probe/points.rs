use std::collections::HashMap;
struct Point { x: i32, y: i64, name: &'static str }
enum Kind { Small(u8), Big { wide: u64 } }
mod inner { #[inline(never)] pub fn scaled(v: i32, by: u8) -> i32 { println!("scaled {} {}", v, by); v * by as i32 }
  #[inline(always)] pub fn mixed(a: u32, b: u32) -> u32 { let c = a.wrapping_mul(31) ^ b; c.rotate_left(3) } }
impl Point { #[inline(never)] fn shift(&mut self, dx: i32, dy: i64) -> i64 { println!("shift {} {} {} {} {}", self.x, self.y, dx, dy, self.name); self.x += dx; self.y += dy; self.y }
  #[inline(never)] fn sum<T: Into<i64> + Copy>(&self, t: T) -> i64 { self.y + t.into() } }
#[inline(never)] fn kind_of(k: &Kind, bias: u16) -> u64 { match k { Kind::Small(v) => *v as u64 + bias as u64, Kind::Big { wide } => *wide } }
#[inline(never)] fn count(words: &[&str], map: &mut HashMap<String, usize>) -> usize { for w in words { let e = map.entry(w.to_string()).or_insert(0); *e += 1; } map.len() }
fn main() {
    let n: i32 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(4);
    let mut p = Point { x: 1, y: 2, name: "dot" }; let mut total = 0i64; let mut map = HashMap::new();
    for i in 0..n { total += inner::scaled(i, 3) as i64 + p.shift(i, i as i64 * 100) + p.sum(i) + inner::mixed(i as u32, 9) as i64;
        total += kind_of(&if i % 2 == 0 { Kind::Small(i as u8) } else { Kind::Big { wide: i as u64 * 7 } }, 5) as i64; total += count(&["a", "b"], &mut map) as i64; }
    println!("{}", total);
}
