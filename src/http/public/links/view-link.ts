import type { FastifyReply, FastifyRequest } from 'fastify'
import { permits } from '../../../core/auth/scope.ts'
import { shownName, type Visitor } from '../../../core/auth/subject.ts'
import { invalidParameter, isAppError } from '../../../core/errors.ts'
import { type FileName, type FileNamePrefix, isFileName } from '../../../core/files/file-name.ts'
import type { File } from '../../../core/files/file.ts'
import type { Repository } from '../../../core/repository.ts'
import { LINK_KINDS, usesLeft } from '../../../core/links/link.ts'
import type { Links } from '../../../core/links/links.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { addVary } from '../../headers/content-headers.ts'
import { servedMediaType } from '../../../core/files/served-media-type.ts'
import { Bytes, OneOf, Text } from '../../openapi/reply-schemas.ts'
import { BINARY } from '../../openapi/operation.ts'
import { type FastifyPluginAsyncTypebox, Type } from '../../openapi/type.ts'
import type { PageFile } from '../../pages/static-assets.ts'
import { DROPS_LEFT, dropsLeftReply, ExpiresAt, UsesLeft } from '../../routes/link-resource.ts'
import { DOCUMENT_HEADERS, sendFile } from '../../routes/page.ts'
import { formatCursor, type Key, PAGE_QUERY, parseCursor } from '../../routes/pagination.ts'
import { linkArchive } from './link-archive.ts'
import { LINK_SECRET, ofLinks } from './link-resource.ts'
import { credentialsOf, findVisitor, LINK_PATH, type LinkOptions } from './visitor.ts'

/** What a link is, as JSON or as a page, and all that it gives in one archive. */
export const viewLinkRoutes: FastifyPluginAsyncTypebox<LinkOptions> = async (app, options) => {
  const { useCases, readInTurn, page } = options
  const { links, repository } = useCases
  const sendArchive = linkArchive(options)
  app.route({
    method: ['GET', 'HEAD'],
    url: LINK_PATH,
    ...VIEW,
    handler: async (request, reply) => {
      if (request.query.format === 'zip') return await sendArchive(request, reply)
      addVary(reply, 'Accept', 'Authorization', 'Cookie')
      if (page !== undefined && wantsPage(request)) {
        return await sendPage(reply, page, links)
      }
      const visitor = await findVisitor(request, links)
      const { link } = visitor
      void reply.header('cache-control', 'no-store')
      if (!(await links.isUnlocked(link, credentialsOf(reply))))
        return { kind: link.kind, needs_password: true }
      const { limit = DEFAULT_PAGE_LIMIT, cursor } = request.query
      const after = cursor === undefined ? undefined : parseCursor(cursor, restIn)
      const files = await readInTurn(reply, () => filesOf(repository, visitor, { after, limit }))
      return {
        kind: link.kind,
        label: link.label,
        ...files,
        expires_at: formatTimestamp(link.expiresAt),
        uses_left: usesLeft(link) ?? null,
        ...(link.kind === 'drop' && dropsLeftReply(link)),
        needs_password: link.passwordHash !== undefined,
      }
    },
  })
}

/** The address is a secret: shared caches do not store what it gives. */
const PAGE_HEADERS = { ...DOCUMENT_HEADERS, 'cache-control': 'private, no-cache' }

/** Browsers ask for HTML when they open an address; programs do not. */
function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes('text/html') === true
}

/** The page tells people that a link has ended; the status tells their programs. */
async function sendPage(reply: FastifyReply, page: PageFile, links: Links): Promise<FastifyReply> {
  const { request } = reply
  try {
    await findVisitor(request, links)
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    // Not as unchanged since the link worked.
    delete request.headers['if-none-match']
    void reply.code(404)
  }
  return sendFile(reply, page, PAGE_HEADERS)
}

interface FilesPage {
  /** What follows the prefix in the last name of the previous page. */
  readonly after: string | undefined
  readonly limit: number
}

async function filesOf(repository: Repository, visitor: Visitor, { after, limit }: FilesPage) {
  if (!permits(visitor, 'read')) return { files: [], next_cursor: null }
  const { userId, link } = visitor
  const { name, prefix } = link.target
  if (prefix === undefined) {
    const file = await findOnly(repository, visitor, name)
    return { files: file === undefined ? [] : [fileReply(file)], next_cursor: null }
  }
  const found = await repository.list({
    userId,
    viewer: visitor,
    prefix,
    order: 'name',
    after: after === undefined ? undefined : { name: nameAfter(prefix, after), value: 0 },
    limit,
  })
  const visible = found.files.flatMap((file) => {
    const shown = shownName(visitor, file.name)
    return shown === undefined ? [] : [fileReply({ ...file, name: shown })]
  })
  const next = found.next?.name.slice(prefix.length)
  return { files: visible, next_cursor: next === undefined ? null : formatCursor([next]) }
}

/** Throws `invalid_parameter`: visitors can make up cursors. */
function nameAfter(prefix: FileNamePrefix, after: string): FileName {
  const name = prefix + after
  if (isFileName(name)) return name
  throw invalidParameter('cursor', 'The cursor is not valid for this list.')
}

async function findOnly(repository: Repository, visitor: Visitor, name: FileName) {
  try {
    return await repository.stat({ userId: visitor.userId, name, viewer: visitor })
  } catch (error) {
    if (isAppError(error, 'not_found')) return undefined
    throw error
  }
}

function fileReply(file: Pick<File, 'name' | 'size' | 'mediaType'>) {
  return { name: file.name, size: file.size, media_type: servedMediaType(file) }
}

function restIn([rest, another]: Key): string | undefined {
  return typeof rest === 'string' && another === undefined ? rest : undefined
}

const LinkedFile = Type.Object(
  {
    name: Text('The name of the file, without the prefix of the link.', 'report.pdf'),
    size: Bytes('Size of the content, in bytes.', 6143),
    media_type: Text('The media type of its content.', 'application/pdf'),
  },
  { title: 'LinkedFile' },
)

const Reply = Type.Object(
  {
    kind: OneOf(LINK_KINDS, '`download` gives files, `drop` takes new ones.'),
    needs_password: Type.Boolean({
      examples: [false],
      description:
        'Whether the link has a password. Without it, the response has only this and `kind`.',
    }),
    label: Type.Optional(Text('The title of the link; may be empty.', 'The report')),
    files: Type.Optional(Type.Array(LinkedFile)),
    next_cursor: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'The `cursor` of the next page of `files`, `null` on the last page.',
        examples: [null],
      }),
    ),
    expires_at: Type.Optional(ExpiresAt),
    uses_left: Type.Optional(UsesLeft),
    bytes_left: Type.Optional(DROPS_LEFT.bytes_left),
    files_left: Type.Optional(DROPS_LEFT.files_left),
  },
  { title: 'VisitedLink', description: 'What a link gives or takes.' },
)

const PAGE = { 'text/html': {} }
const ARCHIVE = { 'application/zip': BINARY }

const Format = Type.Optional(
  Type.Unsafe<'zip'>({
    type: 'string',
    enum: ['zip'],
    description:
      'Get all files of the link as one ZIP archive, as `downloadArchive` makes it. Each file counts as a use of the ' +
      'link. The password is sent as HTTP Basic authentication with any user name.',
  }),
)

const VIEW = ofLinks({
  operationId: 'getLink',
  summary: 'Get what a link gives or takes',
  description:
    'A browser, whose `Accept` contains `text/html`, gets a page. A link that has expired, was revoked or is used up gets ' +
    'the same 404 as one that never existed.',
  parameters: {
    path: { secret: LINK_SECRET },
    query: {
      limit: { ...PAGE_QUERY.properties.limit },
      cursor: { ...PAGE_QUERY.properties.cursor },
      format: { ...Format },
    },
  },
  // Mail programs and messengers add parameters of their own.
  querystring: Type.Object({ ...PAGE_QUERY.properties, format: Format }),
  response: { 200: Reply },
  responses: {
    200: {
      description: 'The link.',
      headers: ['Cache-Control'],
      content: { ...PAGE, ...ARCHIVE },
    },
    304: { description: 'The browser already has this page.', headers: ['ETag', 'Cache-Control'] },
    404: { description: 'A browser gets a page that says so.', content: PAGE },
  },
  problems: ['not_found', 'link_password_required', 'archive_too_large'],
})
