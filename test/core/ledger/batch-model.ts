import * as fc from 'fast-check'
import { isAppError } from '../../../src/core/errors.ts'
import type { ChangedFiles } from '../../../src/core/files/file-ledger.ts'
import { fileExists, fileNotFound, type File } from '../../../src/core/files/file.ts'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { availableBytes } from '../../../src/core/quota/capacity.ts'
import type { Usage } from '../../../src/core/users/account-ledger.ts'
import { createVersion, objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import {
  type BatchOperation,
  type FileOperation,
  isByPrefix,
  type PrefixOperation,
} from '../../../src/core/files/operation.ts'
import { type Account, type LedgerHarness } from './fixture.ts'

const NAMES = ['a', 'b', 'ab', 'aab', 'bb'] as const

/** Some begin with one another. */
const PREFIXES = ['', 'a', 'aa', 'ab', 'b', 'c'] as const

export const MAX_FILES = 4

/** An operation on the files and versions of either account: numbers are puts, wrapped around. */
export type Asked = {
  readonly ifMatch: number | undefined
  readonly ignoresMissing: boolean
} & (
  | { readonly op: 'delete'; readonly name: string }
  | {
      readonly op: 'update'
      readonly name: string
      readonly newName: string | undefined
      readonly isKept: boolean | undefined
      readonly overwrite: boolean
    }
  | {
      readonly op: 'restore'
      readonly put: number
      readonly name: string | undefined
      readonly overwrite: boolean
    }
  | { readonly op: 'delete-prefix'; readonly prefix: string }
  | {
      readonly op: 'rename-prefix'
      readonly prefix: string
      readonly newPrefix: string
      readonly overwrite: boolean
    }
)

export interface Story {
  readonly puts: readonly {
    readonly name: string
    readonly size: number
    readonly isShort: boolean
  }[]
  readonly before: readonly Asked[]
  readonly reserved: number
  readonly batch: readonly Asked[]
}

const name = fc.constantFrom(...NAMES)
const prefix = fc.constantFrom(...PREFIXES)
const put = fc.nat({ max: 9 })
// Otherwise most batches would be refused.
const mostly = fc.constantFrom(true, true, true, true, true, false)
const common = {
  ifMatch: fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: put },
  ),
  ignoresMissing: mostly,
}

const optional = { nil: undefined, freq: 2 }

const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({ op: fc.constant('delete' as const), ...common, name }),
  fc.record({
    op: fc.constant('update' as const),
    ...common,
    name,
    newName: fc.option(name, optional),
    isKept: fc.option(fc.boolean(), optional),
    overwrite: mostly,
  }),
  fc.record({
    op: fc.constant('restore' as const),
    ...common,
    put,
    name: fc.option(name, optional),
    overwrite: mostly,
  }),
  fc.record({ op: fc.constant('delete-prefix' as const), ...common, prefix }),
  fc.record({
    op: fc.constant('rename-prefix' as const),
    ...common,
    prefix,
    newPrefix: prefix,
    overwrite: mostly,
  }),
)

export const story: fc.Arbitrary<Story> = fc.record({
  puts: fc.array(
    fc.record({
      name,
      size: fc.constantFrom(0, 5, 5, 10, 20, 30),
      isShort: fc.nat(9).map((n) => n === 0),
    }),
    { minLength: 2, maxLength: 7 },
  ),
  before: fc.array(asked, { maxLength: 4 }),
  reserved: fc.constantFrom(0, 0, 10, 40),
  batch: fc.array(asked, { minLength: 1, maxLength: 8 }),
})

/** An account in which a story has happened up to its batch. */
export interface Told {
  readonly account: Account
  /** By put. */
  readonly versions: readonly Version[]
}

export async function tell(
  { harness, account }: { readonly harness: LedgerHarness; readonly account: Account },
  { puts, before, reserved }: Story,
): Promise<Told> {
  const versions: Version[] = []
  for (const each of puts) {
    const version = createVersion()
    const expiresInMs = each.isShort ? 1 : undefined
    const key = { version, objectKey: objectKey(account.userId, version) }
    const begun = await refusedOrDone(account.begin(each.name, each.size, key))
    if (begun === version) await account.commit(version, each.size, { expiresInMs })
    versions.push(version)
  }
  if (puts.some(({ isShort }) => isShort)) await harness.advance(3)
  const told = { account, versions }
  for (const each of before) await refusedOrDone(perform(told, operationOf(told, each)))
  if (reserved > 0) await refusedOrDone(account.begin('reserved', reserved))
  return told
}

export function operationOf({ versions }: Told, operation: Asked): BatchOperation {
  if (operation.op === 'delete-prefix' || operation.op === 'rename-prefix') {
    const { ifMatch: _none, ...asked } = operation
    const prefix = parseFileNamePrefix(asked.prefix)
    if (asked.op === 'delete-prefix') return { ...asked, prefix }
    return { ...asked, prefix, newPrefix: parseFileNamePrefix(asked.newPrefix) }
  }
  const versionOf = (index: number): Version => versions[index % versions.length] ?? createVersion()
  const { ifMatch, ignoresMissing } = operation
  const precondition = ifMatch === undefined ? undefined : { ifMatch: [versionOf(ifMatch)] }
  const common = { precondition, ignoresMissing }
  const nameOf = (text: string | undefined) =>
    text === undefined ? undefined : parseFileName(text)
  if (operation.op === 'delete') {
    return { ...common, op: 'delete', name: parseFileName(operation.name) }
  }
  const { overwrite } = operation
  if (operation.op === 'restore') {
    const { put: index, name: text } = operation
    return { ...common, op: 'restore', version: versionOf(index), name: nameOf(text), overwrite }
  }
  const { isKept, name: text } = operation
  const newName = nameOf(operation.newName)
  const terms = { newName, isKept, overwrite, visibility: undefined }
  return { ...common, op: 'update', name: parseFileName(text), ...terms }
}

/** What an operation gives: the file after it, or of one by prefix the number of files. */
type Given = File | number | undefined

/** By single methods. */
export async function perform(told: Told, operation: BatchOperation): Promise<Given> {
  return isByPrefix(operation)
    ? await performByPrefix(told, operation)
    : await performSingle(told, operation)
}

/** The files one after the other, a file whose name another one gets before that one. */
async function performByPrefix({ account }: Told, operation: PrefixOperation): Promise<number> {
  const { op, prefix, ignoresMissing } = operation
  const names = (await account.list({ prefix })).map((file) => file.name)
  if (names.length === 0 && ignoresMissing !== true) throw fileNotFound()
  if (op === 'delete-prefix') {
    for (const each of names) await account.remove(each)
    return names.length
  }
  const { newPrefix, overwrite } = operation
  const newNames = names.map((each) => parseFileName(`${newPrefix}${each.slice(prefix.length)}`))
  const taken = new Set((await account.list()).map((file) => file.name))
  for (const each of names) taken.delete(each)
  if (!overwrite && newNames.some((each) => taken.has(each))) throw fileExists()
  const growth = newPrefix.length - prefix.length
  const byLength = names
    .map((each, at) => ({ name: each, newName: newNames[at] ?? each }))
    .toSorted((a, b) => growth * (b.name.length - a.name.length))
  for (const each of byLength) {
    await account.change(each.name, { newName: each.newName, overwrite })
  }
  return names.length
}

async function performSingle(
  { account }: Told,
  operation: FileOperation,
): Promise<File | undefined> {
  const { ignoresMissing = false, ...request } = operation
  try {
    if (request.op === 'delete') {
      await account.remove(request.name, request)
      return undefined
    }
    if (request.op === 'update') {
      const { newName, ...change } = request
      return await account.change(request.name, { ...change, ...(newName && { newName }) })
    }
    const { name: text, version, ...restore } = request
    return (await account.restore(version, { ...restore, ...(text && { name: text }) })).file
  } catch (error) {
    const isMissing = isAppError(error, 'not_found') || isAppError(error, 'version_gone')
    if (ignoresMissing && isMissing) return undefined
    throw error
  }
}

export interface Refusal {
  readonly code: string
  readonly operation: unknown
}

export async function refusedOrDone<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work
  } catch (error) {
    if (!isAppError(error)) throw error
    return { code: error.code, operation: error.facts['operation'] }
  }
}

/** What `changeFiles` promises, by the single methods on an account whose quota is not full in between. */
export async function performAll(
  told: Told,
  { batch, limits }: { readonly batch: readonly Asked[]; readonly limits: Usage },
): Promise<readonly Given[] | Refusal> {
  const files: Given[] = []
  const steps: { readonly used: number; readonly count: number }[] = []
  for (const [operation, each] of batch.entries()) {
    const { used = 0, fileCount: count = 0 } = (await told.account.usage()) ?? {}
    steps.push({ used, count })
    const done = await refusedOrDone(perform(told, operationOf(told, each)))
    if (typeof done === 'object' && 'code' in done) return { code: done.code, operation }
    files.push(done)
  }
  const { used = 0, fileCount = 0 } = (await told.account.usage()) ?? {}
  const mayHave = Math.max(limits.fileCount, MAX_FILES)
  const mayUse = Math.max(limits.used, limits.used + availableBytes(limits))
  const code =
    fileCount > mayHave ? 'file_count_exceeded' : used > mayUse ? 'capacity_exceeded' : undefined
  if (code === undefined) return files
  const fits = (step: (typeof steps)[number]): boolean =>
    code === 'file_count_exceeded' ? step.count <= mayHave : step.used <= mayUse
  return { code, operation: steps.findLastIndex(fits) }
}

export async function performBatch(
  told: Told,
  { ledger, batch }: { readonly ledger: LedgerHarness['ledger']; readonly batch: readonly Asked[] },
): Promise<ChangedFiles | Refusal> {
  const { userId, userCreatedAt } = told.account
  const operations = batch.map((each) => operationOf(told, each))
  return await refusedOrDone(ledger.changeFiles({ userId, userCreatedAt, operations }))
}

/** Everything that can be seen of an account, with puts for versions, and without times and the capacity. */
export async function picture({
  harness,
  told,
}: {
  readonly harness: LedgerHarness
  readonly told: Told
}) {
  const { account, versions } = told
  const { userId } = account
  const putOf = (text: string): number => versions.findIndex((version) => text.includes(version))
  const { recorded, counted } = await harness.garbageBytes(userId)
  const { bytes, versions: past, countedBytes, countedVersions } = await harness.history(userId)
  const { garbage } = await harness.keys(userId)
  const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 1000 })
  const changes = (read?.changes ?? []).filter((change) => 'file' in change)
  return {
    files: (await account.list()).map((file) => described(file, putOf)),
    past: (await account.past())
      .map(({ name: text, version, endedAs }) => `${putOf(version)} ${text} ${endedAs}`)
      .sort(),
    garbage: garbage.map(({ key }) => putOf(key)).sort((a, b) => a - b),
    changes: changes.map(({ type, file, previousName }) => [
      type,
      putOf(file.version),
      file.name,
      previousName,
    ]),
    figures: { recorded, bytes, past },
    isSound:
      recorded === counted &&
      bytes === countedBytes &&
      past === countedVersions &&
      JSON.stringify(await harness.audit(userId)) === JSON.stringify(await auditOf(account)),
  }
}

async function auditOf(account: Account) {
  const { used, reserved, fileCount } = (await account.usage()) ?? {}
  return { used, fileCount, reserved }
}

/** What the operations of a batch give. */
export function given({ files, matched }: ChangedFiles): readonly Given[] {
  return files.map((file, at) => matched[at] ?? file)
}

export function described(file: File, putOf: (version: string) => number): string {
  const { name: text, version, size, visibility, isKept } = file
  return `${text}: ${putOf(version)}, ${size} bytes, ${visibility}, ${isKept}`
}
