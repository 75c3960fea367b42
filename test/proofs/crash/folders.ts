import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../simulation/plan/random.ts'
import { namesIn, ownNames, pickFolders } from './names.ts'
import { ABSENT, type Content, type Oracle, type OpenWrite } from './oracle.ts'
import { isStatus, json, type Outcome, type Request } from './request.ts'
import type { Tally } from './tally.ts'
import type { WorldUser } from './world.ts'

export interface FoldersOptions {
  readonly oracle: Oracle
  readonly tally: Tally
  readonly send: (user: WorldUser, request: Omit<Request, 'agent' | 'port'>) => Promise<Outcome>
  /** Ends a write whose outcome is not one that its request knows. */
  readonly settle: (write: OpenWrite, outcome: Outcome) => void
  /** Within which a write whose connection broke has its effect. */
  readonly graceMs: number
}

export interface FolderOwner {
  readonly user: WorldUser
  readonly random: Random
  /** Where nobody else writes. */
  readonly folder: string
}

/** What a file may have been before its folder was moved or deleted, and what it may be then. */
interface Expected {
  readonly name: string
  readonly before: ReadonlySet<Content>
  readonly after: ReadonlySet<Content>
}

/** Moves and deletes whole folders: all that is below goes with them, or nothing does. */
export class Folders {
  readonly #options: FoldersOptions

  constructor(options: FoldersOptions) {
    this.#options = options
  }

  /** Onto the other folder of the worker, whose files of the same names are replaced. */
  async move(owner: FolderOwner): Promise<void> {
    const [prefix, to] = pickFolders(owner.folder, owner.random)
    await this.#untilQuiet(owner)
    const now = performance.now()
    const expected = namesIn('').flatMap((rest): Expected[] => {
      const moved = this.#allowed(owner, `${prefix}${rest}`, now)
      const replaced = this.#allowed(owner, `${to}${rest}`, now)
      const movable = [...moved].filter((content) => content !== ABSENT)
      if (movable.length === 0) return []
      // What may not be there leaves the other file as it is.
      const after = new Set([...movable, ...(moved.has(ABSENT) ? replaced : [])])
      return [
        { name: `${prefix}${rest}`, before: moved, after: new Set([ABSENT]) },
        { name: `${to}${rest}`, before: replaced, after },
      ]
    })
    const operation = { op: 'rename', prefix, new_prefix: to, overwrite: true }
    await this.#change(owner, { operation, expected })
  }

  async clear(owner: FolderOwner): Promise<void> {
    const [prefix] = pickFolders(owner.folder, owner.random)
    await this.#untilQuiet(owner)
    const now = performance.now()
    const expected = namesIn(prefix).flatMap((name): Expected[] => {
      const before = this.#allowed(owner, name, now)
      return before.size === 1 && before.has(ABSENT)
        ? []
        : [{ name, before, after: new Set([ABSENT]) }]
    })
    await this.#change(owner, { operation: { op: 'delete', prefix }, expected })
  }

  async #change(
    owner: FolderOwner,
    { operation, expected }: { readonly operation: object; readonly expected: readonly Expected[] },
  ): Promise<void> {
    const { oracle, tally, send, settle, graceMs } = this.#options
    const { user } = owner
    const writes = expected.map(({ name, after }) => oracle.begin(fileOf(user, name), after))
    const body = Buffer.from(JSON.stringify({ operations: [operation] }))
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const request = { method: 'POST', path: '/users/me/batch', headers, body: [body] }
    const outcome = await send(user, request)
    if (isStatus(outcome, 200)) {
      for (const write of writes) write.acknowledge()
      tally.changedFolders += 1
      return await this.#look(owner, { expected, mayBeUndone: false })
    }
    // There was nothing below.
    if (isStatus(outcome, 404)) {
      for (const write of writes) write.refuse()
      return await this.#look(owner, { expected, mayBeUndone: true })
    }
    for (const write of writes) settle(write, outcome)
    if (outcome.kind !== 'lost') return
    await delay(graceMs)
    await this.#look(owner, { expected, mayBeUndone: true })
  }

  /** One listing shows all of a change, or nothing of it. */
  async #look(
    { user, folder }: FolderOwner,
    { expected, mayBeUndone }: { readonly expected: readonly Expected[]; mayBeUndone: boolean },
  ): Promise<void> {
    const { tally, send } = this.#options
    const path = `/users/me/repo?limit=1000&prefix=${encodeURIComponent(folder)}`
    const outcome = await send(user, { method: 'GET', path })
    if (!isStatus(outcome, 200) || outcome.body === undefined) return
    const { files } = json(outcome) as { readonly files: readonly Listed[] }
    const found = new Map(files.map(({ name, sha256 }) => [name, sha256]))
    const known = new Set(ownNames(folder))
    for (const name of found.keys())
      if (!known.has(name)) tally.report('other', `No write is to ${fileOf(user, name)}`)
    const is = (side: 'before' | 'after'): boolean =>
      expected.every((each) => each[side].has(found.get(each.name) ?? ABSENT))
    tally.checkedReads += 1
    if (is('after') || (mayBeUndone && is('before'))) return
    const text = expected.map(({ name }) => `${name}: ${(found.get(name) ?? ABSENT).slice(0, 12)}`)
    tally.report('lost', `${fileOf(user, folder)} was changed by half: ${text.join(', ')}`)
  }

  /** What an earlier write may still do would look like half a change. */
  async #untilQuiet({ user, folder }: FolderOwner): Promise<void> {
    const { oracle } = this.#options
    const files = ownNames(folder).map((name) => fileOf(user, name))
    while (!files.every((file) => oracle.isQuiet(file))) await delay(QUIET_MS)
  }

  #allowed({ user }: FolderOwner, name: string, startedAt: number): ReadonlySet<Content> {
    return this.#options.oracle.allowed(fileOf(user, name), startedAt)
  }
}

const QUIET_MS = 50

interface Listed {
  readonly name: string
  readonly sha256: string
}

function fileOf({ userId }: WorldUser, name: string): string {
  return `${userId}/${name}`
}
