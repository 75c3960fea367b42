import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Links } from '../../../core/links/links.ts'
import { discardBody as discardContent } from '../../../core/objects/object-store.ts'
import type { Repository } from '../../../core/files/repository.ts'
import { openRawBody } from '../../body/raw-body.ts'
import { serveContent, type ServeOptions } from '../../download/serve-content.ts'
import { parseReprDigest } from '../../headers/repr-digest.ts'
import { minFileSize, openFileForm } from '../../multipart/file-form.ts'
import { FILE_NAME } from '../../openapi/parameters.ts'
import { Bytes, Text } from '../../openapi/reply-schemas.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { expectsContinue, tellToContinue } from '../../server/unread-body.ts'
import { CONDITIONS, CONTENT_RESPONSES } from '../files/download.openapi.ts'
import { RAW_UPLOAD, REPR_DIGEST } from '../files/upload.openapi.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import { LINK_FILE_PATH, visitedFile } from './visit.ts'

export interface LinkFileOptions extends ServeOptions {
  readonly links: Links
  readonly repository: Repository
}

/** Downloads and drops by a link. Registered below `requireLink`. */
export const linkFileRoutes: FastifyPluginAsyncTypebox<LinkFileOptions> = async (app, options) => {
  const { links, repository } = options
  serveContent(app, options, {
    url: LINK_FILE_PATH,
    route: { config: DOWNLOAD },
    wanted: (request) => visitedFile(request, 'download'),
    stat: async ({ owner, name, shown }) => {
      const file = await repository.stat({ userId: owner.userId, name, viewer: owner })
      return { ...file, name: shown }
    },
    open: async ({ link, owner, isUnlocked, name, shown, select, signal }) => {
      const wanted = { userId: owner.userId, name, viewer: owner }
      const opened = await repository.open({ ...wanted, ...(select && { select }), signal })
      const { file, selection, body } = opened
      // A range that continues a download is none. The content is there, so that no failure takes a use.
      const isFirst =
        selection === 'whole' || (typeof selection === 'object' && selection.first === 0)
      if (isFirst) {
        await links.countDownload({ link, owner, isUnlocked }).catch((error: unknown) => {
          if (body !== undefined) discardContent({ body })
          throw error
        })
      }
      return { ...opened, file: { ...file, name: shown } }
    },
  })

  app.post(LINK_FILE_PATH, DROP_FORM, dropForm(options))
  app.put(
    LINK_FILE_PATH,
    {
      ...DROP_BODY,
      // Nothing stores the type, so a malformed one is no error.
      onRequest: async ({ raw }) => void delete raw.headers['content-type'],
    },
    dropBody(options),
  )
}

function dropForm({ repository, shutdown, idleTimeoutMs }: LinkFileOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { target, shown } = dropTarget(request)
    const signal = requestSignal(reply, shutdown)
    async function onStart(): Promise<void> {
      await repository.admit({ ...target, min: minFileSize(request.headers) })
      tellToContinue(request, reply)
    }
    const form = { signal, idleTimeoutMs, ...(expectsContinue(request) && { onStart }) }
    using incoming = await openFileForm(request, form)
    const { file } = await repository.upload({ ...target, incoming, signal })
    return { name: shown, size: file.size, sha256: file.sha256 }
  }
}

function dropBody({ repository, shutdown, idleTimeoutMs }: LinkFileOptions) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { target, shown } = dropTarget(request)
    const signal = requestSignal(reply, shutdown)
    using incoming = openRawBody(request, { signal, idleTimeoutMs })
    if (expectsContinue(request)) {
      await repository.admit({ ...target, min: incoming.size.min })
      tellToContinue(request, reply)
    }
    const { file } = await repository.upload({ ...target, incoming, signal })
    return { name: shown, size: file.size, sha256: file.sha256 }
  }
}

function dropTarget(request: FastifyRequest) {
  const { link, owner, name, shown } = visitedFile(request, 'drop')
  const target = {
    ...owner,
    name,
    visibility: () => undefined,
    precondition: NEW_FILE,
    sha256: parseReprDigest(request.headers['repr-digest']?.toString()),
    linkId: link.linkId,
  }
  return { target, shown }
}

/** A drop never replaces a file. */
export const NEW_FILE = { ifNoneMatch: '*' } as const

const DroppedFile = Type.Object(
  {
    name: Text('The name of the file, without the prefix of the link.', 'report.pdf'),
    size: Bytes('Size of the content, in bytes.', 6143),
    sha256: Text(
      'SHA-256 of the content, in lower-case hexadecimal.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
  },
  { title: 'DroppedFile', description: 'The stored file.' },
)

const PATH = { secret: LINK_SECRET, file_name: FILE_NAME }

const DOWNLOAD = {
  operation: {
    tag: 'links',
    credentials: 'none',
    operationId: 'downloadByLink',
    summary: 'Download a file by a link, or a range of it',
    description:
      'A download that begins at byte 0 counts as a use of the link. The password of the link, if it has one, is sent ' +
      'as HTTP Basic authentication with any user name.',
    parameters: { path: PATH, header: CONDITIONS },
    responses: CONTENT_RESPONSES,
    problems: [
      'not_found',
      'link_password_required',
      'precondition_failed',
      'range_not_satisfiable',
      'cross_site_request',
    ],
  },
} as const satisfies FastifyContextConfig

const DROP_PROBLEMS = [
  'not_found',
  'link_password_required',
  'file_exists',
  'file_too_large',
  'digest_mismatch',
  'capacity_exceeded',
  'insufficient_storage',
] as const

const drop = {
  description:
    'Never replaces a file. Queries and fields for the visibility or expiry of the file are ignored.',
  parameters: { path: PATH, header: { 'Repr-Digest': REPR_DIGEST } },
  response: { 200: DroppedFile },
  responses: { 200: { description: 'The file is stored.' } },
} as const

const DROP_FORM = ofLinks({
  ...drop,
  operationId: 'dropForm',
  summary: 'Send a file by a drop link, as a form',
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file'],
          additionalProperties: { type: 'string' },
          properties: {
            file: {
              type: 'string',
              format: 'binary',
              contentMediaType: 'application/octet-stream',
              description:
                'The content, in one part with a `filename` parameter, whose value is ignored.',
            },
          },
        },
        encoding: { file: { contentType: 'application/octet-stream' } },
      },
    },
  },
  problems: [...DROP_PROBLEMS, 'missing_file_part', 'multiple_file_parts'],
})

const DROP_BODY = ofLinks({
  ...drop,
  operationId: 'dropFile',
  summary: 'Send a file by a drop link, as the body',
  requestBody: RAW_UPLOAD.operation.requestBody,
  problems: DROP_PROBLEMS,
})
