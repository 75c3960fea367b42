import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { serializeError, deserializeError } from '../../../src/core/async/serialized-error.ts'

/** As it arrives in another thread. */
function sent(error: unknown): Error {
  return deserializeError(structuredClone(serializeError(error)))
}

describe('an error that goes to another thread', () => {
  it('is an AppError there too, with all that it says', () => {
    const facts = { capacity: 100, requested: 7 }
    const error = new AppError('capacity_exceeded', 'Full.', { facts })
    expect(sent(error)).toEqual(error)
    expect(sent(error)).toBeInstanceOf(AppError)
    expect(sent(error).stack).toBe(error.stack)
  })

  it('has its causes, and what a driver says of them', () => {
    const refused = thrownBy(() => new DatabaseSync(':memory:').exec('SELECT * FROM nowhere'))
    const error = new AppError('unavailable', 'No answer.', {
      cause: refused,
      dependency: 'database',
    })
    const arrived = sent(error)
    expect(arrived).toMatchObject({ code: 'unavailable', dependency: 'database' })
    expect(arrived.cause).toMatchObject({
      message: 'no such table: nowhere',
      errcode: 1,
      code: 'ERR_SQLITE_ERROR',
    })
  })

  it.each([
    ['a function', () => 'a'],
    ['a string', 'a'],
    ['nothing', undefined],
  ])('can have %s for a cause, or be it', (_, thrown) => {
    const arrived = sent(new AppError('unavailable', 'No answer.', { cause: thrown }))
    expect(arrived).toMatchObject({ code: 'unavailable' })
    expect(sent(thrown).message).toBe(String(thrown))
  })

  it('keeps the name of one that is none of ours', () => {
    const arrived = sent(new TypeError('a defect'))
    expect(arrived).toMatchObject({ name: 'TypeError', message: 'a defect' })
    expect(arrived).not.toBeInstanceOf(AppError)
  })
})

function thrownBy(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}
