import type { FileEntry } from '../../shared/model.ts'
import { Refusal } from '../../shared/refusal.ts'
import { messages } from '../../messages.ts'
import { nameOf } from '../files/shown-entries.ts'
import { dropEmptyFolders } from '../folders/drop-empty-folders.ts'
import { countOf, filesOf } from '../folders/files-of.ts'
import { isEmptyFolder } from '../folders/folder-check.ts'
import { labelOf, SEPARATOR } from '../../shared/folder.ts'
import { type Done, MAX_OPERATIONS, type Step } from '../selection/batches.ts'
import { type ManyPage, offerUndo, runSteps, showReading } from '../selection/run-steps.ts'
import type { Page } from '../user-page.ts'
import { type Move, nameAfter } from './move.ts'
import { assertPossible } from './refusals.ts'
import { takenNames } from './taken-names.ts'
import { words } from './words.ts'

/** Rejects with a `Refusal` if a move is not possible, or if a file or a folder has one of the new names. */
export async function checkMoves(
  { client, list, permissions }: Page,
  moves: readonly Move[],
): Promise<void> {
  assertPossible(moves, permissions)
  const names = moves.map(({ to }) => to)
  const options = { service: client.files, list, narrow: permissions.narrow }
  const [first, ...others] = await takenNames(options, names)
  if (first !== undefined) throw new Refusal(words.taken(1 + others.length, labelOf(first)))
}

/** Rejects with a `Refusal` if a file cannot have the name, but not if another file has it. */
export async function checkRename({ client, permissions }: Page, move: Move): Promise<void> {
  assertPossible([move], permissions)
  const inside = permissions.narrow(move.to + SEPARATOR)
  if (!(await isEmptyFolder(client.files, inside)))
    throw new Refusal(words.taken(1, labelOf(move.to)))
}

/**
 * Gives files and folders their new names, with one undo for all. Never rejects: it says itself what was not done, and if
 * all was done, it says `text`.
 */
export async function moveEntries(
  page: ManyPage,
  moves: readonly Move[],
  text?: string,
): Promise<void> {
  page.selection.clear()
  await page.toasts.attempt(async () => {
    const back = await moveAll(page, moves)
    if (back.count === 0) return
    const isWhole = back.moves.every(({ to }) => moves.some(({ entry }) => nameOf(entry) === to))
    offerBack(
      page,
      back.moves,
      (isWhole ? text : undefined) ?? messages.selection.done.rename(back.count),
    )
  })
}

/** Says what was moved, and offers to move it back. */
export function offerBack(page: ManyPage, moves: readonly Move[], text: string): void {
  const undo = () => page.toasts.attempt(() => moveAll(page, moves))
  offerUndo(page, { kind: 'rename', text, undo })
}

interface Undo {
  /** What was moved last moves back first. */
  readonly moves: readonly Move[]
  /** Of the files that were moved. */
  readonly count: number
}

async function moveAll(page: ManyPage, moves: readonly Move[]): Promise<Undo> {
  const { list, folders } = page
  const [first] = moves
  if (moves.length === 1) list.destination.value = first?.to
  const planned = await showReading(page, async () => {
    const read: Planned[] = []
    for (const move of moves) read.push({ move, files: await filesOf(list, [move.entry]) })
    return read
  })
  const { done } = await runSteps(page, {
    steps: planned.flatMap(stepsOf),
    skipsRefused: false,
    apply: (finished) => show(page, finished),
  })
  const moved = new Map(done.map(({ file, after }) => [file, after]))
  const back = planned.flatMap(({ move, files }): readonly Move[] => {
    const { entry, to } = move
    const isWhole = typeof entry === 'string' && files.every((file) => moved.has(file))
    if (isWhole) return [{ entry: to, to: entry }]
    return files.flatMap((file) => {
      const after = moved.get(file)
      return after === undefined || after === null ? [] : [{ entry: after, to: file.name }]
    })
  })
  await dropEmptyFolders(
    page,
    moves.map(({ entry }) => entry),
  )
  void folders.keepOpen()
  list.destination.value = undefined
  return { moves: back.toReversed(), count: countOf(done.map(({ file }) => file)) }
}

interface Planned {
  readonly move: Move
  readonly files: readonly FileEntry[]
}

/** A folder is moved at once if the service takes so many files, else file by file. */
function stepsOf(planned: Planned): readonly Step[] {
  const { move, files } = planned
  const { entry, to } = move
  if (typeof entry !== 'string' || files.length > MAX_OPERATIONS) return byFile(planned)
  if (files.length === 0) return []
  const become = (file: FileEntry) => ({ ...file, name: nameAfter(move, file.name) })
  const ofFolder = { become, byFile: () => byFile(planned) }
  return [{ files, operation: { op: 'rename', prefix: entry, new_prefix: to }, ofFolder }]
}

function byFile({ move, files }: Planned): readonly Step[] {
  return files.map((file) => {
    const { name, etag } = file
    const new_name = nameAfter(move, name)
    return { files: [file], operation: { op: 'rename', name, new_name, if_match: etag } }
  })
}

function show({ list }: ManyPage, done: readonly Done[]): void {
  list.drop(...done.map(({ file }) => file.name))
  list.put(...done.flatMap(({ after }) => after ?? []))
}
