import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import { uploadBusy } from '../../../core/resumable/refusals.ts'
import { sendProblem } from '../../server/problem.ts'
import { otherMethods } from '../../routes/method-not-allowed.ts'
import type { UserRoutes } from '../user-routes.ts'
import { tusRoutes } from './routes.ts'
import { TUS_VERSION } from './tus-headers.ts'
import { noteOffset } from './upload-access.ts'
import { uploadViewRoutes } from './view.ts'

/** All paths of resumable uploads. Every response, including refusals, has the version of tus. */
export const resumableRoutes: UserRoutes = async (app, options) => {
  const others = otherMethods(app)
  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' })
  })
  app.setErrorHandler(sendTusProblem)
  await app.register(tusRoutes, options)
  await app.register(uploadViewRoutes, options)
  await app.register(others)
}

/** After a 423, tus clients repeat a HEAD. After any other refusal they upload everything again. */
export function sendTusProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (isAppError(error, 'tus_version_unsupported')) void reply.header('tus-version', TUS_VERSION)
  if (isAppError(error, 'offset_mismatch')) {
    const offset = Number(error.facts['offset'])
    noteOffset(request, offset)
    void reply.header('upload-offset', offset)
  }
  const isHead = request.method === 'HEAD' && request.headers['tus-resumable'] !== undefined
  if (!isHead || !isAppError(error, 'unavailable')) return sendProblem(error, request, reply)
  request.log.error({ err: error, code: error.code }, 'request failed')
  const { message, cause, dependency } = error
  const facts = { ...error.facts, ...uploadBusy().facts }
  const busy = new AppError('upload_busy', message, {
    cause,
    facts,
    dependency,
  })
  return sendProblem(busy, request, reply)
}
