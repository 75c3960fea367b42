import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The cookie in which a browser keeps a session: not a user's, since cookies know a host but no port. */
export const ADMIN_SESSION_COOKIE = 'admin_session'

/** A day's work. Who goes on the next day signs in again. */
export const ADMIN_SESSION_SECONDS = 12 * 3600

/** Sessions of the operator's page. Every instance with the same admin token knows them, and none keeps them. */
export interface AdminSessions {
  /** A new one, good for `ADMIN_SESSION_SECONDS` from now on, or until the admin token is another. */
  open(): string

  /**
   * What a cookie is worth, in a time that does not tell how much of it is right. `expired` was good once; `forged` is
   * all that this admin token has not signed.
   */
  judge(shown: string): 'good' | 'expired' | 'forged'
}

export interface AdminSessionsOptions {
  readonly token: string
  /** Milliseconds since 1970, alike on all instances. */
  readonly clock?: () => number
}

/**
 * Makes sessions of the form `<expiry>.<MAC>`: seconds since 1970, and their HMAC-SHA256 in base64url by a key that is
 * derived from the admin token (RFC 5869). So the token is in no cookie, and what leaks ends by itself.
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

/** What the key is for, so that the token makes another one for any other use. */
const KEY_LABEL = 'cloud-repository admin session v1'

function isEqual(shown: string, right: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
