import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RouteShorthandOptions,
} from 'fastify'
import type { Static } from 'typebox'
import type { FileVersion } from '../../core/files/file.ts'
import { formatLastModified } from '../../core/files/last-modified.ts'
import { DEFAULT_MEDIA_TYPE, inlineType } from '../../core/files/media-type.ts'
import {
  type Extent,
  extentOf,
  isElsewhere,
  type OpenedFile,
  type SelectContent,
  type Selection,
} from '../../core/files/open-content.ts'
import type { DownloadRedirect } from '../../core/objects/download-urls.ts'
import { discardUnread } from '../body/discard-body.ts'
import { addVary, contentDisposition, UNTRANSFORMED } from '../headers/content-headers.ts'
import { selectRepresentation } from '../headers/preconditions.ts'
import { formatReprDigest, wantsReprDigest } from '../headers/repr-digest.ts'
import { servedMediaType } from '../../core/files/served-media-type.ts'
import { Type } from '../openapi/type.ts'
import { holdSlot } from '../server/reader-slots.ts'
import { requestSignal } from '../server/request-outcome.ts'
import type { Downloads } from './downloads.ts'
import { redirected, sendRedirect } from './redirect.ts'
import { sendBody, watchSlowReader } from './send-body.ts'

export interface ServeOptions {
  readonly downloads: Downloads
  /** `undefined`: the service sends all contents itself. */
  readonly redirect: DownloadRedirect | undefined
}

interface ServedFile extends OpenedFile {
  /** Called with the number of bytes that were given to the connection, if that ends before all were. */
  readonly onCut?: ((sent: number) => Promise<void>) | undefined
}

export interface Served<T> {
  readonly url: string
  readonly route: Pick<RouteShorthandOptions, 'onRequest' | 'preValidation' | 'preHandler'> & {
    readonly schema?: FastifySchema
    readonly config: FastifyContextConfig
  }
  /** What the request names. May throw. */
  readonly wanted: (request: FastifyRequest) => T
  readonly stat: (wanted: T) => Promise<FileVersion>
  readonly open: (wanted: T & SelectContent) => Promise<ServedFile>
}

/** Adds GET and HEAD of content. Conditions are evaluated once `stat` or `open` has found a file. */
export function serveContent<T extends object>(
  app: FastifyInstance,
  { downloads: { slots, waiting }, redirect }: ServeOptions,
  { url, route: given, wanted, stat, open }: Served<T>,
): void {
  const route = { ...given, schema: { ...given.schema, querystring: CONTENT_QUERY } }

  app.get(url, route, async (request, reply) => {
    const signal = requestSignal(reply)
    const target = wanted(request)
    // Before the answer, which bypasses the hook that would drain the rest.
    await discardUnread(reply)
    // A client that disconnected while its token was verified would never release a slot.
    signal.throwIfAborted()
    holdSlot(slots, reply, { kind: 'download' })
    const select = (file: FileVersion): Selection => {
      const selection = selectRepresentation(request, file)
      return redirected(request, { file, selection, redirect })
    }
    const opened = await open({ ...target, select, signal })
    const { file, selection } = opened
    if (redirect !== undefined && isElsewhere(selection)) {
      return sendRedirect(reply, { file, urls: redirect.urls })
    }
    describe(reply, { file, selection: extentOf(selection) })
    watchSlowReader(reply)
    if (opened.content !== undefined) return opened.content
    const { body, release, onCut } = opened
    if (body === undefined) return reply.send()
    return sendBody(reply, { body, release, waiting, signal, onCut })
  })

  // Fastify's own HEAD route would read the whole object.
  app.head(url, route, async (request, reply) => {
    const target = wanted(request)
    await discardUnread(reply)
    const file = await stat(target)
    describe(reply, { file, selection: selectRepresentation(request, file) })
    return reply.send()
  })
}

const CONTENT_QUERY = Type.Object({
  inline: Type.Optional(
    Type.Unsafe<'true' | 'false'>({
      type: 'string',
      enum: ['true', 'false'],
      default: 'false',
      description:
        'Whether browsers may show the content instead of saving it: the response then has the media type of the file, ' +
        'if that is JPEG, PNG, WebP, AVIF, GIF, MP4, WebM, MPEG, Ogg, WAV or plain text in UTF-8.',
    }),
  ),
})

interface Answer {
  readonly file: FileVersion
  readonly selection: 'nothing' | Extent
}

function describe(reply: FastifyReply, { file, selection }: Answer): void {
  addVary(reply, 'Want-Repr-Digest')
  void reply.headers({
    etag: `"${file.version}"`,
    'last-modified': formatLastModified(file, Date.now()),
    'cache-control': UNTRANSFORMED,
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
  // Browsers must save the content, or show it if it is asked for, and never run it; see `SECURITY_HEADERS`.
  const { inline } = reply.request.query as Static<typeof CONTENT_QUERY>
  const type = inline === 'true' ? inlineType(servedMediaType(file)) : undefined
  void reply.headers({
    'accept-ranges': 'bytes',
    'content-type': type ?? DEFAULT_MEDIA_TYPE,
    'content-length': file.size,
    'content-disposition': contentDisposition(
      file.name,
      type === undefined ? 'attachment' : 'inline',
    ),
  })
  if (selection === 'whole') return
  const { first, last } = selection
  void reply.code(206).headers({
    'content-length': last - first + 1,
    'content-range': `bytes ${first}-${last}/${file.size}`,
  })
}
