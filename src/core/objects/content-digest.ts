import { createHash, type Hash, hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What is recorded of the bytes of a whole content. */
export interface ContentDigest {
  /** SHA-256: 64 lower-case hexadecimal digits. */
  readonly sha256: string
  /** CRC-32 of ISO 3309, as in the header of a ZIP entry (APPNOTE 4.4.7). */
  readonly crc32: number
}

export function digestOf(content: Uint8Array): ContentDigest {
  return { sha256: hash('sha256', content), crc32: crc32(content) }
}

/** Both digests over the bytes so far. */
export class DigestState {
  readonly #sha256: Hash
  #crc32: number

  constructor(sha256: Hash = createHash('sha256'), crc = 0) {
    this.#sha256 = sha256
    this.#crc32 = crc
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk)
    this.#crc32 = crc32(chunk, this.#crc32)
  }

  copy(): DigestState {
    return new DigestState(this.#sha256.copy(), this.#crc32)
  }

  /** The digest of all bytes. Ends the state, so it can be called once. */
  end(): ContentDigest {
    return { sha256: this.#sha256.digest('hex'), crc32: this.#crc32 }
  }
}
