import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Differs from the user's cookie, because all ports of a host share their cookies. */
export const ADMIN_SESSION_COOKIE = 'admin_session'

/** A working day. */
export const ADMIN_SESSION_SECONDS = 12 * 3600

export interface AdminSessions {
  /** Returns a new session. It ends after `ADMIN_SESSION_SECONDS`, or earlier if the admin token changes. */
  open(): string

  /** Compares in constant time. `expired`: signed, but too old; `forged`: not signed with this admin token. */
  judge(shown: string): 'good' | 'expired' | 'forged'
}

export interface AdminSessionsOptions {
  readonly token: string
  readonly clock?: () => number
}

/**
 * Sessions are `<expiry>.<MAC>`: seconds since the epoch and their HMAC-SHA256 in base64url, with a key derived from
 * the admin token (RFC 5869). No cookie contains the token, and every instance with that token accepts them.
 */
export function createAdminSessions(options: AdminSessionsOptions): AdminSessions {
  const { token, clock = () => Date.now() } = options
  const key = Buffer.from(hkdfSync('sha256', token, '', KEY_LABEL, 32))
  const signed = (expiry: string): string => {
    const mac = createHmac('sha256', key).update(expiry).digest('base64url')
    return `${expiry}.${mac}`
  }
  return {
    open: () => signed(String(Math.floor(clock() / 1000) + ADMIN_SESSION_SECONDS)),

    judge(shown) {
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
