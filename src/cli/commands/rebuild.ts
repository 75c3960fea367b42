import {
  type Rebuilt,
  REBUILD_FINDING_KINDS,
  type RebuildCounts,
  type RebuildFinding,
} from '../../core/rebuild.ts'
import type { Command, CommandCall } from '../command.ts'
import { findingLine } from '../finding-line.ts'
import type { Row } from '../render.ts'

export const REBUILD: Command = {
  words: ['rebuild'],
  operands: [],
  flags: [],
  switches: ['dry-run'],
  summary: 'make users and files anew from the object store, into an empty database',
  run: async ({ rebuilder }, call) => {
    const { switches, json, print, printError, fail, interruption } = call
    const dryRun = switches.has('dry-run')
    const rebuilt = await rebuilder.rebuild({
      dryRun,
      onFinding: (finding) => {
        const row = rowOf(finding)
        print(json ? JSON.stringify(row) : findingLine(row))
      },
      onProgress: progress(call),
      signal: interruption(),
    })
    if (rebuilt.refused || leftAlone(rebuilt.counts) > 0) fail()
    if (!rebuilt.refused) return summary(rebuilt, dryRun)
    printError(
      'The database holds users, files, uploads or garbage already. A rebuild needs an empty one.',
    )
    return undefined
  },
}

const PROGRESS_EVERY_MS = 10_000

function progress({ printError }: CommandCall): (counts: RebuildCounts) => void {
  let toldAt = performance.now()
  return ({ listed, readObjects, readBytes, settled }) => {
    if (performance.now() - toldAt < PROGRESS_EVERY_MS) return
    toldAt = performance.now()
    printError(
      `so far ${listed} objects listed, ${readObjects} read (${readBytes} bytes), ${settled} on the books`,
    )
  }
}

function rowOf({ kind, userId, name, objectKey }: RebuildFinding): Row {
  return {
    kind,
    user_id: userId ?? null,
    file_name: name ?? null,
    object_key: objectKey,
  }
}

type Done = Extract<Rebuilt, { refused: false }>

function summary({ counts, figures }: Done, dryRun: boolean): Row {
  return {
    dry_run: dryRun,
    objects: counts.listed,
    users: figures.users,
    files: figures.files,
    bytes: figures.bytes,
    replaced_objects: figures.replaced,
    ...Object.fromEntries(LEFT_ALONE.map((kind) => [`${kind}s`, counts.found[kind]])),
    left_alone: leftAlone(counts),
  }
}

const LEFT_ALONE = REBUILD_FINDING_KINDS.filter((kind) => kind !== 'replaced_object')

function leftAlone({ found }: RebuildCounts): number {
  return LEFT_ALONE.reduce((sum, kind) => sum + found[kind], 0)
}
