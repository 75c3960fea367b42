import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Archives } from '../../core/files/archive.ts'
import type { ArchivedFile } from '../../core/files/file-ledger.ts'
import { type FileName, parseFileName } from '../../core/files/file-name.ts'
import {
  discardBody as discardContent,
  type OpenedObject,
} from '../../core/objects/object-store.ts'
import { discardUnread } from '../body/discard-body.ts'
import { contentDisposition } from '../headers/content-headers.ts'
import { type Reader, type ReaderSlots, holdSlot } from '../server/reader-slots.ts'
import { requestSignal } from '../server/request-outcome.ts'
import type { Downloads } from './downloads.ts'
import { sendBody, watchSlowReader } from './send-body.ts'
import type { Served } from './serve-content.ts'
import { createZip, zipLength } from './zip.ts'

export interface ServeArchiveOptions {
  readonly downloads: Downloads
  readonly archives: Archives
}

interface ServedArchive {
  readonly url: string
  readonly route: Served<object>['route']
  readonly reader: (request: FastifyRequest) => Reader
  /** What the request names. May throw. */
  readonly list: (request: FastifyRequest, reply: FastifyReply) => Promise<ListedArchive>
  /** Called when the first file is open. May throw. */
  readonly begin?: (request: FastifyRequest, files: number) => Promise<void>
}

interface ListedArchive {
  /** Of the archive itself. */
  readonly name: FileName
  readonly files: readonly ArchivedFile[]
}

/** The name of an archive of these files. */
export function archiveOf(files: string): FileName {
  return parseFileName(`${files}.zip`)
}

/** Adds GET and HEAD of an archive. A GET counts as one download. */
export function serveArchive(
  app: FastifyInstance,
  { downloads: { slots, archivedFiles, waiting }, archives }: ServeArchiveOptions,
  { url, route, reader, list, begin }: ServedArchive,
): void {
  app.get(url, route, async (request, reply) => {
    const signal = requestSignal(reply)
    await discardUnread(reply)
    const take = (slots: ReaderSlots, size: number): void => {
      // A client that has disconnected would never release a slot.
      signal.throwIfAborted()
      holdSlot(slots, reply, { reader: reader(request), size, kind: 'download' })
    }
    take(slots, 1)
    const listed = await list(request, reply)
    const { files } = listed
    take(archivedFiles, files.length)
    describe(reply, listed)
    watchSlowReader(reply)
    const open = async (file: ArchivedFile): Promise<OpenedObject> => {
      const opened = await archives.open(file, signal)
      if (file !== files[0]) return opened
      await begin?.(request, files.length).catch((error: unknown) => {
        discardContent(opened)
        throw error
      })
      return opened
    }
    const { body, release } = createZip({ files, open, signal })
    return sendBody(reply, { body, release, waiting, signal })
  })

  app.head(url, route, async (request, reply) => {
    await discardUnread(reply)
    describe(reply, await list(request, reply))
    return reply.send()
  })
}

/** An archive is made anew for each request, so a client can neither continue nor revalidate it. */
function describe(reply: FastifyReply, { name, files }: ListedArchive): void {
  void reply.headers({
    'cache-control': 'no-store',
    'content-type': 'application/zip',
    'content-length': zipLength(files),
    'content-disposition': contentDisposition(name),
  })
}
