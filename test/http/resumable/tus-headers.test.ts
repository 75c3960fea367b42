import { expect, it } from 'vitest'
import { metadataValues } from '../../../src/core/resumable/upload-metadata.ts'
import { parseMetadata } from '../../../src/http/routes/uploads/tus-headers.ts'

const keys = (count: number): string =>
  ['filename YQ==', ...Array.from({ length: count - 1 }, (_, index) => `key-${index}`)].join(',')

it('the metadata of an upload has up to 64 keys', () => {
  const header = keys(64)
  expect(parseMetadata({ 'upload-metadata': header })).toMatchObject({ name: 'a', header })
  expect(metadataValues(header).size).toBe(64)
  expect(() => parseMetadata({ 'upload-metadata': keys(65) })).toThrow('at most 64 keys')
})
