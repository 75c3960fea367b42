/** Numbers that look random and follow from a seed. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number
  /** A whole number, at least 0 and below `n`. */
  below(n: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
}

/** Makes a generator (splitmix32) that yields the same for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  function next(): number {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] ?? items[0],
  }
}
