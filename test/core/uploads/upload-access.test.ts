import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { outage } from '../../support/faults/faults.ts'
import {
  contentOf,
  incomingFile,
  stalledContent,
  UNKNOWN_SIZE,
} from '../../support/http/incoming-file.ts'
import { leftovers, NOTHING_LEFT, openTestCore, settle } from '../../support/service/test-core.ts'
import { openTestRepository } from '../../support/service/test-repository.ts'
import { outcomeOf } from '../ledger/fixture.ts'

const name = parseFileName('a')
const signal = () => AbortSignal.timeout(10_000)

/** Verifies a caller well as often as that, and then refuses it. */
function refusingAfter(times: number, refusal: AppError = revoked()) {
  let calls = 0
  return async (): Promise<void> => {
    calls += 1
    if (calls > times) throw refusal
  }
}

function revoked(): AppError {
  return new AppError('access_token_invalid', 'The access token is not valid.')
}

describe('a caller who may no longer act', () => {
  it.each([0, 1])('commits nothing, and leaves nothing (I2); verified well %i times', async (n) => {
    await using core = await openTestCore()
    const { upload, repository, caller, read } = await openTestRepository(core)
    await upload('a', 'old')
    const uploading = repository.upload({
      subject: { ...caller, reverify: refusingAfter(n) },
      name,
      visibility: () => undefined,
      incoming: incomingFile('new'),
      signal: signal(),
    })
    expect(await outcomeOf(uploading)).toBe(n === 0 ? 'access_token_invalid' : 'ok')
    expect(await read('a')).toBe(n === 0 ? 'old' : 'new')
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('is told so while the body comes, and what was reserved is free again', async () => {
    await using core = await openTestCore()
    const { repository, caller, usage } = await openTestRepository(core, { reverifyMs: 5 })
    const { content } = stalledContent('the first bytes', '')
    const uploading = repository.upload({
      subject: { ...caller, reverify: refusingAfter(2) },
      name,
      visibility: () => undefined,
      incoming: incomingFile('', { content, size: { min: 100, announced: 100 } }),
      signal: signal(),
    })
    expect(await outcomeOf(uploading)).toBe('access_token_invalid')
    expect(content.destroyed).toBe(true)
    expect(await usage()).toMatchObject({ used: 0, reserved: 0 })
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('is told so where the object is gone already, which would be a failure of ours', async () => {
    await using core = await openTestCore()
    const put = () => Promise.reject(outage())
    const { repository, caller } = await openTestRepository(core, { objects: { put } })
    const request = { subject: caller, name, visibility: () => undefined, signal: signal() }
    const failed = repository.upload({ ...request, incoming: incomingFile('new') })
    expect(await outcomeOf(failed)).toBe('unavailable')
    const refused = repository.upload({
      ...request,
      subject: { ...caller, reverify: refusingAfter(0) },
      incoming: incomingFile('new'),
    })
    expect(await outcomeOf(refused)).toBe('access_token_invalid')
  })

  it('removes and changes nothing (I2)', async () => {
    await using core = await openTestCore()
    const { upload, repository, caller, stat } = await openTestRepository(core)
    await upload('a', 'hello')
    const before = await stat('a')
    const request = { subject: { ...caller, reverify: refusingAfter(0) }, name }
    expect(await outcomeOf(repository.remove(request))).toBe('access_token_invalid')
    const change = { newName: parseFileName('b'), visibility: undefined, overwrite: false }
    expect(await outcomeOf(repository.change({ ...request, ...change }))).toBe(
      'access_token_invalid',
    )
    expect(await stat('a')).toEqual(before)
  })
})

describe('a caller of whom nobody knows whether they may still act', () => {
  it('goes on sending, and commits when it is known again', async () => {
    await using core = await openTestCore()
    const { repository, caller, read } = await openTestRepository(core, { reverifyMs: 1 })
    const asked = Promise.withResolvers<void>()
    let calls = 0
    async function* bytes(): AsyncGenerator<Buffer> {
      yield Buffer.from('first ')
      await asked.promise
      yield Buffer.from('last')
    }
    const reverify = async (): Promise<void> => {
      calls += 1
      if (calls === 3) asked.resolve()
      if (calls <= 3) throw outage()
    }
    await repository.upload({
      subject: { ...caller, reverify },
      name,
      visibility: () => undefined,
      incoming: incomingFile('', { content: contentOf(bytes()), size: UNKNOWN_SIZE }),
      signal: signal(),
    })
    expect(await read('a')).toBe('first last')
  })

  it('commits nothing', async () => {
    await using core = await openTestCore()
    const { repository, caller } = await openTestRepository(core)
    const uploading = repository.upload({
      subject: { ...caller, reverify: refusingAfter(0, outage()) },
      name,
      visibility: () => undefined,
      incoming: incomingFile('new'),
      signal: signal(),
    })
    expect(await outcomeOf(uploading)).toBe('unavailable')
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})
