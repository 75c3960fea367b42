import type { AccessTokens } from '../../../core/auth/access-tokens.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import type { AccessToken, AccessTokenPlace } from '../../../core/users/user-store.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { type Key, readPage } from '../../shared-routes/pagination.ts'
import { audit } from '../audit.ts'
import { ACCESS_TOKENS } from './access-tokens.openapi.ts'

export const accessTokenRoutes: FastifyPluginAsyncTypebox<{ accessTokens: AccessTokens }> = async (
  app,
  { accessTokens },
) => {
  const collection = '/admin/users/:user_id/access-tokens'

  app.post(collection, ACCESS_TOKENS.issue, async (request, reply) => {
    const { user_id: userId } = request.params
    const { label = '', expires_in: expiresInSeconds } = request.body
    const token = await accessTokens.issue({ userId, label, expiresInSeconds })
    const { tokenId } = token
    audit(request, { action: 'access_token.issue', user_id: userId, token_id: tokenId, label })
    return reply.code(201).send({ ...termsOf(token), access_token: token.secret })
  })

  app.get(collection, ACCESS_TOKENS.list, async ({ params, query }) => {
    const { entries, next_cursor } = await readPage(query, {
      read: placeOf,
      list: (page) => accessTokens.list(params.user_id, page),
      keyOf: ({ createdAt, tokenId }) => [createdAt, tokenId],
    })
    return { access_tokens: entries.map(toEntry), next_cursor }
  })

  app.delete(`${collection}/:token_id`, ACCESS_TOKENS.revoke, async (request, reply) => {
    const { user_id: userId, token_id: tokenId } = request.params
    await accessTokens.revoke({ userId, tokenId })
    audit(request, { action: 'access_token.revoke', user_id: userId, token_id: tokenId })
    return reply.code(204).send()
  })
}

function placeOf([createdAt, tokenId, ...more]: Key): AccessTokenPlace | undefined {
  const isPlace = typeof createdAt === 'number' && typeof tokenId === 'string' && more.length === 0
  return isPlace ? { createdAt, tokenId } : undefined
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
