import { expect } from 'vitest'

/** What a page reports of a call: the status and the code or some headers, or the name of what fetch threw. */
export type Report = Readonly<Record<string, unknown>>

/**
 * A script for a page: does all that a client does with the repository at `${service}`, with the user's cookie, and
 * reports on each step. Its first call needs no preflight, the others do.
 */
export function useRepository(service: string): string {
  return `(async () => {
    const files = ${JSON.stringify(service)} + '/users/me/repo'
    const reports = {}
    async function step(name, path, init, report) {
      try {
        const reply = await fetch(files + path, { credentials: 'include', ...init })
        reports[name] = { status: reply.status, ...(await report(reply)) }
      } catch (error) {
        reports[name] = { error: error.name }
      }
    }
    const header = (...names) => (reply) => Object.fromEntries(names.map((name) => [name, reply.headers.get(name)]))
    const form = new FormData()
    form.set('file', new File(['hello'], 'a'))
    let etag
    await step('form', '/from-page', { method: 'POST', body: form }, async (reply) => {
      const { size, etag: value, code } = await reply.json()
      etag = '"' + value + '"'
      return { size, code }
    })
    await step('put', '/put', {
      method: 'PUT',
      body: 'hello',
      headers: {
        'If-None-Match': '*',
        'Repr-Digest': 'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
      },
    }, header('ETag'))
    await step('get', '/from-page', {}, async (reply) => ({
      text: await reply.text(),
      sameTag: reply.headers.get('ETag') === etag,
      named: reply.headers.get('Content-Disposition') !== null,
      request: reply.headers.get('X-Request-Id') !== null,
    }))
    await step('range', '/from-page', { headers: { Range: 'bytes=1-2', 'If-Range': etag } }, async (reply) => ({
      text: await reply.text(),
      ...header('Content-Range')(reply),
    }))
    await step('unchanged', '/from-page', { headers: { 'If-None-Match': etag } }, header('none'))
    await step('digest', '/from-page', { method: 'HEAD', headers: { 'Want-Repr-Digest': 'sha-256=1' } },
      header('Repr-Digest', 'Content-Length'))
    await step('list', '?prefix=from', {}, async (reply) => {
      const { files } = await reply.json()
      return { names: files.map((file) => file.name) }
    })
    await step('rename', '/put', {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'renamed' }),
    }, header('none'))
    await step('stale', '/renamed', { method: 'DELETE', headers: { 'If-Match': '"other"' } },
      async (reply) => ({ code: (await reply.json()).code }))
    await step('delete', '/renamed', { method: 'DELETE' }, header('none'))
    await step('delete own', '/from-page', { method: 'DELETE' }, header('none'))
    await step('absent', '/renamed', {}, async (reply) => ({ code: (await reply.json()).code }))
    return reports
  })()`
}

/** What `useRepository` reports where all of it works. */
export const ALL_WORKS: Report = {
  form: { status: 200, size: 5, code: undefined },
  put: { status: 200, ETag: expect.stringMatching(/^"[^"]+"$/) as string },
  get: { status: 200, text: 'hello', sameTag: true, named: true, request: true },
  range: { status: 206, text: 'el', 'Content-Range': 'bytes 1-2/5' },
  unchanged: { status: 304, none: null },
  digest: {
    status: 200,
    'Repr-Digest': 'sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:',
    'Content-Length': '5',
  },
  list: { status: 200, names: ['from-page'] },
  rename: { status: 200, none: null },
  stale: { status: 412, code: 'precondition_failed' },
  delete: { status: 204, none: null },
  'delete own': { status: 204, none: null },
  absent: { status: 404, code: 'not_found' },
}
