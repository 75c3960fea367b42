import { releaseFinished } from '../../core/resumable/release-finished.ts'
import type { ServiceCommand } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const RELEASE: ServiceCommand = {
  usage: 'uploads release --finished',
  summary: 'after a restore: keep the objects of uploads that were finished since the copy',
  run: async ({ ledger, objects }, { printError, fail, interruption }) => {
    const rows: Row[] = []
    const { running } = await releaseFinished({
      ledger,
      objects,
      onReleased: ({ userId, version, name, objectKey, size }) =>
        rows.push({
          user_id: userId,
          upload_id: version,
          file_name: name,
          object_key: objectKey,
          size: new Bytes(size),
        }),
      signal: interruption(),
    })
    if (running > 0) {
      printError(
        `Uploads that may be in progress were left alone: ${running}. ` +
          'Stop the service, wait a minute, and try again.',
      )
      fail()
    }
    return rows
  },
}
