import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { shownName, type Subject } from '../../../core/auth/subject.ts'
import type { CommittedUpload } from '../../../core/uploads/upload-ledger.ts'
import { addUploads } from '../../routes/files/upload.ts'
import { addTusRoutes, speakTus } from '../../routes/uploads/tus.ts'
import { DROP_BODY, DROP_FORM, TUS_OPERATIONS } from './drops.openapi.ts'
import {
  LINK_FILE_PATH,
  LINK_UPLOAD_PATH,
  LINK_UPLOADS_PATH,
  type LinkOptions,
  secretOf,
  visitorOf,
} from './visitor.ts'
import { toldToVisitor } from './visitor-problems.ts'

/** What a drop link takes: files, whole or by tus. Registered below `requireLink`. */
export async function dropRoutes(
  app: FastifyInstance,
  { useCases: { links, repository, uploads }, address }: LinkOptions,
): Promise<void> {
  const admit = (request: FastifyRequest): Promise<Disposable> =>
    links.beginDrop(visitorOf(request, 'create'))

  addUploads(app, repository, {
    url: LINK_FILE_PATH,
    form: { ...DROP_FORM, show },
    body: { ...DROP_BODY, show },
    admit,
  })

  await app.register(async (scope) => {
    speakTus(scope, toldToVisitor)
    addTusRoutes(scope, uploads, {
      urls: [LINK_UPLOADS_PATH],
      uploadUrl: LINK_UPLOAD_PATH,
      operations: TUS_OPERATIONS,
      allow: 'HEAD, PATCH, DELETE',
      locationOf: (request, version) =>
        `${address.base}/links/${secretOf(request)}/uploads/${version}`,
      admitCreation: admit,
      // What an append leaves behind when it fails is garbage of the owner.
      admitAppend: (request) => links.admitAppend(visitorOf(request, 'create')),
    })
  })
}

function show(_reply: FastifyReply, subject: Subject, { file }: CommittedUpload) {
  return { name: shownName(subject, file.name), size: file.size, sha256: file.sha256 }
}
