import { BoundedMap } from '../../core/bounded-map.ts'
import type { FileName, FileNamePrefix } from '../../core/files/file-name.ts'
import type { UserId } from '../../core/users/user-id.ts'

/**
 * Where the search for the oldest files of a prefix continues. Whatever is written has the time of its writing, so
 * nothing comes to stand before a position that was found to be the first. For a clock that was wrong, positions are
 * forgotten.
 */
export class UnfinishedSearches {
  readonly #searches = new BoundedMap<string, Search>(MAX_KEPT)
  readonly #clock: () => number

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  startOf(eviction: Searched): Position {
    const own = this.#ownOf(eviction)
    if (own !== undefined) return own.position
    const found = this.#searches.get(keyOf(eviction))
    return found === undefined || this.#ageOf(found) > MAX_SEARCH_MS ? BEGINNING : found.position
  }

  /** `isOwn`: for a second, and for uploads of the same name only. */
  continue(eviction: Searched, position: Position, { isOwn = false } = {}): void {
    const isKeptApart = isOwn || this.#ownOf(eviction) !== undefined
    const key = isKeptApart ? ownKeyOf(eviction) : keyOf(eviction)
    const isNew = isSame(this.startOf(eviction), BEGINNING)
    const since = isNew ? this.#clock() : (this.#searches.get(key)?.since ?? this.#clock())
    this.#searches.set(key, { position: { age: position.age, named: position.named }, since })
  }

  /** Returns false if the search has begun so recently that its end is one. */
  restart(eviction: Searched): boolean {
    const keys = [keyOf(eviction), ownKeyOf(eviction)]
    const found = keys.flatMap((key) => this.#searches.get(key) ?? [])
    if (found.length === 0 || found.some((each) => this.#ageOf(each) <= MAX_REFUSING_MS))
      return false
    for (const key of keys) this.#searches.delete(key)
    return true
  }

  #ownOf(eviction: Searched): Search | undefined {
    const own = this.#searches.get(ownKeyOf(eviction))
    return own !== undefined && this.#ageOf(own) <= MAX_REFUSING_MS ? own : undefined
  }

  #ageOf({ since }: Search): number {
    return this.#clock() - since
  }
}

/** Of the file that makes the search, whose own name is spared. */
interface Searched {
  readonly userId: UserId
  readonly prefix: FileNamePrefix
  readonly name: FileName
  readonly deviceId: string | null
}

interface Search {
  readonly position: Position
  /** When it began at the oldest file. */
  readonly since: number
}

const MAX_KEPT = 1_000
const MAX_SEARCH_MS = 60_000
/** A refusal rests on a search that is no older. */
const MAX_REFUSING_MS = 1_000

/** No device has a slash. */
function keyOf({ userId, deviceId, prefix }: Searched): string {
  return `${userId}/${deviceId ?? ''}/${prefix}`
}

function ownKeyOf(eviction: Searched): string {
  return `${keyOf(eviction)}/${eviction.name}`
}

/** A place in the order of age. */
export interface Position {
  readonly age: number
  readonly named: string
}

const BEGINNING: Position = { age: 0, named: '' }

export function isSame(a: Position, b: Position): boolean {
  return a.age === b.age && a.named === b.named
}
