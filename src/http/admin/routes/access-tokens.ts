import type { FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import {
  issuedToken,
  pagedTokens,
  termsIn,
  tokenReply,
} from '../../shared-routes/access-token-resource.ts'
import { readPage } from '../../shared-routes/pagination.ts'
import type { AuditedOptions } from '../audit.ts'
import { ACCESS_TOKENS } from './access-tokens.openapi.ts'

export const accessTokenRoutes: FastifyPluginAsyncTypebox<AuditedOptions> = async (
  app,
  { audited },
) => {
  const collection = '/admin/users/:user_id/access-tokens'

  app.post(collection, ACCESS_TOKENS.issue, async (request, reply) => {
    const { user_id: userId } = request.params
    const terms = termsIn(request.body)
    const token = await audited(request).accessTokens.issue({ userId, ...terms })
    return reply.code(201).send(issuedToken(token))
  })

  app.get(collection, ACCESS_TOKENS.list, async (request) => {
    const { accessTokens } = audited(request)
    const list = pagedTokens((page) => accessTokens.list(request.params.user_id, page))
    const { entries, next_cursor } = await readPage(request.query, list)
    return { access_tokens: entries.map(tokenReply), next_cursor }
  })

  app.delete(`${collection}/:token_id`, ACCESS_TOKENS.revoke, async (request, reply) => {
    const { user_id: userId, token_id: tokenId } = request.params
    await audited(request).accessTokens.revoke({ userId, tokenId })
    return reply.code(204).send()
  })
}
