import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { bearerPlugin, type BearerOptions } from '../../src/http/admin/plugins/bearer.ts'
import { createConnections } from '../../src/http/server/pipelining-guard.ts'
import {
  accessTokenPlugin,
  type AccessTokenOptions,
  requireUser,
} from '../../src/http/public/access-token.ts'
import { expectContinuePlugin } from '../../src/http/server/plugins/expect-continue.ts'
import { lingeringClosePlugin } from '../../src/http/server/plugins/lingering-close.ts'
import { preflightPlugin } from '../../src/http/server/plugins/preflight.ts'
import { requestHeadPlugin } from '../../src/http/server/plugins/request-head.ts'
import { createRequestLog } from '../../src/http/server/plugins/request-log.ts'
import { traceRequests } from '../../src/http/server/plugins/request-trace.ts'
import { sameSitePlugin } from '../../src/http/server/plugins/same-site.ts'

const FP = /\bfp(?:<\w+>)?\(/g
/** `name` and the list of `dependencies`, where `decorators` are there, too. */
const METADATA =
  /\{\s*name: '([\w-]+)',\s*fastify: '5\.x',\s*dependencies: \[(.*?)\],\s*decorators: \{.*?\}(?:,\s*|\s)\}/gs

const connections = createConnections({ logger: undefined }).plugin
const requestLog = createRequestLog(undefined).plugin
const tracing = traceRequests({ begin: () => expect.fail('no request is sent') }).plugin
const shared = { allowedOrigins: [] }

type Register = (app: FastifyInstance) => unknown

/** Each with one that it needs and that is not registered yet. */
const TOO_EARLY: readonly (readonly [string, string, Register])[] = [
  ['request-log', 'connections', (app) => app.register(requestLog)],
  ['request-trace', 'request-log', (app) => app.register(tracing)],
  ['expect-continue', 'request-log', (app) => app.register(expectContinuePlugin)],
  [
    'linger',
    'chunk-throttle',
    (app) => app.register(lingeringClosePlugin, { maxBytes: 0, maxSmallChunks: 0, maxMs: 0 }),
  ],
  ['request-head', 'request-log', (app) => app.register(requestHeadPlugin)],
  ['preflight', 'request-log', (app) => app.register(preflightPlugin, shared)],
  ['same-site', 'request-log', (app) => app.register(sameSitePlugin, shared)],
  [
    'access-token',
    'same-site',
    async (app) => {
      await app.register(connections).register(requestLog).register(preflightPlugin, shared)
      await app.register(accessTokenPlugin, {} as AccessTokenOptions)
    },
  ],
]

describe('the plugins that cross all routes', () => {
  it('each say what they need, by names that there are', async () => {
    const found = await pluginFiles()
    expect(found.filter(({ calls, declared }) => declared.length !== calls)).toEqual([])
    const declared = found.flatMap((file) => file.declared)
    const names = declared.map(([, name = '']) => `'${name}'`)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(TOO_EARLY.length)
    const needed = declared.flatMap(([, , list = '']) => list.match(/'.*?'/g) ?? [])
    expect([`'@fastify/cookie'`, ...names]).toEqual(expect.arrayContaining(needed))
  })

  it.each(TOO_EARLY)('do not start in a wrong order: %s before %s', async (name, missing, to) => {
    const app = fastify()
    await expect(async () => to(app)).rejects.toMatchObject({
      code: 'FST_ERR_PLUGIN_DEPENDENCY_NOT_REGISTERED',
      message: `The dependency '${missing}' of plugin '${name}' is not registered`,
    })
  })

  it('do not start without what a package brings: bearer before the parser of cookies', async () => {
    const app = fastify()
    await app.register(connections)
    await app.register(requestLog)
    await expect(async () => app.register(bearerPlugin, {} as BearerOptions)).rejects.toMatchObject(
      { message: expect.stringContaining('parseCookie') as string },
    )
  })
})

describe('requireUser', () => {
  it('fails, and does not ask for a token, where none is looked at', async () => {
    const app = fastify()
    app.get('/', (request) => requireUser(request))
    const reply = await app.inject('/')
    expect(reply.json()).toMatchObject({ statusCode: 500, code: 'FST_ERR_DEC_UNDECLARED' })
  })
})

/** The files of `src` that use `fastify-plugin`: how often each makes a plugin, and says what that needs. */
async function pluginFiles() {
  const entries = await readdir('src', { recursive: true, withFileTypes: true })
  const paths = entries.flatMap((one) => (one.isFile() ? join(one.parentPath, one.name) : []))
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })),
  )
  return texts
    .filter(({ text }) => text.includes(`from 'fastify-plugin'`))
    .map(({ path, text }) => ({
      path,
      calls: text.match(FP)?.length ?? 0,
      declared: [...text.matchAll(METADATA)],
    }))
}
