import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { filePart, type FormPart, multipartBody } from '../../support/http/multipart-body.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  expectProblem,
  expectUntouched,
  jsonOf,
  type OpenService,
  type Placed,
  placeFile,
  upload,
} from '../fixture.ts'

const FILE = filePart('new')
const says = (content: string): FormPart => ({ name: 'visibility', content })

const JSON_HEAD =
  'Content-Disposition: form-data; name="visibility"\r\nContent-Type: application/json'

/** As some clients send the fields of a form. */
const saysJson = (value: unknown): FormPart => ({
  head: JSON_HEAD,
  content: JSON.stringify(value),
})

/** How an upload says who may see its file. */
export function visibilitySuite(open: OpenService): void {
  describe('the visibility of an upload', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each([
      ['in the query of a form', { query: '?visibility=public', form: multipartBody([FILE]) }],
      ['in the query of a PUT', { query: '?visibility=public', method: 'PUT', content: 'new' }],
      ['before the file', { form: multipartBody([says('public'), FILE]) }],
      ['after the file', { form: multipartBody([FILE, says('public')]) }],
      ['as JSON', { form: multipartBody([saysJson('public'), FILE]) }],
      [
        'in the query and before the file',
        { query: '?visibility=public', form: multipartBody([says('public'), FILE]) },
      ],
      [
        'in the query and after the file',
        { query: '?visibility=public', form: multipartBody([FILE, says('public')]) },
      ],
    ] as const)('is what is said %s', async (_where, sent) => {
      const { user } = placed
      for (const chunked of [false, true]) {
        const name = `${chunked}`
        const reply = await upload(service, { user, name, chunked, ...sent })
        expect(jsonOf(reply)).toMatchObject({ visibility: 'public', size: 3 })
      }
    })

    it.each(['POST', 'PUT'] as const)(
      'the visibility of a %s is not said by a parameter of another name, which is ignored',
      async (method) => {
        const query = '?visiblity=public&_=1&a[]=b&a=c'
        const reply = await upload(service, { method, user: placed.user, query, content: 'new' })
        expect(jsonOf(reply)).toMatchObject({ visibility: 'private' })
      },
    )

    it.each([
      ['of two minds', { query: '?visibility=users', form: multipartBody([says('public'), FILE]) }],
      [
        'of two minds at last',
        { query: '?visibility=users', form: multipartBody([FILE, says('public')]) },
      ],
      ['of nothing known', { form: multipartBody([says('everyone'), FILE]) }],
      ['of nothing known at last', { form: multipartBody([FILE, says('everyone')]) }],
      ['empty', { form: multipartBody([says(''), FILE]) }],
      ['said twice', { form: multipartBody([says('public'), says('public'), FILE]) }],
      ['said before and after', { form: multipartBody([says('public'), FILE, says('public')]) }],
      ['an array in JSON', { form: multipartBody([saysJson(['public']), FILE]) }],
      ['an array in JSON at last', { form: multipartBody([FILE, saysJson(['public'])]) }],
      ['an array in an array in JSON', { form: multipartBody([saysJson([['public']]), FILE]) }],
      ['null in JSON', { form: multipartBody([saysJson(null), FILE]) }],
      ['of nothing known in a PUT', { method: 'PUT', query: '?visibility=x', content: 'new' }],
      ['empty in a PUT', { method: 'PUT', query: '?visibility=', content: 'new' }],
      [
        'an array in a PUT',
        { method: 'PUT', query: '?visibility=%5B%22public%22%5D', content: 'new' },
      ],
      [
        'said twice in a PUT',
        { method: 'PUT', query: '?visibility=public&visibility=public', content: 'new' },
      ],
    ] as const)('%s is refused (I2)', async (_what, sent) => {
      for (const chunked of [false, true]) {
        const reply = await upload(service, { user: placed.user, chunked, ...sent })
        const refusal = expectProblem(reply, { status: 400, code: 'invalid_parameter' })
        expect(refusal).toMatchObject({ parameter: 'visibility' })
      }
      await expectUntouched(service, placed)
    })
  })
}
