import { formatByteSize } from '../../core/byte-size.ts'
import {
  LEFT_ALONE_KINDS,
  type RebuildCounts,
  type RebuildFinding,
} from '../../core/rebuild/rebuild-run.ts'
import { type Command, printFinding, showProgress } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const REBUILD: Command = {
  words: ['rebuild'],
  switches: ['dry-run', 'skip-unreadable'],
  summary: 'recreate users and files from the object store in an empty database',
  run: async ({ rebuilder }, call) => {
    const { switches, printError, fail, interruption } = call
    const dryRun = switches.has('dry-run')
    const rebuilt = await rebuilder.rebuild({
      dryRun,
      skipUnreadable: switches.has('skip-unreadable'),
      onFinding: (finding) => printFinding(call, rowOf(finding)),
      onProgress: showProgress(call, progressOf),
      onRestart: () => printError(RESTARTED),
      signal: interruption(),
    })
    if (rebuilt.refused || leftAlone(rebuilt.counts) > 0) fail()
    if (!rebuilt.refused) {
      if (!rebuilt.isFinished && !dryRun) printError(UNREADABLE)
      return summary(rebuilt.counts, dryRun)
    }
    printError(NOT_EMPTY)
    return undefined
  },
}

const RESTARTED = 'An earlier rebuild was interrupted. This one starts over.'

const UNREADABLE =
  'Some objects could not be read, so the rebuild is not finished. Run it again when the object store can return ' +
  'them, or use --skip-unreadable to finish without them.'

const NOT_EMPTY =
  'The database already contains users, files, uploads or garbage. A rebuild needs an empty database.'

function progressOf({ listed, readObjects, readBytes, settled }: RebuildCounts): string {
  return `${listed} objects listed, ${readObjects} read (${formatByteSize(readBytes)}), ${settled} recorded in the database`
}

function rowOf({ kind, userId, name, objectKey }: RebuildFinding): Row {
  return {
    kind,
    user_id: userId ?? null,
    file_name: name ?? null,
    object_key: objectKey,
  }
}

function summary(counts: RebuildCounts, dryRun: boolean): Row {
  return {
    dry_run: dryRun,
    objects: counts.listed,
    users: counts.users,
    files: counts.files,
    bytes: new Bytes(counts.bytes),
    past_objects: counts.past,
    replaced_objects: counts.replaced,
    ...Object.fromEntries(LEFT_ALONE_KINDS.map((kind) => [`${kind}s`, counts.found[kind]])),
    left_alone: leftAlone(counts),
  }
}

function leftAlone({ found }: RebuildCounts): number {
  return LEFT_ALONE_KINDS.reduce((sum, kind) => sum + found[kind], 0)
}
