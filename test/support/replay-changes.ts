import type { Change } from '../../src/core/changes/change.ts'
import type { File } from '../../src/core/files/file.ts'
import { type CapacityState, capacityState } from '../../src/core/quota/capacity.ts'
import type { Usage } from '../../src/core/users/account-ledger.ts'

export interface Followed {
  /** All changes of an account that began empty, with the state `normal`. */
  readonly changes: readonly Change[]
  /** Its files now. */
  readonly files: readonly Pick<File, 'name' | 'version'>[]
  readonly usage: Usage
}

/**
 * Follows a feed from its beginning, as a client that keeps a copy of the account does, and returns what is wrong with
 * it (I14): a sequence that is not the next one, a change that the copy cannot make, a version that is written twice,
 * and whatever distinguishes the copy from the account at the end.
 */
export function feedFaults({ changes, files, usage }: Followed): readonly string[] {
  const copy: Copy = { files: new Map(), versions: new Set(), state: 'normal' }
  const faults = changes.flatMap((change, index) => {
    const { sequence, type } = change
    const found = [...follow(copy, change)].map((fault) => `change ${sequence}, ${type}: ${fault}`)
    const before = changes[index - 1]?.sequence ?? 0
    if (sequence !== before + 1) found.unshift(`change ${sequence} follows change ${before}`)
    return found
  })
  return [...faults, ...differences(copy, { files, usage })]
}

type FileEvent = Extract<Change, { readonly file: unknown }>
type CapacityEvent = Exclude<Change, FileEvent>
type CopiedFile = FileEvent['file']

interface Copy {
  readonly files: Map<string, CopiedFile>
  /** All that were ever written. */
  readonly versions: Set<string>
  state: CapacityState
}

function follow(copy: Copy, change: Change): Iterable<string> {
  return 'file' in change ? followFile(copy, change) : followCapacity(copy, change)
}

function* followFile(copy: Copy, change: FileEvent): Generator<string> {
  const { file, type } = change
  const { name, version } = file
  switch (type) {
    case 'file.created':
    case 'file.replaced':
      if (copy.versions.has(version)) yield `version ${version} is written again`
      if (copy.files.has(name) !== (type === 'file.replaced')) yield standing(copy, name)
      copy.versions.add(version)
      break
    case 'file.restored':
      if (!copy.versions.has(version)) yield `version ${version} was never written`
      break
    case 'file.updated':
    case 'file.deleted':
    case 'file.evicted':
    case 'file.expired':
      yield* expect(copy, name, file)
      break
    case 'file.renamed': {
      const { previousName = '' } = change
      yield* expect(copy, previousName, file)
      if (copy.files.has(name)) yield standing(copy, name)
      copy.files.delete(previousName)
    }
  }
  if (ENDS.has(type)) copy.files.delete(name)
  else copy.files.set(name, file)
}

const ENDS: ReadonlySet<Change['type']> = new Set(['file.deleted', 'file.evicted', 'file.expired'])

function* followCapacity(copy: Copy, { type, capacity, used }: CapacityEvent): Generator<string> {
  const sum = [...copy.files.values()].reduce((bytes, { size }) => bytes + size, 0)
  if (used !== sum) yield `${used} bytes are used, but the files have ${sum}`
  const state = capacityState({ capacity, used, reserved: 0, fileCount: 0 })
  if (type !== `capacity.${state}`) yield `${used} of ${capacity} bytes are ${state}`
  if (type === `capacity.${copy.state}`) yield 'the state before is the same'
  copy.state = state
}

function* expect(
  copy: Copy,
  name: string,
  { version, size, sha256 }: CopiedFile,
): Generator<string> {
  const file = copy.files.get(name)
  const isSame = file?.version === version && file.size === size && file.sha256 === sha256
  if (!isSame) yield `it says ${version} of ${size} bytes, but ${standing(copy, name)}`
}

function standing(copy: Copy, name: string): string {
  const file = copy.files.get(name)
  return file === undefined
    ? `there is no ${name}`
    : `${name} is ${file.version} of ${file.size} bytes`
}

function* differences(
  copy: Copy,
  { files, usage }: Pick<Followed, 'files' | 'usage'>,
): Generator<string> {
  const names = new Set([...files.map((file) => file.name), ...copy.files.keys()])
  for (const name of names) {
    const version = files.find((file) => file.name === name)?.version ?? 'missing'
    const copied = copy.files.get(name)?.version ?? 'missing'
    if (copied !== version) yield `${name} is ${version}, and by its changes ${copied}`
  }
  const state = capacityState(usage)
  if (state !== copy.state) yield `the capacity is ${state}, and by its changes ${copy.state}`
}
