import { describe, expect, it } from 'vitest'
import { type Change, changeWithin } from '../../../src/core/changes/change.ts'
import { changeJson } from '../../../src/core/changes/change-json.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import { NOTHING } from '../../../src/core/auth/scope.ts'

describe('a rename across the prefix of a token', () => {
  const renamed: Change = {
    type: 'file.renamed',
    sequence: 2,
    at: 1,
    file: {
      name: parseFileName('out/a.png'),
      version: createVersion(),
      size: 1,
      sha256: 'f'.repeat(64),
      visibility: 'private',
      mediaType: null,
      deviceId: 'camera',
    },
    previousName: parseFileName('in/a.jpg'),
  }

  it.each([
    ['in/', { type: 'file.deleted', name: 'in/a.jpg', media_type: 'image/jpeg' }],
    ['out/', { type: 'file.created', name: 'out/a.png', media_type: 'image/png' }],
  ])('is told within %s with the media type of the name that is told', (prefix, told) => {
    const scope = { ...NOTHING, prefix: parseFileNamePrefix(prefix) }
    const change = changeWithin({ scope }, renamed)
    expect(change === undefined ? change : changeJson(change)).toMatchObject({
      ...told,
      device_id: 'camera',
    })
  })
})
