import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from '../fixture.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { buildOperatorPage } from '../../support/http/page.ts'
import { startProgram } from '../../support/service/program.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, call, send, sessionCookie } from './fixture.ts'

describe("the operator's page", () => {
  let service: TestService
  beforeAll(async () => {
    service = await openEmbedded({ ...ADMIN_OPTIONS, operatorPage: await buildOperatorPage() })
  })
  afterAll(() => service.stop())

  it('is a document that may do as little as the one of users, and is no secret', async () => {
    const { status, headers, body } = await send(service, { method: 'GET', at: '/' })
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: 'text/html; charset=utf-8',
    })
    expect(headers['cache-control']).toBe('no-cache')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'.*trusted-types 'none'$/,
    )
    const html = body.toString()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|<base|https?:/i)
    // Its own rules override those of all pages.
    const sheets = html.match(/assets\/[\w-]+\.css/g) ?? []
    expect(sheets.findIndex((sheet) => sheet.includes('/prepare-'))).toBe(0)
    expect(sheets.findIndex((sheet) => sheet.includes('/operator-'))).toBeGreaterThan(0)
    const paths = [...html.matchAll(/"\.(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(paths.length).toBeGreaterThanOrEqual(4)
    for (const at of paths) {
      const asset = await send(service, { method: 'GET', at })
      expect({ at, status: asset.status }).toEqual({ at, status: 200 })
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
  })

  it.each(['/operator.html', '/index.html', '/assets/none.js', '/assets/..%2foperator.html'])(
    'has nothing under %s',
    async (at) => {
      const reply = await call(service, { method: 'GET', at })
      expectProblem(reply, { status: 404, code: 'not_found' })
    },
  )

  it('takes no other method', async () => {
    const reply = await send(service, { method: 'POST', at: '/' })
    expectProblem(reply, { status: 405, code: 'method_not_allowed' })
  })

  it('is not on the listener of the users', async () => {
    expect((await fetch(`${service.url}/`)).status).toBe(404)
  })
})

describe('a server', () => {
  let opened = new AsyncDisposableStack()
  afterEach(async () => {
    await opened.disposeAsync()
    opened = new AsyncDisposableStack()
  })

  it.each([
    ['', 200],
    ['false', 401],
  ])(
    "a server with WEB_PAGE=%s answers %j to whoever asks for the operator's page",
    async (page, status) => {
      await buildOperatorPage()
      const environment = { ADMIN_TOKEN, ADMIN_PORT: '0', WEB_PAGE: page }
      const { output } = await startProgram({ args: ['serve'], environment, opened })
      const listens = /the admin API[a-zA-Z ]* listens at (http:[^\s"]+)/
      await expect.poll(output, { timeout: 30_000 }).toMatch(listens)
      const [, url = ''] = listens.exec(output()) ?? []
      expect((await fetch(url)).status).toBe(status)
      const cookie = { cookie: sessionCookie() }
      expect((await fetch(`${url}/admin/users`, { headers: cookie })).status).toBe(status)
    },
  )
})
