import * as operations from '../../routes/uploads/operations.ts'
import { addTusRoutes, speakTus } from '../../routes/uploads/tus.ts'
import {
  CHECKSUM_ALGORITHMS,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from '../../routes/uploads/tus-headers.ts'
import { UPLOAD_QUERY } from '../../routes/files/upload-query.ts'
import { otherMethods } from '../../routes/method-not-allowed.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { UPLOAD_PATH, UPLOADS_PATH, uploadViewRoutes } from './view.ts'

/** All paths of resumable uploads. Every response, including refusals, has the version of tus. */
export const resumableRoutes: UserPlugin = async (app, options) => {
  const { useCases, address, limits } = options
  const others = otherMethods(app)
  speakTus(app)
  const headers = {
    'tus-version': TUS_VERSION,
    'tus-max-size': limits.maxFileSize,
    'tus-extension': TUS_EXTENSIONS,
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  }
  const preflightMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const
  const config = { preflightMethods, operation: operations.DISCOVER }
  app.options(UPLOADS_PATH, { config }, async (_request, reply) =>
    reply.code(204).headers(headers).send(),
  )
  addTusRoutes(app, useCases.uploads, {
    urls: [UPLOADS_PATH, `${UPLOADS_PATH}/`],
    uploadUrl: UPLOAD_PATH,
    operations: {
      create: operations.CREATE,
      offset: operations.OFFSET,
      append: operations.APPEND,
      cancel: operations.CANCEL,
      override: operations.OVERRIDE,
    },
    allow: 'GET, HEAD, PATCH, DELETE',
    querystring: UPLOAD_QUERY,
    locationOf: (_request, version) => `${address.base}${UPLOADS_PATH}/${version}`,
  })
  await app.register(uploadViewRoutes, options)
  await app.register(others)
}
