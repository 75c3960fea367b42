import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MIB, secretOf } from '../../http/fixture.ts'
import { type BreakingProxy, startBreakingProxy } from '../../support/faults/breaking-proxy.ts'
import { whyNoBrowser } from '../../support/http/browser.ts'
import { startWebSite, type WebSite } from '../../support/http/web-site.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { chromiumSuite } from './chromium-suite.ts'
import { clientOf, createContent } from './fixture.ts'
import { samplesSuite } from './samples-suite.ts'
import { type EmptyProject, installPackage, machinePath, NODES } from './installed-package.ts'

const execute = promisify(execFile)

const opened = new AsyncDisposableStack()
let site: WebSite
let service: TestService
let proxy: BreakingProxy
let project: EmptyProject
let user: TestUser
beforeAll(async () => {
  site = await startWebSite('<!doctype html><title>A page</title>')
  opened.defer(() => site.stop())
  const allowedOrigins = [site.sameSite]
  service = await openEmbedded({ maxFileSize: 64 * MIB, allowedOrigins })
  opened.defer(() => service.stop())
  proxy = await startBreakingProxy({ port: service.port, seed: 3 })
  opened.defer(() => proxy.stop())
  project = await installPackage(opened)
})
afterAll(() => opened.disposeAsync())
beforeEach(async () => {
  user = await service.createUser(256 * MIB)
})

const skipped = isSkipped(await whyNoBrowser())

const PROGRAM = `
import { createHash } from 'node:crypto'
import { createClient, isProblem } from '@cloud-repository/client'

const { URL: url, DIRECT: direct, TOKEN: token } = process.env
const client = createClient({ url, token, retry: { firstDelay: 20 } })
const observer = createClient({ url: direct, token })
const cursor = (await observer.files.list().pages().next()).value.changes_cursor
let reported = 0
const file = await client.files.upload('film', { path: process.argv[2] }, {
  onProgress: ({ sent }) => { reported = sent },
})
const hash = createHash('sha256')
const download = await client.files.download('film')
for await (const chunk of download.stream) hash.update(chunk)
const names = await Array.fromAsync?.(client.files.list(), ({ name }) => name)
let change
for await (change of observer.changes.follow({ cursor })) break
const code = await client.files.get('none').catch((error) => isProblem(error, 'not_found') && error.code)
console.log(JSON.stringify({ sent: file.sha256, got: hash.digest('hex'), reported, names, code, type: change.type }))
`

describe.each(NODES)('the package in an empty project on $title', ({ node, words }) => {
  const content = createContent(9 * MIB + 5)
  const run = (file: string, url = proxy.url) => {
    const env = { PATH: machinePath(), URL: url, DIRECT: service.url, TOKEN: secretOf(user) }
    const args = [...words, file, 'film.bin']
    return { env, args }
  }

  it('uploads, downloads, lists and follows over breaking connections', async () => {
    await project.write('program.js', PROGRAM)
    await project.write('film.bin', content.bytes)
    const { env, args } = run('program.js')
    const { stdout, stderr } = await execute(node, args, { cwd: project.folder, env })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      sent: content.sha256,
      got: content.sha256,
      reported: content.bytes.length,
      code: 'not_found',
      type: 'file.created',
    })
  })

  it('continues an upload after a kill of its process', async () => {
    await project.write(
      'killed.js',
      `import { createClient } from '@cloud-repository/client'
      const { URL: url, TOKEN: token } = process.env
      const stop = process.argv[3] === 'stop'
      const onProgress = ({ sent }) => { if (stop && sent > 4e6) process.kill(process.pid, 'SIGKILL') }
      const { files } = createClient({ url, token })
      const { version } = await files.upload('film', { path: process.argv[2] }, { onProgress })
      console.log(version)`,
    )
    await project.write('film.bin', content.bytes)
    const { env, args } = run('killed.js', service.url)
    const child = spawn(node, [...args, 'stop'], { cwd: project.folder, env })
    const [, signal] = (await once(child, 'exit')) as [number, string]
    expect(signal).toBe('SIGKILL')
    const { files, uploads } = clientOf(user, service.url)
    const [left] = await Array.fromAsync(uploads.list())
    const { stdout } = await execute(node, args, { cwd: project.folder, env })
    expect(stdout.trim()).toBe(left?.upload_id)
    expect(await files.get('film')).toMatchObject({ sha256: content.sha256 })
  })

  it('can be required by CommonJS', async () => {
    const program = `const { createClient } = require('@cloud-repository/client')
      const { createAdminClient } = require('@cloud-repository/client/admin')
      console.log(typeof createClient, typeof createAdminClient)`
    await project.write('required.cjs', program)
    const { env, args } = run('required.cjs')
    const { stdout } = await execute(node, args, { cwd: project.folder, env })
    expect(stdout).toBe('function function\n')
  })
})

it('the version of the package has the minor of the service', async () => {
  const [own, client] = await Promise.all(
    ['package.json', 'packages/js/package.json'].map(async (path) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version: string }
      return version.split('.').slice(0, 2)
    }),
  )
  expect(client).toEqual(own)
})

describe('the samples', () => {
  samplesSuite({ open: () => project })
})

describe('the types of the package', () => {
  it.each([
    ['TypeScript 5.9, for Node.js', 'packages/js/node_modules/.bin/tsc', 'nodenext'],
    ['TypeScript 7, with a bundler', 'node_modules/.bin/tsc', 'bundler'],
  ])('are sound for %s', async (_, tsc, resolution) => {
    await project.write(
      'program.ts',
      `import { createClient, isProblem } from '@cloud-repository/client'
      import { createAdminClient } from '@cloud-repository/client/admin'
      const { files } = createClient({ url: '/', cookies: true })
      export async function free(file: File): Promise<number> {
        try {
          return (await files.upload(file.name, file)).capacity?.available ?? 0
        } catch (error) {
          if (isProblem(error, 'capacity_exceeded')) return error.problem.available ?? 0
          throw error
        }
      }
      export const admin = createAdminClient({ url: '/', token: 'a' })
      // @ts-expect-error the types are there
      export const wrong: number = files.get('a')`,
    )
    const compilerOptions = {
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      lib: ['es2022', 'dom'],
      types: [],
      module: resolution === 'bundler' ? 'esnext' : resolution,
      moduleResolution: resolution,
    }
    const config = JSON.stringify({ compilerOptions, files: ['program.ts'] })
    const path = await project.write(`tsconfig.${resolution}.json`, config)
    const { stdout } = await execute(join(process.cwd(), tsc), ['-p', path])
    expect(stdout).toBe('')
  })
})

describe('the package in a bundle', () => {
  it('takes at most 9 KB, and 20 KB with resumable uploads, which are loaded when they are needed', async () => {
    const chunks = await project.bundle(`export * from '@cloud-repository/client'`)
    const sizeOf = (isLazy: boolean): number =>
      chunks
        .filter(({ isDynamicEntry }) => isDynamicEntry === isLazy)
        .reduce((sum, { code }) => sum + gzipSync(code).length, 0)
    const [first, lazy] = [sizeOf(false), sizeOf(true)]
    console.log(`The client has ${first} bytes, and ${lazy} more for resumable uploads.`)
    expect(lazy).toBeGreaterThan(1000)
    expect(first).toBeLessThan(9 * 1024)
    expect(first + lazy).toBeLessThan(20 * 1024)
  })

  it('has nothing of what is not used', async () => {
    const [entry] = await project.bundle(`export { isProblem } from '@cloud-repository/client'`)
    expect(entry?.code).not.toContain('fetch')
    const whole = await project.bundle(`export * from '@cloud-repository/client'`)
    expect(whole.map(({ code }) => code).join('')).not.toContain('admin/')
    const admin = await project.bundle(`export * from '@cloud-repository/client/admin'`)
    expect(admin.map(({ code }) => code).join('')).not.toContain('users/me')
  })
})

describe.skipIf(skipped)('the package in Chromium', () => {
  chromiumSuite({ open: () => ({ project, site, service, port: service.port }), isBroken: false })
})
