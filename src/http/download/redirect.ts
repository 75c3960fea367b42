import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileVersion } from '../../core/files/file.ts'
import type { Extent, Selection } from '../../core/files/open-content.ts'
import type { DownloadRedirect, DownloadUrls } from '../../core/objects/download-urls.ts'
import { contentDisposition } from '../headers/content-headers.ts'
import { hostnameOf } from '../server/forwarded.ts'
import { wantsReprDigest } from '../headers/repr-digest.ts'

interface Redirectable {
  readonly file: FileVersion
  /** What the request selects of it. */
  readonly selection: 'nothing' | Extent
  readonly redirect: DownloadRedirect | undefined
}

/**
 * Turns the selection into `elsewhere` if the store is to answer, and would answer as the service does. The client
 * repeats the headers of its request there.
 */
export function redirected(
  request: FastifyRequest,
  { file, selection, redirect }: Redirectable,
): Selection {
  if (redirect === undefined || selection === 'nothing') return selection
  if (file.size <= redirect.aboveBytes || !isOwners(request, file)) return selection
  if (isBoundToService(request) || wouldGetCookie(request, redirect)) return selection
  return isJudgedOtherwise(request, selection) ? selection : { elsewhere: selection }
}

/** The store also sends the name and the metadata that the file had when it was uploaded. */
function isOwners({ subject }: FastifyRequest, file: FileVersion): boolean {
  return subject?.kind === 'user' && subject.userId === file.userId
}

/** The store has no digest, and neither the media types nor the headers that make it safe to show content in place. */
function isBoundToService({ headers, query }: FastifyRequest): boolean {
  const wish = headers['want-repr-digest']?.toString()
  const { inline } = query as { readonly inline?: unknown }
  return inline === 'true' || (wish !== undefined && wantsReprDigest(wish))
}

/**
 * Whether the store would judge conditions or the range otherwise, since objects have other entity tags and dates there.
 * An `If-None-Match` that has let the request pass does so there too, unless its tag is the store's of the same content.
 * An `If-Range` that fails here fails there too, with the same exception.
 */
function isJudgedOtherwise({ headers }: FastifyRequest, selection: Extent): boolean {
  const names = ['if-match', 'if-modified-since', 'if-unmodified-since'] as const
  if (names.some((name) => headers[name] !== undefined)) return true
  const { range, 'if-range': ifRange } = headers
  if (range !== undefined && !PLAIN_RANGE.test(range)) return true
  if (selection !== 'whole') return ifRange !== undefined
  // A range that the service ignores; the store could refuse it.
  return range !== undefined && ifRange === undefined
}

const PLAIN_RANGE = /^bytes=(\d+-\d*|-\d+)$/

/** A browser sends a cookie to every port of a host. */
function wouldGetCookie(request: FastifyRequest, { urls }: DownloadRedirect): boolean {
  return request.headers.cookie !== undefined && hostnameOf(request) === urls.hostname
}

export async function sendRedirect(
  reply: FastifyReply,
  { file, urls }: { readonly file: FileVersion; readonly urls: DownloadUrls },
): Promise<FastifyReply> {
  const disposition = contentDisposition(file.name)
  const location = await urls.sign({ key: file.objectKey, disposition })
  return reply.code(307).headers({ location, 'cache-control': 'no-store' }).send()
}
