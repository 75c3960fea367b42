import type { FastifyReply, FastifyRequest } from 'fastify'
import { archiveTooLarge } from '../../../core/files/archive.ts'
import { wholeUsesLeft } from '../../../core/links/link.ts'
import { archiveHandlers } from '../../routes/archive.ts'
import { type LinkOptions, requireLink, visitorOf } from './visitor.ts'

/** Answers GET and HEAD with all files of a download link in one archive. Each file is one use of the link. */
export function linkArchive(options: LinkOptions) {
  const { useCases, downloads, readInTurn } = options
  const { archives, links } = useCases
  const requireVisitor = requireLink(options)
  const { get, head } = archiveHandlers(
    { downloads, archives },
    {
      readList: readInTurn,
      async onListed(request, files) {
        const left = wholeUsesLeft(visitorOf(request, 'read').link)
        if (left !== undefined && files > left) throw archiveTooLarge(left)
      },
      onBegun: (request, files) => links.countArchive(visitorOf(request, 'read'), files),
    },
  )
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    await requireVisitor(request, reply)
    if (request.method === 'HEAD') return await head(request, reply)
    await get(request, reply)
    return reply
  }
}
