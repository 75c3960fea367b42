import { createHash } from 'node:crypto'

/** The content of `manifest.json`, which stands beside the database of a complete copy. */
export interface Manifest {
  /** Of the service that made the copy. */
  readonly version: string
  /** RFC 3339. The copy's name is the time of its database. */
  readonly completed_at: string
  /** The identity of the object store. */
  readonly store_id: string
  /** In hexadecimal. */
  readonly database_sha256: string
  readonly files: number
  /** Past versions of files. */
  readonly versions: number
  /** Of the files and past versions. */
  readonly bytes: number
  /** Objects of these that the object store lacked, or had with another size or digest. */
  readonly findings: number
  /** Versions of unfinished uploads that ended before their bytes could be copied. */
  readonly lost_uploads: readonly string[]
}

/** With a digest of itself, so that a flipped byte is found. */
export function formatManifest(manifest: Manifest): string {
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  return `${JSON.stringify({ ...manifest, digest }, undefined, 2)}\n`
}

/** Returns `undefined` unless `formatManifest` has written exactly this text. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const { digest: _, ...manifest } = JSON.parse(text) as Manifest & { readonly digest: string }
    return formatManifest(manifest) === text ? manifest : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
