import { expect, it } from 'vitest'
import { CloudRepositoryError } from '../../../packages/js/src/errors.ts'
import { failureOf } from '../../../web/shared/error-message.ts'
import { messages } from '../../../web/messages.ts'

it('code that the browser cannot load is no address of a file for the user', () => {
  const cause = 'Failed to fetch dynamically imported module: http://service/assets/dialog.js'
  expect(failureOf(new TypeError(cause))).toBe(messages.notLoaded)
})

it('what the service says in its own words is not shown', () => {
  const refusal = new CloudRepositoryError({ code: 'internal_error', detail: 'Why.' })
  expect(failureOf(refusal)).toBe(messages.problems.internal_error)
  const newer = new CloudRepositoryError({ code: 'newer' as 'internal_error', detail: 'Why.' })
  expect(failureOf(newer)).toBe(messages.failed)
  expect(failureOf(new Error('Why.'))).toBe(messages.failed)
})
