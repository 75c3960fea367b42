import { builtin } from './runtime.ts'

/** A running SHA-256. `hex` ends it, and returns the digest in lower-case hexadecimal. */
export interface Sha256 {
  update(bytes: Uint8Array): void
  hex(): string
}

/** Uses `node:crypto` where there is one. Browsers digest only whole buffers, so own code (FIPS 180-4) runs there. */
export function createSha256(): Sha256 {
  const hash = builtin('node:crypto')?.createHash('sha256')
  if (hash === undefined) return createPortableSha256()
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

const BLOCK_BYTES = 64

export function createPortableSha256(): Sha256 {
  const rounds = roundConstants()
  const state = initialState()
  const words = new Int32Array(64)
  const rest = new Uint8Array(BLOCK_BYTES)
  let length = 0
  function update(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      const filled = length % BLOCK_BYTES
      if (filled === 0 && bytes.length - at >= BLOCK_BYTES) {
        compress(state, { bytes, at, words, rounds })
        at += BLOCK_BYTES
        length += BLOCK_BYTES
        continue
      }
      const part = bytes.subarray(at, at + BLOCK_BYTES - filled)
      rest.set(part, filled)
      at += part.length
      length += part.length
      if (length % BLOCK_BYTES === 0) compress(state, { bytes: rest, at: 0, words, rounds })
    }
  }
  function hex(): string {
    const bits = length * 8
    update(Uint8Array.of(0x80))
    update(new Uint8Array((BLOCK_BYTES + 56 - (length % BLOCK_BYTES)) % BLOCK_BYTES))
    const end = new DataView(new ArrayBuffer(8))
    end.setBigUint64(0, BigInt(bits))
    update(new Uint8Array(end.buffer))
    return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }
  return { update, hex }
}

/** Of base64, as `Repr-Digest` has it, or `undefined` if there is no SHA-256. */
export function parseReprDigest(header: string | null): string | undefined {
  const [, base64] = /sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header ?? '') ?? []
  if (base64 === undefined) return undefined
  return Array.from(atob(base64), (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join(
    '',
  )
}

/** The header `Repr-Digest` (RFC 9530) of a digest in hexadecimal. */
export function formatReprDigest(hex: string): string {
  if (!/^[0-9a-f]{64}$/.test(hex))
    throw new TypeError('A digest has 64 lower-case hexadecimal digits.')
  const bytes = (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
  return `sha-256=:${btoa(String.fromCharCode(...bytes))}:`
}

/** The first 32 bits of the fractional parts of the square roots of the first primes (FIPS 180-4, 5.3.3). */
function initialState(): Int32Array {
  return Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)))
}

/** The first 32 bits of the fractional parts of the cube roots of the first primes (FIPS 180-4, 4.2.2). */
function roundConstants(): Int32Array {
  return Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))
}

function primes(count: number): number[] {
  const found: number[] = []
  for (let candidate = 2; found.length < count; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate)
  }
  return found
}

function fraction(root: number): number {
  return ((root % 1) * 2 ** 32) | 0
}

interface Block {
  readonly bytes: Uint8Array
  readonly at: number
  readonly words: Int32Array
  readonly rounds: Int32Array
}

/** FIPS 180-4, 6.2.2. */
function compress(state: Int32Array, { bytes, at, words: w, rounds }: Block): void {
  for (let i = 0, from = at; i < 16; i += 1, from += 4) {
    const high = (byte(bytes, from) << 24) | (byte(bytes, from + 1) << 16)
    w[i] = high | (byte(bytes, from + 2) << 8) | byte(bytes, from + 3)
  }
  for (let i = 16; i < 64; i += 1) {
    const x = word(w, i - 15)
    const y = word(w, i - 2)
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10)
    w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1
  }
  let a = word(state, 0)
  let b = word(state, 1)
  let c = word(state, 2)
  let d = word(state, 3)
  let e = word(state, 4)
  let f = word(state, 5)
  let g = word(state, 6)
  let h = word(state, 7)
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(rounds, i) + word(w, i)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = word(state, 0) + a
  state[1] = word(state, 1) + b
  state[2] = word(state, 2) + c
  state[3] = word(state, 3) + d
  state[4] = word(state, 4) + e
  state[5] = word(state, 5) + f
  state[6] = word(state, 6) + g
  state[7] = word(state, 7) + h
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

// Two functions, since each is faster if it reads one kind of array. The indexes are always within the arrays.
function word(words: Int32Array, index: number): number {
  return words[index] as number
}

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] as number
}
