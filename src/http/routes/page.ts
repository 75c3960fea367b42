import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { pathNotFound } from '../server/problem.ts'
import { parseIfNoneMatch } from '../headers/preconditions.ts'
import { addVary } from '../headers/content-headers.ts'
import { assertSameSite } from '../server/csrf.ts'
import { otherMethods } from './method-not-allowed.ts'
import { CODINGS, type Coding, type PageFile, type WebPage } from '../pages/static-assets.ts'

export interface PageOptions {
  readonly page: WebPage
  /** The routes of `/session`, to which pages on other sites may not write. */
  readonly session: FastifyPluginAsync
  /** Origins whose pages may use them nonetheless. */
  readonly allowedOrigins?: readonly string[]
}

/** Only own scripts, styles, images, media and requests; no text becomes script, and no frames. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const DOCUMENT_HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
}

const ASSET_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }

/** A web page, its session, and 405 for other methods on their paths. */
export const pageScope: FastifyPluginAsync<PageOptions> = async (app, options) => {
  const allowed = new Set(options.allowedOrigins)
  const others = otherMethods(app)
  // Not `options`, whose `prefix` would apply twice.
  await app.register(pageRoutes, { page: options.page })
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => assertSameSite(reply, allowed))
    await scope.register(options.session)
  })
  await app.register(others)
}

/** `GET /` and `GET /assets/{name}`, from memory; 404 without a build. */
const pageRoutes: FastifyPluginAsync<{ readonly page: WebPage }> = async (app, { page }) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: async (request, reply) => {
      const [path = ''] = request.url.split('?')
      // The page's references are relative to a folder.
      if (!path.endsWith('/')) return reply.redirect(`${path.split('/').at(-1)}/`, 308)
      return sendFile(reply, page.document, DOCUMENT_HEADERS)
    },
  })

  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/assets/:name',
    handler: async (request, reply) =>
      sendFile(reply, page.assets.get(request.params.name), ASSET_HEADERS),
  })
}

/** Sends a file in the best coding that the client accepts, or 304. Throws `not_found` without a file. */
export function sendFile(
  reply: FastifyReply,
  file: PageFile | undefined,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  const { request } = reply
  const coding = chooseCoding(request.headers['accept-encoding']?.toString())
  const content = file?.contents.get(coding)
  if (file === undefined || content === undefined) {
    throw pathNotFound()
  }
  addVary(reply, 'Accept-Encoding')
  void reply.headers({ ...headers, etag: `"${content.etag}"` })
  if (file.policy !== undefined) void reply.header('content-security-policy', file.policy)
  const known = parseIfNoneMatch(request.headers['if-none-match'])
  if (known === '*' || known?.includes(content.etag)) return reply.code(304).send()
  if (coding !== 'identity') void reply.header('content-encoding', coding)
  return reply.type(file.type).send(content.bytes)
}

/** RFC 9110 section 12.5.3, but weights other than 0 are ignored: the smallest is best for everyone. */
function chooseCoding(header: string | undefined): Coding {
  const allowed = new Map((header ?? '').split(',').map(parseElement))
  const isAllowed = (coding: Coding) => allowed.get(coding) ?? allowed.get('*') ?? false
  return CODINGS.find(isAllowed) ?? 'identity'
}

function parseElement(element: string): readonly [coding: string, isAllowed: boolean] {
  const [coding = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
  return [coding, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))]
}
