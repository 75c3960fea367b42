import { expect, it } from 'vitest'
import { type Changes, startTcpProxy } from '../../support/faults/tcp-proxy.ts'
import { type FuzzFigures, type FuzzOptions, runFuzz } from './run.ts'
import type { FuzzFinding } from './tally.ts'

const OPTIONS = {
  places: { postgres: undefined, s3: undefined },
  seconds: 8,
  seed: 1,
  mostStallMs: Number.POSITIVE_INFINITY,
} as const satisfies FuzzOptions

/** What answers are made into on their way, and what has to be found. */
const ANSWERS: [fault: string, from: string, to: string, found: RegExp][] = [
  [
    'an error of the service',
    'HTTP/1.1 400 Bad Request',
    'HTTP/1.1 500 Bad Request',
    /answer 1: 500/,
  ],
  [
    'no problem document',
    'application/problem+json',
    'application/problem+text',
    /without a problem document/,
  ],
  [
    'an unknown code',
    '"code":"format_error"',
    '"code":"format_errer"',
    /with the code format_errer/,
  ],
  ['a wrong length', 'content-length: 2', 'content-length: 1', /no valid answer/],
  [
    'other bytes of a file',
    'the file that was there',
    'the file that was THERE',
    /fuzz-\d+\/kept\S.* holds/,
  ],
  [
    'a success that was none',
    'HTTP/1.1 400 Bad Request',
    'HTTP/1.1 200 Good Answer',
    /200 to what is no/,
  ],
]

it.concurrent.each(ANSWERS)('a run finds %s in the answers', async (...[, from, to, found]) => {
  await expectFinding(found, { answer: (bytes) => replace(bytes, from, to) })
})

it.concurrent('a run finds files that are stored with other bytes than were sent', async () => {
  const request = (bytes: Buffer) =>
    replace(replace(bytes, 'newnew', 'newNEW'), '\0\u00ff\0', '\0\u00fe\0')
  await expectFinding(/f-\d+\S* holds \w+ in place of \w+/, { request })
})

it.concurrent('a run finds appends that are stored with other bytes than were sent', async () => {
  const request = (bytes: Buffer) =>
    bytes.includes('/users/me/uploads/') ? replace(bytes, 'newnew', 'newNEW') : bytes
  await expectFinding(/upload-\d+ holds \w+ in place/, { request })
})

it.concurrent('a run finds an append that is told a wrong offset', async () => {
  const answer = (bytes: Buffer) => {
    const text = bytes.toString('latin1')
    if (!text.startsWith('HTTP/1.1 204')) return bytes
    const shifted = text.replace(/(?<=upload-offset: )\d+/i, (offset) => `${Number(offset) + 1}`)
    return Buffer.from(shifted, 'latin1')
  }
  await expectFinding(/an append of .* is told/, { answer })
})

it.concurrent('a run finds an answer that is not documented', async () => {
  const answer = (bytes: Buffer) => replace(bytes, '"code":"format_error"', '"code":"unauthorized"')
  await expectFinding(/answered 400, which has a body/, { answer })
})

it.concurrent('a run finds an answer ahead of its own, which shifts the next request to another one', async () => {
  const twice = (bytes: Buffer) =>
    bytes.includes('HTTP/1.1 404') ? Buffer.concat([bytes, bytes]) : bytes
  const found = /answers to \d+ requests|an answer behind the last/
  await expectFinding(found, { answer: twice })
})

it.concurrent('a run finds a connection that does not end', async () => {
  const hang = (bytes: Buffer) => (bytes.includes('"invalid_parameter"') ? undefined : bytes)
  await expectFinding(/the connection did not end in time/, { answer: hang, timeoutMs: 1_000 })
})

it.concurrent('a run finds that the service ended', async () => {
  const figures = await runFuzz({
    ...OPTIONS,
    plant: async (target, port) => {
      setTimeout(() => target.kill(), 1_000)
      return port
    },
  })
  expect(textsOf(figures)).toContain('the service ended with SIGKILL')
})

interface Meddling extends Changes {
  readonly timeoutMs?: number
}

/**
 * Runs until a finding matches `found`. A run also ends when a client gives up, which the proxy can cause: then another
 * begins.
 */
async function expectFinding(
  found: RegExp,
  { timeoutMs = 10_000, ...changes }: Meddling,
): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const plant = async (_target: unknown, port: number): Promise<number> => {
    const proxy = await startTcpProxy({ ports: [port], changesOf: () => changes })
    opened.defer(() => proxy.stop())
    return proxy.port
  }
  const enough = new AbortController()
  const onFinding = ({ text }: FuzzFinding): void => {
    if (found.test(text)) enough.abort()
  }
  const { signal } = enough
  const texts: string[] = []
  for (let seed = 1; seed <= MOST_RUNS && !signal.aborted; seed++) {
    const run = { ...OPTIONS, seed, seconds: 300, timeoutMs, plant, onFinding, signal }
    texts.push(textsOf(await runFuzz(run)))
  }
  expect(texts.join('\n')).toMatch(found)
}

const MOST_RUNS = 3

function textsOf({ tally }: FuzzFigures): string {
  return tally.findings.map(({ text }) => text).join('\n')
}

function replace(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1')
}
