import type { Static } from 'typebox'
import type { IssuedAccessToken, TokenTerms } from '../../core/auth/access-tokens.ts'
import {
  type Action,
  ACTIONS,
  parseScope,
  type Scope,
  WHEN_FULL,
  type WhenFull,
} from '../../core/auth/scope.ts'
import { LABEL_PATTERN, MAX_EXPIRES_IN_SECONDS, MAX_LABEL_LENGTH } from '../../core/auth/terms.ts'
import { REFERENCE_PATTERN } from '../../core/quota/grants.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import type {
  AccessToken,
  AccessTokenPlace,
  AccessTokenUser,
} from '../../core/auth/access-token-store.ts'
import { Prefix } from '../openapi/parameters.ts'
import { Count, Page, Text, Time, TimeOrNull } from '../openapi/reply-schemas.ts'
import { Type } from '../openapi/type.ts'
import { type Key, type PagedList, type PageQuery, readPage } from './pagination.ts'

const TOKEN_ID = '0f2b6a3e-6d0c-4a7e-8f7c-2b9d8a1c5e44'

export const TokenId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description:
    'The id of the access token, not its secret: 1 to 64 characters from `A-Z a-z 0-9 _ -`.',
  examples: [TOKEN_ID],
})

const ScopeBody = Type.Object(
  {
    actions: Type.Optional(
      Type.Array(Type.Unsafe<Action>({ type: 'string', enum: ACTIONS }), {
        minItems: 1,
        uniqueItems: true,
        description: 'What the token permits. All actions if left out.',
        examples: [['read', 'create']],
      }),
    ),
    prefix: Prefix(
      'The token is only for file names that begin with this, byte by byte.',
      'camera-17/',
    ),
    device_id: Type.Optional(
      Type.String({
        pattern: REFERENCE_PATTERN,
        description: 'A device of the user. Removing the device revokes the token.',
        examples: ['camera-17'],
      }),
    ),
    when_full: Type.Optional(
      Type.Unsafe<WhenFull>({
        type: 'string',
        enum: WHEN_FULL,
        description:
          'What becomes of an upload that does not fit: `refuse`, or `evict_oldest` of the files with the prefix.',
        examples: ['evict_oldest'],
      }),
    ),
  },
  {
    title: 'Scope',
    description: 'Narrows what a token permits. Without it, the token permits everything.',
    additionalProperties: false,
  },
)

export const AccessTokenTerms = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        maxLength: MAX_LABEL_LENGTH,
        pattern: LABEL_PATTERN,
        description: `The purpose of the token: at most ${MAX_LABEL_LENGTH} characters, without control characters.`,
        examples: ['phone'],
      }),
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EXPIRES_IN_SECONDS,
        description:
          'Lifetime of the token in seconds. By default, the token lives as long as is permitted, or does not expire.',
        examples: [2_592_000],
      }),
    ),
    scope: Type.Optional(ScopeBody),
  },
  { title: 'AccessTokenTerms', additionalProperties: false },
)

export function termsIn(terms: Static<typeof AccessTokenTerms>): TokenTerms {
  const { label = '', expires_in, scope } = terms
  return { label, expiresInSeconds: expires_in, scope: scope && parseScope(scope) }
}

const members = {
  token_id: Text('The id of the token, not its secret.', TOKEN_ID),
  label: Text('The purpose of the token; may be empty.', 'phone'),
  scope: Type.Unsafe<ReturnType<typeof scopeReply>>({
    type: ['object', 'null'],
    properties: {
      actions: { type: 'array', items: { type: 'string', enum: ACTIONS } },
      prefix: { type: 'string' },
      device_id: { type: ['string', 'null'] },
      when_full: { type: 'string', enum: WHEN_FULL },
    },
    required: ['actions', 'prefix', 'device_id', 'when_full'],
    description: 'What the token permits; `null` if it permits everything.',
    examples: [
      {
        actions: ['read', 'create'],
        prefix: 'camera-17/',
        device_id: 'camera-17',
        when_full: 'evict_oldest',
      },
    ],
  }),
  created_at: Time('When the token was issued.'),
  expires_at: TimeOrNull('When the token expires.', '2026-12-21T12:00:00.000Z'),
}

export const IssuedToken = Type.Object(
  {
    ...members,
    access_token: Text('The token itself. Only this response has it.', `crt_${'A'.repeat(43)}`),
  },
  { title: 'IssuedAccessToken' },
)

const Token = Type.Object(
  {
    ...members,
    parent_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'The id of the token that made it, or the SHA-256 of the JWT; `null` if an operator issued it.',
      examples: [TOKEN_ID],
    }),
    revoked_at: TimeOrNull('When the token was revoked.'),
    last_used_at: TimeOrNull('When the token was last used, accurate to about a minute.'),
  },
  { title: 'AccessToken', description: 'An access token without its secret.' },
)

export const OwnToken = Type.Object(
  {
    user_id: Text('The user of the token.', 'alice'),
    scope: members.scope,
    expires_at: members.expires_at,
    max_token_lifetime: Type.Optional(
      Count('The seconds that a token of a user can live at most, if the operator has set that.'),
    ),
  },
  { title: 'OwnToken', description: 'The access token of the request.' },
)

export const AccessTokenPage = Page('AccessTokenPage', { access_tokens: Type.Array(Token) })

export function issuedToken(token: IssuedAccessToken) {
  return { ...termsOf(token), access_token: token.secret }
}

function tokenReply(token: AccessToken) {
  return {
    ...termsOf(token),
    parent_id: token.parentId ?? null,
    revoked_at: formatTimestamp(token.revokedAt),
    last_used_at: formatTimestamp(token.lastUsedAt),
  }
}

/** `maxLifeMs` bounds the tokens that it makes. */
export function ownToken({ user, scope, expiresInMs }: AccessTokenUser, maxLifeMs?: number) {
  const expiresAt = expiresInMs === undefined ? undefined : Date.now() + expiresInMs
  return {
    user_id: user.userId,
    scope: scopeReply(scope),
    expires_at: formatTimestamp(expiresAt),
    ...(maxLifeMs !== undefined && { max_token_lifetime: Math.floor(maxLifeMs / 1000) }),
  }
}

function termsOf({ tokenId, label, scope, createdAt, expiresAt }: AccessToken) {
  return {
    token_id: tokenId,
    label,
    scope: scopeReply(scope),
    created_at: formatTimestamp(createdAt),
    expires_at: formatTimestamp(expiresAt),
  }
}

function scopeReply(scope: Scope | undefined) {
  if (scope === undefined) return null
  const { actions, prefix, deviceId = null, whenFull } = scope
  return { actions, prefix, device_id: deviceId, when_full: whenFull }
}

export async function tokenPage(
  query: PageQuery,
  list: PagedList<AccessToken, AccessTokenPlace>['list'],
) {
  const { entries, next_cursor } = await readPage(query, {
    read: placeOf,
    list,
    keyOf: ({ createdAt, tokenId }) => [createdAt, tokenId],
  })
  return { access_tokens: entries.map(tokenReply), next_cursor }
}

function placeOf([createdAt, tokenId, another]: Key): AccessTokenPlace | undefined {
  const isPlace =
    typeof createdAt === 'number' && typeof tokenId === 'string' && another === undefined
  return isPlace ? { createdAt, tokenId } : undefined
}
