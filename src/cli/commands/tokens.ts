import { type AskedScope, parseScope } from '../../core/auth/scope.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type { AccessToken } from '../../core/users/user-store.ts'
import { parseDuration } from '../../core/duration.ts'
import { invalidParameter } from '../../core/errors.ts'
import { parseCount, userIdOf, type Command } from '../command.ts'
import type { Row } from '../render.ts'

export const TOKENS: readonly Command[] = [
  {
    words: ['tokens', 'issue'],
    operands: ['<user_id>'],
    flags: ['label', 'expires-in', 'actions', 'prefix', 'device', 'when-full'],
    summary:
      'issue an access token, which is shown only once (--expires-in 90min, 24h, 7d; --actions read,create)',
    run: async ({ accessTokens }, { operands, flags }) => {
      const expiresIn = flags['expires-in']
      const issued = await accessTokens.issue({
        userId: userIdOf(operands),
        label: flags['label'] ?? '',
        expiresInSeconds: expiresIn === undefined ? undefined : secondsOf(expiresIn),
        scope: scopeOf(flags),
      })
      return { access_token: issued.secret, ...tokenRow(issued) }
    },
  },
  {
    words: ['tokens', 'list'],
    operands: ['<user_id>'],
    summary: 'list the access tokens of a user, without their secrets',
    run: async ({ accessTokens }, { operands }) =>
      (await accessTokens.list(userIdOf(operands))).map(tokenRow),
  },
  {
    words: ['tokens', 'revoke'],
    operands: ['<user_id>', '<token_id>'],
    summary: 'revoke an access token',
    run: async ({ accessTokens }, { operands }) => {
      await accessTokens.revoke({ userId: userIdOf(operands), tokenId: operands[1] ?? '' })
      return undefined
    },
  },
]

/** `undefined`, which permits everything, without any of the flags. */
function scopeOf({
  actions,
  prefix,
  device,
  'when-full': whenFull,
}: Readonly<Record<string, string>>): AskedScope | undefined {
  if ((actions ?? prefix ?? device ?? whenFull) === undefined) return undefined
  // As from an unset variable.
  if (prefix === '') throw invalidParameter('prefix', 'prefix must not be empty.')
  return parseScope({
    actions: actions?.split(','),
    prefix,
    device_id: device,
    when_full: whenFull,
  })
}

/** Digits alone are seconds, as in the admin API. */
function secondsOf(text: string): number {
  const durationMs = parseDuration(text)
  const seconds = Number.isNaN(durationMs) ? parseCount(text) : durationMs / 1000
  if (!Number.isNaN(seconds)) return seconds
  const rule = 'must be a duration such as 90min, 24h or 7d, or a number of seconds'
  throw invalidParameter('expires_in', `expires_in ${rule}.`)
}

function tokenRow(token: AccessToken): Row {
  return {
    token_id: token.tokenId,
    label: token.label,
    actions: token.scope?.actions.join(',') ?? 'all',
    prefix: token.scope?.prefix ?? '',
    device_id: token.scope?.deviceId ?? null,
    when_full: token.scope?.whenFull ?? 'refuse',
    created_at: formatTimestamp(token.createdAt),
    expires_at: formatTimestamp(token.expiresAt),
    revoked_at: formatTimestamp(token.revokedAt),
    last_used_at: formatTimestamp(token.lastUsedAt),
  }
}
