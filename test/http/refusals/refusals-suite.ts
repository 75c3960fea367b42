import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import type { RawExchange } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ask,
  download,
  expectProblem,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  upload,
  usageOf,
} from '../fixture.ts'
import { beginUpload } from '../file-requests.ts'

/** What can be wrong with an upload, in the order in which it is told. */
const UPLOAD_FAULTS = [
  ['cross-site', 403, 'cross_site_request'],
  ['token', 403, 'access_token_missing'],
  ['name', 400, 'invalid_file_name'],
  ['form', 400, 'format_error'],
  ['precondition', 412, 'precondition_failed'],
  ['largest file', 413, 'file_too_large'],
  ['uploads under way', 429, 'too_many_requests'],
  ['file count', 403, 'file_count_exceeded'],
  ['capacity', 403, 'capacity_exceeded'],
] as const

/** Likewise for a change or a removal. */
const CHANGE_FAULTS = [
  ['cross-site', 403, 'cross_site_request'],
  ['token', 403, 'access_token_missing'],
  ['name', 400, 'invalid_file_name'],
  ['form', 400, 'format_error'],
  ['missing', 404, 'not_found'],
  ['precondition', 412, 'precondition_failed'],
  ['exists', 409, 'file_exists'],
] as const

const REMOVAL_FAULTS = CHANGE_FAULTS.filter(([what]) => what !== 'form' && what !== 'exists')

type Fault = readonly [what: string, status: number, code: ErrorCode]

type Wrong = ReadonlySet<string>

const CROSS_SITE = { 'Sec-Fetch-Site': 'cross-site' }
const NO_FORM = { POST: { 'Content-Type': 'text/plain' }, PUT: { 'Content-Encoding': 'x' } }

/** What the ledger decides of an upload. */
const LEDGER_FAULTS: ReadonlySet<string> = new Set([
  'precondition',
  'uploads under way',
  'file count',
  'capacity',
])

/** Which refusal wins when a request deserves two. */
export function refusalsSuite(open: OpenService): void {
  orderSuite(open, UPLOAD_FAULTS)
}

/** The same of those alone that the ledger decides, which every database has to do alike. */
export function ledgerRefusalsSuite(open: OpenService): void {
  orderSuite(
    open,
    UPLOAD_FAULTS.filter(([what]) => LEDGER_FAULTS.has(what)),
  )
}

function orderSuite(open: OpenService, uploadFaults: readonly Fault[]): void {
  describe('of two refusals', () => {
    let service: TestService
    let placed: Placed
    /** Likewise, with as many uploads under way as may be. */
    let busy: Placed
    beforeAll(async () => {
      service = await open({ maxFiles: 2, maxFileSize: 100_000, maxUploads: 1 })
      placed = await placeFull(service)
      busy = await placeFull(service)
      await beginUpload(service, busy.user, { name: 'file.bin' })
    })
    afterAll(() => service.stop())

    describe.each([
      ['POST', {}],
      ['PUT', {}],
      ['POST', { Expect: '100-continue' }],
      ['PUT', { Expect: '100-continue' }],
    ] as const)('of a %s with %j', (method, expecting) => {
      it.each(pairsOf(uploadFaults))('%s is told before %s', async (first, second, told) => {
        const wrong = new Set([first, second])
        const isNew = wrong.has('file count')
        const reply = await upload(service, {
          ...(!wrong.has('token') && { user: ownerOf(wrong).user }),
          method,
          path: pathWith(wrong, isNew ? 'new' : 'file.bin'),
          content: randomBytes(sizeWith(wrong)),
          headers: {
            ...headersWith(wrong),
            ...(wrong.has('form') && NO_FORM[method]),
            ...expecting,
          },
        })
        expectProblem(reply, told)
      })
    })

    it.each(pairsOf(CHANGE_FAULTS))('a PATCH is told %s before %s', async (...row) => {
      const [first, second, told] = row
      const wrong = new Set([first, second])
      const change = { name: wrong.has('exists') ? 'taken' : 'file.bin', visibility: 'users' }
      const body = wrong.has('form') ? '{' : JSON.stringify(change)
      expectProblem(await send(wrong, { method: 'PATCH', body }), told)
    })

    it.each(pairsOf(REMOVAL_FAULTS))('a DELETE is told %s before %s', async (...row) => {
      const [first, second, told] = row
      expectProblem(await send(new Set([first, second]), { method: 'DELETE', body: '' }), told)
    })

    it('none changes anything (I2)', async () => {
      const { user, content, etag } = placed
      const found = await download(service, { user })
      expect(found.headers['etag']).toBe(etag)
      expect(found.body.equals(content)).toBe(true)
      const figures = { used: 1000, reserved: 0, fileCount: 2 }
      expect(await usageOf(service, user)).toMatchObject(figures)
    })

    function ownerOf(wrong: Wrong): Placed {
      return wrong.has('uploads under way') ? busy : placed
    }

    function send(
      wrong: Wrong,
      { method, body }: { method: string; body: string },
    ): Promise<RawExchange> {
      return ask(service, {
        method,
        user: wrong.has('token') ? undefined : placed.user,
        path: pathWith(wrong, wrong.has('missing') ? 'missing' : 'file.bin'),
        headers: { 'Content-Type': 'application/json', ...headersWith(wrong) },
        body,
      })
    }
  })
}

/** A user with as many bytes and files as they may have. */
async function placeFull(service: TestService): Promise<Placed> {
  const placed = await placeFile(service, { capacity: 1000, size: 1000 })
  await upload(service, { user: placed.user, name: 'taken', content: '' })
  return placed
}

function pathWith(wrong: Wrong, name: string): string {
  return wrong.has('name') ? '/users/me/repo/%2e%2e' : pathOf(name)
}

function headersWith(wrong: Wrong): Record<string, string> {
  return {
    ...(wrong.has('cross-site') && CROSS_SITE),
    ...(wrong.has('precondition') && { 'If-Match': '"other"' }),
  }
}

/** A file beyond the largest is one that does not fit, too. */
function sizeWith(wrong: Wrong): number {
  if (wrong.has('largest file')) return 200_000
  return wrong.has('capacity') ? 2000 : 0
}

/** All pairs of faults in their order, with the answer to the one that is told. */
function pairsOf(
  faults: readonly Fault[],
): [first: string, second: string, told: { status: number; code: ErrorCode }][] {
  return faults.flatMap(([first, status, code], at) =>
    faults
      .slice(at + 1)
      .map(([second]): ReturnType<typeof pairsOf>[number] => [first, second, { status, code }]),
  )
}
