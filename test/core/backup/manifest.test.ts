import { expect, it } from 'vitest'
import { formatManifest, type Manifest, parseManifest } from '../../../src/core/backup/manifest.ts'

const MANIFEST: Manifest = {
  version: '1.2.3',
  completed_at: '2026-11-30T09:00:00.000Z',
  store_id: 'a',
  database_sha256: 'b',
  files: 3,
  versions: 2,
  bytes: 1,
  findings: 0,
  lost_uploads: ['c'],
}

it('a manifest is read as it was written', () => {
  expect(parseManifest(formatManifest(MANIFEST))).toEqual(MANIFEST)
})

it('a manifest with any byte flipped, or without its end, is none', () => {
  const text = formatManifest(MANIFEST)
  for (let at = 0; at < text.length; at += 1) {
    const flipped = Buffer.from(text)
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at)
    expect({ at, read: parseManifest(flipped.toString()) }).toEqual({ at, read: undefined })
    expect(parseManifest(text.slice(0, at))).toBeUndefined()
  }
})

it.each(['null', '[]', '{}', '"a"'])('a manifest is none of any other JSON: %s', (text) => {
  expect(parseManifest(text)).toBeUndefined()
})
