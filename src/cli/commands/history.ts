import { invalidParameter } from '../../core/errors.ts'
import { parseFileName } from '../../core/files/file-name.ts'
import type { PastVersion } from '../../core/history/past-version.ts'
import { isVersion, type Version } from '../../core/objects/object-key.ts'
import { MAX_PAGE_LIMIT, parsePageLimit } from '../../core/pagination.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { userIdOf, type Command } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const HISTORY: readonly Command[] = [
  {
    words: ['history', 'list'],
    operands: ['<user_id>'],
    flags: ['name', 'limit'],
    summary: 'list the files that a user has replaced or deleted, newest end first',
    run: async ({ historyAdministration }, { operands, flags, printError }) => {
      const userId = userIdOf(operands)
      const name = nameIn(flags)
      const limit = parsePageLimit(flags['limit'])
      const { versions, next } = await historyAdministration.list({
        userId,
        name,
        after: undefined,
        limit,
      })
      if (next !== undefined) {
        printError(
          `There are more versions; --limit takes up to ${MAX_PAGE_LIMIT}, or give a --name.`,
        )
      }
      return versions.map(versionRow)
    },
  },
  {
    words: ['history', 'restore'],
    operands: ['<user_id>', '<version>'],
    flags: ['name'],
    switches: ['overwrite'],
    summary: 'make a version the current file of a user again',
    run: async ({ historyAdministration }, { operands, flags, switches }) => {
      const { file, replaced } = await historyAdministration.restore({
        userId: userIdOf(operands),
        version: parseVersion(operands[1] ?? ''),
        name: nameIn(flags),
        overwrite: switches.has('overwrite'),
      })
      return { file_name: file.name, version: file.version, size: new Bytes(file.size), replaced }
    },
  },
]

function nameIn({ name }: Readonly<Record<string, string>>) {
  return name === undefined ? undefined : parseFileName(name)
}

function parseVersion(text: string): Version {
  if (isVersion(text)) return text
  throw invalidParameter('version', 'The version is not valid.')
}

function versionRow(past: PastVersion): Row {
  return {
    version: past.version,
    file_name: past.name,
    size: new Bytes(past.size),
    ended_as: past.endedAs,
    ended_at: formatTimestamp(past.endedAt),
    expires_at: formatTimestamp(past.expiresAt),
  }
}
