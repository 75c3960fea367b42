import { expect, it } from 'vitest'
import { uploadBusy } from '../../../src/core/uploads/resumable/refusals.ts'
import {
  draftProblem,
  endsUpload,
} from '../../../src/http/public/resumable-draft/draft-problems.ts'

it('asks a client of the draft to come back with 503, since it gives up on 423', () => {
  expect(draftProblem(uploadBusy())).toMatchObject({ code: 'unavailable' })
  expect(endsUpload(uploadBusy())).toBe(false)
})

it('leaves other errors as they are', () => {
  const error = new Error('defect')
  expect(draftProblem(error)).toBe(error)
  expect(endsUpload(error)).toBe(false)
})
