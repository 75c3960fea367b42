import { expect, it } from 'vitest'
import { CloudRepositoryError } from '../../../packages/js/src/errors.ts'
import { failureOf } from '../../../web/shared/error-message.ts'
import { messages } from '../../../web/messages.ts'

it('code that the browser cannot load is no address of a file for the user', () => {
  const cause = 'Failed to fetch dynamically imported module: http://service/assets/dialog.js'
  expect(failureOf(new TypeError(cause))).toBe(messages.failed(messages.notLoaded))
  const refusal = new CloudRepositoryError({ code: 'internal_error', detail: 'Why.' })
  expect(failureOf(refusal)).toContain('Why.')
})
