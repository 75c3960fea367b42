import { describeStored } from '../../headers/content-headers.ts'
import { UploadedFile, uploadedFile } from '../../routes/files/stored-file.ts'
import { addUploads } from '../../routes/files/upload.ts'
import { FORM_UPLOAD, RAW_UPLOAD } from '../../routes/files/upload.openapi.ts'
import { UPLOAD_QUERY } from '../../routes/files/upload-query.ts'
import type { UserPlugin } from '../user-plugin.ts'

export const OWN_FILE_PATH = '/users/me/repo/:file_name'

export const uploadRoutes: UserPlugin = async (app, { useCases: { repository } }) => {
  const schema = { querystring: UPLOAD_QUERY, response: { 200: UploadedFile } }
  addUploads(app, repository, {
    url: OWN_FILE_PATH,
    form: {
      schema,
      config: { operation: FORM_UPLOAD },
      show: (_reply, subject, committed) => uploadedFile(subject, committed),
    },
    body: {
      schema,
      config: { operation: RAW_UPLOAD },
      show(reply, subject, committed) {
        // RFC 9110 section 9.3.4 allows this because the content is stored byte for byte.
        describeStored(reply, committed.file.version)
        return uploadedFile(subject, committed)
      },
    },
  })
}
