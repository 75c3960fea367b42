import { createCipheriv } from 'node:crypto'
import { digest } from '../../support/objects.ts'
import type { TestUser } from '../../support/service/test-service.ts'

/** There is no file of that name. */
const ABSENT = 'absent'

/**
 * What one name may hold by what its only writer was answered. An answer that left the outcome open makes it more than
 * one thing, until a later write is acknowledged.
 */
export class Register {
  readonly user: TestUser
  readonly name: string
  #possible: ReadonlySet<string> = new Set([ABSENT])

  constructor(user: TestUser, name: string) {
    this.user = user
    this.name = name
  }

  /** Of a SHA-256, or of a removal. */
  acknowledged(written: string | undefined): void {
    this.#possible = new Set([written ?? ABSENT])
  }

  leftOpen(written: string | undefined): void {
    this.#possible = new Set([...this.#possible, written ?? ABSENT])
  }

  /** Throws when that cannot be there; a file by its SHA-256, or none. */
  assertPossible(found: string | undefined): void {
    if (this.#possible.has(found ?? ABSENT)) return
    const expected = [...this.#possible].join(' or ')
    throw new Error(`${this.name}: found ${found ?? ABSENT} in place of ${expected}`)
  }
}

export interface Content {
  readonly bytes: Buffer
  readonly sha256: string
}

/** Bytes that follow from the seed, and that no other seed makes. */
export function contentOf(seed: number, size: number): Content {
  const key = Buffer.alloc(16)
  key.writeUInt32LE(seed)
  const bytes = createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
  return { bytes, sha256: digest(bytes) }
}
