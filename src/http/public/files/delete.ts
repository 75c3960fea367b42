import { described } from '../../openapi/operation.ts'
import { FILE_NAME, PRECONDITIONS } from '../../openapi/parameters.ts'
import { addFileRemoval } from '../../routes/files/remove.ts'
import type { UserPlugin } from '../user-plugin.ts'
import { OWN_FILE_PATH } from './upload.ts'

export const deleteRoutes: UserPlugin = async (app, { useCases: { repository } }) => {
  addFileRemoval(app, repository, {
    route: { method: 'DELETE', url: OWN_FILE_PATH, ...REMOVAL },
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
