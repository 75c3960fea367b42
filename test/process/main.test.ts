import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openService } from '../../src/compose/compose.ts'
import { readConfig } from '../../src/config/config.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { buildOperatorPage } from '../support/http/page.ts'
import { exitOf, type Started, startProgram, temporaryFolder } from '../support/service/program.ts'
import { rawRequest } from '../support/http/raw-http.ts'
import { freePort } from '../support/servers/local-server.ts'
import { startIdentityProvider } from '../support/servers/identity-provider.ts'
import { fileBody, uploadHead } from '../support/http/multipart-body.ts'
import { type Demo, startDemo as startDemoProgram } from '../support/service/demo.ts'

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('the process', () => {
  it('serves a demo user who can upload and download at once, and ends well on SIGTERM', async () => {
    const { process, url, cookie } = await startDemo()
    const body = new FormData()
    body.set('file', new Blob(['hello']), 'a')
    const file = `${url}/users/me/repo/hello.txt`
    expect((await fetch(file, { method: 'POST', headers: { cookie }, body })).status).toBe(200)
    expect(await (await fetch(file, { headers: { cookie } })).text()).toBe('hello')
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
  })

  it('prints no token where its output is no terminal, such as a journal, and says how to get one', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    const { output } = await start(['serve', '--demo'], { DATA_DIR })
    await expect.poll(output, { timeout: 20_000 }).toMatch(/curl .*\n.*curl /)
    expect(output()).not.toContain('crt_')
    const [, how = '', command = ''] = /(To issue .*):\nnpm run -s cli -- (.*)/.exec(output()) ?? []
    expect(how).toContain('the same settings as the service (such as DATA_DIR or DATABASE_URL)')
    const list = await start(['tokens', 'list', 'demo', '--json'], { DATA_DIR })
    expect(await exitOf(list.process)).toBe(0)
    expect(JSON.parse(list.output())).toEqual({ access_tokens: [], next_cursor: null })
    const issue = await start([...command.split(' '), '--json'], { DATA_DIR })
    expect(await exitOf(issue.process)).toBe(0)
    expect(JSON.parse(issue.output())).toMatchObject({
      access_token: expect.stringMatching(/^crt_/) as string,
    })
  })

  it('prints where the operator’s page is, and never the token that it asks for', async () => {
    await buildOperatorPage()
    const ADMIN_TOKEN = 'a-token-that-the-operator-has-set'
    const { output } = await startDemo({ ADMIN_TOKEN, ADMIN_PORT: '0', LOG_LEVEL: 'trace' })
    const [, link = ''] = /Open the operators' page .*: (http\S+)\n/.exec(output()) ?? []
    const page = await fetch(link)
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    expect(await page.text()).toContain('operator')
    expect(output()).not.toContain(ADMIN_TOKEN)
  })

  it('prints a link that opens the operator’s page with a token of this start', async () => {
    await buildOperatorPage()
    const tokens = new Set<string>()
    for (const environment of [{ LOG_LEVEL: 'trace' }, { ADMIN_HOST: '0.0.0.0' }]) {
      const { output } = await startDemo(environment)
      const [, link = '', url = '', token = ''] =
        /the operators' page in a browser: ((http:\/\/127\.0\.0\.1:\d+)\/#admin_token=(\S+))\n/.exec(
          output(),
        ) ?? []
      expect((await fetch(link)).status).toBe(200)
      const session = (admin_token: string) =>
        fetch(`${url}/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ admin_token }),
        })
      expect((await session(token)).status).toBe(204)
      expect((await session(`${token}x`)).status).toBe(401)
      expect(output().split(token)).toHaveLength(2)
      tokens.add(token)
    }
    expect(tokens.size).toBe(2)
  })

  it('opens the admin listener of the demo at ADMIN_PORT', async () => {
    const ADMIN_PORT = String(await freePort())
    const { output } = await startDemo({ ADMIN_PORT })
    expect(output()).toContain(`the admin API listens at http://127.0.0.1:${ADMIN_PORT}`)
  })

  it('opens no admin listener without ADMIN_TOKEN where no token is printed', async () => {
    const { output } = await start(['serve', '--demo'])
    await expect.poll(output, { timeout: 20_000 }).toMatch(/curl .*\n.*curl /)
    expect(output()).not.toContain('admin')
  })

  it('prints nothing about the operator’s page where the deployment shows no page', async () => {
    const { output } = await startDemo({ WEB_PAGE: 'false' })
    expect(output()).not.toContain("operators' page")
    const ADMIN_TOKEN = 'a-token-that-the-operator-has-set'
    const other = await startDemo({ ADMIN_TOKEN, ADMIN_PORT: '0', WEB_PAGE: 'false' })
    expect(other.output()).not.toContain("operators' page")
  })

  it('warns at its start, and in doctor, of names that are no settings', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    const file = join(DATA_DIR, 'settings')
    await writeFile(file, 'COLOUR=red\n')
    const environment = { BASE_CAPACTY: '1GiB', DATA_DIR: join(DATA_DIR, 'data') }
    const run = (command: string) =>
      startProgram({ args: [command], nodeArgs: [`--env-file=${file}`], environment, opened })
    const inFile = `COLOUR in ${file} is no setting`
    const resembling = 'BASE_CAPACTY is no setting: is BASE_CAPACITY meant?'
    const doctor = await run('doctor')
    expect(await exitOf(doctor.process)).toBe(0)
    expect(doctor.output()).toContain(`valid, with warnings: ${inFile}; ${resembling}`)
    const { output } = await run('serve')
    await expect.poll(output, { timeout: 20_000 }).toContain('listens at')
    for (const warning of [inFile, resembling]) expect(output()).toContain(warning)
  })

  it('records at its end when access tokens were used', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    const { process, url, cookie } = await startDemo({ DATA_DIR })
    const file = `${url}/users/me/repo/none`
    expect((await fetch(file, { headers: { cookie } })).status).toBe(404)
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
    const list = await start(['tokens', 'list', 'demo', '--json'], { DATA_DIR })
    expect(await exitOf(list.process)).toBe(0)
    const used: unknown = expect.stringMatching(/Z$/)
    expect(JSON.parse(list.output())).toMatchObject({ access_tokens: [{ last_used_at: used }] })
  })

  it('G01 takes a second signal right after the first for the same, and lets an upload finish', async () => {
    const { process, url, cookie, output } = await startDemo()
    const form = fileBody(Buffer.alloc(200_000, 'a'))
    const path = '/users/me/repo/slow.bin'
    const head = uploadHead({ path, length: form.length, headers: { Cookie: cookie } })
    const uploading = rawRequest({
      port: Number(new URL(url).port),
      send: [head, form.subarray(0, 1000), { pauseMs: 1000 }, form.subarray(1000)],
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    process.kill('SIGINT')
    process.kill('SIGINT')
    const reply = await uploading
    expect(reply.status).toBe(200)
    // So that the connection does not keep the process until its client lets go of it.
    expect(reply.headers['connection']).toBe('close')
    expect(await exitOf(process)).toBe(0)
    expect(output()).toContain('"stopped"')
  })

  it('says in a line that its port is taken, and ends with 1', async () => {
    const { process, output } = await start(['serve'], { PORT: await takenPort() })
    expect(await exitOf(process)).toBe(1)
    expect(output()).toMatch(/EADDRINUSE.*Choose another port/)
    expect(output()).not.toMatch(/^\s+at /m)
  })

  it('says in a line that the port of the admin API is taken, and ends with 1', async () => {
    const admin = { ADMIN_TOKEN: 'a'.repeat(16), ADMIN_PORT: await takenPort() }
    const { process, output } = await start(['serve'], admin)
    expect(await exitOf(process)).toBe(1)
    expect(output()).toMatch(/EADDRINUSE.*ADMIN_PORT=/)
  })

  it('has no admin API without a token, and with one it is on the loopback and ends with the rest', async () => {
    const without = await start(['serve'], { ADMIN_PORT: '0' })
    await expect.poll(without.output, { timeout: 20_000 }).toContain('listens')
    expect(without.output()).not.toMatch(/admin/i)
    const ADMIN_TOKEN = 'the-token-of-this-test'
    const { process, output } = await start(['serve'], { ADMIN_PORT: '0', ADMIN_TOKEN })
    const address = /admin API listens at (http:\/\/127\.0\.0\.1:\d+)/
    await expect.poll(output, { timeout: 20_000 }).toMatch(address)
    const [, admin = ''] = address.exec(output()) ?? []
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    expect((await fetch(`${admin}/admin/users`)).status).toBe(401)
    expect((await fetch(`${admin}/admin/users`, { headers })).status).toBe(200)
    expect(output()).not.toContain(ADMIN_TOKEN)
    process.kill('SIGTERM')
    expect(await exitOf(process)).toBe(0)
  })

  it('lists all settings that are wrong, and ends with 1', async () => {
    const { process, output } = await start(['serve'], { PORT: 'x', TRUST_PROXY: 'foo' })
    expect(await exitOf(process)).toBe(1)
    expect(output()).toMatch(/PORT: .*\n.*TRUST_PROXY: /)
  })

  it.skipIf(process.platform !== 'linux')(
    'ends where no folder can be made, and says which setting named it',
    async () => {
      const { process, output } = await start(['serve'], { DATA_DIR: '/proc/no-such-folder' })
      await expect.poll(() => process.exitCode, { timeout: 15_000 }).toBe(1)
      expect(output()).toContain(
        'database folder /proc/no-such-folder cannot be used. Set DATA_DIR or DATABASE_URL',
      )
    },
  )

  it('warns of an S3 server that nothing is kept on', async () => {
    const { process, output } = await start(['serve'], {
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000',
    })
    await expect.poll(output, { timeout: 20_000 }).toMatch(/listens at/)
    process.kill('SIGTERM')
    expect(output()).toMatch(/AWS_ENDPOINT_URL_S3 .*OBJECT_STORE/)
  })

  it('says its version, whatever the command', async () => {
    const { process, output } = await start(['serve', '--version'])
    expect(await exitOf(process)).toBe(0)
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
    expect(output()).toBe(`${version}\n`)
  })

  it('helps with a command', async () => {
    const { process, output } = await start(['serve', '-h'])
    expect(await exitOf(process)).toBe(0)
    expect(output()).toContain('cloud-repo')
  })

  it('does not serve when it is called wrongly', async () => {
    const { process } = await start(['serve', '--verbose'])
    expect(await exitOf(process)).toBe(1)
  })

  it('ends when the demo user can not be made', async () => {
    const DATA_DIR = await temporaryFolder(opened)
    const { userStore, close } = await openService(readConfig({ DATA_DIR }))
    const demo = parseUserId('demo')
    await userStore.createUser(demo)
    await userStore.deleteUser(demo)
    await close()
    const { process } = await start(['serve', '--demo'], { DATA_DIR })
    expect(await exitOf(process)).toBe(1)
  })

  it('examines the embedded default and finds it well', async () => {
    const { process, output } = await start(['doctor'])
    expect(await exitOf(process)).toBe(0)
    expect(output()).toMatch(/settings +ok.*\ndatabase +ok.*\nobject store +ok/)
  })

  it('logs once, for all JWTs, that the keys of the identity provider can not be fetched', async () => {
    const { output, url } = await startDemo({
      JWT_JWKS_URL: 'http://127.0.0.1:2/jwks',
      JWT_ISSUER: 'i',
      JWT_AUDIENCE: 'a',
    })
    const head = Buffer.from('{"alg":"ES256","kid":"k"}').toString('base64url')
    const headers = { cookie: `access_token=${head}.e30.AAAA` }
    for (let at = 0; at < 3; at++) {
      expect((await fetch(`${url}/users/me/capacity`, { headers })).status).toBe(503)
    }
    await expect.poll(() => output().split('"request finished"')).toHaveLength(4)
    expect(output().split('fetching the keys of the identity provider failed')).toHaveLength(2)
    expect(output()).not.toContain('request failed')
  })

  it('examines the identity provider where there is one', async () => {
    const provider = await startIdentityProvider()
    opened.defer(() => provider.stop())
    await provider.addKey('key')
    const names = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: provider.audience }
    const { process, output } = await start(['doctor'], {
      JWT_JWKS_URL: provider.jwksUrl,
      ...names,
    })
    expect(await exitOf(process)).toBe(0)
    expect(output()).toMatch(/identity provider +ok +published keys: 1/)
  })

  it('examines each part on its own and says what to do', async () => {
    const down = { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d', OBJECT_STORE: 's3://bucket' }
    const s3 = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:2', AWS_ACCESS_KEY_ID: 'a' }
    const names = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' }
    const jwt = { JWT_JWKS_URL: 'http://127.0.0.1:2/jwks', ...names }
    const { process, output } = await start(['doctor', '--json'], { ...down, ...s3, ...jwt })
    expect(await exitOf(process)).toBe(1)
    const results = (JSON.parse(output()) as { result: string }[]).map(({ result }) => result)
    expect(results).toEqual(['ok', 'failed', 'failed', 'failed'])
  })
})

/** Runs the program in a folder of its own, on any free port. */
function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  return startProgram({ args, environment, opened })
}

async function takenPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  opened.defer(() => void server.close())
  await once(server, 'listening')
  return String((server.address() as AddressInfo).port)
}

function startDemo(environment: Readonly<Record<string, string>> = {}): Promise<Demo> {
  return startDemoProgram({ environment, opened })
}
