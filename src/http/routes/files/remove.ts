import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Version } from '../../../core/objects/object-key.ts'
import type { Repository } from '../../../core/repository.ts'
import { discardBody } from '../../body/discard-body.ts'
import type { MountedRoute } from '../mounted-route.ts'
import { namedFile, writePrecondition } from './file-resource.ts'

interface RemovalMount {
  readonly route: MountedRoute
  /** Called when the file is deleted, before the answer. */
  readonly onRemoved?: (request: FastifyRequest, version: Version) => Promise<void>
}

/** Adds the route that deletes a file, which becomes history. */
export function addFileRemoval(
  app: FastifyInstance,
  repository: Pick<Repository, 'remove'>,
  { route, onRemoved }: RemovalMount,
): void {
  app.route({
    ...route,
    handler: async (request, reply) => {
      const { subject, name } = namedFile(request, ['delete'])
      const precondition = writePrecondition(request, subject)
      // A listener whose routes take JSON has read it.
      if (request.body === undefined) await discardBody(reply)
      const version = await repository.remove({ subject, name, precondition })
      await onRemoved?.(request, version)
      return reply.code(204).send()
    },
  })
}
