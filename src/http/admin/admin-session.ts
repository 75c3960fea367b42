import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Differs from the user's cookie, because all ports of a host share their cookies. */
export const ADMIN_SESSION_COOKIE = 'admin_session'

/** A working day. */
export const ADMIN_SESSION_SECONDS = 12 * 3600

export type AdminSessions = ReturnType<typeof createAdminSessions>

/** `tokenSha256`: of the operator's token; `undefined` for the admin token. */
export type JudgedSession =
  | { readonly kind: 'good'; readonly tokenSha256: string | undefined }
  | { readonly kind: 'expired' | 'forged' }

/**
 * Sessions are `<expiry>.<MAC>`, of an operator `<expiry>.<SHA-256 of the token>.<MAC>`: seconds since the epoch, and
 * the HMAC-SHA256 in base64url of all that precedes it, with a key derived from the admin token (RFC 5869). No cookie
 * contains a token, and every instance with that admin token accepts them.
 */
export function createAdminSessions(token: string, clock = () => Date.now()) {
  const key = Buffer.from(hkdfSync('sha256', token, '', KEY_LABEL, 32))
  const signed = (content: string): string => {
    const mac = createHmac('sha256', key).update(content).digest('base64url')
    return `${content}.${mac}`
  }
  return {
    /** Returns a new session. It ends after `ADMIN_SESSION_SECONDS`, or earlier if the admin token changes. */
    open(tokenSha256?: string): string {
      const expiry = Math.floor(clock() / 1000) + ADMIN_SESSION_SECONDS
      return signed(tokenSha256 === undefined ? `${expiry}` : `${expiry}.${tokenSha256}`)
    },

    /** Compares in constant time. `expired`: signed, but too old; `forged`: not signed with this admin token. */
    judge(shown: string): JudgedSession {
      const content = shown.slice(0, Math.max(0, shown.lastIndexOf('.')))
      if (!isEqual(shown, signed(content))) return { kind: 'forged' }
      const [expiry, tokenSha256] = content.split('.')
      return Number(expiry) * 1000 > clock() ? { kind: 'good', tokenSha256 } : { kind: 'expired' }
    },
  }
}

/** HKDF info: separates this key from others derived from the token. */
const KEY_LABEL = 'cloud-repository admin session v1'

function isEqual(shown: string, right: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
