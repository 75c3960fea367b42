import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../support/service/embedded-service.ts'
import { findNginx, type Nginx, startNginx } from '../support/servers/nginx.ts'
import { digest } from '../support/objects.ts'
import type { TestService } from '../support/service/test-service.ts'
import { download, placeFile, type Reply } from './fixture.ts'
import { DIFFERENCES, REQUESTS } from './nginx-requests.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'

const skipped = isSkipped(await whyMissing(findNginx()))

describe.skipIf(skipped)('the service beside nginx with the same file', () => {
  let service: TestService
  let nginx: Nginx
  let ask: Record<'full' | 'empty', readonly [ours: Ask, theirs: Ask]>

  beforeAll(async () => {
    service = await openEmbedded()
    nginx = await startNginx()
    ask = {
      full: await serve({ service, nginx, size: 1000 }),
      empty: await serve({ service, nginx, size: 0 }),
    }
  })
  afterAll(async () => {
    await nginx?.stop()
    await service?.stop()
  })

  const answers = (request: (typeof REQUESTS)[number]) => {
    const { file = 'full', method = 'GET', headers } = request
    return Promise.all(ask[file].map((ask) => ask(method, headers)))
  }

  const alike = REQUESTS.filter(({ title }) => !(title in DIFFERENCES))

  it.each(alike)('answers alike: $title', async (request) => {
    const [ours, theirs] = await answers(request)
    expect(ours).toEqual(theirs)
  })

  it.each(Object.entries(DIFFERENCES))('differs for a reason: %s', async (title, difference) => {
    const request = REQUESTS.find((request) => request.title === title)
    if (request === undefined) throw new Error('There is no such request')
    const [ours, theirs] = await answers(request)
    expect(ours).toMatchObject(difference.ours)
    // Another version of nginx may have come to agree.
    expect([expect.objectContaining(difference.theirs), ours]).toContainEqual(theirs)
  })

  it('is asked at least 60 requests, each under a title of its own', () => {
    expect(new Set(REQUESTS.map(({ title }) => title)).size).toBe(REQUESTS.length)
    expect(REQUESTS.length).toBeGreaterThanOrEqual(60)
  })
})

type Ask = (method: string, headers: Readonly<Record<string, string>>) => Promise<unknown>

/** Puts a file of `size` bytes and one time of modification on both servers, and returns how to ask each for it. */
async function serve(options: {
  service: TestService
  nginx: Nginx
  size: number
}): Promise<[Ask, Ask]> {
  const { service, nginx, size } = options
  const { user, content, name } = await placeFile(service, { size, name: `${size}.bin` })
  const head = await download(service, { user, name, method: 'HEAD' })
  const modified = head.headers['last-modified'] ?? ''
  const path = join(nginx.folder, name)
  await writeFile(path, content)
  await utimes(path, new Date(), new Date(modified))
  // Only port and path are looked at.
  const other = { ...service, port: nginx.port }
  const theirs = await download(other, { path: `/${name}`, method: 'HEAD' })
  expect(theirs.headers).toMatchObject({ 'last-modified': modified, 'content-length': `${size}` })
  const asking =
    (etag = '', send: (method: string, headers: Record<string, string>) => Promise<Reply>): Ask =>
    async (method, headers) => {
      const sent = Object.entries(headers).map(([header, value]) => [
        header,
        fill(value, { etag, modified }),
      ])
      return comparable(await send(method, Object.fromEntries(sent) as Record<string, string>))
    }
  return [
    asking(head.headers['etag'], (method, headers) =>
      download(service, { user, name, method, headers }),
    ),
    asking(theirs.headers['etag'], (method, headers) =>
      download(other, { path: `/${name}`, method, headers }),
    ),
  ]
}

/** Puts a server's own tag and times in the place of their symbols. */
function fill(text: string, { etag, modified }: { etag: string; modified: string }): string {
  const shifted = (ms: number) => new Date(Date.parse(modified) + ms).toUTCString()
  return text
    .replaceAll('<etag>', etag)
    .replaceAll('<value>', etag.slice(1, -1))
    .replaceAll('<date>', modified)
    .replaceAll('<before>', shifted(-1000))
    .replaceAll('<after>', shifted(1000))
}

/**
 * What both must say alike: not the words of a refusal, not how each makes its tags, and not `Accept-Ranges` on a 206,
 * which says so itself.
 */
function comparable({ status, headers, body }: Reply) {
  const hasContent = status === 200 || status === 206
  return {
    status,
    range: headers['content-range'],
    length: hasContent ? headers['content-length'] : undefined,
    type: hasContent ? headers['content-type'] : undefined,
    acceptsRanges: status === 200 ? headers['accept-ranges'] : undefined,
    etag: status < 400 ? 'etag' in headers : undefined,
    modified: status < 400 ? headers['last-modified'] : undefined,
    content: hasContent || status === 304 ? digest(body) : undefined,
  }
}
