import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsync } from 'fastify'
import type { PageFile } from '../pages/static-assets.ts'
import { SECURITY_HEADERS } from '../headers/security-headers.ts'
import type { Json, Operation } from '../openapi/operation.ts'
import { sendFile } from './page.ts'

export interface OpenApiOptions {
  /** The name of its file in `api/`. */
  readonly document: 'openapi.json' | 'admin-openapi.json'
  /** What the addresses of its operations begin with. */
  readonly base: string
  /** Whether there is `POST /session`. The document leaves out what is not there. */
  readonly hasSignIn: boolean
  /** If unset, `/docs` answers 404. */
  readonly docs: PageFile | undefined
  readonly credentials: 'required' | 'none'
}

export const openApiRoutes: FastifyPluginAsync<OpenApiOptions> = async (app, options) => {
  const { document, base, hasSignIn, docs, credentials } = options
  // One buffer for all answers, since anybody may ask and nobody need read.
  let bytes: Buffer | undefined
  const headers = {
    'cache-control': 'private, no-cache',
    'content-security-policy': docs === undefined ? INERT : policyOf(docs),
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/openapi.json',
    config: { operation: { ...OPENAPI, credentials } },
    handler: async (_request, reply) => {
      bytes ??= await readDocument(document, { base, hasSignIn })
      return reply.type('application/json; charset=utf-8').send(bytes)
    },
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/docs',
    config: { operation: { ...DOCS, credentials, problems: ['not_found'] } },
    handler: async (_request, reply) => sendFile(reply, docs, headers),
  })
}

/** `api/` is in the same place from the source and in the image. */
const API = new URL('../../../api/', import.meta.url)

/** The committed document, without the layout of its file. */
async function readDocument(
  name: string,
  { base, hasSignIn }: { readonly base: string; readonly hasSignIn: boolean },
): Promise<Buffer> {
  const document = JSON.parse(await readFile(new URL(name, API), 'utf8')) as Document
  const paths = hasSignIn ? document.paths : withoutSignIn(document.paths)
  const served = { ...document, servers: [{ url: base || '/' }], paths }
  return Buffer.from(JSON.stringify(served))
}

interface Document {
  readonly paths: Paths
}

type Paths = Readonly<Record<string, Json>>

function withoutSignIn({ '/session': session, ...others }: Paths): Paths {
  const { post: _signIn, delete: _signOut, ...rest } = session ?? {}
  return Object.keys(rest).length === 0 ? others : { ...others, '/session': rest }
}

const INERT = SECURITY_HEADERS['content-security-policy']

/**
 * The policy of every answer, plus the page's own style and script, and its icon. The sandbox gives the script an origin
 * of its own: it has no cookies, and cannot send requests.
 */
function policyOf(document: PageFile): string {
  const text = document.contents.get('identity')?.bytes.toString() ?? ''
  return [
    INERT.replace('sandbox', 'sandbox allow-scripts'),
    "base-uri 'none'",
    'img-src data:',
    `style-src ${sourceOf(text, 'style')}`,
    `script-src ${sourceOf(text, 'script')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** The digest of the first such element. All that comes from the API's document is escaped. */
function sourceOf(text: string, element: string): string {
  const [, rest = ''] = text.split(`<${element}>`)
  const [content = ''] = rest.split(`</${element}>`)
  return `'sha256-${hash('sha256', content, 'base64')}'`
}

const OPENAPI: Operation = {
  operationId: 'getOpenApi',
  summary: 'Get this document',
  tag: 'about',
  responses: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
  },
}

const DOCS: Operation = {
  operationId: 'getDocs',
  summary: 'Get this document as an HTML page',
  tag: 'about',
  responses: {
    200: {
      description: 'An HTML page, which is whole without its script.',
      headers: ['ETag', 'Cache-Control'],
      content: { 'text/html': {} },
    },
    304: {
      description: 'The client already has this version.',
      headers: ['ETag', 'Cache-Control'],
    },
  },
}
