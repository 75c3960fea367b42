import { describe, expect, it } from 'vitest'
import type { LinkEntry } from '../../../../web/shared/model.ts'
import {
  AS_IT_IS,
  changesIn,
  draftOf,
  emptyDraft,
  termsIn,
} from '../../../../web/user/links/link-draft.ts'

const DAY_MS = 24 * 3600 * 1000

const LINK: LinkEntry = {
  link_id: '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a',
  kind: 'drop',
  name: null,
  prefix: 'in/',
  label: 'Party',
  has_password: true,
  max_uses: null,
  uses_left: null,
  max_bytes: 3 * 2 ** 30,
  max_files: 5,
  bytes_left: 3 * 2 ** 30,
  files_left: 5,
  created_at: '2026-11-29T12:00:00.000Z',
  expires_at: '2026-12-06T12:00:00.000Z',
}

const DRAFT = {
  ...emptyDraft(7),
  label: ' Party ',
  password: 'swordfish',
  uses: '2',
  files: '5',
  bytes: { amount: '1.5', unit: 'MiB' },
} as const

describe('the terms of a new link', () => {
  it('are those of its kind, without what is left empty', () => {
    const common = { label: 'Party', expires_in: 7 * 24 * 3600, password: 'swordfish' }
    expect(termsIn(DRAFT, 'download')).toEqual({ ...common, max_uses: 2 })
    expect(termsIn(DRAFT, 'drop')).toEqual({ ...common, max_files: 5, max_bytes: 1_572_864 })
    expect(termsIn(emptyDraft(0), 'drop')).toEqual({ label: '' })
  })

  it.each([
    { uses: '0' },
    { uses: '1.5' },
    { files: '-1' },
    { bytes: { amount: 'x', unit: 'MiB' } },
  ])('are refused with %j', (typed) => {
    expect(() => termsIn({ ...emptyDraft(7), ...typed } as typeof DRAFT, 'drop')).toThrow(
      'Enter a number greater than 0.',
    )
  })
})

describe('the changes of a link', () => {
  const draft = draftOf(LINK)

  it('are none of what is as it was', () => {
    expect(draft).toMatchObject({ days: AS_IT_IS, files: '5', bytes: { amount: '3', unit: 'GiB' } })
    expect(changesIn(draft, LINK)).toEqual({})
  })

  it('name only what changes, and remove the limits that are left empty', () => {
    const changed = { ...draft, label: 'The party', files: '', bytes: { amount: '4', unit: 'GiB' } }
    expect(changesIn(changed as typeof DRAFT, LINK)).toEqual({
      label: 'The party',
      max_files: null,
      max_bytes: 4 * 2 ** 30,
    })
  })

  it('set and remove the end and the password', () => {
    expect(changesIn({ ...draft, days: 0, password: 'trout' }, LINK)).toEqual({
      expires_at: null,
      password: 'trout',
    })
    const before = Date.now()
    const changes = changesIn({ ...draft, days: 30, removesPassword: true }, LINK)
    const { expires_at: end, ...others } = changes
    expect(others).toEqual({ password: null })
    const since = Date.parse(String(end)) - 30 * DAY_MS
    expect(since).toBeGreaterThanOrEqual(before)
    expect(since).toBeLessThanOrEqual(Date.now())
  })
})
