import { formatByteSize } from '../../core/byte-size.ts'
import type { ServiceCommand } from '../command.ts'
import { printFinding, showProgress } from '../progress.ts'
import { Bytes } from '../render.ts'

export const REBUILD: ServiceCommand = {
  usage: 'rebuild [--dry-run] [--skip-unreadable]',
  summary:
    'deleted files may come back; recreate users and files from the object store in an empty database',
  run: async ({ rebuilder }, call) => {
    const { switches, printError, fail, interruption } = call
    const dryRun = switches.has('dry-run')
    const skipUnreadable = switches.has('skip-unreadable')
    let [replaced, leftAlone] = [0, 0]
    const counts = await rebuilder.rebuild({
      dryRun,
      skipUnreadable,
      onFinding: ({ kind, userId = null, name = null, objectKey }) => {
        printFinding(call, { kind, user_id: userId, file_name: name, object_key: objectKey })
        if (kind === 'replaced_object') replaced += 1
        else leftAlone += 1
      },
      onProgress: showProgress(
        call,
        ({ listed, readBytes, files }) =>
          `${listed} objects listed, ${formatByteSize(readBytes)} read, ${files} files recorded`,
      ),
      onRestart: () => printError('An earlier rebuild was interrupted. This one starts over.'),
      signal: interruption(),
    })
    if (leftAlone > 0) fail()
    if (counts.unreadable > 0 && !skipUnreadable) printError(UNREADABLE)
    return {
      dry_run: dryRun,
      objects: counts.listed,
      users: counts.users,
      files: counts.files,
      bytes: new Bytes(counts.bytes),
      replaced_objects: replaced,
      left_alone: leftAlone,
    }
  },
}

const UNREADABLE =
  'Some objects could not be read, so the rebuild is not finished. Run it again when the object store can return ' +
  'them, or use --skip-unreadable to finish without them.'
