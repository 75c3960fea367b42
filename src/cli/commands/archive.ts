import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { ServiceCommand } from '../command.ts'
import { Bytes } from '../render.ts'

/** No `AdminCommand`, because those hold the whole answer. */
export const ARCHIVE: ServiceCommand = {
  usage: 'files archive <user_id> <file> [--prefix ...]',
  summary: 'write the files of a user to a new ZIP archive, also those of a suspended one',
  run: async ({ openAdmin }, { operands, flags, interruption, onUnrecorded }) => {
    const { user_id: userId = '', file = '' } = operands
    const { prefix = '' } = flags
    const admin = await openAdmin(onUnrecorded)
    await using target = await open(file, 'wx', 0o600)
    try {
      const signal = interruption()
      const { files, body } = await admin.archive({ userId, prefix, signal })
      const output = target.createWriteStream({ flush: true })
      await pipeline(body, output, { signal })
      return { file, files, bytes: new Bytes(output.bytesWritten) }
    } catch (error) {
      await rm(file)
      throw error
    }
  },
}
