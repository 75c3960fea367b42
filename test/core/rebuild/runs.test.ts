import { objectMetadata } from '../../../src/core/files/object-metadata.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRebuilder } from '../../../src/core/rebuild/rebuilder.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { FileVersion } from '../../../src/core/files/file.ts'
import { createRebuildLedger } from '../../../src/database/rebuild/rebuild-ledger.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import { contentOf } from '../../support/http/incoming-file.ts'
import { freshKey, never } from '../../support/objects.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'

const OBJECTS = 1300
/** More than a page has, of one name. */
const OF_ONE_NAME = 700

let core: TestCore

beforeEach(async () => {
  core = await openTestCore()
  for (let index = 0; index < OBJECTS; index++) {
    const object = { key: freshKey('ada'), body: contentOf([Buffer.from('x')]) }
    await core.objects.put({
      ...object,
      metadata: objectMetadata({ name: parseFileName(`file-${Math.max(OF_ONE_NAME, index)}`) }),
      signal: never(),
    })
  }
})
afterEach(() => core[Symbol.asyncDispose]())

describe('a rebuild of many objects', () => {
  it('holds no more of the listing than a batch, and asks and reads several at a time', async () => {
    const { objects } = core
    const ledger = createRebuildLedger(core.database)
    const batches: number[] = []
    let listed = 0
    let added = 0
    let mostAhead = 0
    async function* list(options: Parameters<typeof objects.list>[0]) {
      for await (const object of objects.list(options)) {
        listed += 1
        mostAhead = Math.max(mostAhead, listed - added)
        yield object
      }
    }
    async function add(found: readonly FileVersion[]) {
      const copied = await ledger.add(found)
      batches.push(found.length)
      added += found.length
      return copied
    }
    const [heads, opens] = [atOnce(objects.head.bind(objects)), atOnce(objects.open.bind(objects))]
    const counts = await createRebuilder({
      ledger: { ...ledger, add },
      objects: faultyStore(objects, { list, head: heads.call, open: opens.call }),
    }).rebuild({
      dryRun: false,
      skipUnreadable: false,
      onFinding: () => undefined,
      onRestart: () => undefined,
      onProgress: () => undefined,
      signal: never(),
    })
    const files = OBJECTS - OF_ONE_NAME
    expect(counts).toMatchObject({ files, listed: OBJECTS })
    expect({ batches, mostAhead }).toEqual({ batches: [500, 500, 300], mostAhead: 500 })
    expect({ heads: heads.max(), opens: opens.max() }).toEqual({ heads: 16, opens: 16 })
    const { kysely } = core.database
    expect(await kysely.selectFrom('files').select('name').execute()).toHaveLength(files)
    const past = await kysely.selectFrom('history').select(['name', 'version']).execute()
    expect(past).toHaveLength(OF_ONE_NAME)
    expect(new Set(past.map(({ name }) => name))).toEqual(new Set([`file-${OF_ONE_NAME}`]))
    const newest = kysely.selectFrom('files').select('version')
    const [file] = await newest.where('name', '=', parseFileName(`file-${OF_ONE_NAME}`)).execute()
    expect(past.every(({ version }) => version < (file?.version ?? ''))).toBe(true)
  })
})

/** The same call, which takes a moment, and how many of it were under way at once at most. */
function atOnce<A, R>(call: (argument: A) => Promise<R>) {
  let running = 0
  let max = 0
  return {
    max: () => max,
    call: async (argument: A): Promise<R> => {
      running += 1
      max = Math.max(max, running)
      try {
        await new Promise((resolve) => setImmediate(resolve))
        return await call(argument)
      } finally {
        running -= 1
      }
    },
  }
}
