import { describe, expect, it } from 'vitest'
import type { OwnToken } from '../../../web/shared/model.ts'
import { endOfTokens, termsUntil, termsWithin } from '../../../web/shared/token-scope.ts'

const DAY_MS = 24 * 3600 * 1000
const TERMS = [1, 30, 365, 0]
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()
const scope = { actions: ['read'], prefix: '', device_id: null, when_full: 'refuse' }
const token = (members: object): OwnToken => ({
  user_id: 'alice',
  scope: null,
  expires_at: null,
  ...members,
})
const daysOf = (end: number | undefined) => end && Math.round((end - Date.now()) / DAY_MS)

describe('what a token makes', () => {
  it('lives as long as the user wants if the token has no scope, even if the token expires', () => {
    expect(termsWithin(token({ expires_at: inDays(31) }), TERMS)).toEqual(TERMS)
    expect(endOfTokens(token({ expires_at: inDays(31) }))).toBeUndefined()
  })

  it('ends with a token that has a scope', () => {
    const narrow = token({ scope, expires_at: inDays(31) })
    expect(termsWithin(narrow, TERMS)).toEqual([1, 30, 0])
    expect(daysOf(endOfTokens(narrow))).toBe(31)
  })

  it('lives no longer, if it is a token, than the operator permits', () => {
    const bounded = token({ scope, expires_at: inDays(31), max_token_lifetime: 2 * 24 * 3600 })
    expect(daysOf(endOfTokens(bounded))).toBe(2)
    expect(termsUntil(endOfTokens(bounded), TERMS)).toEqual([1, 0])
  })
})
