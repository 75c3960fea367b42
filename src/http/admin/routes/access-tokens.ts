import type { AccessTokens } from '../../../core/auth/access-tokens.ts'
import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  issuedToken,
  pagedTokens,
  termsIn,
  tokenReply,
} from '../../shared-routes/access-token-resource.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import type { Audited } from '../audit.ts'
import { ACCESS_TOKENS } from './access-tokens.openapi.ts'

interface AccessTokenOptions extends Audited {
  readonly accessTokens: AccessTokens
}

export const accessTokenRoutes: FastifyPluginAsyncTypebox<AccessTokenOptions> = async (
  app,
  { accessTokens, audit },
) => {
  const collection = '/admin/users/:user_id/access-tokens'

  app.post(collection, ACCESS_TOKENS.issue, async (request, reply) => {
    const { user_id: userId } = request.params
    const terms = termsIn(request.body)
    const token = await accessTokens.issue({ userId, ...terms })
    const { tokenId: token_id, label, scope } = token
    await audit(request, {
      action: 'access_token.issue',
      user_id: userId,
      token_id,
      label,
      actions: scope?.actions.join(','),
      device_id: scope?.deviceId,
    })
    return reply.code(201).send(issuedToken(token))
  })

  app.get(collection, ACCESS_TOKENS.list, async (request) => {
    const list = pagedTokens((page) => accessTokens.list(request.params.user_id, page))
    const { entries, next_cursor } = await readPage(request.query, list)
    return { access_tokens: entries.map(tokenReply), next_cursor }
  })

  app.delete(`${collection}/:token_id`, ACCESS_TOKENS.revoke, async (request, reply) => {
    const { user_id, token_id } = request.params
    await accessTokens.revoke({ userId: user_id, tokenId: token_id })
    await audit(request, { action: 'access_token.revoke', user_id, token_id })
    return reply.code(204).send()
  })
}
