import { hash } from 'node:crypto'

/** Plain and unsalted: the secret is 256 random bits, or a signed token, which can't be guessed from a hash. */
export function sha256(secret: string): string {
  return hash('sha256', secret)
}
