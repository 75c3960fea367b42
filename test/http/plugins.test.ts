import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyCookie from '@fastify/cookie'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { bearerPlugin, type BearerOptions } from '../../src/http/admin/operator-auth.ts'
import {
  accessTokenPlugin,
  type AccessTokenOptions,
  requireUser,
} from '../../src/http/public/access-token.ts'
import { decorateOutcome } from '../../src/http/server/request-outcome.ts'

const FP = /\bfp(?:<\w+>)?\(/g
/** `name` and the list of `dependencies`, where `decorators` are there, too. */
const METADATA =
  /\{\s*name: '([\w-]+)',\s*fastify: '5\.x',\s*dependencies: \[(.*?)\],\s*decorators: \{.*?\}(?:,\s*|\s)\}/gs

type Register = (app: FastifyInstance) => unknown

/** Each with what it needs of the listener, which is not there. */
const WITHOUT_LISTENER: readonly (readonly [string, string, Register])[] = [
  [
    'access-token',
    'problem',
    (app) =>
      app.register(accessTokenPlugin, { allowedOrigins: [] } as unknown as AccessTokenOptions),
  ],
  [
    'bearer',
    'problem',
    async (app) => {
      await app.register(fastifyCookie)
      await app.register(bearerPlugin, {} as BearerOptions)
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
    expect(names.length).toBeGreaterThanOrEqual(WITHOUT_LISTENER.length)
    const needed = declared.flatMap(([, , list = '']) => list.match(/'.*?'/g) ?? [])
    expect([`'@fastify/cookie'`, ...names]).toEqual(expect.arrayContaining(needed))
  })

  it.each(WITHOUT_LISTENER)(
    'do not start on a bare server: %s wants %s',
    async (name, missing, to) => {
      const app = fastify()
      await expect(async () => to(app)).rejects.toMatchObject({
        code: 'FST_ERR_PLUGIN_NOT_PRESENT_IN_INSTANCE',
        message: `The decorator '${missing}' required by '${name}' is not present in Request`,
      })
    },
  )

  it('do not start without what a package brings: bearer before the parser of cookies', async () => {
    const app = fastify()
    decorateOutcome(app)
    await expect(async () => app.register(bearerPlugin, {} as BearerOptions)).rejects.toMatchObject(
      { message: expect.stringContaining('parseCookie') as string },
    )
  })
})

describe('requireUser', () => {
  it('fails, and does not ask for a token, where none is looked at', async () => {
    const app = fastify()
    app.get('/', (request) => requireUser(request, ['read']))
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
