import { setTimeout } from 'node:timers/promises'
import type { TestService } from '../../support/service/test-service.ts'
import { type Content, contentOf, Register } from './register.ts'
import { type Answer, readFrom, removeFrom, type Target, uploadTo } from './requests.ts'

export interface LoadOptions {
  /** Instances of one service; each request goes to the next. */
  readonly services: readonly TestService[]
  readonly users: number
  /** Each has a client of its own, which writes and reads. */
  readonly filesPerUser: number
  /** Of each user, in bytes. */
  readonly capacity: number
  /** Of files, in bytes. */
  readonly sizes: readonly number[]
  readonly seed: number
}

export type Tally = Readonly<Record<'written' | 'read' | 'refused' | 'unavailable', number>>

/** Clients that write, read and remove without a pause, and hold every answer against what may be there. */
export interface Load {
  readonly registers: readonly Register[]
  /** What was answered so far. */
  tally(): Tally
  /**
   * Resolves when so many more requests of that kind have been answered; rejects when an answer was wrong, or none
   * comes.
   */
  until(more: Partial<Tally>): Promise<void>
  /** Resolves when every request is answered; rejects when an answer was wrong. */
  stop(): Promise<void>
}

/** How long a load may need to come as far as a test wants it. */
const TIMEOUT_MS = 120_000

export async function startLoad(options: LoadOptions): Promise<Load> {
  const { services, users, filesPerUser, capacity, seed } = options
  const [first] = services
  if (first === undefined) throw new Error('There is no service')
  const registers: Register[] = []
  for (let user = 0; user < users; user++) {
    const owner = await first.createUser(capacity)
    for (let file = 0; file < filesPerUser; file++) {
      registers.push(new Register(owner, `folder ${file % 2}/${file}/\u00fc %2F?#.bin`))
    }
  }
  const tally = { written: 0, read: 0, refused: 0, unavailable: 0 }
  const over = new AbortController()
  let failed: { readonly error: unknown } | undefined

  async function run(register: Register, client: number): Promise<void> {
    for (let step = 0; !over.signal.aborted; step++) {
      const service = services[(client + step) % services.length] as TestService
      const draw = contentOf((seed * 1000 + client) * 100_000 + step, 4).bytes
      const kind = await doOne({ service, register }, { draw, options })
      tally[kind]++
      // As a client does that was told to come again later.
      if (kind === 'unavailable') await setTimeout(50)
    }
  }
  const clients = registers.map((register, client) =>
    run(register, client).catch((error: unknown) => {
      failed ??= { error }
      over.abort()
    }),
  )
  function rethrow(): void {
    if (failed !== undefined) throw failed.error
  }

  return {
    registers,
    tally: () => ({ ...tally }),
    async until(more) {
      const kinds = Object.keys(more) as (keyof Tally)[]
      const goal = { ...tally }
      for (const kind of kinds) goal[kind] += more[kind] ?? 0
      const deadline = performance.now() + TIMEOUT_MS
      while (kinds.some((kind) => tally[kind] < goal[kind])) {
        rethrow()
        if (performance.now() > deadline) {
          throw new Error(`waited for ${JSON.stringify(goal)}, came to ${JSON.stringify(tally)}`)
        }
        await setTimeout(20)
      }
    },
    async stop() {
      over.abort()
      await Promise.all(clients)
      rethrow()
    },
  }
}

interface Chance {
  /** Four bytes that decide. */
  readonly draw: Buffer
  readonly options: LoadOptions
}

/** One upload, download or removal: of ten about five, four and one. */
async function doOne(target: Target, { draw, options }: Chance): Promise<keyof Tally> {
  const [dice = 0, size = 0, form = 0] = draw
  if (dice < 102) return kindOf((await readFrom(target)).answer, 'read')
  if (dice < 128) return kindOf(await removeFrom(target), 'written')
  const content = pick(options.sizes, size, draw)
  const shape = { method: form % 2 === 0 ? 'POST' : 'PUT', chunked: form % 4 > 1 } as const
  return kindOf(await uploadTo(target, { ...content, ...shape }), 'written')
}

function kindOf(answer: Answer, done: 'written' | 'read'): keyof Tally {
  return answer === 'done' ? done : answer
}

function pick(sizes: readonly number[], dice: number, draw: Buffer): Content {
  return contentOf(draw.readUInt32LE(), sizes[dice % sizes.length] ?? 0)
}
