import { createCipheriv, createHash } from 'node:crypto'
import type { Random } from '../simulation/plan/random.ts'

/** Bytes that no other name makes, the same at every call, so that nothing has to be kept to tell them again. */
export function contentOf(name: string, size: number): Buffer {
  const key = createHash('sha256').update(name).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
}

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

const KIB = 2 ** 10
const MIB = 2 ** 20

/** As `object-store/s3/put-object.ts` has it: what is larger goes up in parts. */
const PART = 8 * MIB

/** Mostly small, as files are; every kind of upload to S3 occurs, and so do the sizes where one becomes another. */
export function pickSize(random: Random): number {
  const kind = random.next()
  if (kind < 0.05) return 0
  if (kind < 0.75) return 1 + random.below(100 * KIB)
  if (kind < 0.92) return random.below(2 * MIB)
  if (kind < 0.97) return PART * (1 + random.below(2)) - 1 + random.below(3)
  return PART + random.below(20 * MIB - PART + 1)
}
