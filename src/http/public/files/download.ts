import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import { createFairShare } from '../../../core/async/fair-share.ts'
import type { File } from '../../../core/files/file.ts'
import type { ReadFile, Selection } from '../../../core/files/repository.ts'
import { isUserId } from '../../../core/users/user-id.ts'
import { addVary, contentDisposition } from '../../headers/content-headers.ts'
import { formatReprDigest, wantsReprDigest } from '../../headers/repr-digest.ts'
import { fileNameParam, type FileRouteOptions } from './file-resource.ts'
import { Type, type FastifyPluginAsyncTypebox } from '../../openapi/type.ts'
import { requireUser } from '../access-token.ts'
import { sendBody, watchSlowReader } from '../../download/send-body.ts'
import { ownerOf, type ReaderSlots } from '../../server/reader-slots.ts'
import { breakOff, requestSignal } from '../../server/request-outcome.ts'
import { selectRepresentation } from '../../headers/preconditions.ts'
import { discardBody } from '../../body/discard-body.ts'
import { isUnread } from '../../server/unread-body.ts'
import { DOWNLOADS } from './download.openapi.ts'

export interface DownloadOptions extends FileRouteOptions {
  readonly downloads: ReaderSlots
  /** Aborts when the service takes no new work. */
  readonly stopping: AbortSignal
}

const WAITING = {
  totalBytes: 32 * 1024 * 1024,
  minBytes: 16 * 1024,
  maxBytes: 512 * 1024,
}

const Params = Type.Object({ user_id: Type.String(), file_name: Type.String() })

/** Conditions are evaluated only if the caller may see the file, so that they reveal nothing to anyone else. */
export const downloadRoutes: FastifyPluginAsyncTypebox<DownloadOptions> = async (app, options) => {
  const { repository, downloads, shutdown, idleTimeoutMs } = options
  const discarding = { signal: shutdown, idleTimeoutMs }
  const url = '/users/:user_id/repo/:file_name'
  const waiting = createFairShare(WAITING)

  app.get(url, { schema: { params: Params }, config: DOWNLOADS }, async (request, reply) => {
    const signal = requestSignal(reply, shutdown)
    const target = wanted(request, request.params)
    // Before the answer, which bypasses the hook that would drain the rest.
    if (isUnread(request.raw)) await discardBody({ request, reply }, discarding)
    // A client that disconnected while its token was verified would never release a slot.
    signal.throwIfAborted()
    const leave = downloads.take({
      ...ownerOf(request),
      size: 1,
      socket: request.raw.socket,
      giveWay: () => breakOff(reply, 'it gave way to another download'),
    })
    reply.raw.once('close', leave)
    const select = (file: File): Selection => selectRepresentation(request, file)
    const opened = await repository.open({ ...target, select, signal })
    describe(reply, opened)
    watchSlowReader(reply, options)
    if (opened.content !== undefined) return opened.content
    const { body, release } = opened
    if (body === undefined) return reply.send()
    return sendBody(reply, { ...options, body, release, waiting, signal })
  })

  // Fastify's own HEAD route would read the whole object.
  app.head(url, { schema: { params: Params }, config: DOWNLOADS }, async (request, reply) => {
    const target = wanted(request, request.params)
    if (isUnread(request.raw)) await discardBody({ request, reply }, discarding)
    const file = await repository.stat(target)
    describe(reply, { file, selection: selectRepresentation(request, file) })
    return reply.send()
  })
}

function wanted(request: FastifyRequest, params: { user_id: string; file_name: string }): ReadFile {
  const owner = params.user_id === 'me' ? requireUser(request).userId : params.user_id
  const name = fileNameParam(params.file_name)
  if (!isUserId(owner)) throw new AppError('not_found', 'The file was not found.')
  return { userId: owner, name, viewer: request.user ?? undefined }
}

interface Answer {
  readonly file: File
  readonly selection: Selection
}

function describe(reply: FastifyReply, { file, selection }: Answer): void {
  addVary(reply, 'Want-Repr-Digest')
  void reply.headers({
    etag: `"${file.version}"`,
    'last-modified': new Date(file.updatedAt).toUTCString(),
    'cache-control': 'private, no-cache',
  })
  // A 304 has it too: the browser may have cached the content without a digest.
  const wish = reply.request.headers['want-repr-digest']?.toString()
  if (wish !== undefined && wantsReprDigest(wish)) {
    void reply.header('repr-digest', formatReprDigest(file.sha256))
  }
  if (selection === 'nothing') {
    void reply.code(304)
    return
  }
  // Browsers must save the content and never run it; see `SECURITY_HEADERS`.
  void reply.headers({
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-length': file.size,
    'content-disposition': contentDisposition(file.name),
  })
  if (selection === 'whole') return
  const { first, last } = selection
  void reply.code(206).headers({
    'content-length': last - first + 1,
    'content-range': `bytes ${first}-${last}/${file.size}`,
  })
}
