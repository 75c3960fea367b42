import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/errors.ts'
import type { FileName } from '../../../core/files/file-name.ts'
import { type LinkKind, linkNotFound, nameBehind } from '../../../core/links/link.ts'
import type { Links, Shown, Visit } from '../../../core/links/links.ts'
import { shownValues } from '../../pages/session-cookie.ts'
import { assertSameSite } from '../../server/csrf.ts'
import { addressOf } from '../../server/request-head.ts'
import { fileNameParam } from '../files/file-resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** On the routes below a link, once it was found. */
    visit: Visit | null
  }
}

export const LINK_PATH = '/links/:secret'
export const LINK_FILE_PATH = '/links/:secret/:file_name'

/** Has the key of a link's password, for the path of that link alone. */
export const LINK_COOKIE = 'link_key'

export function secretOf({ params }: FastifyRequest): string {
  return (params as { readonly secret: string }).secret
}

/** The link in the path, which the log line then names by its id. Rejects as `Links.visit` does. */
export async function findVisit(request: FastifyRequest, links: Links): Promise<Visit> {
  const visit = await links.visit(secretOf(request), shownBy(request))
  request.visit = visit
  return visit
}

/**
 * An `onRequest` hook for what a link permits. Throws `link_password_required` without the link's password, which
 * browsers send by themselves, so that pages of other sites (`cross_site_request`) may not use it.
 */
export function requireLink(links: Links, allowedOrigins: ReadonlySet<string>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { link, isUnlocked } = await findVisit(request, links)
    if (!isUnlocked) {
      void reply.header('www-authenticate', 'Basic realm="link", charset="UTF-8"')
      throw new AppError('link_password_required', 'This link needs its password.')
    }
    if (link.password !== undefined) assertSameSite(request, reply, allowedOrigins)
  }
}

/** Of a request after `requireLink`. Throws `not_found` for a link of the other kind. */
export function visitOf({ visit }: FastifyRequest, kind: LinkKind): Visit {
  if (visit === null) throw new TypeError('The route has no hook that finds the link')
  if (visit.link.kind !== kind) throw linkNotFound()
  return visit
}

/** The visit, and the file in the path, as its owner calls it and as visitors do. Throws as `nameBehind` does. */
export function visitedFile(
  request: FastifyRequest,
  kind: LinkKind,
): Visit & { readonly name: FileName; readonly shown: FileName } {
  const visit = visitOf(request, kind)
  const { file_name } = request.params as { readonly file_name: string }
  const shown = fileNameParam(file_name)
  return { ...visit, name: nameBehind(visit.link, shown), shown }
}

function shownBy(request: FastifyRequest): Shown {
  const ip = addressOf(request)
  return { keys: shownValues(request, LINK_COOKIE), password: basicPassword(request), ip }
}

/** RFC 7617; the user name does not matter. */
function basicPassword({ headers }: FastifyRequest): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password
}
