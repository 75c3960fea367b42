import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Subject } from '../../core/auth/subject.ts'
import type { Archives } from '../../core/files/archive.ts'
import type { ArchivedFile, SelectedFiles } from '../../core/files/file-ledger.ts'
import {
  baseNameOf,
  EVERY_NAME,
  type FileName,
  isFileName,
  parentOf,
  parseFileName,
} from '../../core/files/file-name.ts'
import type { Link } from '../../core/links/link.ts'
import {
  discardBody as discardContent,
  type OpenedObject,
} from '../../core/objects/object-store.ts'
import { discardUnread } from '../body/discard-body.ts'
import type { Downloads } from '../download/downloads.ts'
import { sendBody, watchSlowReader } from '../download/send-body.ts'
import type { Served } from '../download/serve-content.ts'
import { createZip } from '../download/zip.ts'
import { zipLength } from '../download/zip-format.ts'
import { contentDisposition } from '../headers/content-headers.ts'
import { holdSlot, ownerOf, type Reader, type ReaderSlots } from '../server/reader-slots.ts'
import { requestSignal } from '../server/request-outcome.ts'
import { subjectOf } from '../server/request-subject.ts'
import { selectedFiles } from './archive-query.ts'
import type { ReadList } from './pagination.ts'

interface ArchiveOptions {
  readonly downloads: Downloads
  readonly archives: Archives
}

/** What the listeners and their subjects have of their own. */
interface ArchiveMount {
  readonly readList: ReadList
  /** Whom the download counts for; `ownerOf` by default. */
  readonly reader?: (request: FastifyRequest) => Reader
  /** Called with the number of files once they are known. May throw. */
  readonly onListed?: (request: FastifyRequest, files: number) => Promise<void>
  /** Called when the first file is open. May throw. */
  readonly onBegun?: (request: FastifyRequest, files: number) => Promise<void>
}

interface ArchiveRoute extends ArchiveMount {
  readonly url: string
  readonly route: Served<object>['route']
}

/** Adds GET and HEAD of an archive of the files that the query selects. */
export function addArchiveRoutes(
  app: FastifyInstance,
  options: ArchiveOptions,
  { url, route, ...mount }: ArchiveRoute,
): void {
  const { get, head } = archiveHandlers(options, mount)
  app.get(url, route, get)
  app.head(url, route, head)
}

interface ListedArchive {
  /** Of the archive itself. */
  readonly name: FileName
  readonly files: readonly ArchivedFile[]
}

/** Handlers of GET and HEAD for an archive of the files that the query selects, or that a link has. A GET is one download. */
export function archiveHandlers(
  { downloads: { slots, archivedFiles, waiting }, archives }: ArchiveOptions,
  { readList, reader = ownerOf, onListed, onBegun }: ArchiveMount,
) {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<ListedArchive> {
    const subject = subjectOf(request, ['read'])
    const asked = subject.kind === 'visitor' ? filesOf(subject.link) : selectedFiles(request)
    const files = await readList(reply, () => archives.list(subject, asked))
    await onListed?.(request, files.length)
    return { name: nameOf(subject, asked), files }
  }

  async function get(request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
      await onBegun?.(request, files.length).catch((error: unknown) => {
        discardContent(opened)
        throw error
      })
      return opened
    }
    const { body, release } = createZip({ files, open, signal })
    await sendBody(reply, { body, release, waiting, signal })
  }

  async function head(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await discardUnread(reply)
    describe(reply, await list(request, reply))
    return reply.send()
  }
  return { get, head }
}

function filesOf({ target: { name, prefix } }: Link): SelectedFiles {
  return prefix === undefined ? { names: [name] } : { prefix }
}

/** The first that can be the name of a file: the label of a link, which its page also shows; the folder; a default. */
function nameOf(subject: Subject, { prefix = EVERY_NAME }: SelectedFiles): FileName {
  const isVisitor = subject.kind === 'visitor'
  // Visitors must not learn the name of the folder that a prefix such as `photos/2026-` is in.
  const folder = prefix.endsWith('/') || isVisitor ? prefix : parentOf(prefix)
  const titles = [
    isVisitor ? subject.link.label : '',
    folder.endsWith('/') ? baseNameOf(folder) : '',
    isVisitor ? 'files' : subject.userId,
  ]
  const names = titles.flatMap((title) => (title === '' ? [] : [`${title}.zip`]))
  return parseFileName(names.find((name) => isFileName(name) && parentOf(name) === '') ?? '')
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
