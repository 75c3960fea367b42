import type { AccessTokens } from '../../../core/auth/access-tokens.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { parseUserId } from '../../../core/users/user-id.ts'
import type { AccessToken } from '../../../core/users/user-store.ts'
import { NextCursor, Time, TimeOrNull } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { audit } from '../audit.ts'
import { cursorFault, NoQuery, pageOf, PageQuery, parsePage } from '../pagination.ts'
import { ACCESS_TOKENS } from './access-tokens.openapi.ts'

export interface AccessTokenRoutesOptions {
  readonly accessTokens: AccessTokens
}

const OfUser = Type.Object({ user_id: Type.String() })

const OfToken = Type.Object({
  user_id: Type.String(),
  token_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
})

const Terms = Type.Object(
  { label: Type.Optional(Type.String()), expires_in: Type.Optional(Type.Number()) },
  { additionalProperties: false },
)

const common = {
  token_id: Type.String({ description: 'Names the token; it is not its secret.' }),
  label: Type.String({ description: 'What the token is for; may be empty.' }),
  created_at: Time('When it was issued.'),
  expires_at: TimeOrNull('When it ends by itself.'),
}

const IssuedReply = Type.Object(
  { ...common, access_token: Type.String({ description: 'The token, shown this once.' }) },
  { title: 'IssuedAccessToken' },
)

const TokenReply = Type.Object(
  {
    ...common,
    revoked_at: TimeOrNull('When it was revoked.'),
    last_used_at: TimeOrNull('When it was last used, to within a minute or so.'),
  },
  { title: 'AccessToken', description: 'An access token without its secret.' },
)

const PageReply = Type.Object(
  { access_tokens: Type.Array(TokenReply), next_cursor: NextCursor },
  { title: 'AccessTokenPage' },
)

/** `/admin/users/{user_id}/access-tokens`: issues, lists and revokes access tokens. */
export const accessTokenRoutes: FastifyPluginAsyncTypebox<AccessTokenRoutesOptions> = async (
  app,
  { accessTokens },
) => {
  const collection = '/admin/users/:user_id/access-tokens'
  const ofUser = { params: OfUser, querystring: NoQuery }

  const issue = { ...ofUser, body: Terms, response: { 201: IssuedReply } }
  app.post(collection, { schema: issue, config: ACCESS_TOKENS.issue }, async (request, reply) => {
    const userId = parseUserId(request.params.user_id)
    const { label = '', expires_in: expiresInSeconds } = request.body
    const token = await accessTokens.issue({ userId, label, expiresInSeconds })
    const { tokenId } = token
    audit(request, { action: 'access_token.issue', user_id: userId, token_id: tokenId, label })
    return reply.code(201).send({ ...termsOf(token), access_token: token.secret })
  })

  const list = { params: OfUser, querystring: PageQuery, response: { 200: PageReply } }
  app.get(collection, { schema: list, config: ACCESS_TOKENS.list }, async ({ params, query }) => {
    const { limit, after } = parsePage(query, 2)
    const isAfter = isAfterKey(after)
    const tokens = await accessTokens.list(parseUserId(params.user_id))
    const found = tokens.filter(isAfter).slice(0, limit + 1)
    const { page, next_cursor } = pageOf(found, { limit, keyOf })
    return { access_tokens: page.map(toEntry), next_cursor }
  })

  const revoke = { params: OfToken, querystring: NoQuery }
  const one = `${collection}/:token_id`
  app.delete(one, { schema: revoke, config: ACCESS_TOKENS.revoke }, async (request, reply) => {
    const userId = parseUserId(request.params.user_id)
    const tokenId = request.params.token_id
    await accessTokens.revoke({ userId, tokenId })
    audit(request, { action: 'access_token.revoke', user_id: userId, token_id: tokenId })
    return reply.code(204).send()
  })
}

function keyOf({ createdAt, tokenId }: AccessToken): readonly string[] {
  return [String(createdAt), tokenId]
}

/** Whether a token comes after the one of that key in a list that has the oldest first. */
function isAfterKey(key: readonly string[] | undefined): (token: AccessToken) => boolean {
  if (key === undefined) return () => true
  const [time = '', afterId = ''] = key
  if (!/^\d{1,15}$/.test(time)) throw cursorFault()
  const after = Number(time)
  return ({ createdAt, tokenId }) => createdAt > after || (createdAt === after && tokenId > afterId)
}

function termsOf({ tokenId, label, createdAt, expiresAt }: AccessToken) {
  return {
    token_id: tokenId,
    label,
    created_at: formatTimestamp(createdAt),
    expires_at: formatTimestamp(expiresAt),
  }
}

function toEntry(token: AccessToken) {
  return {
    ...termsOf(token),
    revoked_at: formatTimestamp(token.revokedAt),
    last_used_at: formatTimestamp(token.lastUsedAt),
  }
}
