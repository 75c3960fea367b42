import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../core/errors.ts'
import { uploadBusy } from '../../../core/resumable/refusals.ts'
import { sendProblem } from '../../server/problem.ts'
import { otherMethods } from '../../shared-routes/method-not-allowed.ts'
import { INTEROP_VERSION, speaksDraft } from '../draft/draft-headers.ts'
import { sendDraftProblem } from '../draft/draft-problems.ts'
import { tellOffset } from './append-request.ts'
import { type ResumableRouteOptions, tusRoutes } from './routes.ts'
import { TUS_VERSION } from './tus-headers.ts'
import { uploadViewRoutes } from './view.ts'

/** All paths of resumable uploads. Every response, including refusals, has the version of its protocol. */
export async function resumableRoutes(
  app: FastifyInstance,
  options: ResumableRouteOptions,
): Promise<void> {
  const others = otherMethods(app)
  app.addHook('onSend', async (request, reply) => {
    const version = speaksDraft(request)
      ? { 'upload-draft-interop-version': INTEROP_VERSION }
      : { 'tus-resumable': TUS_VERSION }
    void reply.headers({ ...version, 'cache-control': 'no-store' })
  })
  // After a failed request, tus clients give up on some 5xx, clients of the draft on most 4xx.
  app.setErrorHandler((error, request, reply) => {
    const send = speaksDraft(request) ? sendDraftProblem : sendTusProblem
    return send(error, request, reply)
  })
  await app.register(tusRoutes, options)
  await app.register(uploadViewRoutes, options)
  await app.register(others)
}

/** After a 423, tus clients repeat a HEAD. After any other refusal they upload everything again. */
export function sendTusProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (isAppError(error, 'tus_version_unsupported')) void reply.header('tus-version', TUS_VERSION)
  tellOffset(error, request, reply)
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
