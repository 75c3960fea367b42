import { discardBody } from '../../body/discard-body.ts'
import { described } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { OWN_FILE_PATH, ownFile, writePrecondition } from './file-resource.ts'

export const deleteRoutes: UserPlugin = async (app, { useCases: { repository } }) => {
  app.delete(OWN_FILE_PATH, REMOVAL, async (request, reply) => {
    const file = ownFile(request, ['delete'])
    const precondition = writePrecondition(request, file.subject)
    await discardBody(reply)
    await repository.remove({ ...file, precondition })
    return reply.code(204).send()
  })
}

const REMOVAL = described({
  operationId: 'deleteFile',
  summary: "Delete one of the caller's files",
  tag: 'files',
  parameters: { path: { file_name: FILE_NAME }, header: PRECONDITIONS },
  responses: { 204: 'The file is deleted and its bytes are available again.' },
  problems: ['not_found'],
})
