import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Differs from the user's cookie, because all ports of a host share their cookies. */
export const ADMIN_SESSION_COOKIE = 'admin_session'

/** A working day. */
export const ADMIN_SESSION_SECONDS = 12 * 3600

export type AdminSessions = ReturnType<typeof createAdminSessions>

/**
 * Sessions are `<expiry>.<MAC>`: seconds since the epoch and their HMAC-SHA256 in base64url, with a key derived from
 * the admin token (RFC 5869). No cookie contains the token, and every instance with that token accepts them.
 */
export function createAdminSessions(token: string, clock = () => Date.now()) {
  const key = Buffer.from(hkdfSync('sha256', token, '', KEY_LABEL, 32))
  const signed = (expiry: string): string => {
    const mac = createHmac('sha256', key).update(expiry).digest('base64url')
    return `${expiry}.${mac}`
  }
  return {
    /** Returns a new session. It ends after `ADMIN_SESSION_SECONDS`, or earlier if the admin token changes. */
    open: () => signed(String(Math.floor(clock() / 1000) + ADMIN_SESSION_SECONDS)),

    /** Compares in constant time. `expired`: signed, but too old; `forged`: not signed with this admin token. */
    judge(shown: string): 'good' | 'expired' | 'forged' {
      const [expiry] = shown.split('.', 1)
      if (!isEqual(shown, signed(expiry ?? ''))) return 'forged'
      return Number(expiry) * 1000 > clock() ? 'good' : 'expired'
    },
  }
}

/** HKDF info: separates this key from others derived from the token. */
const KEY_LABEL = 'cloud-repository admin session v1'

function isEqual(shown: string, right: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
