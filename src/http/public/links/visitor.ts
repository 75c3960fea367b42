import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Archives } from '../../../core/files/archive.ts'
import { AppError } from '../../../core/errors.ts'
import type { Action } from '../../../core/auth/scope.ts'
import type { Visitor } from '../../../core/auth/subject.ts'
import type { Links } from '../../../core/links/links.ts'
import type { VisitorCredentials } from '../../../core/links/password-checks.ts'
import type { Repository } from '../../../core/repository.ts'
import type { ResumableUploads } from '../../../core/resumable/resumable-uploads.ts'
import type { Downloads } from '../../download/downloads.ts'
import { shownValues } from '../../pages/session-cookie.ts'
import type { PageFile } from '../../pages/static-assets.ts'
import { assertSameSite } from '../../server/csrf.ts'
import { clientAddressOf } from '../../server/forwarded.ts'
import { requestSignal } from '../../server/request-outcome.ts'
import { subjectOf } from '../../server/request-subject.ts'
import type { ServiceAddress } from '../../server/service-address.ts'
import type { ReadInTurn } from '../listing-turns.ts'

/** What the routes below a link need. */
export interface LinkOptions {
  readonly useCases: LinkUseCases
  readonly downloads: Downloads
  readonly readInTurn: ReadInTurn
  readonly address: ServiceAddress
  /** Other origins whose pages may write by a link with a password. */
  readonly allowedOrigins: readonly string[]
  /** Shown to browsers; without it, they get the JSON too. */
  readonly page: PageFile | undefined
}

interface LinkUseCases {
  readonly links: Links
  readonly repository: Repository
  readonly archives: Archives
  readonly uploads: ResumableUploads
}

export const LINK_PATH = '/links/:secret'
export const LINK_FILE_PATH = '/links/:secret/*'
export const LINK_UPLOADS_PATH = '/links/:secret/uploads/'
/** Anything but an upload below `uploads/` is a file. */
export const LINK_UPLOAD_PATH = `${LINK_UPLOADS_PATH}:upload_id(^[0-9a-f-]{36}$)`

/** The cookie with the key of a link's password. Its path is the link's. */
export const LINK_COOKIE = 'link_key'

export function secretOf({ params }: FastifyRequest): string {
  return (params as { readonly secret: string }).secret
}

/** Finds the link in the path, which the log line then names by its id. Rejects as `Links.find` does. */
export async function findVisitor(
  request: FastifyRequest,
  links: Links,
  options?: { readonly evenUsedUp: boolean },
): Promise<Visitor> {
  const visitor = await links.find(secretOf(request), options)
  request.link = { id: visitor.link.linkId }
  return visitor
}

/**
 * An `onRequest` hook that makes the visitor the subject, and requires the link's password (`link_password_required`).
 * If the link has a password, refuses writes from pages of other sites (`cross_site_request`), because browsers send
 * the cookie and Basic credentials by themselves. A link that is used up still serves the uploads that it has created.
 */
export function requireLink({ useCases: { links }, allowedOrigins }: LinkOptions) {
  const allowed = new Set(allowedOrigins)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const evenUsedUp = 'upload_id' in (request.params as object)
    const visitor = await findVisitor(request, links, { evenUsedUp })
    const { link } = visitor
    if (!(await links.isUnlocked(link, credentialsOf(reply)))) {
      void reply.header('www-authenticate', 'Basic realm="link", charset="UTF-8"')
      throw new AppError('link_password_required', 'This link needs its password.')
    }
    if (link.passwordHash !== undefined) assertSameSite(reply, allowed)
    request.subject = visitor
  }
}

/** Of a request after `requireLink`. Throws as `subjectOf` does. */
export function visitorOf(request: FastifyRequest, action: Action): Visitor {
  const subject = subjectOf(request, [action])
  if (subject.kind !== 'visitor') throw new TypeError('The route has a hook of another subject')
  return subject
}

export function credentialsOf(reply: FastifyReply): VisitorCredentials {
  const { request } = reply
  return {
    keys: shownValues(request, LINK_COOKIE),
    password: basicPassword(request),
    address: clientAddressOf(request),
    signal: requestSignal(reply),
  }
}

/** RFC 7617; the user name does not matter. */
function basicPassword({ headers }: FastifyRequest): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password
}
