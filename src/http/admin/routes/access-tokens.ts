import type { AccessTokens } from '../../../core/auth/access-tokens.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  issuedToken,
  pagedTokens,
  termsIn,
  tokenReply,
} from '../../shared-routes/access-token-resource.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import type { Audit } from '../audit.ts'
import { ACCESS_TOKENS } from './access-tokens.openapi.ts'

export const accessTokenRoutes: FastifyPluginAsyncTypebox<{
  accessTokens: AccessTokens
  audit: Audit
}> = async (app, { accessTokens, audit }) => {
  const collection = '/admin/users/:user_id/access-tokens'

  app.post(collection, ACCESS_TOKENS.issue, async (request, reply) => {
    const { user_id: userId } = request.params
    const terms = termsIn(request.body)
    const token = await accessTokens.issue({ userId, ...terms })
    const { tokenId, label, scope } = token
    await audit(request, {
      action: 'access_token.issue',
      user_id: userId,
      token_id: tokenId,
      label,
      actions: scope?.actions.join(','),
      device_id: scope?.deviceId,
    })
    return reply.code(201).send(issuedToken(token))
  })

  app.get(collection, ACCESS_TOKENS.list, async ({ params, query }) => {
    const list = pagedTokens((page) => accessTokens.list(params.user_id, page))
    const { entries, next_cursor } = await readPage(query, list)
    return { access_tokens: entries.map(tokenReply), next_cursor }
  })

  app.delete(`${collection}/:token_id`, ACCESS_TOKENS.revoke, async (request, reply) => {
    const { user_id: userId, token_id: tokenId } = request.params
    await accessTokens.revoke({ userId, tokenId })
    await audit(request, { action: 'access_token.revoke', user_id: userId, token_id: tokenId })
    return reply.code(204).send()
  })
}
