import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  ADMIN_SESSION_SECONDS,
  createAdminSessions,
} from '../../../src/http/admin/admin-session.ts'

const token = 'an-admin-token-of-the-tests'
const NOW_MS = Date.UTC(2026, 10, 23)
const DIGEST = 'a'.repeat(64)
const expiryMs = NOW_MS + ADMIN_SESSION_SECONDS * 1000

function sessionsAt(nowMs: number, of = token) {
  return createAdminSessions(of, () => nowMs)
}

describe('a session of the operator', () => {
  const opened = sessionsAt(NOW_MS).open()

  it('is its end and a signature of that, and nothing of the token', () => {
    expect(opened).toMatch(new RegExp(`^${expiryMs / 1000}\\.[\\w-]{43}$`))
    expect(opened).not.toContain(token)
  })

  it('is good on every instance with the same token until its end, and has expired from then on', () => {
    expect(sessionsAt(NOW_MS).judge(opened)).toEqual({ kind: 'good', tokenSha256: undefined })
    expect(sessionsAt(expiryMs - 1).judge(opened)).toEqual({ kind: 'good', tokenSha256: undefined })
    expect(sessionsAt(expiryMs).judge(opened)).toEqual({ kind: 'expired' })
    expect(sessionsAt(expiryMs + 10 * 365 * 86_400_000).judge(opened)).toEqual({ kind: 'expired' })
  })

  it('says of an operator whose token has opened it, and belongs to nobody else', () => {
    const own = sessionsAt(NOW_MS).open(DIGEST)
    expect(own).toMatch(new RegExp(`^${expiryMs / 1000}\\.${DIGEST}\\.[\\w-]{43}$`))
    expect(sessionsAt(NOW_MS).judge(own)).toEqual({ kind: 'good', tokenSha256: DIGEST })
    expect(sessionsAt(expiryMs).judge(own)).toEqual({ kind: 'expired' })
    expect(sessionsAt(NOW_MS, `${token}x`).judge(own)).toEqual({ kind: 'forged' })
    const [expiry = '', , mac = ''] = own.split('.')
    for (const other of [`${expiry}.${mac}`, `${expiry}.${'b'.repeat(64)}.${mac}`, own.slice(1)]) {
      expect(sessionsAt(NOW_MS).judge(other)).toEqual({ kind: 'forged' })
    }
  })

  it('is forged where the token is another', () => {
    expect(sessionsAt(NOW_MS, `${token}x`).judge(opened)).toEqual({ kind: 'forged' })
  })

  it('is signed by a key that is not the token', () => {
    const [expiry = ''] = opened.split('.')
    const byToken = createHmac('sha256', token).update(expiry).digest('base64url')
    expect(sessionsAt(NOW_MS).judge(`${expiry}.${byToken}`)).toEqual({ kind: 'forged' })
  })

  it('is forged with any other end or signature', () => {
    const [expiry = '', mac = ''] = opened.split('.')
    const later = String(Number(expiry) + 1)
    const forgeries = [
      '',
      '.',
      token,
      expiry,
      `${expiry}.`,
      `.${mac}`,
      `${later}.${mac}`,
      ` ${opened}`,
      `${opened} `,
      `${opened}.`,
      `${opened}=`,
      `0${opened}`,
      `${expiry}.${mac.slice(1)}`,
      `${expiry}.${mac.toLowerCase()}`,
      `${expiry}.${'ä'.repeat(43)}`,
      `Infinity.${mac}`,
    ]
    // As if the end were followed by an operator's digest.
    forgeries.push(`${expiry}.${DIGEST}.${mac}`, `${expiry}..${mac}`)
    for (const forged of forgeries)
      expect(sessionsAt(NOW_MS).judge(forged)).toEqual({ kind: 'forged' })
  })
})
